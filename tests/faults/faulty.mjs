// @ts-check
/**
 * A short life of a store, the same system calls each time: `<home> begin` makes a session and appends to it, `<home>
 * recover` opens the one that is there and appends. Whatever fails is tried again, then left. Says one line of JSON of
 * each step: what was acknowledged, or with what it was refused.
 */

import crypto from "node:crypto";
import { writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import process from "node:process";
import { chance, digest } from "./tools.mjs";

const [home = "", mode] = process.argv.slice(2);
const TRIES = 4;

/** Chance and clock give the same each time, so that a path seen in one run is met in the next. */
function tame() {
  const random = chance(mode === "begin" ? 1 : 2);
  const filled = (/** @type {any} */ bytes) => bytes.map(() => random.below(256));
  const hex = (/** @type {number} */ length) => Buffer.from(filled(new Uint8Array(length))).toString("hex");
  Object.defineProperty(globalThis.crypto, "getRandomValues", {
    value: (/** @type {any} */ bytes) => bytes.set(filled(bytes)),
  });
  Object.assign(crypto, {
    randomBytes: (/** @type {number} */ length) => Buffer.from(hex(length), "hex"),
    randomUUID: () => hex(16),
  });
  syncBuiltinESMExports();
  Object.defineProperty(process, "pid", { value: 2 ** 22 + 1 }); // More than Linux gives.
  let now = mode === "begin" ? 1_700_000_000_000 : 1_800_000_000_000;
  const Real = Date;
  globalThis.Date = /** @type {any} */ (
    class extends Real {
      constructor() {
        super((now += 1));
      }
    }
  );
}

/** @param {unknown} what */
function say(what) {
  writeSync(1, `${JSON.stringify(what)}\n`);
}

/**
 * @template T
 * @param {string} what
 * @param {() => Promise<T>} step
 * @returns {Promise<T | undefined>}
 */
async function tryRepeatedly(what, step) {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    try {
      return await step();
    } catch (/** @type {any} */ error) {
      say({ what, refused: { name: error.name, code: error.code, message: error.message, stack: error.stack } });
    }
  }
  return undefined;
}

let number = 0;

/**
 * @param {import("../../js/index.js").Session} session
 * @param {{ durability: "durable" | "buffered", count?: number, length?: number }} options
 */
async function append(session, { durability, count = 1, length = 100 }) {
  await tryRepeatedly("append", async () => {
    const drafts = Array.from({ length: count }, () => ({
      role: "user",
      content: `${mode} ${(number += 1)} `.padEnd(length, "é"),
    }));
    const { records, acknowledged } = await session.append(drafts, { durability });
    if (acknowledged !== durability) throw new Error(`expected ${durability}, but found ${acknowledged} instead`);
    say({ kept: records.map(({ id }, at) => ({ id, hash: digest(drafts[at]) })) });
  });
}

tame();
const { openStore } = await import("../../js/index.js");
say({ started: true });
const store = await tryRepeatedly("open the store", () => openStore({ home, project: "/" }));
const opened = await tryRepeatedly("open", async () => {
  const [known] = (await store?.list()) ?? [];
  return known ? store?.session(known.id) : store?.create({ title: "a title" });
});
if (opened) {
  say({ session: opened.id });
  await append(opened, { durability: "durable" });
  await append(opened, { durability: "buffered", count: 2 });
  await append(opened, { durability: "durable", length: 300_000 });
  await tryRepeatedly("others", () => opened.others());
  await tryRepeatedly("context", () => opened.context({ window: 4000, encoding: "estimate-1" }));
  await tryRepeatedly("messages", async () => {
    for await (const _ of opened.messages()) continue;
  });
  await append(opened, { durability: "buffered" });
}
await tryRepeatedly("close", async () => store?.close());
say({ done: true });
