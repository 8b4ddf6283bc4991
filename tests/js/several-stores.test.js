// @ts-check
// Several processes with a store on the same files: each finds the sessions as the others left them. What the model of
// tests/faults/model.fault.mjs found, each by itself.
// Tries: src/operation/store/session_index.rs, src/operation/store/list.rs, src/session/document_claims.rs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, mock, test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";

/** @import { Session } from "../../js/session/session.js" */

const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-shared-")));
after(() => rmSync(folder, { recursive: true }));
const [project, other, workspace] = ["one", "two", "work"].map((name) => {
  const path = join(folder, name);
  mkdirSync(path);
  return path;
});
const MINUTE = 60_000;

/** That one store is closed does not close it for the others. */
class SharedStorage extends MemoryStorage {
  async close() {}
}

/** The stores of two processes, and one that has seen nothing. */
async function stores() {
  const storage = new SharedStorage();
  const open = () => openStore({ home: "/home", project, workspace, storage });
  return { storage, mine: await open(), theirs: await open(), open };
}

/** @param {string} content */
const user = (content) => ({ role: "user", content });

/** @param {Session} session */
async function contents(session) {
  const all = [];
  for await (const { content } of session.messages()) all.push(content);
  return all;
}

test("a session that is open here is listed as others left it, also in the index", async () => {
  const { mine, theirs, open } = await stores();
  const session = await mine.create({ placement: "home" });
  await (await theirs.session(session.id)).append(user("theirs"));
  assert.deepEqual(
    (await mine.list()).map(({ title, messageCount }) => [title, messageCount]),
    [["theirs", 1]],
  );
  await session.append(user("mine"));
  await (await theirs.session(session.id)).rename("renamed by them");
  await mine.close();
  assert.deepEqual(
    (await (await open()).list()).map(({ title }) => title),
    ["renamed by them"],
  );
});

test("each verb finds the session as others left it", async () => {
  const { mine, theirs } = await stores();
  const session = await mine.create({ placement: "home" });
  const same = await theirs.session(session.id);
  await same.archive();
  await session.unarchive();
  assert.equal((await mine.list()).length, 1);
  await same.setAgent({ model: "theirs", provider: "openai", contextWindow: 1000, baseUrl: "http://localhost" });
  await session.append(user("said"));
  await same.complete();
  assert.deepEqual((await session.resume({ window: 8000, encoding: "estimate-1" })).warnings, [
    "this conversation was marked complete",
  ]);
  const fork = await mine.fork(session);
  assert.deepEqual(fork.metadata.provider, {
    type: "openai",
    model: "theirs",
    contextWindow: 1000,
    baseUrl: "http://localhost",
  });
});

test("a session that another process paused goes on with the next message", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: MINUTE });
  const { mine, theirs } = await stores();
  const session = await mine.create({ placement: "home" });
  await (await theirs.session(session.id)).pause();
  context.mock.timers.tick(MINUTE);
  await session.append(user("said"));
  assert.equal((await theirs.list())[0]?.status, "active");
});

test("a session that was resumed is not paused by the next look, nor is a fork that was just made", async (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: MINUTE });
  const { mine, theirs, open } = await stores();
  const session = await mine.create({ placement: "home" });
  await session.append(user("said"));
  await session.stop();
  context.mock.timers.tick(60 * MINUTE);
  const again = await theirs.session(session.id);
  await again.resume({ window: 8000, encoding: "estimate-1" });
  await (await theirs.fork(again)).close();
  const statuses = async () => (await (await open()).list()).map(({ status }) => status);
  assert.deepEqual(await statuses(), ["active", "active"]);
  context.mock.timers.tick(6 * MINUTE);
  assert.deepEqual(await statuses(), ["paused", "paused"]);
});

test("a session whose folder was moved, deleted or is another's now is found where it is, or not at all", async () => {
  const { mine, theirs } = await stores();
  const session = await mine.create({ placement: "home" });
  await (await theirs.session(session.id)).append(user("said"));
  await session.refresh();
  await theirs.relocate(project ?? "", other ?? "");
  assert.deepEqual(await contents(session), ["said"]);
  await session.append(user("said there"));
  const moved = await mine.session(session.id);
  assert.equal(moved, session);
  assert.deepEqual(await contents(moved), ["said", "said there"]);
  await theirs.delete(await theirs.session(session.id));
  await assert.rejects(contents(session), { code: "not_found" });
  await assert.rejects(session.append(user("lost")), { code: "not_found" });
  await assert.rejects(mine.session(session.id), { code: "not_found" });
  await mine.create({ placement: "workspace", name: "named" });
  await theirs.delete(await theirs.session("named"));
  const second = await theirs.create({ placement: "workspace", name: "named" });
  assert.equal((await mine.session(second.id)).id, second.id);
  await mine.close();
  assert.deepEqual(
    (await theirs.list({ all: true })).map(({ id }) => id),
    [second.id],
  );
});

test("conversations that are begun at once in a workspace are different ones", async () => {
  const { mine, theirs } = await stores();
  const all = await Promise.all([mine, theirs, mine, theirs].map((store) => store.create({ title: "at once" })));
  assert.equal(new Set(all.map(({ path }) => path)).size, 4);
  const named = await Promise.allSettled([mine, theirs].map((store) => store.create({ name: "only-one" })));
  assert.deepEqual(named.map((one) => (one.status === "rejected" ? one.reason.code : one.status)).sort(), [
    "already_exists",
    "fulfilled",
  ]);
  assert.equal((await mine.list()).length, 5);
});

test("a session of the home has no day that names it", async () => {
  const { mine } = await stores();
  await mine.create({ placement: "home" });
  await assert.rejects(mine.session("projects/undefined"), { code: "not_found" });
});

test("a transcript that is imported again goes into its session, wherever that was relocated to", async () => {
  const { storage, mine } = await stores();
  const line = {
    type: "user",
    uuid: "1",
    sessionId: "s",
    timestamp: "2025-11-22T09:00:00Z",
    cwd: project,
    version: "2.1.0",
    message: user("said"),
  };
  await storage.replace("/t.jsonl", new TextEncoder().encode(`${JSON.stringify(line)}\n`));
  const [first] = (await mine.import("/t.jsonl")).imported;
  await mine.relocate(project ?? "", other ?? "");
  const [second] = (await mine.import("/t.jsonl")).imported;
  assert.deepEqual([second?.id, second?.added], [first?.id, 0]);
  assert.equal((await mine.list({ all: true })).length, 1);
});

test("an edit of the document counts in its turn: after what was said before, and until it is taken back", async () => {
  const { storage, mine, open } = await stores();
  const session = await mine.create({ placement: "home", title: "first" });
  const path = join(session.path, "metadata.json");
  const edit = async (/** @type {string} */ title) => {
    const document = JSON.parse(new TextDecoder().decode((await storage.read(path)) ?? undefined));
    await storage.replace(
      path,
      new TextEncoder().encode(JSON.stringify({ ...document, display: { ...document.display, title } })),
    );
  };
  await edit("by hand");
  await session.rename("renamed later");
  assert.equal((await mine.list())[0]?.title, "renamed later");
  await edit("by hand");
  const other = await open();
  await (await other.session(session.id)).append(user("adopts it"));
  await edit("renamed later");
  assert.equal((await (await open()).list())[0]?.title, "renamed later");
});

test("an edit that is taken back before anything is written was none", async () => {
  const { storage, mine, open } = await stores();
  const session = await mine.create({ placement: "home", title: "first" });
  const path = join(session.path, "metadata.json");
  const before = await storage.read(path);
  const document = JSON.parse(new TextDecoder().decode(before ?? undefined));
  await storage.replace(path, new TextEncoder().encode(JSON.stringify({ ...document, status: "archived" })));
  const other = await (await open()).session(session.id);
  assert.equal(other.metadata.status, "archived");
  await storage.replace(path, before ?? new Uint8Array());
  await other.append(user("goes on"));
  assert.deepEqual(
    (await (await open()).list()).map(({ archivedAt }) => archivedAt),
    [undefined],
  );
});

test("lists stand in their order where the index knew another session in the same place", async () => {
  mock.timers.enable({ apis: ["Date"], now: MINUTE });
  try {
    const { mine, open } = await stores();
    await mine.create({ placement: "workspace", name: "reused" });
    await mine.list();
    await mine.delete(await mine.session("reused"));
    mock.timers.tick(1000);
    await mine.create({ placement: "home", title: "between" });
    mock.timers.tick(1000);
    await mine.create({ placement: "workspace", name: "reused", title: "newest" });
    assert.deepEqual(
      (await (await open()).list()).map(({ title }) => title),
      ["newest", "between"],
    );
  } finally {
    mock.timers.reset();
  }
});

test("what no verb can mean is refused with a code, and changes nothing", async () => {
  const { mine } = await stores();
  const session = await mine.create({ placement: "home", agent: { model: "kept" } });
  const create = (/** @type {any} */ options) => mine.create(options);
  for (const wrong of [{ placement: "mars" }, { type: null }, { type: 5 }, { title: {} }, { name: 7 }])
    await assert.rejects(create(wrong), { code: "invalid_request" });
  for (const placement of ["home", "workspace"])
    for (const name of ["..", "a/b", "con", "é", ""])
      await assert.rejects(create({ placement, name }), { code: "invalid_id" });
  for (const agent of /** @type {any[]} */ ([undefined, null, "gpt", 5]))
    await assert.rejects(session.setAgent(agent), { code: "invalid_request" });
  assert.equal(session.metadata.provider.model, "kept");
  assert.deepEqual(await mine.relocate(project ?? "", project ?? ""), { count: 0 });
  assert.deepEqual(
    (await mine.list()).map(({ id }) => id),
    [session.id],
  );
});

test("something else in the place of the conversations hides no other session", async () => {
  const home = join(folder, "home");
  for (const put of [
    (/** @type {string} */ at) => writeFileSync(at, "x"),
    (/** @type {string} */ at) => symlinkSync(folder, at),
  ]) {
    const odd = mkdtempSync(join(folder, "odd-"));
    const before = await openStore({ home, project, workspace: odd });
    await before.create({ placement: "workspace" });
    const { id } = await before.create({ placement: "home" });
    await before.close();
    const store = await openStore({ home, project, workspace: odd });
    rmSync(join(odd, "conversations"), { recursive: true });
    put(join(odd, "conversations"));
    assert.ok((await store.list()).some((one) => one.id === id));
    await assert.rejects(store.create({ placement: "workspace" }), (/** @type {any} */ { code }) =>
      ["not_a_folder", "outside_store"].includes(code),
    );
    await store.close();
  }
});
