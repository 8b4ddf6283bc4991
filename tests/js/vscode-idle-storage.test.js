// @ts-check

/** A storage that is closed while nobody uses it. */
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

test("it is closed once nobody has used it for a while, and made anew for the next use", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {string[]} */
  const seen = [];
  const disk = new MemoryStorage();
  const idle = new IdleStorage(() => {
    const place = seen.push("made") - 1;
    return Object.assign(Object.create(disk), {
      capabilities: disk.capabilities,
      stat: (/** @type {string} */ path) => disk.stat(path),
      append: async (/** @type {string} */ path, /** @type {Uint8Array} */ bytes) => disk.append(path, bytes),
      close: async () => void (seen[place] = "closed"),
    });
  });
  let finish = () => {};
  disk.stat = () => new Promise((resolve) => (finish = () => resolve(null)));
  const long = idle.stat("/log");
  await idle.append("/log", Uint8Array.of(1));
  context.mock.timers.tick(10_000);
  assert.deepEqual(seen, ["made"], "a use is under way");
  finish();
  await long;
  context.mock.timers.tick(10_000);
  assert.deepEqual(seen, ["closed"]);
  assert.equal((await idle.append("/log", Uint8Array.of(2))).end, 2);
  assert.deepEqual(seen, ["closed", "made"]);
  await idle.close();
  assert.deepEqual(seen, ["closed", "closed"]);
});
