// @ts-check

/** The browser's storage and the folders that are open, as one. */
// Tries: js/vscode/mounted-storage.js

import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { historyText, MemoryStorage, openStore } from "../../js/index.js";
import { ReadOnlyStorage } from "../../js/storage/read-only.js";
import { MountedStorage } from "../../js/vscode/mounted-storage.js";
import { storageContract } from "./storage-contract.js";

const HOME = "/leftoff";
const PROJECT = "/project";
const OTHER = "/other";

storageContract("the browser's files, mounted", async () => ({
  storage: new MountedStorage(HOME, { own: new MemoryStorage(), around: new MemoryStorage() }),
  root: `${HOME}/root`,
}));

/**
 * A folder with a session in its `conversations/` and one in its `.leftoff`, another one with the same, and a browser that
 * keeps one.
 */
async function makeScene() {
  const folder = new MemoryStorage();
  /** @type {Record<string, string>} */
  const ids = {};
  for (const [title, options] of /** @type {const} */ ([
    ["In conversations", { home: "/elsewhere", workspace: PROJECT }],
    ["In the folder's home", { home: `${PROJECT}/.leftoff` }],
    ["In the other's conversations", { home: "/elsewhere", workspace: OTHER }],
    ["In the other's home", { home: `${OTHER}/.leftoff` }],
  ]))
    ids[title] = await putSession(folder, title, options);
  const own = new MemoryStorage();
  const storage = new MountedStorage(HOME, { own, around: new ReadOnlyStorage(folder), folders: [PROJECT, OTHER] });
  await storage.findSessions();
  const store = await openStore({ storage, home: HOME, project: PROJECT });
  const session = await store.create({ title: "In the browser" });
  await session.append({ role: "user", content: "The parrot lives in the browser." });
  ids["In the browser"] = session.id;
  await session.close();
  return { storage, store, ids, folder };
}

/** @param {MemoryStorage} storage @param {string} title @param {object} options of the store */
async function putSession(storage, title, options) {
  const store = await openStore({ storage, project: PROJECT, ...options });
  const session = await store.create({ title });
  await session.append({ role: "user", content: "Where does the parrot live?" });
  await session.close();
  return session.id;
}

describe("a store on both", () => {
  test("lists, reads and searches the sessions of both", async () => {
    const { store } = await makeScene();
    const listed = await store.list({ all: true, sort: "title" });
    assert.deepEqual(
      listed.map(({ title, messageCount }) => [title, messageCount]),
      [
        ["In conversations", 1],
        ["In the browser", 1],
        ["In the folder's home", 1],
        ["In the other's conversations", 1],
        ["In the other's home", 1],
      ],
    );
    for (const { id } of listed) {
      const texts = [];
      for await (const { content } of (await store.session(id)).messages()) texts.push(content);
      assert.match(texts.join(), /parrot/);
    }
    const found = new Set();
    for await (const hit of store.search("parrot", { all: true })) found.add(hit.session.title);
    assert.equal(found.size, 5);
  });

  test("changes only what the browser keeps", async () => {
    const { storage, store, ids, folder } = await makeScene();
    const before = await bytesIn(folder, "/");
    for (const { id, title, path } of await store.list({ all: true })) {
      const isOwn = title === "In the browser";
      assert.equal(storage.isWritable(path), isOwn, title);
      const session = await store.session(id);
      for (const change of [() => session.rename("Another"), () => store.delete(session)]) {
        if (isOwn) await change();
        else await assert.rejects(change, { code: "read_only" }, title);
      }
    }
    assert.deepEqual(await bytesIn(folder, "/"), before);
    assert.deepEqual(
      (await store.list({ all: true })).map(({ id }) => id).sort(),
      Object.keys(ids)
        .filter((title) => title !== "In the browser")
        .map((title) => ids[title])
        .sort(),
    );
  });

  test("follows sessions of a folder that appear, grow and vanish", async () => {
    const { storage, store, ids, folder } = await makeScene();
    const titles = async () =>
      (await store.list({ all: true, sort: "title" })).map(({ title, messageCount }) => `${title}: ${messageCount}`);
    const before = await titles();
    const writer = await openStore({ storage: folder, project: PROJECT, home: `${OTHER}/.leftoff` });
    const late = await writer.create({ title: "A late one" });
    await late.append({ role: "user", content: "The parrot moved." });
    assert.deepEqual(await titles(), ["A late one: 1", ...before]);
    await late.append({ role: "user", content: "It moved again." });
    assert.deepEqual(await titles(), ["A late one: 2", ...before]);
    const { path } = (await store.list({ all: true })).find(({ id }) => id === late.id) ?? { path: "" };
    assert.deepEqual([storage.folderOf(path), storage.isWritable(path)], [OTHER, false]);
    await writer.delete(late);
    assert.deepEqual(await titles(), before);
    assert.equal((await store.session(ids["In the other's home"])).metadata.display.title, "In the other's home");
  });

  test("what is only read is exported, and its resume block made", async () => {
    const { store, ids } = await makeScene();
    for (const title of ["In conversations", "In the folder's home"]) {
      const session = await store.session(ids[title]);
      const { block, history } = await session.resume({ override: true, revives: false, assumes: true });
      assert.match(`${block}\n${historyText(history)}`, /parrot/, title);
      assert.match(await session.export("markdown"), /parrot/, title);
      await session.close();
    }
  });

  test("a fork of what is only read is kept by the browser", async () => {
    const { storage, store, ids } = await makeScene();
    for (const title of ["In conversations", "In the folder's home"]) {
      const fork = await store.fork(await store.session(ids[title]));
      const listed = (await store.list({ all: true })).find(({ id }) => id === fork.id);
      assert.ok(listed && storage.isWritable(listed.path), title);
    }
  });
});

describe("the mounted storage", () => {
  const BYTES = new TextEncoder().encode("x");
  const SESSION = "sessions/projects/none/session-1";

  test("reads a session that both have where the browser keeps it, and writes it there", async () => {
    const [own, around] = [new MemoryStorage(), new MemoryStorage()];
    await own.append(`${HOME}/${SESSION}/messages.jsonl`, BYTES);
    for (const name of ["messages.jsonl", "tools.jsonl"])
      await around.append(`/project/.leftoff/${SESSION}/${name}`, new TextEncoder().encode("other"));
    const storage = new MountedStorage(HOME, { own, around: new ReadOnlyStorage(around), folders: [PROJECT] });
    await storage.findSessions();
    assert.deepEqual(await storage.list(`${HOME}/${SESSION}`), [{ name: "messages.jsonl", kind: "file" }]);
    assert.equal((await storage.append(`${HOME}/${SESSION}/messages.jsonl`, BYTES)).end, 2);
  });

  test("lists a session that came later with its files, from the first folder that brings it", async () => {
    const [own, around] = [new MemoryStorage(), new MemoryStorage()];
    await around.append(`/project/.leftoff/${SESSION}/messages.jsonl`, BYTES);
    const storage = new MountedStorage(HOME, { own, around, folders: [PROJECT, OTHER] });
    await storage.findSessions();
    await around.append(`${PROJECT}/.leftoff/sessions/projects/none/session-2/messages.jsonl`, BYTES);
    for (const name of ["session-1", "session-2"])
      await around.append(`${OTHER}/.leftoff/sessions/projects/none/${name}/messages.jsonl`, new Uint8Array(7));
    const listed = await storage.list(`${HOME}/sessions/projects/none`, { files: ["messages.jsonl"] });
    assert.deepEqual(
      listed?.map(({ name, files }) => [name, files?.[0]?.size]),
      [
        ["session-1", 1],
        ["session-2", 1],
      ],
    );
    assert.deepEqual(await storage.read(`${HOME}/sessions/projects/none/session-2/messages.jsonl`), BYTES);
  });

  test("moves nothing into a folder that is open", async () => {
    const [own, around] = [new MemoryStorage(), new MemoryStorage()];
    await own.append(`${HOME}/one`, BYTES);
    const storage = new MountedStorage(HOME, { own, around: new ReadOnlyStorage(around) });
    await assert.rejects(storage.move(`${HOME}/one`, "/project/one"), { code: "read_only" });
    assert.equal((await own.stat(`${HOME}/one`))?.size, 1);
  });
});

/** All files below a folder. @param {MemoryStorage} storage @param {string} folder @returns {Promise<[string, string][]>} */
async function bytesIn(storage, folder) {
  const lists = await Promise.all(
    ((await storage.list(folder)) ?? []).map(async ({ name, kind }) => {
      const path = folder === "/" ? `/${name}` : `${folder}/${name}`;
      if (kind === "folder") return bytesIn(storage, path);
      return [
        /** @type {[string, string]} */ ([path, new TextDecoder().decode((await storage.read(path)) ?? undefined)]),
      ];
    }),
  );
  return lists.flat();
}
