// @ts-check
/**
 * The evidence for the core in its long form: logs that are cut, flipped, written in vain, and filled with what is no
 * JSON.
 */
// Tries: src/record/scan.rs, src/record/resync.rs, src/session/log.rs, src/json/

import assert from "node:assert/strict";
import { watch } from "../../scripts/run.mjs";

const TESTS = ["cuts", "flips", "sequences", "json_suite"];

/** What the tests count, by their words, and how many it is of the whole. A file is a file at any scale. */
const SCALED = {
  "cuts of generated logs": 1_000_000,
  "flips scanned": 524_288,
  "flips in contexts": 65_536,
  sequences: 100_000,
};
const FIXED = {
  "files that are JSON": 95,
  "files that are none": 188,
  "files left to the parser": 35,
  "JSON files as values": 318,
  "JSON files between records": 318,
};

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "no cut, flip, failed write or line that is no JSON costs a log more than what it hit",
  async run({ scaled, seed }) {
    const scale = scaled(1_000_000) / 1_000_000;
    // A part of it is not worth another build: it runs in the one that `cargo test` made.
    const profile = scale < 1 ? "test" : "faults";
    const names = TESTS.map((name) => `${name}::`);
    const env = { LEFTOFF_SCALE: String(scale), LEFTOFF_SEED: String(seed) };
    const { ok, output } = await watch(
      "cargo",
      ["test", "--profile", profile, "--test", "all", "--", "--show-output", ...names],
      { env, quiet: true },
    );
    assert.ok(ok, output);
    /** @type {Record<string, number | string>} */
    const counts = { profile };
    for (const [, what = "", count] of output.matchAll(/^counted (.+): (\d+)$/gm)) counts[what] = Number(count);
    for (const [what, whole] of Object.entries(SCALED)) atLeast(counts, what, scaled(whole));
    for (const [what, whole] of Object.entries(FIXED)) assert.equal(counts[what], whole, what);
    return counts;
  },
};

/** @param {Record<string, number | string>} counts @param {string} what @param {number} least */
function atLeast(counts, what, least) {
  const count = Number(counts[what] ?? 0);
  assert.ok(count >= least, `expected at least ${least} ${what}, but found ${count} instead`);
}
