// @ts-check
// What lists show, in which order, and what they do besides: whoever looks pauses what rests, and says so once.
// Tries: src/operation/store/list.rs, src/session/session_list/
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { listAll, manySessions, uuidOf } from "./many-sessions.js";
import { nodePath } from "./node-path.js";

const folder = mkdtempSync(join(tmpdir(), "leftoff-listing-"));
after(() => rmSync(folder, { recursive: true }));
const made = await manySessions(join(folder, "many"), 45);
const LIBRARY = new URL("../../js/index.js", import.meta.url).href;
const everything = { all: true, type: null, archived: null };

/** @param {string} code */
const refusedAs = (code) => (/** @type {unknown} */ error) => error instanceof LeftoffError && error.code === code;

test("the last active comes first; of those that share a time, the one whose path is less", async () => {
  const all = await listAll(made.options);
  const key = (/** @type {{ lastActive: string, path: string }} */ one) => [
    Date.parse(one.lastActive) || -Infinity,
    one.path,
  ];
  for (const [place, one] of all.slice(1).entries()) {
    const [before, now] = [key(all[place] ?? one), key(one)];
    assert.ok(before[0] > now[0] || (before[0] === now[0] && before[1] < now[1]), `${before} before ${now}`);
  }
  assert.ok(
    all.some((one, place) => one.lastActive !== "" && one.lastActive === all[place + 1]?.lastActive),
    "some share a time",
  );
});

test("a limit, a status, a type and the archive choose from the same list, with and without looking", async () => {
  const all = await listAll(made.options);
  const of = (/** @type {(one: typeof all[number]) => unknown} */ is) => all.filter(is);
  for (const verify of [true, false]) {
    const list = (/** @type {import("../../js/types/index.js").ListOptions} */ wanted) =>
      listAll(made.options, { ...wanted, all: true, verify });
    for (const limit of [0, 1, 7, 1000])
      assert.deepEqual(await list({ type: null, archived: null, limit }), all.slice(0, limit));
    assert.deepEqual(
      await list({ type: null, archived: true }),
      of((one) => one.archivedAt),
    );
    assert.deepEqual(
      await list({ type: null, status: "archived" }),
      of((one) => one.archivedAt),
    );
    assert.deepEqual(
      await list({ type: null }),
      of((one) => !one.archivedAt),
    );
    assert.deepEqual(
      await list({}),
      of((one) => !one.archivedAt && one.type !== "subagent"),
    );
    assert.deepEqual(
      await list({ type: "subagent" }),
      of((one) => one.type === "subagent"),
    );
    for (const status of /** @type {const} */ (["active", "paused", "completed"])) {
      assert.deepEqual(
        await list({ type: null, archived: null, status, limit: 3 }),
        of((one) => one.status === status).slice(0, 3),
      );
    }
  }
});

test("a session that says no type is a chat", async () => {
  const typed = (await listAll(made.options)).filter(
    ({ title }) => title === "typed by hand" || title === "A heading that is its title",
  );
  assert.deepEqual(
    typed.map(({ type }) => type),
    ["chat", "chat"],
  );
});

test("without looking, the list of a project has those of the project alone", async () => {
  const wanted = { type: null, archived: null };
  assert.deepEqual(await listAll(made.options, { ...wanted, verify: false }), await listAll(made.options, wanted));
  assert.ok((await listAll(made.options, wanted)).length < (await listAll(made.options)).length);
});

test("two copies of one session are both listed, and ambiguous by their id", async () => {
  const { options, paths } = await manySessions(join(folder, "copies"), 12);
  const [path = ""] = paths.filter((one) => one.endsWith(uuidOf(9)));
  const copy = join(dirname(dirname(path)), "other-project", `session-${uuidOf(9)}`);
  cpSync(path, copy, { recursive: true });
  for (const _ of ["without an index", "with one"]) {
    const found = (await listAll(options)).filter(({ id }) => id === uuidOf(9)).map((one) => one.path);
    assert.deepEqual(found.sort(), [path, copy].sort());
  }
  const store = await openStore(options);
  await assert.rejects(store.session(uuidOf(9)), (error) => {
    assert.ok(refusedAs("ambiguous")(error) && error instanceof Error);
    return [path, copy].every((one) => error.message.includes(one));
  });
  await store.close();
});

test("what another process appended is listed, though the session is open here", async () => {
  const options = { home: join(folder, "two"), project: folder };
  const [mine, theirs] = [await openStore(options), await openStore(options)];
  const session = await mine.create();
  await mine.list();
  const same = await theirs.session(session.id);
  await same.append({ role: "user", content: "by others" });
  assert.deepEqual(
    (await mine.list()).map(({ messageCount }) => messageCount),
    [1],
  );
  assert.deepEqual(
    (await listAll(options)).map(({ messageCount }) => messageCount),
    [1],
  );
  await Promise.all([mine.close(), theirs.close()]);
});

/** A store with a session that was left active, an hour ago. @param {string} name */
async function leaveActive(name) {
  const options = { home: join(folder, name), project: folder };
  const store = await openStore(options);
  const session = await store.create({ title: "left" });
  await session.append({ role: "user", content: "the last word" });
  await store.close();
  const path = join(session.path, "messages.jsonl");
  const last = new Date(Date.now() - 3_600_000).toISOString();
  // Without its checksum: a line that a person wrote.
  const line = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, `${JSON.stringify({ ...line, timestamp: last, crc: undefined })}\n`);
  rmSync(join(session.path, "metadata.json"));
  return { options, id: session.id, path: session.path, last };
}

test("whoever lists pauses what rests, dated when it was last active, and it is said once", async () => {
  const { options, path, last } = await leaveActive("idle-listed");
  const store = await openStore(options);
  assert.deepEqual(
    (await store.list()).map(({ status, lastActive }) => [status, lastActive]),
    [["paused", last]],
  );
  const events = readFileSync(join(path, "events.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    events.filter(({ type }) => type === "status").map(({ status, reason, timestamp }) => [status, reason, timestamp]),
    [["paused", "idle", last]],
  );
  assert.deepEqual(
    store.notices().map((one) => [one.path, one.notice.code]),
    [[path, "auto_paused"]],
  );
  assert.deepEqual(store.notices(), []);
  await store.list();
  assert.deepEqual(store.notices(), []);
  await store.close();
  assert.equal(readFileSync(join(path, "events.jsonl"), "utf8").trim().split("\n").length, events.length);
});

test("whoever opens it after that list hears it, once", async () => {
  const { options, id } = await leaveActive("idle-opened");
  for (const expected of [["auto_paused"], []]) {
    const store = await openStore(options);
    const session = await store.session(id);
    assert.deepEqual(
      session.notices.map(({ code }) => code),
      expected,
    );
    assert.equal(session.metadata.lifecycle, "paused");
    assert.deepEqual(store.notices(), []);
    await store.close();
  }
});

for (const redact of /** @type {const} */ (["off", "report"])) {
  test(`a list pauses what rests and is open here, ${redact === "report" ? "also where secrets are looked for" : "where no secrets are looked for"}`, async () => {
    const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage(), idleMs: -1, redact });
    const session = await store.create({ title: "First" });
    await session.append({ role: "user", content: "Hello" });
    assert.deepEqual(
      (await store.list()).map(({ status }) => status),
      ["paused"],
    );
    assert.equal(session.metadata.lifecycle, "paused");
    await store.close();
  });
}

test("what was closed and then paused by a list says so when it is asked for again", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage, idleMs: -1 });
  const session = await store.create({ title: "First" });
  await session.append({ role: "user", content: "Hello" });
  await session.close();
  assert.equal((await store.list())[0]?.status, "paused");
  const again = await store.session(session.id);
  assert.deepEqual([again.metadata.lifecycle, again.notices.map(({ code }) => code)], ["paused", ["auto_paused"]]);
  // Nor is one that is open as it was: another process may have said something.
  const other = await openStore({ home: "/home", project: "/", storage, idleMs: Infinity });
  await (await other.session(session.id)).rename("Second");
  assert.equal((await store.session(session.id)).metadata.display.title, "Second");
});

test("what a living process holds is not paused; when it is gone, that is said, too", async () => {
  const { options, id } = await leaveActive("idle-held");
  const code = `
    const { openStore } = await import(${JSON.stringify(LIBRARY)});
    const store = await openStore({ home: process.argv[1], project: process.argv[2], idleMs: Infinity });
    const session = await store.session(${JSON.stringify(id)});
    await session.append({ role: "user", content: "held", timestamp: "2026-01-01T00:00:00.000Z" });
    console.log("held");
    process.stdin.resume();`;
  const child = spawn(nodePath, ["--input-type=module", "-e", code, options.home, options.project], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  const soon = { ...options, idleMs: -1 };
  assert.deepEqual(
    (await listAll(soon)).map(({ status }) => status),
    ["active"],
  );
  child.kill("SIGKILL");
  await once(child, "exit");
  const store = await openStore(soon);
  assert.deepEqual(
    (await store.list()).map(({ status }) => status),
    ["paused"],
  );
  assert.deepEqual(
    (await store.session(id)).notices.map(({ code }) => code),
    ["left_open", "auto_paused"],
  );
  await store.close();
});

test("a store that may only be read is listed all the same", async () => {
  const storage = new MemoryStorage();
  const options = { home: "/home", project: "/", storage, idleMs: -1 };
  const store = await openStore(options);
  const session = await store.create({ title: "one" });
  await session.append({ role: "user", content: "x" });
  const refuse = async () => {
    throw new LeftoffError({ code: "read_only", message: "no" });
  };
  Object.assign(storage, { append: refuse, replace: refuse, remove: refuse, move: refuse });
  for (const wanted of [{}, everything, { limit: 1 }]) {
    const found = await (await openStore(options)).list(wanted);
    assert.deepEqual(
      found.map(({ title, status, messageCount }) => [title, status, messageCount]),
      [["one", "active", 1]],
    );
  }
});

test("a folder with nothing in it is no session, one with nothing but garbage is an unreadable one", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const { path } = await store.create({ title: "one" });
  await storage.replace(join(dirname(path), "session-empty", "messages.jsonl"), new Uint8Array());
  await storage.replace(join(dirname(path), "session-garbage", "messages.jsonl"), new Uint8Array(100).fill(7));
  const found = await store.list(everything);
  assert.deepEqual(found.map(({ id, status }) => [id, status]).slice(1), [["garbage", "unreadable"]]);
  assert.equal(found.length, 2);
});

test("a list that cannot be meant is refused by what is wrong with it, and none is of a store that was closed", async () => {
  const store = await openStore({ home: join(folder, "odd"), project: folder });
  for (const [odd, key] of /** @type {[any, string][]} */ ([
    [{ sort: "odd" }, "sort"],
    [{ limit: -1 }, "limit"],
    [{ type: 7 }, "type"],
    [{ status: "gone" }, "status"],
    [{ since: "soon" }, "since"],
    [{ archived: "no" }, "archived"],
    [{ agent: 7 }, "agent"],
  ])) {
    await assert.rejects(
      store.list(odd),
      (error) =>
        refusedAs("invalid_request")(error) && error instanceof Error && error.message.includes(`for "${key}"`),
      key,
    );
  }
  assert.deepEqual(await store.list({ limit: Infinity }), []);
  await store.close();
  for (const asked of [
    () => store.list(),
    () => store.session("a"),
    () => store.current(),
    () => store.create(),
    () => store.tidy(),
  ])
    await assert.rejects(asked(), refusedAs("storage_closed"));
});
