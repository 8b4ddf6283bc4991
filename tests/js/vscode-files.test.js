// @ts-check
// Which sessions changed a file, and which edit wrote a line of it.
// Tries: js/vscode/file-edits.js, js/vscode/line-writers.js, js/viewer/calls.js, js/viewer/changes.js

import assert from "node:assert/strict";
import { basename, dirname, isAbsolute, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import fc from "fast-check";

import { openStore } from "../../js/index.js";
import {
  countSessions,
  editsIn,
  findChanges,
  findSessionsOf,
  isSameFile,
  readEdits,
} from "../../js/vscode/file-edits.js";
import { findWriters, formatWriter, isTelling } from "../../js/vscode/line-writers.js";
import { describeCall } from "../../js/viewer/calls.js";
import { git, inFolder, put } from "./git-tools.js";

/** @import { FileEdit } from "../../js/vscode/file-edits.js" */
/** @import { ReadMessage } from "../../js/index.js" */

const FIXTURES = fileURLToPath(new URL("../fixtures/", import.meta.url));
const AGENTS = ["claude-code", "cline", "codex", "continue", "copilot", "gemini", "opencode", "pi", "qwen"];
const OF_NOBODY = "a line that nobody ever wrote, 7f3a";

/** The texts in a call's arguments, however they nest. @param {unknown} value @returns {string[]} */
const textsIn = (value) =>
  typeof value === "string" ? [value] : value && typeof value === "object" ? Object.values(value).flatMap(textsIn) : [];

/** The lines that a call adds, read without what is tried here. @param {string} text its arguments */
function linesAdded(text) {
  if (text.includes("*** Begin Patch"))
    return text.split("\n").flatMap((line) => (line[0] === "+" ? [line.slice(1)] : []));
  const input = JSON.parse(text);
  return [input.edits ?? [], input].flat().flatMap((/** @type {Record<string, string>} */ edit) => {
    const lines = Object.entries(edit).map(([key, value]) => ({
      key,
      lines: typeof value === "string" ? value.split("\n") : [],
    }));
    const before = lines.flatMap(({ key, lines: own }) => (/^old/i.test(key) ? own : []));
    return lines
      .flatMap(({ key, lines: own }) => (/^(new|content|file_text)/i.test(key) ? own : []))
      .filter((line) => !before.includes(line));
  });
}

test("in the transcripts of each agent, a line that an edit wrote is found in it, and another is not", () =>
  inFolder(async (folder) => {
    const store = await openStore({ home: join(folder, "home"), project: folder });
    const [wrote, refused] = [new Set(), new Set()];
    for (const agent of AGENTS) await store.import(join(FIXTURES, agent));
    for (const listed of await store.list({ all: true, type: null })) {
      const session = await store.session(listed.id);
      const messages = [];
      for await (const message of session.messages({ allBranches: true })) messages.push(message);
      await session.close();
      for (const { id, assistant } of messages)
        for (const call of assistant?.toolCalls ?? []) {
          const result = messages.find(({ tool }) => tool?.callId === call.id);
          const { changes, failed } = describeCall(call, result, undefined);
          if (changes.length === 0) continue;
          const [{ path: named }] = changes;
          const path = isAbsolute(named) ? named : join(listed.project ?? "", named);
          const file = { path, folder: dirname(path), relative: basename(path) };
          const found = await findSessionsOf(store, file);
          assert.equal(
            found.some(({ session: { id: one } }) => one === listed.id),
            true,
            `${call.name} of ${named}`,
          );
          assert.equal(await countSessions(store, file), (await findChanges(store, file)).length, path);
          const edits = await readEdits(store, { session: listed, isOwn: false, hits: [] }, file);
          assert.equal(
            edits.some(({ message }) => message === id),
            !failed,
          );
          if (failed) refused.add(listed.agent);
          if (failed) continue;
          for (const line of linesAdded(call.arguments).filter(isTelling)) {
            const [writer] = findWriters([`  ${line}`], edits);
            assert.ok(["line", "whole"].includes(writer?.reason), `${call.name}: ${line}`);
            assert.ok(argumentsOf(messages, writer.edit.message).some((text) => text.includes(line)));
            wrote.add(listed.agent);
          }
          assert.deepEqual(findWriters([OF_NOBODY], edits), []);
        }
    }
    assert.deepEqual([...new Set([...wrote, ...refused])].sort(), AGENTS);
    await store.close();
  }));

/** The arguments of a message's calls, and the texts in them. @param {ReadMessage[]} messages @param {string} id */
function argumentsOf(messages, id) {
  const calls = messages.find((message) => message.id === id)?.assistant?.toolCalls ?? [];
  return calls.flatMap((call) => [call.arguments, ...textsIn(parse(call.arguments))]);
}

/** @param {string} text */
function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The same edit by each tool that edits: this line of a file became that one. */
const [BEFORE, AFTER] = ["const answer = guess();", "const answer = readTheAnswer();"];
const PATCH = `*** Begin Patch
*** Update File: src/a.js
@@
 // The answer
-${BEFORE}
+${AFTER}
*** End Patch`;
const BLOCKS = `------- SEARCH
// The answer
${BEFORE}
=======
// The answer
${AFTER}
+++++++ REPLACE
`;
/** @type {[string, string, unknown][]} */
const EDITS = [
  ["claude-code", "Edit", { file_path: "/p/src/a.js", old_string: BEFORE, new_string: AFTER }],
  ["claude-code", "MultiEdit", { file_path: "/p/src/a.js", edits: [{ old_string: BEFORE, new_string: AFTER }] }],
  ["codex", "apply_patch", PATCH],
  ["codex", "shell", { command: ["apply_patch", PATCH] }],
  ["gemini", "replace", { file_path: "/p/src/a.js", old_string: BEFORE, new_string: AFTER }],
  ["qwen", "edit", { file_path: "/p/src/a.js", old_string: BEFORE, new_string: AFTER }],
  ["opencode", "edit", { filePath: "/p/src/a.js", oldString: BEFORE, newString: AFTER }],
  ["opencode", "apply_patch", { patchText: PATCH }],
  ["pi", "edit", { path: "src/a.js", edits: [{ oldText: BEFORE, newText: AFTER }] }],
  ["pi", "edit", { path: "src/a.js", oldText: BEFORE, newText: AFTER }],
  ["cline", "replace_in_file", { path: "src/a.js", diff: BLOCKS }],
  ["cline", "editor", { path: "/p/src/a.js", old_text: BEFORE, new_text: AFTER }],
  ["copilot", "edit", { path: "/p/src/a.js", old_str: BEFORE, new_str: AFTER }],
  ["copilot", "str_replace_editor", { command: "str_replace", path: "/p/src/a.js", old_str: BEFORE, new_str: AFTER }],
  ["nanocoder", "string_replace", { path: "src/a.js", old_str: BEFORE, new_str: AFTER }],
  ["continue", "Edit", { file_path: "/p/src/a.js", old_string: BEFORE, new_string: AFTER }],
];

const FILE = { path: "/p/src/a.js", folder: "/p", relative: "src/a.js" };
const listed = (/** @type {string} */ agent) => /** @type {any} */ ({ id: agent, agent, project: "/p", title: "" });
const isFile = (/** @type {string} */ path) => isSameFile(path, FILE, "/p", true);

/** @param {string} agent @param {string} name @param {unknown} input @param {object} [tool] of its result */
function editsOf(agent, name, input, tool) {
  const call = { id: "c", name, arguments: typeof input === "string" ? input : JSON.stringify(input) };
  const messages = [
    { id: "m", role: "assistant", content: "", timestamp: "2026-11-12T10:00:00Z", assistant: { toolCalls: [call] } },
    ...(tool ? [{ id: "r", role: "tool", content: "", tool: { callId: "c", name, ...tool } }] : []),
  ];
  return editsIn(/** @type {any} */ (messages), { session: listed(agent), isFile, name: "a.js" });
}

for (const [agent, name, input] of EDITS)
  test(`${name} of ${agent} wrote what it put there, not what stood there`, () => {
    const edits = editsOf(agent, name, input);
    const [writer] = findWriters([`\t${AFTER}`], edits);
    assert.equal(writer?.reason, "line");
    assert.equal(
      formatWriter(writer, 1).replace(/ of .*? wrote/, " wrote"),
      `Likely: ${agent}'s ${name} wrote this very line`,
    );
    assert.deepEqual(findWriters([BEFORE, "// The answer", OF_NOBODY], edits), []);
    assert.deepEqual(editsOf(agent, name, input, { isError: true }), []);
  });

test("an edit of a part of a line, and a command with the line, are said to be that", () => {
  const part = editsOf("claude-code", "Edit", {
    file_path: "/p/src/a.js",
    old_string: "guess()",
    new_string: "readTheAnswer()",
  });
  const command = editsOf("pi", "bash", { command: `cat > src/a.js <<EOF\n${AFTER}\nEOF` });
  const reasonOf = (/** @type {FileEdit[]} */ edits) => findWriters([AFTER], edits)[0]?.reason;
  assert.equal(reasonOf(part), "part");
  assert.equal(reasonOf(command), "command");
  assert.equal(reasonOf([...command, ...part]), "part");
  // A patch has whole lines, so that one of them is no part of another.
  const inPatch = editsOf("codex", "apply_patch", PATCH);
  assert.deepEqual(findWriters([`${AFTER} // so far`], inPatch), []);
  assert.equal(reasonOf(editsOf("pi", "bash", { command: `echo > src/b.js <<EOF\n${AFTER}\nEOF` })), undefined);
  assert.equal(
    reasonOf(editsOf("claude-code", "Edit", { file_path: "/p/b.js", old_string: "", new_string: AFTER })),
    undefined,
  );
});

test("of edits one after the other, a line's writer is the one that brought it last", () => {
  const step = fc.record({
    isWhole: fc.boolean(),
    at: fc.nat(9),
    count: fc.integer({ min: 1, max: 3 }),
    keeps: fc.array(fc.boolean(), { maxLength: 12 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), fc.nat(), (steps, turn) => {
      /** @type {{ text: string, by: number }[]} */
      let lines = [];
      /** @type {FileEdit[]} */
      const edits = [];
      steps.forEach(({ isWhole, at, count, keeps }, by) => {
        const fresh = Array.from({ length: count }, (_, place) => ({ text: `step ${by} line ${place};`, by }));
        const texts = (/** @type {typeof lines} */ some) => some.map(({ text }) => text);
        const first = Math.min(at, lines.length);
        const removed = isWhole ? [] : texts(lines.slice(first, first + 2));
        const added = isWhole
          ? [...lines.filter((_, place) => keeps[place]), ...fresh]
          : [...lines.slice(first, first + 1), ...fresh];
        lines = isWhole ? added : [...lines.slice(0, first), ...added, ...lines.slice(first + 2)];
        const time = new Date(1_790_000_000_000 + by * 1_000).toISOString();
        const change = { path: "a", from: undefined, removed, added: texts(added), isNew: isWhole };
        edits.push({ session: listed("pi"), message: String(by), time, tool: "edit", change, kind: "edit" });
      });
      const place = turn % edits.length;
      const anyOrder = [...edits.slice(place), ...edits.slice(0, place)];
      for (const { text, by } of lines) assert.equal(findWriters([text], anyOrder)[0]?.edit.message, String(by));
    }),
  );
});

test("the lines of a selection are told by who wrote most of them, and brackets by nobody", () => {
  const one = editsOf("pi", "edit", { path: "src/a.js", oldText: "", newText: "first();\nsecond();\n}" });
  const other = editsOf("codex", "apply_patch", PATCH);
  const writers = findWriters(["first();", AFTER, "second();", "}", ""], [...other, ...one]);
  assert.deepEqual(
    writers.map(({ edit, lineCount }) => [edit.session.agent, lineCount]),
    [
      ["pi", 2],
      ["codex", 1],
    ],
  );
  assert.match(formatWriter(writers[0], 3), / wrote 2 of 3 lines$/);
});

test("a path means the file in its folder and in copies of its project, and no other", () => {
  const file = { path: "/w/app/src/a.js", folder: "/w/app", relative: "src/a.js" };
  const is = (/** @type {string} */ named, /** @type {string | undefined} */ project, isOwn = true) =>
    isSameFile(named, file, project, isOwn);
  assert.ok(is("/w/app/src/a.js", "/elsewhere", false), "by its whole path, from anywhere");
  assert.ok(is("./src/a.js", "/w/app"));
  assert.ok(is("a.js", "/w/app/src"), "a session that was held in a folder of the project");
  assert.ok(is("/w/app/.claude/worktrees/x/src/a.js", "/w/app/.claude/worktrees/x"), "a worktree's");
  assert.ok(is("src/a.js", "/tree"), "a worktree's, by its own path");
  assert.ok(is("/other/app/src/a.js", "/other/app", false), "a clone without git, by its folder's name");
  assert.ok(!is("/w/app/lib/src/a.js", "/w/app"), "another file of the project");
  assert.ok(!is("a.js", "/w/app"), "one of the project's top");
  assert.ok(!is("src/a.js", "/another", false), "one of another project");
  assert.ok(!is("/w/app/src/ba.js", "/w/app"));
  const onWindows = { path: "C:\\p\\src\\a.js", folder: "C:\\p", relative: "src\\a.js" };
  assert.ok(isSameFile("C:\\p\\src\\a.js", onWindows, "C:\\p", true));
  assert.ok(isSameFile("src/a.js", onWindows, "C:\\p", true));
});

test("sessions of worktrees and of sub-agents are found, those of another project and those that only read are not", () =>
  inFolder(async (folder) => {
    const [main, tree, other] = ["main", "tree", "other"].map((name) => join(folder, name));
    put(join(main, "src", "a.js"), "");
    put(join(other, "src", "a.js"), "");
    git(main, "init", "-q");
    git(main, "add", "-A");
    git(main, "commit", "-qm", "one");
    git(main, "worktree", "add", "-q", tree);
    /** @param {string} project @param {string} title @param {string} name @param {{ type?: string, isError?: boolean, exitCode?: number, command?: string }} [more] */
    const hold = async (project, title, name, { type, isError, exitCode, command } = {}) => {
      const store = await openStore({ home: join(folder, "store"), project });
      const session = await store.create({ title, type });
      const input = { file_path: join(project, "src", "a.js"), old_string: "", new_string: AFTER };
      const call = { id: "c", name, arguments: JSON.stringify(command ? { command } : input) };
      await session.append([
        { role: "assistant", content: "", assistant: { toolCalls: [call] } },
        { role: "tool", content: "", tool: { callId: "c", name, isError, exitCode } },
      ]);
      await store.close();
    };
    await hold(main, "here", "Edit");
    await hold(main, "a reader", "Read");
    await hold(main, "refused", "Edit", { isError: true });
    await hold(main, "by a command that failed", "bash", { command: "echo > src/a.js", exitCode: 1 });
    await hold(main, "by a command", "bash", { command: "echo > src/a.js" });
    await hold(main, "a sub-agent", "Edit", { type: "subagent" });
    await hold(tree, "in the worktree", "Edit");
    await hold(other, "another", "Edit");
    const store = await openStore({ home: join(folder, "store"), project: main });
    const file = { path: join(main, "src", "a.js"), folder: main, relative: join("src", "a.js") };
    const changes = await findChanges(store, file);
    assert.deepEqual(
      changes.map(({ session, messages }) => [session.title, messages.length]),
      ["in the worktree", "a sub-agent", "by a command", "here"].map((title) => [title, 1]),
    );
    assert.equal(await countSessions(store, file), changes.length);
    await store.close();
  }));

test("a tool that edits, and here only views, is shown as any other", () => {
  const view = { id: "c", name: "str_replace_editor", arguments: JSON.stringify({ command: "view", path: "a.js" }) };
  assert.equal(describeCall(view, undefined, undefined).kind, "tool");
});

test("a line that a write of the whole file left out is of whoever brought it back", () => {
  const write = (/** @type {string} */ content) => editsOf("pi", "write", { path: "src/a.js", content });
  const edit = editsOf("pi", "edit", { path: "src/a.js", oldText: "", newText: AFTER });
  const inOrder = [edit, write("other();"), write(`other();\n${AFTER}`), write(`${AFTER}\nmore();`)].flat();
  const edits = inOrder.map((one, at) => ({ ...one, message: `m${at}`, time: new Date(at * 1_000).toISOString() }));
  assert.deepEqual(
    findWriters([AFTER, "more();"], edits).map((writer) => [writer.edit.message, writer.reason]),
    [
      ["m2", "whole"],
      ["m3", "whole"],
    ],
  );
});
