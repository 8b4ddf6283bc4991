// @ts-check
/**
 * Searches a store in a process of its own, `<home> <what> [<file of questions>]`, and says what that took of the
 * processor, in milliseconds, and of memory.
 */

import { readFileSync } from "node:fs";
import process from "node:process";
import { conversation } from "./conversation.mjs";

const [home = "", what = "", file = ""] = process.argv.slice(2);
const MICROS = 1000;
const MISSING_WORD = "zzzyx";
const ROUNDS = 31;
/** So few stay in memory. */
const APPENDED_MESSAGES = 20;

/** @typedef {import("../js/index.js").Store} Store */

/** @type {Record<string, (store: Store) => Promise<object>>} */
const things = { index, ask, append };

/** Indexes what is not, for a word that nobody said. @param {Store} store */
async function index(store) {
  return {
    ms: await tookMs(() => exhaustSearch(store, MISSING_WORD)),
    again: await tookMs(() => exhaustSearch(store, MISSING_WORD)),
  };
}

/** Each question, once all is warm. @param {Store} store */
async function ask(store) {
  /** @type {string[]} */
  const questions = JSON.parse(readFileSync(file, "utf8"));
  for (const question of questions.slice(0, questions.length / 4)) await exhaustSearch(store, question);
  const times = [];
  for (const question of questions) times.push(await tookMs(() => exhaustSearch(store, question)));
  return { times };
}

/** How much longer a search takes for each message that was appended since the last one. @param {Store} store */
async function append(store) {
  const session = await store.create();
  const drafts = conversation();
  const more = (/** @type {number} */ count) =>
    Array.from({ length: count }, () => /** @type {import("./conversation.mjs").Draft} */ (drafts.next().value));
  const times = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // What comes to a file; and once more, since a log that was written just now is believed only later.
    await session.append(more(20 * APPENDED_MESSAGES), { durability: "buffered" });
    for (let again = 0; again < 2; again += 1) await exhaustSearch(store, MISSING_WORD);
    const before = await tookMs(() => exhaustSearch(store, MISSING_WORD));
    const some = more(APPENDED_MESSAGES);
    await session.append(some, { durability: "buffered" });
    times.push(((await tookMs(() => exhaustSearch(store, MISSING_WORD))) - before) / APPENDED_MESSAGES);
  }
  return { times };
}

/** @param {Store} store @param {string} question */
async function exhaustSearch(store, question) {
  for await (const _ of store.search(question, { all: true, limit: 10 })) continue;
}

/** @param {() => Promise<unknown>} work */
async function tookMs(work) {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / MICROS;
}

const done = things[what];
let told = {};
if (done) {
  const { openStore } = await import("../js/index.js");
  const store = await openStore({ home, project: "/" });
  told = await done(store);
  await store.close();
}
// Linux tells kilobytes.
console.log(JSON.stringify({ ...told, maxMb: process.resourceUsage().maxRSS / 1024 }));
