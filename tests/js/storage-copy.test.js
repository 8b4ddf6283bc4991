// @ts-check
/**
 * Copying between storages: whatever ends it, each file that is in its place is whole, and what is missing comes with
 * the next try.
 */
// Tries: js/storage/copy.js

import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStorage } from "../../js/storage/memory.js";
import { copyTree } from "../../js/storage/copy.js";

const PIECE = 4 * 1024 * 1024;
const SIZES = { small: 10, edge: PIECE, large: PIECE + 1, larger: 3 * PIECE + 7 };

/** @param {number} size */
const bytes = (size) => Uint8Array.from({ length: size }, (_, at) => (at * 31) % 251);

/**
 * A storage that is there for so many of what changes it.
 * @param {MemoryStorage} storage
 * @param {number} steps
 * @returns {any}
 */
function failingAfter(storage, steps) {
  let left = steps;
  return new Proxy(storage, {
    get: (_, verb) => {
      const work = /** @type {any} */ (storage)[verb];
      if (typeof work !== "function") return work;
      return async (/** @type {unknown[]} */ ...args) => {
        if (["append", "replace", "move", "remove"].includes(String(verb)) && left-- <= 0) throw new Error("gone");
        return work.apply(storage, args);
      };
    },
  });
}

test("a copy that is cut off before any of its steps leaves no part of a file in a file's place, and the next one brings all", async () => {
  const from = new MemoryStorage();
  for (const [name, size] of Object.entries(SIZES)) await from.replace(`/from/${name}`, bytes(size));
  let isWhole = false;
  for (let steps = 0; !isWhole; steps += 1) {
    const to = new MemoryStorage();
    isWhole = await copyTree(
      { storage: from, path: "/from" },
      { storage: failingAfter(to, steps), path: "/to" },
      { isMissing: true },
    ).then(
      () => true,
      () => false,
    );
    for (const [name, size] of Object.entries(SIZES)) {
      const there = await to.stat(`/to/${name}`);
      assert.ok(there === null || there.size === size, `step ${steps}: ${name}`);
    }
    await copyTree({ storage: from, path: "/from" }, { storage: to, path: "/to" }, { isMissing: true });
    for (const [name, size] of Object.entries(SIZES))
      assert.ok(
        Buffer.compare((await to.read(`/to/${name}`)) ?? Buffer.alloc(0), bytes(size)) === 0,
        `step ${steps}: ${name}`,
      );
    assert.ok(steps < 50);
  }
});
