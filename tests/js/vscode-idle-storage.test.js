// @ts-check

/** A storage that is closed while nobody writes. */
// Tries: js/vscode/idle-storage.js

import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStorage } from "../../js/index.js";
import { IdleStorage } from "../../js/vscode/idle-storage.js";
import { storageContract } from "./storage-contract.js";

storageContract("one that is closed while idle", async () => ({
  storage: new IdleStorage(() => new MemoryStorage()),
  root: "/root",
}));

test("it is closed once nobody has written for a while, whoever reads, and made anew for the next use", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {string[]} */
  const seen = [];
  const disk = new MemoryStorage();
  const idle = new IdleStorage(() => {
    const place = seen.push("made") - 1;
    return Object.assign(Object.create(disk), {
      capabilities: disk.capabilities,
      replace: (/** @type {string} */ path, /** @type {Uint8Array} */ bytes) => disk.replace(path, bytes),
      read: (/** @type {string} */ path) => disk.read(path),
      append: async (/** @type {string} */ path, /** @type {Uint8Array} */ bytes) => disk.append(path, bytes),
      close: async () => void (seen[place] = "closed"),
    });
  });
  let finish = () => {};
  disk.replace = () => new Promise((resolve) => (finish = () => resolve()));
  const long = idle.replace("/log", Uint8Array.of(0));
  await idle.append("/log", Uint8Array.of(1));
  context.mock.timers.tick(10_000);
  assert.deepEqual(seen, ["made"], "a write is under way");
  finish();
  await long;
  for (let count = 0; count < 10; count += 1) {
    context.mock.timers.tick(100);
    await idle.read("/log");
  }
  assert.deepEqual(seen, ["closed", "made"]);
  assert.equal((await idle.append("/log", Uint8Array.of(2))).end, 2);
  assert.deepEqual(seen, ["closed", "made"]);
  await idle.close();
  assert.deepEqual(seen, ["closed", "closed"]);
});
