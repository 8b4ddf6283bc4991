// @ts-check
// Lints the form of the repository: the folders of src/ are floors that use no floor above, JavaScript only gets less,
// files are short.

import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fail, root } from "./run.mjs";

/**
 * The most lines of js/ beside those of a host's own. The number may only fall, but for a call that is new: rules
 * for every host belong in src/. It rose by 39 with `record`, with `create` from a source, with what doctor tells,
 * by 29 with prices and with the end of a recording, by 58 with sums of what
 * model calls took and what one cost, by 1 with the packages that pages bring along, and by 31 with the list of what
 * an import would take in, for which 148 lines of a host's own went.
 */
const MAX_LINES = 5_515;
const HOST_FOLDERS =
  /^(?:answers|cli|init|agents|ai|claude|html|langchain|openai|sdk|opencode|mcp|storage|compat|viewer|vscode)\//;
/** Half of all files must be shorter, in lines. */
const MAX_MEDIAN_LINES = 200;

// Tests come last in a file, by the project's order of items.
const TESTS = /^#\[cfg\(test\)\]\n(?:#.*\n)*mod \w+ \{/m;

/** The modules that a crate's `lib.rs` has for tests alone. @param {string} src */
export const testModules = (src) =>
  Array.from(
    readFileSync(join(src, "lib.rs"), "utf8").matchAll(/^#\[cfg\(test\)\]\nmod (\w+);/gm),
    ([, name = ""]) => name,
  );

/** @param {string} text */
export const withoutTests = (text) => text.split(TESTS)[0] ?? "";

/** @param {string} folder @param {string} ending */
const filesIn = (folder, ending) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(ending))
    .sort();

/** Ends the process where a floor uses one above it. */
export function floors() {
  const found = circle(uses(join(root, "src")));
  if (found) fail(`expected each floor of src/ to use only those below it, but found a circle: ${found.join(", ")}`);
}

/** Ends the process where an example is shown that no test runs. */
export function examples() {
  const src = join(root, "src");
  const unrun = filesIn(src, ".rs").filter((path) =>
    /^\s*\/\/[/!] ```.*\b(ignore|no_run)\b/m.test(readFileSync(join(src, path), "utf8")),
  );
  if (unrun.length > 0)
    fail(`expected each example to be run by a test, but found "ignore" or "no_run" in ${unrun.join(", ")}`);
}

/** Ends the process where there is more JavaScript than there was, or half of all files are long. */
export function lengths() {
  const [js, src] = ["js", "src"].map((folder) => join(root, folder));
  if (!js || !src) return;
  /** @param {string} path */
  const lines = (path) => readFileSync(path, "utf8").split("\n").length - 1;
  const shared = filesIn(js, ".js")
    .filter((path) => !HOST_FOLDERS.test(path))
    .map((path) => lines(join(js, path)));
  const sum = shared.reduce((a, b) => a + b, 0);
  if (sum > MAX_LINES)
    fail(
      `expected at most ${MAX_LINES} lines of JavaScript that a host would not have of its own, but found ${sum} instead`,
    );
  if (sum < MAX_LINES)
    console.log(
      `  ${sum} lines of JavaScript that a host would not have of its own: MAX_LINES in scripts/house.mjs may fall.`,
    );
  const all = [
    ...filesIn(js, ".js").map((path) => join(js, path)),
    ...filesIn(src, ".rs").map((path) => join(src, path)),
  ]
    .map(lines)
    .sort((a, b) => a - b);
  const median = all[all.length >> 1] ?? 0;
  if (median >= MAX_MEDIAN_LINES)
    fail(
      `expected half of all files in js/ and src/ to have less than ${MAX_MEDIAN_LINES} lines, but found a median of ${median}`,
    );
}

/** The places of our own prose. */
const PROSE_PLACES = [
  "src",
  "crates",
  "js",
  "scripts",
  "tests",
  "benches",
  "examples",
  "fuzz",
  "docs",
  "README.md",
  "ARCHITECTURE.md",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "Cargo.toml",
  "package.json",
  "llms.txt",
  ".github",
];
/** Places left out: others' words, recordings of them, and what is generated from files that are checked. */
const EXCLUDED_PROSE =
  /(?:^|\/)(?:fixtures|node_modules|target|corpus)\/|^tests\/conformance\/scripts\/|^docs\/api\/|(?:^|[.-])lock(?:\.json)?$/;
/**
 * Spellings that are not American. Without `cancelled`, an error code that callers know, and a word of agents' files.
 */
const BRITISH = new RegExp(
  [
    "(?:arm|behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|rum)our(?!ced)",
    "(?:cancel|channel|fuel|label|level|model|signal|total|travel)l(?:ing|er)",
    "(?:channel|fuel|label|level|model|signal|total|travel)led",
    "[a-z](?:al|an|ar|ard|en|er|ern|et|il|im|in|it|og|ogn|on|or|un)is(?:e|ing|ation)",
    "(?:atom|custom|random|amat|omat)is(?:e|ing|ation)",
    "emphasise|thesis(?:e[dr]?|ing)\\b|(?:an|par|cat)alys(?:ed?|ing)\\b",
    "licence",
    "\\b(?:spelt|learnt|burnt|dreamt|whilst|amongst|grey|programmes?|metres?|fibres?|fulfil|practis(?:e|ing))\\b",
    "acknowledgement|judgement|fulfilment|artefact|catalogue|centre|defence|offence|sceptic|skilful",
  ].join("|"),
  "i",
);
/**
 * By file, the matches that have to be there: what people write is read in each spelling.
 * @type {Record<string, RegExp>}
 */
const INTENDED_WORDS = {
  "scripts/house.mjs": /[^]*/,
  "src/recall/english.rs": /"(?:burnt|dreamt|learnt)"/g,
  "src/state/cues.rs": /"(?:in favour of|standardised on)"/g,
  "src/operation/store/recall/postings.rs": /"tokeniser"/g,
};

/**
 * Finds the first word of a text that is not spelled the American way, and its line.
 * @param {string} text
 * @returns {{ word: string, line: number } | undefined}
 */
export function british(text) {
  const found = BRITISH.exec(text);
  if (!found) return undefined;
  const before = text.slice(0, found.index);
  return {
    word: `${/\w*$/.exec(before)?.[0]}${/^\w*/.exec(text.slice(found.index))?.[0]}`,
    line: before.split("\n").length,
  };
}

/** Ends the process at the first word that is not spelled the American way. */
export function oneSpelling() {
  for (const place of PROSE_PLACES) {
    const isFile = statSync(join(root, place)).isFile();
    for (const path of isFile ? [place] : filesIn(join(root, place), "").map((name) => `${place}/${name}`)) {
      if (EXCLUDED_PROSE.test(path) || !/\.(?:rs|m?js|[cm]?ts|wit|md|toml|txt|py|html|json|sh|yml)$/.test(path))
        continue;
      const text = readFileSync(join(root, path), "utf8").replace(INTENDED_WORDS[path] ?? /$^/, "");
      const found = british(text) ?? british(path);
      if (found) fail(`${path}, line ${found.line}: expected American spelling, but found "${found.word}" instead`);
    }
  }
}

/** Ends the process where the reliability page doesn't name a suite of faults. */
export function checkSuitesNamed() {
  const names = filesIn(join(root, "tests", "faults"), ".fault.mjs").map((path) => path.slice(0, -".fault.mjs".length));
  const found = findUnnamed(names, readFileSync(join(root, "docs", "RELIABILITY.md"), "utf8"));
  if (found.length > 0)
    fail(
      `expected docs/RELIABILITY.md to say of each suite of tests/faults what came of it, but found nothing of ${found.join(", ")}`,
    );
}

/**
 * Suites that have neither a row of their own nor a command that runs them.
 * @param {string[]} names
 * @param {string} text of the page
 */
export const findUnnamed = (names, text) =>
  names.filter((name) => !new RegExp(`(?:^\\| \`|\\bnpm run test:faults -- )${name}[ \`]`, "m").test(text));

/** The floor of a file, by its path: `context/build.rs` and `context.rs` are both of `context`. @param {string} path */
const floorOf = (path) => path.split("/")[0]?.replace(/\.rs$/, "") ?? "";

/**
 * Which other floors each floor of a crate uses, with a file that does: by `crate::` paths, tests left out.
 * @param {string} src
 * @returns {Map<string, Map<string, string>>}
 */
export function uses(src) {
  const files = filesIn(src, ".rs").filter((path) => path !== "lib.rs" && !testModules(src).includes(floorOf(path)));
  /** @type {Map<string, Map<string, string>>} */
  const all = new Map(files.map((path) => [floorOf(path), new Map()]));
  for (const path of files) {
    const code = withoutTests(readFileSync(join(src, path), "utf8")).replace(/\/\/.*$/gm, "");
    for (const name of namesIn(code)) {
      const used = all.get(floorOf(path));
      if (name !== floorOf(path) && all.has(name) && !used?.has(name)) used?.set(name, path);
    }
  }
  return all;
}

/** The first names after `crate::`, also of several: `use crate::{error::Error, time};`. @param {string} code */
function namesIn(code) {
  return Array.from(code.matchAll(/\bcrate::(?:(\w+)|\{([^;]*)\})/g), ([, one, group = ""]) => {
    if (one) return [one];
    let inner = group;
    while (/\{[^{}]*\}/.test(inner)) inner = inner.replace(/\{[^{}]*\}/g, "");
    return inner.split(",").map((path) => path.trim().split("::")[0] ?? "");
  }).flat();
}

/**
 * Finds a circle of floors, as the files that close it; null where there is none.
 * @param {Map<string, Map<string, string>>} all
 * @returns {string[] | null}
 */
export function circle(all) {
  /** @type {Set<string>} */
  const done = new Set();
  /** @param {string} floor @param {string[]} way @returns {string[] | null} */
  const walk = (floor, way) => {
    if (way.includes(floor)) return way.slice(way.indexOf(floor)).concat(floor);
    if (done.has(floor)) return null;
    done.add(floor);
    for (const below of all.get(floor)?.keys() ?? []) {
      const found = walk(below, [...way, floor]);
      if (found) return found;
    }
    return null;
  };
  for (const floor of all.keys()) {
    const found = walk(floor, []);
    if (found) return found.slice(1).map((below, place) => `${all.get(found[place] ?? "")?.get(below)} uses ${below}`);
  }
  return null;
}
