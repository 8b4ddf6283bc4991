// @ts-check
/**
 * The evidence for counting in its long form: every text file at hand and random text, against tiktoken-rs natively;
 * and again in WebAssembly, against what tiktoken-rs counted there.
 */
// Tries: src/tokens/

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { root, watch } from "../../scripts/run.mjs";
import { inWasm } from "./counted.mjs";
import { scene } from "./tools.mjs";

/** @typedef {Record<string, number | string>} Counts */

/** What the tests count, by their words, and how many it is of the whole. */
const LEAST = { "bytes of random text": 1_000_000_000, "bytes of files": 20_000_000 };
const LEAST_AGAIN = 20_000_000;
const LEAST_LANGUAGES = 20;
/** Up to this scale it is not worth another build: it runs in the one that `cargo test` made. */
const SHORT = 0.05;
const MANUALS = join("/usr", "share", "man");

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "every text counts as tiktoken-rs counts it, natively and in WebAssembly",
  async run({ scaled, seed }) {
    return scene("tokens", async ({ folder }) => {
      const scale = scaled(1_000_000) / 1_000_000;
      const profile = scale <= SHORT ? "test" : "faults";
      /** @type {Counts} */
      const counts = { profile };
      const texts = roots(folder, counts);
      const env = {
        LEFTOFF_SCALE: String(scale),
        LEFTOFF_SEED: String(seed),
        LEFTOFF_TEXTS: texts.join(delimiter),
        LEFTOFF_COUNTS: folder,
      };
      const { ok, output } = await watch(
        "cargo",
        ["test", "--profile", profile, "--test", "all", "--", "--show-output", "token_equality::"],
        { env, quiet: true },
      );
      assert.ok(ok, output);
      for (const [, what = "", count] of output.matchAll(/^counted (.+): (\d+)$/gm)) counts[what] = Number(count);
      for (const [what, whole] of Object.entries(LEAST)) atLeast(counts, what, scaled(whole));
      for (const what of ["random", "files"]) {
        const again = `bytes of ${what} in WebAssembly`;
        counts[again] = await inWasm(join(folder, what));
        atLeast(counts, again, scaled(LEAST_AGAIN));
      }
      return counts;
    });
  },
};

/**
 * The folders whose files are counted. One that is not there is said to be skipped.
 * @param {string} folder
 * @param {Counts} counts
 */
function roots(folder, counts) {
  const registry = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "registry", "src");
  const crates = existsSync(registry) ? [registry] : [];
  if (crates.length === 0) counts["packages of Rust"] = `SKIPPED: ${registry} is not there`;
  const manuals = join(folder, "manuals");
  const languages = unpackManuals(manuals);
  const isEnough = languages >= LEAST_LANGUAGES;
  counts["languages of manual pages"] = isEnough
    ? languages
    : `SKIPPED: ${MANUALS} has ${languages}, not ${LEAST_LANGUAGES}`;
  return [join(root, "node_modules"), join(root, "tests", "fixtures"), ...crates, ...(languages > 0 ? [manuals] : [])];
}

/** Unpacks the translated manual pages, and answers in how many languages there are any. @param {string} to */
function unpackManuals(to) {
  const languages = existsSync(MANUALS) ? readdirSync(MANUALS).filter((name) => /^[a-z]{2}(?![a-z])/.test(name)) : [];
  const withPages = languages.filter((language) => {
    const pages = readdirSync(join(MANUALS, language), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    for (const { parentPath, name } of pages) {
      const bytes = readFileSync(join(parentPath, name));
      const into = join(to, language);
      mkdirSync(into, { recursive: true });
      writeFileSync(join(into, name), name.endsWith(".gz") ? gunzipSync(bytes) : bytes);
    }
    return pages.length > 0;
  });
  return withPages.length;
}

/** @param {Counts} counts @param {string} what @param {number} least */
function atLeast(counts, what, least) {
  const count = Number(counts[what] ?? 0);
  assert.ok(count >= least, `expected at least ${least} ${what}, but found ${count} instead`);
}
