// @ts-check
// What the viewer's search field hides and finds: filters by words, what they leave, counts, hits in sub-agents.
// Tries: js/viewer/query.js, js/viewer/filters.js, js/viewer/search.js, js/viewer/model.js, js/viewer/children.js

import assert from "node:assert/strict";
import { test } from "node:test";
import { arrange } from "../../js/viewer/conversation.js";
import { Model } from "../../js/viewer/model.js";
import { parseQuery, writeQuery } from "../../js/viewer/query.js";
import { MAX_HITS } from "../../js/viewer/search.js";

/** @param {string} id @param {object} fields @returns {any} */
const message = (id, fields) => ({ id, content: "", tokens: { count: 10 }, ...fields });
/** @param {string} id @param {string} name @param {object} input */
const call = (id, name, input) => ({ id, name, arguments: JSON.stringify(input) });
/** @param {string} callId @param {string} content @param {boolean} [isError] */
const result = (callId, content, isError = false) =>
  message(`r-${callId}`, { role: "tool", content, tool: { callId, name: "x", isError } });
const SAID = [
  message("u1", { role: "user", content: "Find the needle." }),
  message("a1", {
    role: "assistant",
    content: "I look for it.",
    assistant: {
      toolCalls: [call("ls", "Bash", { command: "ls" }), call("read", "Read", { file_path: "/p/src/a b.js" })],
    },
  }),
  result("ls", "a needle, and a Needle"),
  result("read", "no such file", true),
  message("a2", {
    role: "assistant",
    content: "Now the rest.",
    assistant: { toolCalls: [call("edit", "Edit", { file_path: "/p/src/x.js", old_string: "a", new_string: "b" })] },
  }),
  result("edit", "done"),
  message("u2", { role: "user", content: "Thanks." }),
  message("a3", {
    role: "assistant",
    content: "",
    assistant: { toolCalls: [call("ask", "Agent", { prompt: "Look again." })] },
  }),
  result("ask", "Nothing is there."),
];

function modelOf(messages = SAID) {
  const model = new Model(/** @type {any} */ ({ project: { path: "/p", name: "p" } }));
  model.add(messages);
  return model;
}

/** The rows that are shown, and in their place how many messages are hidden. @param {Model} model */
const shown = (model) =>
  model.filters.items?.map(({ from, hidden }) => (hidden > 0 ? hidden : model.rows[from].id)) ??
  model.rows.map(({ id }) => id);

test("filters are words of what is typed, and the rest is the text", () => {
  const filter = (/** @type {string} */ kind, /** @type {string} */ value) => ({ kind, value });
  /** @type {[string, string, object[]][]} */
  const cases = [
    ["two words", "two words", []],
    ["role:user needle here", "needle here", [filter("role", "user")]],
    ["a tool:Bash b is:error", "a b", [filter("tool", "Bash"), filter("is", "error")]],
    ['file:"a b.js" x', "x", [filter("file", "a b.js")]],
    ['file:"a \\"b\\" \\\\c"', "", [filter("file", 'a "b" \\c')]],
    ["file:C:\\x\\y.js", "", [filter("file", "C:\\x\\y.js")]],
    ["tool:", "", []],
    ['needle file:"a', "needle", []],
    ['"role:user"', "role:user", []],
    ["http://role:8 microrole:user", "http://role:8 microrole:user", []],
    ['say "yes"', 'say "yes"', []],
  ];
  for (const [typed, text, filters] of cases) assert.deepEqual(parseQuery(typed), { text, filters }, typed);
  for (const [typed] of cases)
    assert.deepEqual(parseQuery(writeQuery(parseQuery(typed))), parseQuery(typed), `written again: ${typed}`);
});

test("a filter leaves rows, and says how many messages are hidden between them", () => {
  const model = modelOf();
  /** @type {[string, (string | number)[]][]} */
  const cases = [
    ["role:user", ["u1", 5, "u2", 2]],
    ["role:YOU", ["u1", 5, "u2", 2]],
    ["role:tool", [1, "a1", "a2", 1, "a3"]],
    ["tool:bash", [1, "a1", 5]],
    ["tool:Bash tool:Edit", [1, "a1", "a2", 3]],
    ["is:error", [1, "a1", 5]],
    ["is:error tool:Read", [1, "a1", 5]],
    ["is:error tool:Bash", [9]],
    ["file:src/x.js", [4, "a2", 3]],
    ["file:x.js", [4, "a2", 3]],
    ["file:/p/src/x.js", [4, "a2", 3]],
    ["file:.js", [9]],
    ['file:"a b.js"', [1, "a1", 5]],
    ["role:nobody", [9]],
    ["", ["u1", "a1", "a2", "u2", "a3"]],
  ];
  for (const [typed, expected] of cases) {
    model.search(typed);
    assert.deepEqual(shown(model), expected, typed);
  }
});

test("a run of hidden messages is shown when asked for, until the filters are others", () => {
  const model = modelOf();
  model.search("role:user");
  model.reveal(1, 2);
  assert.deepEqual(shown(model), ["u1", "a1", "a2", "u2", 2]);
  model.search("role:user needle");
  assert.deepEqual(shown(model), ["u1", "a1", "a2", "u2", 2]);
  model.search("is:error");
  model.search("role:user");
  assert.deepEqual(shown(model), ["u1", 5, "u2", 2]);
  model.filters.reveal([model.rows[2]]);
  assert.deepEqual(shown(model), ["u1", 3, "a2", "u2", 2]);
});

test("what keys act on is never hidden", () => {
  const model = modelOf();
  model.cursor = 1;
  model.search("role:user");
  assert.equal(model.rows[model.cursor].id, "u2");
  assert.equal(
    model.next(-1, () => true),
    0,
  );
  model.cursor = 4;
  model.search("tool:Bash");
  assert.equal(model.rows[model.cursor].id, "a1");
  assert.deepEqual([model.end(-1), model.end(1), model.next(1, () => true)], [1, 1, undefined]);
  model.search("role:nobody");
  assert.deepEqual([model.end(-1), model.end(1)], [undefined, undefined]);
});

test("hits are those that the filters leave, and counts say what other filters would", () => {
  const model = modelOf();
  model.search("needle");
  assert.deepEqual([model.hits.length, model.hit?.owner.id], [3, "u1"]);
  const { counts } = model.filters;
  assert.deepEqual(
    [counts.all, [...counts.roles], [...counts.tools]],
    [
      3,
      [
        ["user", 1],
        ["tool", 2],
      ],
      [["Bash", 2]],
    ],
  );
  model.search("role:tool needle");
  assert.deepEqual([model.hits.length, model.hit?.nth, model.filters.counts.roles.get("user")], [2, 0, 1]);
  model.search("role:user role:tool needle");
  assert.equal(model.hits.length, 3);
  model.search("is:error");
  assert.deepEqual([model.filters.counts.errors, [...model.filters.counts.files]], [1, [["/p/src/a b.js", 1]]]);
});

test("a chip is the only filter of its kind, and none once it is pressed again", () => {
  const model = modelOf();
  model.search("role:user needle");
  assert.equal(model.filters.queryToggling({ kind: "role", value: "tool" }), "role:tool needle");
  assert.equal(model.filters.queryToggling({ kind: "tool", value: "Bash" }), "role:user tool:Bash needle");
  assert.equal(model.filters.queryToggling({ kind: "role", value: "user" }), "needle");
  assert.equal(model.filters.queryWithout(), "needle");
});

test("a hit in a sub-agent opens each fold around it, and leaving it folds them as they were", () => {
  const model = modelOf();
  const { rows } = arrange([
    message("cu", { role: "user", content: "Look again." }),
    message("ca", {
      role: "assistant",
      content: "In the hay:",
      assistant: { toolCalls: [call("deep", "Bash", { command: "cat hay" })] },
    }),
    result("deep", "here is the needle"),
    message("cb", { role: "assistant", content: "Nothing is there." }),
  ]);
  model.addChild("ask", { id: "child", messageCount: 4, rows });
  model.search("the needle");
  assert.equal(model.hits.length, 2);
  const outer = model.rows[4];
  const [inner] = rows[1].calls;
  const state = () => [model.isOpen(outer, "ask", outer.calls[0]), model.isOpen(rows[1], "deep", inner)];
  assert.deepEqual(state(), [false, false]);
  assert.deepEqual([model.hitsIn(outer, "ask"), model.hitsIn(rows[1], "deep")], [1, 1]);
  model.moveHit(1);
  assert.deepEqual([model.cursor, model.hit?.owner.id, ...state()], [4, "ca", true, true]);
  model.moveHit(1);
  assert.deepEqual(state(), [false, false]);
  model.setOpen(outer, "ask", true);
  model.moveHit(1);
  model.setOpen(rows[1], "deep", false);
  model.search("");
  assert.deepEqual(state(), [true, false]);
  // The prompt and the report are found once, in the call.
  for (const text of ["Look again.", "Nothing is there."]) {
    model.search(text);
    assert.deepEqual([text, model.hits.length], [text, 1]);
  }
});

test("a failed call that was folded by hand is folded again once a hit in it is left", () => {
  const model = modelOf();
  model.setOpen(model.rows[1], "read", false);
  model.search("no such file");
  assert.equal(model.isOpen(model.rows[1], "read", model.rows[1].calls[1]), true);
  model.search("");
  assert.equal(model.isOpen(model.rows[1], "read", model.rows[1].calls[1]), false);
});

test("from a limit on each text counts as one hit, and no text is left out", () => {
  const model = modelOf([
    message("many", { role: "user", content: "e".repeat(MAX_HITS) }),
    message("more", { role: "user", content: "eee" }),
    message("last", { role: "user", content: "e" }),
  ]);
  model.search("e");
  assert.equal(model.hits.length, MAX_HITS + 2);
  assert.deepEqual([model.hits.get(MAX_HITS)?.row, model.hits.get(MAX_HITS + 1)?.row], [1, 2]);
  assert.equal(model.hits.get(MAX_HITS - 1)?.nth, MAX_HITS - 1);
});
