// @ts-check
// What the newest clients are compared by: what a client's file has that another version's has not, without any value
// of it.
// Tries: scripts/newest-clients.mjs, tests/clients/shape.mjs
import assert from "node:assert/strict";
import { test } from "node:test";

import { hasFailed, isEnough, rowsOf, table } from "../clients/candidates.mjs";
import { compareShapes, shapeOf } from "../clients/shape.mjs";

/** @param {object[]} records */
const lines = (records) => shapeOf(records.map((record) => `${JSON.stringify(record)}\n`).join(""));

/** @param {object[]} before @param {object[]} after */
const difference = (before, after) => compareShapes(lines(before), lines(after));

test("values, and keys that are ids, paths, commands or a tool's parameters, make no difference", () => {
  const record = (/** @type {string} */ id, /** @type {string} */ path) => ({
    type: "user",
    id,
    seen: { [id]: 1, [path]: { mode: 2 } },
    schema: { properties: { [id.slice(0, 3)]: { type: "string" } } },
    message: { content: [{ type: "text", text: id }] },
  });
  const found = difference(
    [record("0199aabbccdd", "/home/a b.txt")],
    [record("step12345c0", "/tmp/other.rs"), record("call_123", "ls -l")],
  );
  assert.deepEqual(found, { added: [], removed: [], changed: [] });
});

test("what is new is named by its path, as a whole where all of it is new", () => {
  const before = [
    { type: "turn" },
    { type: "event_msg", payload: { type: "token_count", info: null } },
    { type: "user", message: { content: [{ type: "text", text: "a" }] } },
  ];
  const after = [
    { type: "event_msg", payload: { type: "token_count", info: { total: 1 }, limits: { primary: { used: 1 } } } },
    {
      type: "user",
      message: {
        content: [
          { type: "text", text: "a", source: true },
          { type: "image", url: "b" },
        ],
      },
    },
    { type: "event_msg", payload: { type: "warning", text: "c" } },
    { type: "turn", internal_chat_message_metadata_passthrough: null },
  ];
  const { added, removed, changed } = difference(before, after);
  assert.deepEqual(added, [
    { path: "event_msg/token_count.payload.info.total", kinds: "number" },
    { path: "event_msg/token_count.payload.limits", kinds: "object" },
    { path: "user.message.content[text].source", kinds: "boolean" },
    { path: "user.message.content[image]", kinds: "object" },
    { path: "event_msg/warning", kinds: "object" },
    { path: "turn.internal_chat_message_metadata_passthrough", kinds: "null" },
  ]);
  assert.deepEqual(removed, []);
  assert.deepEqual(changed, [{ path: "event_msg/token_count.payload.info", kinds: "null, now object" }]);
  assert.deepEqual(difference(after, before).removed, added);
});

test("a document and its lines are read alike, and messages are told apart by who speaks", () => {
  const document = {
    info: { id: "a" },
    messages: [
      { info: { role: "user" }, parts: [] },
      { info: { role: "assistant", cost: 0 }, parts: [{ type: "tool" }] },
    ],
  };
  assert.deepEqual(shapeOf(JSON.stringify(document, null, 2)), shapeOf(JSON.stringify(document)));
  assert.ok(shapeOf(JSON.stringify(document)).has("session.messages[assistant].info.cost"));
  assert.ok(!shapeOf(JSON.stringify(document)).has("session.messages[user].info.cost"));
});

const client = /** @type {any} */ ({ name: "A client" });
const other = /** @type {any} */ ({});

test("each new field stands beside what leftoff says of it, and what leftoff loses besides follows", () => {
  const added = [
    { path: "user.mood", kinds: "string" },
    { path: "mark", kinds: "object" },
    { path: "user.reads", kinds: "string" },
    { path: "end.usage.sum", kinds: "number" },
  ];
  const lost = [
    { field: "user.mood", count: 2, why: "no place" },
    { field: "record:mark", count: 1, why: "no message" },
    { field: "version:2", count: 1, why: "newer" },
  ];
  // A record that was lost before, too.
  const losses = [
    ...lost,
    { field: "record:end", count: 1, why: "no message" },
    { field: "user.read", count: 1, why: "no place" },
  ];
  const ring = [
    { pair: "a in b", ok: true },
    { pair: "b in a", ok: false },
  ];
  const { summary, details } = rowsOf([
    {
      client,
      pinned: "1",
      version: "2",
      other,
      hold: true,
      ring,
      changes: { added, removed: [{ path: "user.old", kinds: "null" }], changed: [], losses, lost },
    },
  ]);
  assert.deepEqual(summary, [["A client", "1", "2", "ok", "FAILED: b in a", "4 new, 1 gone"]]);
  assert.deepEqual(
    details.map((row) => row.slice(1)),
    [
      ["new", "user.mood: string", "lost: no place"],
      ["new", "mark: object", "lost: no message"],
      ["new", "user.reads: string", "not listed as lost"],
      ["new", "end.usage.sum: number", "lost: no message"],
      ["gone", "user.old: null", ""],
      ["lost", "version:2", "newer"],
    ],
  );
});

test("a version that is pinned, cannot be driven, or wrote nothing is told of as such", () => {
  const { summary, details } = rowsOf([
    { client, pinned: "1", version: "1" },
    { client, pinned: "1", version: "2", why: "it wants Node >=99, and there is v20.0.0" },
    { client, pinned: "1", version: "3", other, hold: false, ring: [] },
  ]);
  assert.deepEqual(
    summary.map((row) => row.slice(3)),
    [
      ["", "", "as pinned"],
      ["not driven", "not driven", "it wants Node >=99, and there is v20.0.0"],
      ["FAILED", "FAILED: no pair was tried", "not compared: one of them wrote no file"],
    ],
  );
  assert.deepEqual(details, []);
});

test("what was driven has failed unless it holds, and every pair of the ring is right", () => {
  const candidate = { client, pinned: "1", version: "2", other, hold: true, ring: [{ pair: "a in b", ok: true }] };
  assert.equal(hasFailed(candidate), false);
  assert.equal(hasFailed({ ...candidate, hold: false }), true);
  assert.equal(hasFailed({ ...candidate, ring: [] }), true);
  assert.equal(hasFailed({ ...candidate, ring: [...candidate.ring, { pair: "b in a", ok: false }] }), true);
  assert.equal(hasFailed({ client, pinned: "1", version: "2", why: "it is not there" }), false);
});

test("a least version of Node is compared number by number, and any other wish is left to the client", () => {
  const cases = /** @type {const} */ ([
    [">=22.19.0", "v22.19.0", true],
    [">=22.19.0", "v22.9.1", false],
    [">= 20", "v20.0.1", true],
    [">=24", "v20.20.2", false],
    ["^20 || ^22", "v18.0.0", true],
  ]);
  for (const [wants, has, enough] of cases) assert.equal(isEnough(wants, has), enough, `${wants} with ${has}`);
});

test("a table's cells keep to themselves", () => {
  assert.equal(table(["a", "b"], [["x|y", "one\ntwo"]]), "| a | b |\n|---|---|\n| x\\|y | one two |");
});
