// @ts-check

/**
 * Both storages under one contract, and what only the memory has. The files' own laws: storage-files, storage-flush.
 */
// Tries: js/storage/contract.js, js/storage/memory.js, js/storage/node.js

import assert from "node:assert/strict";
import fs from "node:fs";
import { resolve } from "node:path";
import { describe, test } from "node:test";

import { MemoryStorage } from "../../js/storage/memory.js";
import { NodeStorage } from "../../js/storage/node.js";
import { FailingStorage } from "./failing-storage.js";
import { storageContract } from "./storage-contract.js";
import { LINE, makeRoot, withoutProc } from "./storage-tools.js";

storageContract("files", async () => {
  const root = makeRoot();
  return { storage: new NodeStorage(), root, done: () => fs.rmSync(root, { recursive: true }) };
});
storageContract("files below a root", async () => {
  const root = makeRoot();
  return { storage: new NodeStorage({ root }), root, done: () => fs.rmSync(root, { recursive: true }) };
});
storageContract("files below a root, without /proc", async () => {
  const root = makeRoot();
  return { storage: await withoutProc(root), root, done: () => fs.rmSync(root, { recursive: true }) };
});
storageContract("memory", async () => ({ storage: new MemoryStorage(), root: "/root" }));
storageContract("memory that fails when it is told to", async () => ({ storage: new FailingStorage(), root: "/root" }));

describe("the memory storage", () => {
  test("says that it is volatile", () => {
    assert.deepEqual(new MemoryStorage().capabilities, {
      append: "exclusive",
      range: true,
      durable: false,
      watch: false,
    });
  });

  test("takes a path as the system does that it is on, so that it is found by what a store makes of it", async () => {
    const storage = new MemoryStorage();
    await storage.append("/folder/log", LINE);
    assert.deepEqual(await storage.read(resolve("/folder/log")), LINE);
    assert.deepEqual(
      (await storage.list(resolve("/")))?.map(({ name }) => name),
      ["folder"],
    );
    await storage.move(resolve("/folder"), "/moved");
    assert.deepEqual(await storage.read("/moved/log"), LINE);
  });
});

describe("the storage of tests that fails", () => {
  test("fails as often as it was told, and an append lets in what it was told", async () => {
    const storage = new FailingStorage();
    storage.failNext("append", { code: "disk_full", written: 3 });
    storage.failNext("append", { written: Infinity, durable: false });
    storage.failNext("append");
    await assert.rejects(storage.append("/log", LINE), { name: "LeftoffError", code: "disk_full", written: 3 });
    await assert.rejects(storage.append("/log", LINE), {
      code: "storage_failed",
      written: LINE.length,
      durable: false,
    });
    await assert.rejects(storage.append("/log", LINE), { code: "storage_failed", written: 0 });
    assert.equal((await storage.append("/log", LINE)).end, 3 + 2 * LINE.length);
    for (const verb of /** @type {const} */ (["read", "readRange", "replace", "move", "list", "remove", "stat"])) {
      storage.failNext(verb, { code: "permission_denied" });
    }
    const calls = () => [
      storage.read("/log"),
      storage.readRange("/log", 0, 1),
      storage.replace("/log", LINE),
      storage.move("/log", "/moved"),
      storage.list("/"),
      storage.stat("/log"),
      storage.remove("/log"),
    ];
    for (const call of calls()) await assert.rejects(call, { code: "permission_denied" });
    assert.equal((await storage.stat("/log"))?.size, 3 + 2 * LINE.length);
    await Promise.all(calls());
  });
});
