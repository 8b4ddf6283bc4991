// @ts-check
/** A session has one current path, whoever reads it; other branches are given by request, and marked. */
// Tries: src/session/branch.rs, src/export/, src/operation/store/fork.rs

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { SessionManager } from "../../js/compat/index.js";
import { nodePath } from "./node-path.js";

const home = mkdtempSync(join(tmpdir(), "leftoff-paths-"));
after(() => rmSync(home, { recursive: true }));
const store = await openStore({ home, project: home });
const session = await store.create({ model: "gpt-5" });

const call = (/** @type {string} */ id) => ({
  role: "assistant",
  content: "",
  assistant: { toolCalls: [{ id, name: "Bash", arguments: "{}" }] },
});
await session.append({ id: "a", role: "user", content: "one" });
await session.append([
  { id: "b", role: "assistant", content: "two" },
  { id: "c", ...call("left") },
]);
await session.appendTool({
  call: { id: "left", name: "Bash", arguments: {} },
  result: { success: true, content: "of the left" },
});
await session.append({ id: "d", role: "user", content: "another way", parentId: "b", branch: true });
await session.append({ id: "e", ...call("right") });
await session.appendTool({
  call: { id: "right", name: "Bash", arguments: {} },
  result: { success: true, content: "of the right" },
});
await session.append({ id: "f", role: "assistant", content: "", assistant: { reasoning: [{ text: "I think so." }] } });
await session.flush();

/** @param {import("../../js/types/index.js").Reading} [reading] */
async function contents(reading) {
  const said = [];
  for await (const { id, role, content, onPath } of session.messages(reading))
    said.push([role === "tool" ? content : id, ...(onPath === false ? ["off"] : [])].join(" "));
  return said;
}

/** @param {string[]} args */
function runCli(...args) {
  const { stdout, stderr, status } = spawnSync(
    nodePath,
    [fileURLToPath(new URL("../../js/cli/index.js", import.meta.url)), ...args, "--home", home, "--workspace", home],
    { encoding: "utf8" },
  );
  assert.equal(status, 0, stderr);
  return stdout;
}

const current = ["a", "b", "d", "e", "of the right", "f"];

test("messages are those of the current path, and others by request, marked", async () => {
  assert.deepEqual(await contents(), current);
  assert.deepEqual(await contents({ newestFirst: true }), current.toReversed());
  assert.deepEqual(await contents({ allBranches: true }), [
    "a",
    "b",
    "c off",
    "of the left off",
    "d",
    "e",
    "of the right",
    "f",
  ]);
  assert.deepEqual(await contents({ leaf: "c" }), ["a", "b", "c", "of the left"]);
  assert.deepEqual(await contents({ leaf: "c", allBranches: true }), [
    "a",
    "b",
    "c",
    "of the left",
    "d off",
    "e off",
    "of the right off",
    "f off",
  ]);
  const { messages } = await session.context({ window: 8000 });
  assert.deepEqual(
    messages.map(({ role, id, content }) => (role === "tool" ? content : id)),
    current,
  );
});

test("every reader has the same path", async () => {
  const shown = JSON.parse(runCli("show", session.id, "--json"));
  assert.deepEqual(
    shown.map((/** @type {any} */ { role, id, content }) => (role === "tool" ? content : id)),
    current,
  );
  assert.deepEqual(
    JSON.parse(runCli("show", session.id, "--json", "--last", "2"))
      .map((/** @type {any} */ { id }) => id)
      .at(-1),
    "f",
  );
  const exported = JSON.parse(await session.export("json"));
  assert.deepEqual(
    exported.messages.map((/** @type {any} */ { role, id, content }) => (role === "tool" ? content : id)),
    current,
  );
  assert.deepEqual(
    exported.toolExecutions.map((/** @type {any} */ { toolCallId }) => toolCallId),
    ["right"],
  );
  for (const text of [
    runCli("show", session.id),
    await session.export("markdown"),
    runCli("export", session.id, "--to", "markdown"),
  ]) {
    assert.match(text, /another way/);
    assert.doesNotMatch(text, /of the left|another branch/);
  }
  const manager = new SessionManager({ home });
  const kept = await (await manager.loadSession(session.id)).getMessages();
  assert.deepEqual(
    kept.map(({ id }) => id).filter((id) => id.length === 1),
    current.filter((id) => id.length === 1),
  );
  await manager.close();
});

test("other branches are shown and exported by request, each message marked", async () => {
  const off = (/** @type {any[]} */ messages) =>
    messages.filter(({ onPath }) => onPath === false).map(({ role, id, content }) => (role === "tool" ? content : id));
  assert.deepEqual(off(JSON.parse(runCli("show", session.id, "--json", "--all-branches"))), ["c", "of the left"]);
  const exported = JSON.parse(await session.export("json", { allBranches: true }));
  assert.deepEqual(off(exported.messages), ["c", "of the left"]);
  assert.deepEqual(exported.toolExecutions.length, 2);
  for (const text of [
    runCli("show", session.id, "--all-branches"),
    runCli("export", session.id, "--to", "markdown", "--all-branches"),
  ])
    assert.equal(text.match(/of another branch/g)?.length, 2);
});

test("an answer of reasoning alone says what it reasoned", async () => {
  assert.match(runCli("show", session.id), /--- \d+ assistant, [^\n]*\n {2}~ I think so\.\n/);
  assert.match(await session.export("markdown"), /\n> I think so\.\n/);
});

test("a message of files or of hidden reasoning alone is not empty either", async () => {
  const other = await store.create();
  await other.append({ role: "user", content: "", attachments: [{ mime: "image/png", name: "a.png", data: "AAAA" }] });
  await other.append({ role: "assistant", content: "", assistant: { reasoning: [{ text: "", data: "AAAA" }] } });
  const text = runCli("show", other.id);
  assert.match(text, /a\.png, image\/png/);
  assert.match(text, /reasoning that only its provider can read/);
  assert.match(await other.export("markdown"), /reasoning that only its provider can read/);
});

test("a fork at a message of another branch takes over the path of that message", async () => {
  const fork = await store.fork(session, { at: "c" });
  const ids = [];
  for await (const { id } of fork.messages({ allBranches: true })) ids.push(id);
  assert.deepEqual(ids, ["a", "b", "c"]);
  const whole = await store.fork(session);
  const said = [];
  for await (const { role, id, content } of whole.messages()) said.push(role === "tool" ? content : id);
  assert.deepEqual(said, current);
});

test("a branch that begins while messages are read does not change what is read", async () => {
  const other = await store.create();
  for (let nth = 0; nth < 600; nth += 1)
    await other.append({ id: `m${nth}`, role: "user", content: `message ${nth}` }, { durability: "buffered" });
  await other.append({ id: "n", role: "user", content: "another way", parentId: "m598", branch: true });
  const ids = [];
  for await (const { id } of other.messages()) {
    if (ids.push(id) === 1)
      await other.append({ id: "o", role: "user", content: "a third", parentId: "m0", branch: true });
  }
  assert.deepEqual(ids.slice(-2), ["m598", "n"]);
  assert.equal(ids.length, 600);
});
