// @ts-check
// What the viewer shows of messages, before anything is drawn: turns, rows, calls, hits, keys.
// Tries: js/viewer/conversation.js, js/viewer/calls.js, js/viewer/model.js, js/viewer/search.js, js/viewer/keys.js,
// js/viewer/format.js

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { describeCall } from "../../js/viewer/calls.js";
import { diffLines, piecesOf, readPatch } from "../../js/viewer/changes.js";
import { arrange } from "../../js/viewer/conversation.js";
import { formatDuration, formatModel, formatShort } from "../../js/viewer/format.js";
import { Keys } from "../../js/viewer/keys.js";
import { Model } from "../../js/viewer/model.js";
import { findHits } from "../../js/viewer/search.js";

/** @param {number} place @param {object} fields */
const message = (place, fields) => ({
  id: `m${place}`,
  timestamp: new Date(1_790_000_000_000 + place * 1_000).toISOString(),
  content: "",
  tokens: { count: 10 },
  ...fields,
});
const bash = (/** @type {string} */ id, /** @type {string} */ command) => ({
  id,
  name: "Bash",
  arguments: JSON.stringify({ command }),
});
/** @type {any[]} */
const SAID = [
  message(0, { role: "user", content: "Fix the average." }),
  message(1, {
    role: "assistant",
    content: "I look.",
    assistant: { toolCalls: [bash("a", "ls"), bash("b", "pytest")] },
  }),
  message(2, { role: "tool", content: "calc", tool: { callId: "a", name: "Bash" } }),
  message(3, { role: "tool", content: "1 failed", tool: { callId: "b", name: "Bash", isError: true, exitCode: 1 } }),
  message(4, { role: "user", content: "attached", source: { agent: "claude-code", id: "x", isMeta: true } }),
  message(5, { role: "user", content: "And now?\nTell me." }),
  message(6, { role: "tool", content: "of no call", tool: { callId: "lost", name: "Read" } }),
];

test("results go to the rows of their calls, and no message is lost", () => {
  const { rows, totals, rowOf } = arrange(SAID);
  assert.deepEqual(
    rows.map(({ id, kind }) => [id, kind]),
    [
      ["m0", "user"],
      ["m1", "assistant"],
      ["m4", "note"],
      ["m5", "user"],
      ["m6", "tool"],
    ],
  );
  assert.equal(
    rows.reduce((sum, { messageCount }) => sum + messageCount, 0),
    SAID.length,
  );
  assert.deepEqual(
    [...rowOf.keys()].sort(),
    SAID.map(({ id }) => id),
  );
  assert.equal(rowOf.get("m3"), 1);
  assert.deepEqual([totals.messages, totals.calls, totals.failed, totals.tokens], [7, 2, 1, 70]);
});

test("a turn begins with what a person asks, not with what the client adds", () => {
  const { turns } = arrange(SAID);
  assert.deepEqual(
    turns.map(({ number, title, messageCount, failed, firstRow, lastRow }) => [
      number,
      title,
      messageCount,
      failed,
      firstRow,
      lastRow,
    ]),
    [
      [1, "Fix the average.", 5, 1, 0, 2],
      [2, "And now? Tell me.", 2, 0, 3, 4],
    ],
  );
});

test("a call says its one argument, and how it went", () => {
  const { rows } = arrange(SAID);
  assert.deepEqual(
    rows[1].calls.map(({ argument, failed, outcome, ms }) => [argument, failed, outcome, ms]),
    [
      ["ls", false, "", 1_000],
      ["pytest", true, "exit 1", 2_000],
    ],
  );
  const broken = describeCall({ id: "c", name: "X", arguments: '{"command": ' }, undefined, undefined);
  assert.deepEqual([broken.argument, broken.outcome, broken.failed], ['{"command":', "no result", false]);
});

test("a file whose name has hidden characters is told with them, in one line", () => {
  const input = JSON.stringify({ file_path: "a\u202egnp\n.exe", old_string: "a", new_string: "b" });
  const call = describeCall({ id: "a", name: "Edit", arguments: input }, undefined, undefined);
  assert.equal(call.argument, "a‹U+202E›gnp .exe");
  assert.deepEqual(call.files, ["a\u202egnp\n.exe"]);
});

test("an edit shows what was removed and added, between what stays", () => {
  const lines = diffLines({
    path: "a",
    removed: ["a", "b", "c"],
    added: ["a", "x", "y", "c"],
    isNew: false,
    from: undefined,
  });
  assert.deepEqual(
    lines.map(({ sign, text }) => sign + text),
    [" a", "-b", "+x", "+y", " c"],
  );
  assert.deepEqual(
    diffLines({ path: "a", removed: ["a", "a"], added: ["a"], isNew: false, from: undefined }).map(({ sign }) => sign),
    [" ", "-"],
  );
});

test("of a changed line the words are told that the other has not, and of another line none", () => {
  const lines = diffLines({
    path: "a",
    from: undefined,
    removed: ["keep", "return sum(values) / len(values) + 1", "gone"],
    added: ["keep", "return sum(values) / count", "wholly different", "more"],
    isNew: false,
  });
  const marked = lines.map((line) => [
    line.sign,
    piecesOf(line)
      .filter(({ isChanged }) => isChanged)
      .map(({ text }) => text)
      .join("|"),
    piecesOf(line)
      .map(({ text }) => text)
      .join("") === line.text,
  ]);
  assert.deepEqual(
    marked.map(([sign, , isWhole]) => [sign, isWhole]),
    [..." --+++"].map((sign) => [sign, true]),
  );
  const words = marked.map(([, changed]) => String(changed));
  assert.match(words[1], /len.*values.*1/);
  assert.equal(words[3], "count");
  assert.deepEqual([words[0], words[2], words[4], words[5]], ["", "", "", ""]);
});

test("edits far apart leave what is between them", () => {
  const removed = Array.from({ length: 50 }, (_, line) => `line ${line}`);
  const added = removed.with(3, "first").with(40, "second");
  const lines = diffLines({ path: "a", from: undefined, removed, added, isNew: false });
  assert.deepEqual(
    lines.filter(({ sign }) => sign !== " ").map(({ sign, text }) => sign + text),
    ["-line 3", "+first", "-line 40", "+second"],
  );
});

test("a patch of one file is an edit: of a new file, or one that is renamed", () => {
  const added = "*** Begin Patch\n*** Add File: src/a.js\n+one\n+two\n*** End Patch";
  const { changes, argument, files, kind } = describeCall(
    { id: "p", name: "apply_patch", arguments: JSON.stringify({ input: added }) },
    undefined,
    undefined,
  );
  assert.deepEqual(changes, [{ path: "src/a.js", from: undefined, removed: [], added: ["one", "two"], isNew: true }]);
  assert.deepEqual([argument, files, kind], ["src/a.js", ["src/a.js"], "edit"]);
  const moved = "*** Begin Patch\n*** Update File: a.js\n*** Move to: b.js\n@@\n same\n-old\n+new\n*** End Patch";
  const renamed = { path: "b.js", from: "a.js", removed: ["same", "old"], added: ["same", "new"], isNew: false };
  assert.deepEqual(readPatch(moved), [renamed]);
  assert.deepEqual(readPatch(`${added}${moved}`.replace("*** End Patch*** Begin Patch\n", "")), [...changes, renamed]);
  assert.deepEqual(readPatch("no patch"), []);
});

test("a patch of several files is an edit of each, and a search finds their names", () => {
  const patch = `*** Begin Patch
*** Update File: src/one.js
@@
-before
+after
*** Add File: src/two.js
+++ text that begins with two signs
*** Delete File: src/three.js
*** End Patch`;
  const asked = { id: "p", name: "shell", arguments: JSON.stringify({ command: ["apply_patch", patch] }) };
  const { changes, argument, files } = describeCall(asked, undefined, undefined);
  assert.deepEqual(
    changes.map(({ path, removed, added, isNew }) => [path, removed, added, isNew]),
    [
      ["src/one.js", ["before"], ["after"], false],
      ["src/two.js", [], ["++ text that begins with two signs"], true],
      ["src/three.js", [], [], false],
    ],
  );
  assert.equal(argument, "src/one.js and 2 more");
  assert.deepEqual(files, ["src/one.js", "src/two.js", "src/three.js"]);
  const { rows, totals } = arrange(
    /** @type {any[]} */ ([message(0, { role: "assistant", assistant: { toolCalls: [asked] } })]),
  );
  assert.deepEqual([...totals.files.keys()], files);
  const found = findHits(rows, new Map(), "src/two.js").groups.map(({ part, count }) => [part, count]);
  assert.deepEqual(found, [["input-p", 1]]);
});

test("an edit in several places, as Claude Code logged it, has the lines of each", () => {
  const log = new URL(
    "../fixtures/claude-code/claude-code-log/messages/tools/MultiEdit-tool_use.jsonl",
    import.meta.url,
  );
  const [line] = readFileSync(log, "utf8").split("\n");
  const [{ id, name, input }] = JSON.parse(line).message.content;
  const { changes, argument, kind } = describeCall(
    { id, name, arguments: JSON.stringify(input) },
    undefined,
    undefined,
  );
  assert.deepEqual([argument, kind, changes.length], [input.file_path, "edit", input.edits.length]);
  assert.ok(changes.length > 1);
  changes.forEach(({ path, removed, added }, place) => {
    assert.equal(path, input.file_path);
    assert.equal(removed.join("\n"), input.edits[place].old_string.replace(/\n$/, ""));
    assert.equal(added.join("\n"), input.edits[place].new_string.replace(/\n$/, ""));
  });
  const { totals } = arrange(
    /** @type {any[]} */ ([
      message(0, { role: "assistant", assistant: { toolCalls: [{ id, name, arguments: JSON.stringify(input) }] } }),
    ]),
  );
  assert.deepEqual(totals.files.get(input.file_path)?.rows, ["m0"]);
});

test("a search finds what is folded, and opens it while it is the current hit", () => {
  const model = new Model(/** @type {any} */ ({}));
  model.add(SAID);
  const find = (/** @type {string} */ text) => findHits(model.rows, new Map(), text);
  assert.deepEqual(
    find("calc").groups.map(({ row, part, folds }) => [row, part, folds.map((fold) => fold.part)]),
    [[1, "output-a", ["a"]]],
  );
  const [, row] = model.rows;
  assert.equal(model.isOpen(row, "a", row.calls[0]), false);
  assert.equal(model.isOpen(row, "b", row.calls[1]), true);
  model.search("calc");
  assert.equal(model.isOpen(row, "a", row.calls[0]), true);
  model.search("");
  assert.equal(model.isOpen(row, "a", row.calls[0]), false);
  for (const sign of "\\^$*+()[]{}|/-") assert.equal(find(sign).length, 0, sign);
  assert.equal(find("AVERAGE.").length, 1);
});

test("a revised message stays at its place, and folds stay as a person left them", () => {
  const model = new Model(/** @type {any} */ ({}));
  model.add(SAID);
  model.setOpen(model.rows[1], "a", true);
  model.add([{ ...SAID[1], rev: 1, content: "I look again." }]);
  assert.equal(model.rows.length, 5);
  assert.equal(model.rows[1].message.content, "I look again.");
  assert.equal(model.isOpen(model.rows[1], "a", model.rows[1].calls[0]), true);
});

test("keys name actions, two of them also one after another", () => {
  const keys = new Keys();
  assert.deepEqual(
    ["j", "g", "g", "g", "j", "q"].map((key) => keys.press(key)),
    ["nextMessage", undefined, "toStart", undefined, "nextMessage", undefined],
  );
});

test("numbers, times and models are written short", () => {
  assert.deepEqual([999, 1_000, 38_200, 112_224, 999_900, 2_560_000].map(formatShort), [
    "999",
    "1 k",
    "38.2 k",
    "112 k",
    "1 M",
    "2.56 M",
  ]);
  assert.deepEqual([500, 21_000, 180_000, 7_500_000].map(formatDuration), ["0.5 s", "21 s", "3 min", "2 h 5 min"]);
  assert.deepEqual(["claude-sonnet-5-5", "gpt-5", undefined].map(formatModel), ["Sonnet 5.5", "gpt-5", ""]);
});
