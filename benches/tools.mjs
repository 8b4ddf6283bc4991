// @ts-check
/** What the benches share. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

/** Says on the fourth stream what the process took of the processor. */
const METER = `data:text/javascript,${encodeURIComponent('import { writeSync } from "node:fs"; process.on("exit", () => writeSync(3, JSON.stringify(process.cpuUsage())));')}`;

/**
 * The words of a message of `bytes` bytes, as prose has them: line feeds, quotes and letters that are not ASCII.
 * @param {number} bytes
 */
export function prose(bytes) {
  const line =
    'The first test fails: expected "ünï" at line 12, but found nothing there. Read the file again, then mend it.\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** @template T @param {(folder: string) => Promise<T>} work */
export async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {number[]} values */
export function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}

/** Collects values, for their mean. */
export function mean() {
  let [sum, count] = [0, 0];
  return {
    add: (/** @type {number} */ value) => void ((sum += value), (count += 1)),
    value: () => sum / count,
  };
}

/**
 * Measures ways to do something against each other: in turns, so that what the machine does besides strikes all alike.
 * @param {Record<string, { times: number, once: () => unknown, after?: () => unknown }>} ways `times`: how often in
 *   each
 *   round; `after` clears up behind a round, and is not measured
 * @param {{ rounds: number }} options
 * @returns {Promise<Record<string, number>>} microseconds for each, the median of the rounds
 */
export async function inTurns(ways, { rounds }) {
  /** @type {Record<string, number[]>} */
  const measured = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  // The first round warms up.
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, { times, once, after }] of Object.entries(ways)) {
      const start = performance.now();
      for (let n = 0; n < times; n += 1) {
        const done = once();
        if (done instanceof Promise) await done;
      }
      if (round > 0) measured[name]?.push(((performance.now() - start) / times) * 1000);
      await after?.();
    }
  }
  return Object.fromEntries(Object.entries(measured).map(([name, values]) => [name, median(values)]));
}

/**
 * A process of Node, whole: what it took of the processor, which others that are busy do not change much, and how long
 * that was.
 * @param {string[]} args
 */
export function inNode(...args) {
  const start = performance.now();
  const { status, stdout, stderr, output } = spawnSync(process.execPath, ["--import", METER, ...args], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  const ms = performance.now() - start;
  if (status !== 0) throw new Error(stderr);
  const { user, system } = JSON.parse(output[3] ?? "");
  return { ms, processorMs: (user + system) / 1000, stdout };
}
