// @ts-check
/**
 * Counts in a process of its own, `<what> <engine> <encoding> ...`, and says what it took; `missing` says why leftoff
 * refused to. The engine is imported where it is measured, so that nothing else is.
 */

import { readFileSync } from "node:fs";
import process from "node:process";
import { engine } from "./engines.mjs";

const SHORT_TEXT = "Hello, world";
const LATER_PASSES = 3;
const MEGABYTE = 1_000_000;

/** @type {Record<string, (name: string, encoding: string, ...args: string[]) => Promise<unknown>>} */
const things = { passes, start, unbroken };

/**
 * All messages of a file, first with nothing loaded but the vocabulary, then again.
 * @param {string} name
 * @param {string} encoding
 * @param {string} file
 */
async function passes(name, encoding, file = "") {
  /** @type {string[]} */
  const texts = JSON.parse(readFileSync(file, "utf8"));
  const count = await engine(name, encoding);
  await count(SHORT_TEXT);
  const first = await pass(count, texts);
  let warmMs = Infinity;
  for (let n = 0; n < LATER_PASSES; n += 1) warmMs = Math.min(warmMs, (await pass(count, texts)).ms);
  return { firstMs: first.ms, warmMs, counts: first.counts };
}

/** @param {import("./engines.mjs").Count} count @param {string[]} texts */
async function pass(count, texts) {
  const counts = [];
  const start = performance.now();
  for (const text of texts) {
    const counted = count(text);
    counts.push(typeof counted === "number" ? counted : await counted);
  }
  return { ms: performance.now() - start, counts };
}

/** Node's start, the import and the first count. @param {string} name @param {string} encoding */
async function start(name, encoding) {
  const count = await engine(name, encoding);
  await count(SHORT_TEXT);
  // Since the process began.
  return { ms: performance.now(), mb: process.memoryUsage.rss() / MEGABYTE };
}

/**
 * A text that nothing splits, beside prose.
 * @param {string} name
 * @param {string} encoding
 * @param {string} unit
 * @param {string} file of prose
 */
async function unbroken(name, encoding, unit = "", file = "") {
  const count = await engine(name, encoding);
  await count(SHORT_TEXT);
  const times = { prose: await best(count, readFileSync(file, "utf8"), 3), one: 0, ten: 0 };
  const { runOf } = await import("./runs.mjs");
  const run = runOf(unit, MEGABYTE);
  const estimate = await engine(name, "estimate-1");
  if ((await count(run)) === (await estimate(run))) return { missing: "it was estimated, not counted" };
  times.one = await best(count, run, 3);
  times.ten = await best(count, runOf(unit, 10 * MEGABYTE), 3);
  return times;
}

/**
 * Nanoseconds for each byte.
 * @param {import("./engines.mjs").Count} count
 * @param {string} text
 * @param {number} passes
 */
async function best(count, text, passes) {
  let ms = Infinity;
  for (let n = 0; n < passes; n += 1) ms = Math.min(ms, (await pass(count, [text])).ms);
  return (ms * 1e6) / Buffer.byteLength(text);
}

const [what = "", name = "", encoding = "", ...args] = process.argv.slice(2);
try {
  console.log(JSON.stringify(await things[what]?.(name, encoding, ...args)));
} catch (error) {
  if (!(error instanceof Error) || error.name !== "LeftoffError") throw error;
  console.log(JSON.stringify({ missing: error.message }));
}
