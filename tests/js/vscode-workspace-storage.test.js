// @ts-check

/** The storage over `vscode.workspace.fs` under the contract: it reads what a storage of files writes. */
// Tries: js/vscode/workspace-storage.js

import assert from "node:assert/strict";
import fs from "node:fs";
import { describe, test } from "node:test";

import { NodeStorage } from "../../js/storage/node.js";
import { WorkspaceStorage } from "../../js/vscode/workspace-storage.js";
import { storageContract } from "./storage-contract.js";
import { makeRoot } from "./storage-tools.js";

/** @import { Storage } from "../../js/storage/contract.js" */

/** What the editor calls the system's errors. @type {Record<string, string>} */
const CODES = {
  ENOENT: "FileNotFound",
  ENOTDIR: "FileNotADirectory",
  EISDIR: "FileIsADirectory",
  EACCES: "NoPermissions",
};

/** @param {any} found an entry or stats */
const typeOf = (found) => (found.isFile() ? 1 : 0) + (found.isDirectory() ? 2 : 0) + (found.isSymbolicLink() ? 64 : 0);

/** `workspace.fs` on this machine's disk; each call is counted by its name. */
function editorFiles() {
  /** @type {Record<string, number>} */
  const calls = {};
  /** @template T @param {string} name @param {(path: string) => Promise<T>} work */
  const verb = (name, work) => async (/** @type {any} */ uri) => {
    calls[name] = (calls[name] ?? 0) + 1;
    try {
      return await work(uri.path);
    } catch (error) {
      const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
      throw Object.assign(new Error(message), { code: CODES[code ?? ""] ?? "Unknown" });
    }
  };
  return {
    calls,
    stat: verb("stat", async (path) => {
      const own = await fs.promises.lstat(path);
      const found = own.isSymbolicLink() ? await fs.promises.stat(path) : own;
      const type = typeOf(found) + (own.isSymbolicLink() ? 64 : 0);
      return { type, ctime: found.birthtimeMs, mtime: found.mtimeMs, size: found.size };
    }),
    readFile: verb("readFile", (path) => /** @type {Promise<Uint8Array>} */ (fs.promises.readFile(path))),
    readDirectory: verb("readDirectory", async (path) => {
      const entries = await fs.promises.readdir(path, { withFileTypes: true });
      return entries.map((entry) => /** @type {[string, number]} */ ([entry.name, typeOf(entry)]));
    }),
  };
}

function makeScene() {
  const root = makeRoot();
  const files = editorFiles();
  const storage = new WorkspaceStorage(files, (path) =>
    path.startsWith(root) ? /** @type {any} */ ({ path }) : undefined,
  );
  return { root, files, storage, done: () => fs.rmSync(root, { recursive: true }) };
}

/** Reads by one storage, and writes by a storage of files. @param {Storage} reading @returns {Storage} */
function withWriter(reading) {
  const writer = new NodeStorage();
  return {
    capabilities: reading.capabilities,
    read: (path) => reading.read(path),
    readRange: (path, start, end) => reading.readRange(path, start, end),
    list: (path, options) => reading.list(path, options),
    stat: (path) => reading.stat(path),
    // Without the stat, which is the other storage's.
    append: async (path, bytes, options) => ({ end: (await writer.append(path, bytes, options)).end }),
    replace: (path, bytes, options) => writer.replace(path, bytes, options),
    move: (from, to) => writer.move(from, to),
    link: (path, target) => writer.link(path, target),
    remove: (path) => writer.remove(path),
    close: async () => void (await Promise.all([reading.close(), writer.close()])),
  };
}

storageContract("the editor's files", async () => {
  const { storage, root, done } = makeScene();
  return { storage: withWriter(storage), root, done };
});

describe("the storage of the editor's files", () => {
  /** @param {string} law @param {(scene: ReturnType<typeof makeScene>) => Promise<void>} body */
  const check = (law, body) =>
    test(law, async () => {
      const scene = makeScene();
      try {
        await body(scene);
      } finally {
        scene.done();
      }
    });

  check("a file is read once for all its parts, and again once it has changed", async ({ root, files, storage }) => {
    const path = `${root}/log`;
    fs.writeFileSync(path, "one two");
    for (const [start, end] of [
      [0, 3],
      [4, 7],
    ])
      await storage.readRange(path, start, end);
    assert.equal(files.calls.readFile, 1);
    fs.appendFileSync(path, " three");
    assert.deepEqual(await storage.readRange(path, 8, 13), new TextEncoder().encode("three"));
    assert.equal(files.calls.readFile, 2);
  });

  check("a file of which the editor knows no length is as long as its bytes", async (scene) => {
    const { root, files } = scene;
    const stat = async (/** @type {any} */ uri) => ({ ...(await files.stat(uri)), ctime: 0, mtime: 0, size: 0 });
    const storage = new WorkspaceStorage({ ...files, stat }, (path) => /** @type {any} */ ({ path }));
    const path = `${root}/log`;
    for (const text of ["one", "one two", ""]) {
      fs.writeFileSync(path, text);
      assert.equal((await storage.stat(path))?.size, text.length);
      assert.deepEqual(await storage.readRange(path, 2, 9), new TextEncoder().encode(text.slice(2)));
    }
    assert.equal((await storage.list(root, { files: ["log"] }))?.[0]?.kind, "file");
    assert.equal((await storage.stat(root))?.kind, "folder");
  });

  check("nothing is written", async ({ root, storage }) => {
    const path = `${root}/log`;
    fs.writeFileSync(path, "kept");
    for (const writing of [
      () => storage.append(path, new Uint8Array(1)),
      () => storage.replace(path, new Uint8Array(1)),
      () => storage.move(path, `${root}/moved`),
      () => storage.link(`${root}/link`, path),
      () => storage.remove(path),
    ])
      await assert.rejects(writing, { name: "LeftoffError", code: "read_only" });
    assert.deepEqual(fs.readdirSync(root), ["log"]);
    assert.equal(fs.readFileSync(path, "utf8"), "kept");
  });

  check("a path in no folder that is open is absent, and nobody is asked for it", async ({ files, storage }) => {
    for (const verb of /** @type {const} */ (["read", "list", "stat"]))
      assert.equal(await storage[verb]("/etc/passwd"), null);
    assert.deepEqual(files.calls, {});
  });

  check("a link is told as what it is", async ({ root, storage }) => {
    fs.mkdirSync(`${root}/folder`);
    fs.symlinkSync(`${root}/folder`, `${root}/link`);
    assert.equal((await storage.stat(`${root}/link`))?.kind, "other");
    assert.deepEqual(await storage.list(root), [
      { name: "folder", kind: "folder" },
      { name: "link", kind: "other" },
    ]);
  });

  check("what may not be read is an error that says so", async ({ root, files, storage }) => {
    fs.writeFileSync(`${root}/log`, "x");
    files.readFile = async () => {
      throw Object.assign(new Error("no"), { code: "NoPermissions" });
    };
    await assert.rejects(storage.read(`${root}/log`), { code: "permission_denied" });
  });
});
