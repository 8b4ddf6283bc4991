// @ts-check
// What becomes of a session: requirement SESS-005, and the verbs around it.
// Tries: src/record/status.rs, src/session/metadata.rs, src/operation/session_events.rs, src/operation/store/fork.rs,
// src/session/change_request.rs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mock, test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";

/** @typedef {import("../../js/session/session.js").Session} Session */

/**
 * @param {string} law
 * @param {(open: (options?: object) => Promise<import("../../js/store/store.js").Store>, folder: string) => Promise<void>} body
 */
function check(law, body) {
  test(law, async () => {
    const folder = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "leftoff-lifecycle-")));
    /** @type {import("../../js/store/store.js").Store[]} */
    const stores = [];
    try {
      await body(async (options = {}) => {
        const store = await openStore({ home: join(folder, "home"), project: folder, countTokens: false, ...options });
        stores.push(store);
        return store;
      }, folder);
    } finally {
      for (const store of stores) await store.close();
      fs.rmSync(folder, { recursive: true });
    }
  });
}

const said = { role: /** @type {const} */ ("user"), content: "said" };
const window = { window: 8000, encoding: "estimate-1" };
const status = (/** @type {Session} */ session) => session.metadata.lifecycle;
const code = (/** @type {string} */ expected) => (/** @type {unknown} */ error) =>
  error instanceof LeftoffError && error.code === expected;
/** @param {Session} session */
const events = (session) =>
  fs
    .readFileSync(join(session.path, "events.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

check("the status changes as the table says, and refuses the rest", async (open) => {
  const session = await (await open()).create();
  assert.equal(status(session), "active");
  await session.pause();
  assert.equal(status(session), "paused");
  await session.resume(window);
  assert.equal(status(session), "active");
  await session.pause();
  await session.complete({ summary: "done" });
  assert.deepEqual([status(session), session.metadata.summary], ["completed", "done"]);
  await assert.rejects(session.pause(), code("invalid_transition"));
});

check("a completed session is taken up again with an override only", async (open) => {
  const session = await (await open()).create();
  await session.complete();
  const { warnings } = await session.resume(window);
  assert.deepEqual([status(session), warnings], ["completed", ["this conversation was marked complete"]]);
  const again = await session.resume({ ...window, override: true });
  assert.deepEqual([status(session), again.warnings], ["active", []]);
});

check(
  "who goes on with a paused session makes it active; a completed one loses no message and stays so",
  async (open) => {
    const store = await open();
    const paused = await store.create();
    await paused.pause();
    await paused.append(said);
    assert.equal(status(paused), "active");
    const completed = await store.create();
    await completed.complete();
    await completed.append(said);
    assert.deepEqual([status(completed), completed.metadata.stats.messageCount], ["completed", 1]);
  },
);

check(
  "a session without activity is paused by whoever looks next, dated at its last activity, and that is said once",
  async (open) => {
    const store = await open();
    const session = await store.create();
    const timestamp = new Date(Date.now() - 10 * 60_000).toISOString();
    await session.append({ ...said, timestamp });
    await store.close();
    const next = await open();
    assert.deepEqual(
      (await next.list()).map((one) => [one.status, one.lastActive]),
      [["paused", timestamp]],
    );
    const { type, status: now, reason, timestamp: when } = events(session).at(-1);
    assert.deepEqual([type, now, reason, when], ["status", "paused", "idle", timestamp]);
    await next.list();
    assert.equal(events(session).filter((event) => event.reason === "idle").length, 1);
    await next.close();
    const third = await open();
    assert.deepEqual((await third.session(session.id)).notices, []);
  },
);

check("who opens it hears so; the time is a setting; one that somebody has open is left alone", async (open) => {
  const store = await open();
  const session = await store.create();
  const timestamp = new Date(Date.now() - 10 * 60_000).toISOString();
  await session.append({ ...said, timestamp });
  const patient = await open({ idleMs: 60 * 60_000 });
  assert.equal(status(await patient.session(session.id)), "active");
  const other = await open();
  assert.equal(status(await other.session(session.id)), "active", "the first store has it open");
  await other.close();
  await store.close();
  const next = await open();
  const opened = await next.session(session.id);
  assert.equal(status(opened), "paused");
  assert.deepEqual(
    opened.notices.map(({ code: name }) => name),
    ["auto_paused"],
  );
  assert.ok(opened.notices[0]?.message.includes("5 minutes"));
});

check(
  "who has a session open pauses it, and hears so, where nothing happened for long; what is appended goes on",
  async (open) => {
    mock.timers.enable({ apis: ["setInterval", "Date"], now: Date.now() });
    try {
      const store = await open({ idleMs: 60_000 });
      const session = await store.create();
      const until = async (/** @type {string} */ expected) => {
        while (status(session) !== expected) await new Promise(setImmediate);
      };
      for (const round of [1, 2]) {
        await session.append(said);
        assert.equal(status(session), "active");
        mock.timers.tick(40_000);
        await session.append(said);
        mock.timers.tick(40_000);
        await session.refresh();
        assert.equal(status(session), "active", "something was said meanwhile");
        mock.timers.tick(60_000);
        await until("paused");
        await session.refresh();
        assert.deepEqual(
          session.notices.map(({ code: name }) => name),
          Array(round).fill("auto_paused"),
        );
        const last = events(session).at(-1);
        assert.deepEqual(
          [last.status, last.reason, last.timestamp],
          ["paused", "idle", new Date(Date.now() - 100_000).toISOString()],
        );
      }
    } finally {
      mock.timers.reset();
    }
  },
);

check("a session that a dead process had open is found, and that is said once", async (open, folder) => {
  const script = `const { openStore } = await import(${JSON.stringify(new URL("../../js/index.js", import.meta.url).href)});
    const store = await openStore({ home: ${JSON.stringify(join(folder, "home"))}, project: ${JSON.stringify(folder)} });
    const session = await store.create();
    await session.append({ role: "user", content: "acknowledged" });
    console.log(session.id);
    setInterval(() => {}, 1000);`;
  const child = spawn(nodePath, ["--input-type=module", "--eval", script], { stdio: ["ignore", "pipe", "inherit"] });
  const [id] = await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");
  const session = await (await open()).session(String(id).trim());
  assert.deepEqual(
    session.notices.map(({ code: name }) => name),
    ["left_open"],
  );
  assert.ok(session.notices[0]?.message.includes(String(child.pid)));
  assert.equal(session.metadata.stats.messageCount, 1);
  assert.deepEqual((await (await open()).session(session.id)).notices, []);
});

check("archived is a date beside the status, and unarchiving gives the status back", async (open) => {
  const store = await open();
  const session = await store.create({ title: "t" });
  await session.pause();
  await session.archive();
  assert.deepEqual(await store.list(), []);
  assert.deepEqual(
    (await store.list({ status: "archived" })).map((one) => [one.status, typeof one.archivedAt]),
    [["paused", "string"]],
  );
  await session.unarchive();
  assert.deepEqual(
    (await store.list()).map((one) => one.status),
    ["paused"],
  );
  const before = events(session).length;
  await session.unarchive();
  assert.equal(events(session).length, before);
});

check("a fork has what was said up to a message, and says where it comes from", async (open) => {
  const store = await open();
  const session = await store.create({ title: "t", model: "m", type: "debug" });
  const { records } = await session.append([
    said,
    { role: "assistant", content: "x".repeat(300_000) },
    { role: "user", content: "later" },
  ]);
  const fork = await store.fork(session, { at: records[1]?.id });
  const contents = [];
  for await (const { content } of fork.messages()) contents.push(content.length);
  assert.deepEqual(contents, [4, 300_000]);
  const { forkedFrom, display, type, provider } = fork.metadata;
  assert.deepEqual(
    [forkedFrom, display.title, type, provider.model],
    [{ session: session.id, messageId: records[1]?.id }, "t (fork)", "debug", "m"],
  );
  assert.equal(session.metadata.stats.messageCount, 3);
  await assert.rejects(store.fork(session, { at: "nobody" }), code("not_found"));
  await assert.rejects(store.fork(await store.create()), code("not_found"));
});

check("each fork has a title of its own, whatever it is forked from, and keeps one that it is given", async (open) => {
  const store = await open();
  const session = await store.create({ title: "t" });
  await session.append(said);
  const title = async (/** @type {import("../../js/session/session.js").Session} */ of) =>
    (await store.fork(of)).metadata.display.title;
  const fork = await store.fork(session);
  assert.deepEqual(
    [fork.metadata.display.title, await title(session), await title(fork), session.metadata.display.title],
    ["t (fork)", "t (fork 2)", "t (fork 3)", "t"],
  );
  await fork.rename("mine");
  assert.deepEqual([await title(fork), await title(session)], ["mine (fork)", "t (fork)"]);
  // What only looks like a fork's title is one.
  await session.rename("A (fork in the road)");
  assert.equal(await title(session), "A (fork in the road) (fork)");
  const titles = (await store.list()).map((one) => one.title);
  assert.equal(new Set(titles).size, titles.length);
});

check("a fork has what tools did before it, with their results", async (open) => {
  const store = await open();
  const session = await store.create();
  /** @param {string} id @param {string} content */
  const turn = async (id, content) => {
    await session.append([
      said,
      { role: "assistant", content: "", assistant: { toolCalls: [{ id, name: "bash", arguments: "{}" }] } },
    ]);
    return (await session.appendTool({ call: { id, name: "bash" }, result: { content, exitCode: 0 }, durationMs: 5 }))
      .execution;
  };
  const [first] = [await turn("one", "1"), await turn("two", "2")];
  let at;
  for await (const { id } of session.messages()) at = id;
  await turn("three", "3");
  const results = async (/** @type {import("../../js/session/session.js").Session} */ one) =>
    (await one.tools()).map(({ id, ...rest }) => rest);
  const fork = await store.fork(session, { at });
  assert.deepEqual(await results(fork), (await results(session)).slice(0, 2));
  const early = await store.fork(session, { at: first.messageId });
  assert.deepEqual(await results(early), []);
  // What tools do from then on goes on from there.
  assert.equal((await fork.appendTool({ call: { id: "two", name: "bash" }, result: { content: "2" } })).isNew, false);
});

check("a pin is of a message that is there, and is in every context", async (open) => {
  const store = await open();
  const session = await store.create();
  const { records } = await session.append([
    { role: "user", content: "keep this" },
    ...Array.from({ length: 60 }, () => ({ role: "assistant", content: "filler ".repeat(50) })),
    said,
  ]);
  const id = records[0]?.id ?? "";
  const small = { window: 1600, reserve: 0, encoding: "estimate-1" };
  const has = async () => (await session.context(small)).messages.some(({ content }) => content === "keep this");
  assert.equal(await has(), false);
  await session.pin(id);
  assert.equal(await has(), true);
  await session.unpin(id);
  assert.equal(await has(), false);
  await assert.rejects(session.pin("nobody"), code("not_found"));
});

check("what is wrong is refused, and changes nothing", async (open) => {
  const store = await open();
  const session = await store.create();
  const before = fs.readFileSync(join(session.path, "events.jsonl"), "utf8");
  for (const bad of [undefined, 7, null, {}, "", " \n"])
    await assert.rejects(session.rename(/** @type {any} */ (bad)), code("invalid_request"), String(bad));
  await assert.rejects(store.create({ name: "../x", placement: "workspace" }), code("invalid_id"));
  await assert.rejects(store.create({ placement: /** @type {any} */ ("moon") }), code("invalid_request"));
  await assert.rejects(store.commit(session), code("not_in_workspace"));
  assert.equal(fs.readFileSync(join(session.path, "events.jsonl"), "utf8"), before);
});

check("an imported session rests where it was imported", async (open) => {
  const store = await open();
  const file = fileURLToPath(
    new URL("../fixtures/nanocoder/1.30.0/c6d1bddc-6789-4403-85c0-472fee47ed34.json", import.meta.url),
  );
  const { imported } = await store.import(file);
  assert.deepEqual(
    imported.map(({ agent, messageCount, added }) => [agent, messageCount, added]),
    [["nanocoder", 6, 6]],
  );
  assert.equal((await store.import(file)).imported[0]?.added, 0);
  const [listed] = await store.list({ all: true });
  assert.deepEqual([listed?.status, listed?.messageCount], ["paused", 6]);
});

check("what somebody else has open is neither deleted nor moved", async (open, folder) => {
  const first = await open();
  const { id } = await first.create();
  await first.close();
  const store = await open();
  const session = await store.create();
  await session.append(said);
  const other = await open();
  const same = await other.session(session.id);
  await assert.rejects(other.delete(same), code("open_elsewhere"));
  await assert.rejects(other.move(same, { to: "workspace" }), code("open_elsewhere"));
  await assert.rejects(other.relocate(folder, tmpdir()), code("open_elsewhere"));
  assert.deepEqual(
    (await other.list()).map((one) => one.id).sort(),
    [id, session.id],
    "none is moved where one cannot be",
  );
  await session.append(said);
  await other.close();
  // Who has it open alone may.
  assert.deepEqual(await store.relocate(folder, tmpdir()), { count: 2 });
  const [moved] = await store.list({ all: true });
  await store.close();
  const last = await open();
  assert.equal((await last.delete(await last.session(moved?.id ?? ""))).trash?.includes("trash"), true);
});

check("a session of a workspace that cannot be put into the trash is as it was", async (open, folder) => {
  const store = await open();
  const session = await store.create({ title: "Kept", placement: "workspace" });
  await session.append(said);
  const trash = join(folder, "home", "trash");
  fs.writeFileSync(trash, "");
  await assert.rejects(store.delete(session), code("not_a_folder"));
  await session.append(said);
  assert.deepEqual(
    (await store.list()).map(({ id, messageCount }) => [id, messageCount]),
    [[session.id, 2]],
  );
  fs.rmSync(trash);
  await store.delete(session);
  assert.deepEqual([(await store.list()).length, (await store.trashed()).length], [0, 1]);
});

check("what is derived of a session keeps it from no trash", async (open, folder) => {
  const store = await open();
  const session = await store.create();
  await session.append(said);
  fs.mkdirSync(join(folder, "home", "cache"), { recursive: true });
  fs.writeFileSync(join(folder, "home", "cache", "recall"), "");
  const { trash } = await store.delete(session);
  assert.ok(fs.existsSync(join(String(trash), "messages.jsonl")));
  assert.equal((await store.list()).length, 0);
});

test("a fork that is cut short is in no list", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create({ title: "Original" });
  await session.append(Array.from({ length: 600 }, () => said));
  const append = storage.append.bind(storage);
  for (let least = 0; ; least += 1) {
    let appends = 0;
    storage.append = (path, ...rest) => {
      if (path.startsWith(session.path)) return append(path, ...rest);
      appends += 1;
      return appends > least
        ? Promise.reject(new LeftoffError({ code: "disk_full", message: "the disk is full" }))
        : append(path, ...rest);
    };
    const fork = await store.fork(session).catch((error) => assert.equal(error.code, "disk_full"));
    storage.append = append;
    if (fork) break;
    assert.deepEqual(
      (await store.list({ all: true })).map(({ title }) => title),
      ["Original"],
      `${least} appends`,
    );
  }
  await store.close();
});
