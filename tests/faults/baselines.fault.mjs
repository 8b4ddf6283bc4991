// @ts-check
/**
 * What others use, under the same faults. It counts how often each breaks the law, and fails only if it cannot count.
 */
// Tries: tests/faults/baseline.mjs

import assert from "node:assert/strict";
import { createReadStream, mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { cannotMount, chance, mount, scene, unmount } from "./tools.mjs";

/** @import { Child, Start } from "./tools.mjs" */
/** @typedef {Record<string, number | string>} Counts */
/** @typedef {{ folder: string, start: Start, seed: number, scaled: (whole: number) => number }} Options */

const baseline = fileURLToPath(new URL("baseline.mjs", import.meta.url));
const KIB = 1024;
const MIB = 1024 * KIB;
const LINE = 1_000_000;
const WRITERS = ["a", "b", "c", "d"];
const LOCKERS = 8;

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "how often appendFile, write-file-atomic and proper-lockfile break the same laws",
  async run({ scaled, seed }) {
    return scene("baselines", async ({ folder, start }) => {
      const options = { folder, start, seed, scaled };
      return {
        ...(await appendFile(options)),
        ...(await writeFileAtomic(options)),
        ...(await properLockfile(options)),
      };
    });
  },
};

/** 4 processes, lines of 1 MB: how many are not there whole. @param {Options} options @returns {Promise<Counts>} */
async function appendFile({ folder, start, scaled }) {
  const path = join(folder, "lines.jsonl");
  const each = Math.ceil(scaled(400) / WRITERS.length);
  const children = WRITERS.map((writer) => startBaseline(start, ["append", path, writer, String(each)]));
  for (const child of children) await wellEnded(child);
  let whole = 0;
  for await (const line of createInterface({ input: createReadStream(path) })) {
    if (line.length === LINE && line === line.charAt(0).repeat(LINE)) whole += 1;
  }
  const lines = each * WRITERS.length;
  return { "appendFile: lines of 1 MB": lines, "mixed or lost": lines - whole };
}

/**
 * A small disk: how often the document is neither the old one nor the new one.
 * @param {Options} options
 * @returns {Promise<Counts>}
 */
async function writeFileAtomic({ folder, start, seed, scaled }) {
  const random = chance(seed);
  const counts = { replaced: 0, refused: 0, "refused without the path": 0, cut: 0, "cut and called a success": 0 };
  const home = join(folder, "disk");
  mkdirSync(home);
  const skipped = cannotMount(home);
  if (skipped) return { "write-file-atomic": `SKIPPED: ${skipped}` };
  for (let n = 0; n < scaled(100); n += 1) {
    const limit = random.size(8 * KIB, MIB);
    mount(home, limit);
    const child = startBaseline(start, [
      "replace",
      join(home, "document.json"),
      String(random.below(2 ** 31)),
      String(limit),
    ]);
    await wellEnded(child);
    for (const { isWhole, isRefused, isNamed } of child.said) {
      counts[isRefused ? "refused" : "replaced"] += 1;
      if (isRefused && !isNamed) counts["refused without the path"] += 1;
      if (!isWhole) counts.cut += 1;
      if (!isWhole && !isRefused) counts["cut and called a success"] += 1;
    }
    unmount(home);
  }
  const { replaced, ...rest } = counts;
  return { "write-file-atomic: replaced": replaced, ...rest };
}

/**
 * 8 processes find a lock whose holder died: how often more than one of them has it then.
 * @param {Options} options
 * @returns {Promise<Counts>}
 */
async function properLockfile({ folder, start, scaled }) {
  const children = Array.from({ length: LOCKERS }, () => startBaseline(start, ["lock"]));
  const storms = scaled(1000);
  let broken = 0;
  for (let storm = 0; storm <= storms; storm += 1) {
    for (const child of children) await child.until((said) => said.length > storm);
    const holders = children.filter(({ said }) => said[storm] === true).length;
    if (holders > 1) broken += 1;
    if (storm === storms) break;
    const path = join(folder, `locked-${storm}`);
    mkdirSync(`${path}.lock`);
    utimesSync(`${path}.lock`, 1, 1);
    for (const child of children) child.tell(path);
  }
  for (const child of children) child.tell("end");
  for (const child of children) await wellEnded(child);
  return { "proper-lockfile: stale locks": storms, "held by several": broken };
}

/** @param {Start} start @param {string[]} args */
function startBaseline(start, args) {
  return start(process.execPath, [baseline, ...args]);
}

/** @param {Child} child */
async function wellEnded(child) {
  const { code, stderr } = await child.ended;
  assert.equal(code, 0, stderr);
}
