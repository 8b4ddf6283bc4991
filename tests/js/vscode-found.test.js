// @ts-check
// What is found in agents' folders, as the extension's view shows it.
// Tries: js/vscode/found-rows.js

import assert from "node:assert/strict";
import { test } from "node:test";

import { arrangeFound } from "../../js/vscode/found-rows.js";

/** @param {string} agent @param {string} id @param {string} [parent] */
const session = (agent, id, parent) => ({
  id,
  isNew: true,
  agent,
  sourceId: `own-${id}`,
  title: `Session ${id}`,
  path: `/${agent}/${id}.jsonl`,
  bytes: 100,
  messageCount: 2,
  newMessages: 2,
  ...(parent && { parent: { session: parent } }),
});

/** @param {ReturnType<typeof arrangeFound>} agents */
const outline = (agents) => agents.map(({ agent, rows }) => [agent, ...rows.map(({ id, paths }) => [id, ...paths])]);

test("agents are in the order of their names, and sessions in that in which they were found", () => {
  const found = [session("codex", "b"), session("claude-code", "z"), session("codex", "a")];
  assert.deepEqual(outline(arrangeFound(found)), [
    ["claude-code", ["z", "/claude-code/z.jsonl"]],
    ["codex", ["b", "/codex/b.jsonl"], ["a", "/codex/a.jsonl"]],
  ]);
});

test("a sub-agent's session comes with the one that ran it, and alone where that is imported", () => {
  const found = [session("codex", "sub", "mid"), session("codex", "mid", "codex/own-top"), session("codex", "top")];
  const all = ["top", "/codex/top.jsonl", "/codex/sub.jsonl", "/codex/mid.jsonl"];
  assert.deepEqual(outline(arrangeFound(found)), [["codex", all]]);
  assert.deepEqual(outline(arrangeFound([session("codex", "sub", "gone")])), [["codex", ["sub", "/codex/sub.jsonl"]]]);
  const circle = [session("codex", "a", "b"), session("codex", "b", "a")];
  assert.equal(arrangeFound(circle).flatMap(({ rows }) => rows.flatMap(({ paths }) => paths)).length, 2);
});

test("a row has the first day on which something of it is deleted", () => {
  const found = [session("claude-code", "top"), session("claude-code", "sub", "top"), session("claude-code", "kept")];
  const expiring = [
    { path: "/claude-code/top.jsonl", id: "top", expires: "2026-12-12T00:00:00.000Z" },
    { path: "/claude-code/sub.jsonl", id: "sub", expires: "2026-12-11T00:00:00.000Z" },
  ];
  const [{ rows = [] } = {}] = arrangeFound(found, expiring);
  assert.deepEqual(
    rows.map(({ id, expires }) => [id, expires]),
    [
      ["top", "2026-12-11T00:00:00.000Z"],
      ["kept", undefined],
    ],
  );
});
