// @ts-check
// One session by its whole id, or by the project's pointer: no other session is looked at, and copies are not mistaken
// for it.
// Tries: src/operation/store/lookup.rs, src/operation/store/current_session.rs
import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { SessionManager } from "../../js/compat/index.js";
import { projectHash } from "./many-sessions.js";
import { listAll } from "./many-sessions.js";

const folder = mkdtempSync(join(tmpdir(), "leftoff-located-"));
after(() => rmSync(folder, { recursive: true }));

/** @param {string} code */
const refusedAs = (code) => (/** @type {unknown} */ error) => error instanceof LeftoffError && error.code === code;

/** A storage in memory that tells which paths were asked for. */
class TellingStorage extends MemoryStorage {
  /** @type {string[]} */
  asked = [];

  /** Several stores use it. */
  async close() {}

  /** @param {string} path */
  async read(path) {
    this.asked.push(path);
    return super.read(path);
  }

  /** @param {string} path @param {number} start @param {number} end */
  async readRange(path, start, end) {
    this.asked.push(path);
    return super.readRange(path, start, end);
  }

  /** @param {string} path */
  async stat(path) {
    this.asked.push(path);
    return super.stat(path);
  }

  /** @param {string} path @param {any} [options] */
  async list(path, options) {
    this.asked.push(...(options?.files ? [`${path}/files`] : [path]));
    return super.list(path, options);
  }
}

/**
 * What a call asks of the files of sessions, in a store of two projects with some sessions each.
 * @param {(store: import("../../js/store/store.js").Store, id: string) => Promise<{ id: string } | undefined>} call
 */
async function recordPaths(call) {
  const storage = new TellingStorage();
  const ids = [];
  const [mine, other] = ["a", "b"].map((name) => join(folder, name));
  for (const project of [mine, other]) mkdirSync(String(project), { recursive: true });
  for (const project of [mine, other, mine]) {
    const store = await openStore({ home: "/home", project, storage, idleMs: Infinity });
    for (let n = 0; n < 5; n += 1) ids.push((await store.create({ title: `session ${n}` })).id);
    await store.close();
  }
  const store = await openStore({ home: "/home", project: mine, storage, idleMs: Infinity });
  storage.asked = [];
  const found = await call(store, ids[7] ?? "");
  const { asked } = storage;
  await store.close();
  return {
    found,
    wanted: ids[7],
    last: ids.at(-1),
    others: asked.filter((path) => /session-/.test(path) && !path.includes(`session-${found?.id}`)),
    listings: asked.filter((path) => path.endsWith("/files")),
  };
}

test("of a whole id no other session is looked at, in whatever project it is", async () => {
  const { found, wanted, others, listings } = await recordPaths((store, id) => store.session(id));
  assert.equal(found?.id, wanted);
  assert.deepEqual(
    { others: others.filter((path) => !path.endsWith(`session-${wanted}`)), listings },
    { others: [], listings: [] },
  );
});

for (const [name, call] of /** @type {const} */ ([
  ["the current one", "current"],
  ["the one to continue", "continue"],
])) {
  test(`${name} is found by the pointer, and no other session is looked at`, async () => {
    const { found, last, others, listings } = await recordPaths((store) => store[call]());
    assert.deepEqual({ id: found?.id, others, listings }, { id: last, others: [], listings: [] });
  });
}

test("the compatible manager loads, archives and deletes by a whole id alone", async () => {
  const options = { home: join(folder, "manager") };
  const manager = new SessionManager(options);
  const { id } = await manager.createSession(folder, { type: "anthropic", model: "claude", contextWindow: 200_000 });
  await manager.close();
  for (const part of [id.slice(0, -1), `${id}0`])
    await assert.rejects(manager.loadSession(part), refusedAs("not_found"));
  assert.equal((await manager.loadSession(id)).id, id);
  await manager.close();
});

/** A home, a workspace with a session, and a session in the home. @param {string} name */
async function makeBothPlacements(name) {
  const [home, project] = [join(folder, name, "home"), join(folder, name, "project")];
  mkdirSync(project, { recursive: true });
  const options = { home, project, idleMs: Infinity };
  const store = await openStore(options);
  const [there, here] = [
    await store.create({ title: "in the home" }),
    await store.create({ placement: "workspace", title: "here" }),
  ];
  await store.close();
  return { options, there, here };
}

test("a session of a workspace is found by its whole id from any project, listed before or not", async () => {
  const { options, here } = await makeBothPlacements("workspace");
  const other = join(folder, "workspace", "other");
  mkdirSync(other);
  for (const list of [false, true, false]) {
    for (const project of [options.project, other]) {
      const store = await openStore({ ...options, project });
      assert.equal((await store.session(here.id)).path, here.path);
      if (list) await store.list({ all: true });
      await store.close();
    }
  }
});

test("a copy that the index knows makes an id ambiguous, wherever it lies", async () => {
  const { options, there, here } = await makeBothPlacements("copies");
  const inWorkspace = join(dirname(dirname(here.path)), "002-copy", ".session");
  cpSync(there.path, inWorkspace, { recursive: true });
  const renamed = join(dirname(there.path), "session-01a00000-0000-7000-8000-00000000000a");
  cpSync(here.path, renamed, { recursive: true });
  // The index takes no line of a file that was changed just now, as it may be changed again and look the same.
  for (let index = ""; !["002-copy", basename(renamed)].every((name) => index.includes(name));) {
    await listAll(options);
    index = existsSync(join(options.home, "sessions", "index.jsonl"))
      ? readFileSync(join(options.home, "sessions", "index.jsonl"), "utf8")
      : "";
  }
  for (const [{ id, path }, copy] of /** @type {const} */ ([
    [there, inWorkspace],
    [here, renamed],
  ])) {
    const again = await openStore(options);
    await assert.rejects(
      again.session(id),
      (error) =>
        refusedAs("ambiguous")(error) &&
        error instanceof Error &&
        [path, copy].every((one) => error.message.includes(one)),
    );
    await again.close();
    rmSync(copy, { recursive: true });
    const alone = await openStore(options);
    assert.equal((await alone.session(id)).path, path);
    await alone.close();
  }
});

test("a folder that is named like a session and holds another one is not mistaken for it", async () => {
  const { options, there } = await makeBothPlacements("named");
  const id = "01a00000-0000-7000-8000-00000000000b";
  cpSync(there.path, join(dirname(there.path), `session-${id}`), { recursive: true });
  mkdirSync(join(dirname(there.path), "session-01a00000-0000-7000-8000-00000000000c"));
  const store = await openStore(options);
  await assert.rejects(store.session(id), refusedAs("not_found"));
  await assert.rejects(store.session("01a00000-0000-7000-8000-00000000000c"), refusedAs("not_found"));
  await store.close();
});

test("a pointer that leads nowhere, out of the project, or to another session is none", async () => {
  const { options, there } = await makeBothPlacements("pointer");
  const file = join(options.project, ".leftoff", "current-session.json");
  const elsewhere = join(options.home, "sessions", "projects", projectHash("/elsewhere"), `session-${there.id}`);
  cpSync(there.path, elsewhere, { recursive: true });
  const last = JSON.parse(readFileSync(file, "utf8"));
  const paths = [
    elsewhere,
    "/",
    "",
    `${there.path}/..`,
    join(there.path, "..", "..", "..", "x"),
    join(folder, "gone", "conversations", "2025-01-01", "a", ".session"),
  ];
  const pointers = [
    ...paths.map((path) => ({ id: there.id, path })),
    { id: last.id, path: there.path },
    { id: there.id, path: last.path },
  ];
  for (const pointer of pointers) {
    writeFileSync(file, JSON.stringify(pointer));
    const store = await openStore(options);
    assert.equal((await store.current())?.id, (await store.list())[0]?.id, pointer.path);
    await store.close();
  }
});
