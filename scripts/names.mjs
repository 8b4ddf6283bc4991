// @ts-check
// Lints names and rooms: each figure below is a ceiling that may only fall. A name is a verb and its object, or a noun
// of the field; a participle or an adverb alone says neither who did what nor to what.

import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { withoutTests } from "./house.mjs";
import { fail, root } from "./run.mjs";

/** The ceilings. Whoever lowers a figure lowers its ceiling here. */
const CEILINGS = {
  functions: { most: 0, of: "functions named by a bare participle or adverb" },
  types: { most: 0, of: "types named by a bare participle or adverb" },
  constants: { most: 0, of: "constants named by a bare participle, adverb or degree" },
  methods: { most: 263, of: "methods of one type" },
  circles: { most: 43, of: "files of one folder of src/ that use each other in circles" },
  wide: { most: 43, of: "lines of over 140 letters in js/" },
};

/** Irregular participles, adverbs, prepositions and pronouns that a name may not consist of. */
const BARE_WORDS = new Set([
  ..."begun beheld bought bound broken brought built chosen come cut done drawn drunk driven fed fallen felt fit flown forgotten found given gone got grown had heard held hidden hung kept known laid led left lent lost made meant met paid put ran rung said seen sent set shown shut spent spoken split stood stuck sung sunk swept taken taught thought thrown told torn understood undone won woken worn written".split(
    " ",
  ),
  ..."about above afresh after again ahead alike all alone along already also among anew another any apart around as aside at away back before behind below beneath beside besides between beyond both by down each elsewhere enough ever every few first forth from here hence how in inside instead into just last later least less like lately many more most much near never next nigh none not now of off often on once one only onto other others out outside over past quite rather same several since so some soon still such than that then there these this those through thus to together too toward twice under until unto up upon what when where whether which while who whole whom whose why with within without yet".split(
    " ",
  ),
]);
/**
 * Names that callers know: they stay until a release may change them. `out` is the name by which the core asks its
 * host, `updated` that by which lit calls its elements, and the types are those of `js/types/` and
 * `js/records.d.ts`.
 */
const PUBLIC_NAMES = new Set(
  "others out redacted trashed updated Acknowledged Appended Assumed Committed Compacted Compared Created Edited Examined Found Imported Listed Now Recalled Reported Resumed Shown Trashed".split(
    " ",
  ),
);
/** Words that end like participles but are nouns, verbs or adjectives of the field. */
const NOT_PARTICIPLES = new Set(
  "bed bleed breed deed embed exceed feed greed indeed heed need proceed read red seed shed shred speed spread steed succeed thread tweed weed wed".split(
    " ",
  ),
);
/**
 * Words above that are verbs or nouns of the field as well. `next`, `from` and `of` name what Rust's own traits name
 * so.
 */
const ALSO_VERBS = new Set("cut first fit from last next of put set split".split(" "));

/** Adjectives of degree: a limit is `MAX_` or `MIN_`, says of what, and in which unit. */
const DEGREES = new Set(
  "big biggest close deep deepest far farthest fewest large largest little long longest narrowest nearest short shortest small smallest wide widest".split(
    " ",
  ),
);
/** What alone says which values a type has, which class a letter is in, and when a test takes place. */
const CONSTANT_NOUNS = new Set("ALL NOW OTHER".split(" "));

/**
 * Whether a constant's name is a bare participle, adverb, preposition or adjective of degree, or begins with one that
 * stands for `MAX_`, `MIN_` or the noun itself.
 * @param {string} name
 */
export function isVagueConstant(name) {
  if (CONSTANT_NOUNS.has(name)) return false;
  return (
    isBare(name) ||
    DEGREES.has(name.toLowerCase()) ||
    /^(?:FEWEST|LARGEST|LEAST|LONGEST|MOST|OF|SHORTEST|SMALLEST)_/.test(name)
  );
}

/** Whether a name, in one word, is a participle or an adverb. @param {string} name */
export function isBare(name) {
  const word = name.toLowerCase();
  if (/[_\d]/.test(name) || /[a-z][A-Z]/.test(name) || ALSO_VERBS.has(word)) return false;
  return BARE_WORDS.has(word) || (/^[a-z]{2,}ed$/.test(word) && !NOT_PARTICIPLES.has(word));
}

/** @param {string} folder @param {RegExp} ending @returns {{ path: string, text: string }[]} */
function readTree(folder, ending) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
    name.replaceAll("\\", "/"),
  );
  return names
    .filter((name) => ending.test(name))
    .sort()
    .map((name) => ({ path: name, text: readFileSync(join(root, folder, name), "utf8") }));
}

/**
 * The names of what Rust declares by one of these words; those of a trait's methods are the trait's.
 * @param {string} code
 * @param {string} words
 */
function declaredNames(code, words) {
  const own = code.replace(/^impl(?:<[^>]*>)? [^;{]+ for [^{]+\{\n[^]*?^\}/gm, "");
  const pattern = new RegExp(
    `^\\s*(?:pub(?:\\([^)]*\\))? )?(?:default |const |async |unsafe )*(?:${words}) ([A-Za-z]\\w*)`,
    "gm",
  );
  return Array.from(own.matchAll(pattern), ([, name = ""]) => name);
}

/** Constants of a file of Rust or JavaScript: names in capitals. @param {string} code */
export function declaredConstants(code) {
  const patterns = [
    /^\s*(?:pub(?:\([^)]*\))? )?(?:const|static) (?:mut )?([A-Z][A-Z\d_]+):/gm,
    /^\s*(?:export )?const ([A-Z][A-Z\d_]+) =/gm,
  ];
  return patterns.flatMap((pattern) => Array.from(code.matchAll(pattern), ([, name = ""]) => name));
}

/** Functions and types of a file of JavaScript. @param {string} code */
function declaredInScript(code) {
  const functions = [
    /^(?:export )?(?:async )?function\*? (\w+)/gm,
    /^(?:export )?const (\w+) = (?:async )?\(/gm,
    /^ {2}(?:static )?(?:async )?\*?(?:get |set )?#?(\w+)\([^;]*\) \{$/gm,
  ];
  const types = [
    /^(?:export )?(?:declare )?class (\w+)/gm,
    /@typedef \{.*\} (\w+)/g,
    /^(?:export )?(?:declare )?(?:interface|type) (\w+)/gm,
  ];
  const named = (/** @type {RegExp[]} */ patterns) =>
    patterns.flatMap((pattern) => Array.from(code.matchAll(pattern), ([, name = ""]) => name));
  return {
    functions: named(functions).filter((name) => !["if", "for", "while", "switch", "catch"].includes(name)),
    types: named(types),
  };
}

/**
 * Counts each type's own methods, over all its `impl`s below one top folder; a trait's methods count for the trait.
 * @param {{ path: string, text: string }[]} files
 */
export function countMethods(files) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { path, text } of files) {
    const code = withoutTests(text);
    const floor = path.split("/")[0]?.replace(/\.rs$/, "");
    for (const [, name = "", body = ""] of code.matchAll(/^impl(?:<[^>]*>)? ([A-Z]\w*)(?:<.*>)? \{\n([^]*?)^\}/gm)) {
      const methods = body.match(/^ {4}(?:pub(?:\([^)]*\))? )?(?:async )?(?:const )?fn /gm)?.length ?? 0;
      const type = `${floor}::${name}`;
      counts.set(type, (counts.get(type) ?? 0) + methods);
    }
  }
  return counts;
}

/**
 * Counts the files that are in circles with others of their folder.
 * @param {{ path: string, text: string }[]} files of a crate, as seen from its src/
 */
export function countInCircles(files) {
  const paths = new Set(files.map(({ path }) => path));
  const uses = new Map(files.map(({ path, text }) => [path, usesOf(path, text, paths)]));
  return circlesOf(uses).reduce((sum, group) => sum + group.length, 0);
}

/**
 * Which other files of its floor a file uses, by `crate::`, `super::` and `self::`.
 * @param {string} path
 * @param {string} text
 * @param {Set<string>} paths
 */
function usesOf(path, text, paths) {
  const code = withoutTests(text).replace(/\/\/.*$/gm, "");
  const module = path
    .replace(/(?:^|\/)mod\.rs$|\.rs$/, "")
    .split("/")
    .filter(Boolean);
  const [floor] = module;
  /** @type {Set<string>} */
  const used = new Set();
  for (const [, first = "", rest = ""] of code.matchAll(/\b(crate|self|super)((?:::\w+)*(?:::\{[^;]*\})?)/g)) {
    const base = first === "crate" ? [] : first === "self" ? module : module.slice(0, -1);
    for (const segments of spread(rest.slice(2))) {
      let place = base;
      let names = segments;
      while (names[0] === "super") [place, names] = [place.slice(0, -1), names.slice(1)];
      const file = fileOf([...place, ...names], paths);
      if (file && file !== path && file.split("/")[0]?.replace(/\.rs$/, "") === floor) used.add(file);
    }
  }
  return used;
}

/**
 * The paths that a group in braces stands for: `a::{b, c::{d}}` is `a::b` and `a::c::d`.
 * @param {string} path
 * @returns {string[][]}
 */
function spread(path) {
  const brace = path.indexOf("{");
  if (brace < 0) return [path.split("::").filter(Boolean)];
  const before = path.slice(0, brace).split("::").filter(Boolean);
  let depth = 0;
  let item = "";
  /** @type {string[]} */
  const items = [];
  for (const letter of path.slice(brace + 1, path.lastIndexOf("}"))) {
    if (letter === "," && depth === 0) items.push(item.trim());
    if (letter === "," && depth === 0) item = "";
    else item += letter;
    if (letter === "{") depth += 1;
    if (letter === "}") depth -= 1;
  }
  return [...items, item.trim()]
    .filter(Boolean)
    .flatMap((each) => spread(each.split(" as ")[0] ?? "").map((names) => [...before, ...names]));
}

/** The file of the longest beginning of a path that is a module. @param {string[]} names @param {Set<string>} paths */
function fileOf(names, paths) {
  for (let length = names.length; length > 0; length -= 1) {
    const module = names.slice(0, length).join("/");
    for (const file of [`${module}.rs`, `${module}/mod.rs`]) if (paths.has(file)) return file;
  }
  return undefined;
}

/**
 * The groups of files that reach each other, of two or more, by Tarjan's algorithm.
 * @param {Map<string, Set<string>>} uses
 */
function circlesOf(uses) {
  /** @type {Map<string, { index: number, low: number, open: boolean }>} */
  const seen = new Map();
  /** @type {string[]} */
  const stack = [];
  /** @type {string[][]} */
  const groups = [];
  /** @param {string} path */
  const visit = (path) => {
    const own = { index: seen.size, low: seen.size, open: true };
    seen.set(path, own);
    stack.push(path);
    for (const next of uses.get(path) ?? []) {
      const other = seen.get(next) ?? visit(next);
      if (other.open) own.low = Math.min(own.low, other.low);
    }
    if (own.low === own.index) {
      const group = stack.splice(stack.indexOf(path));
      for (const member of group) (seen.get(member) ?? own).open = false;
      if (group.length > 1) groups.push(group);
    }
    return own;
  };
  for (const path of uses.keys()) if (!seen.has(path)) visit(path);
  return groups;
}

/** Measures the current figures, and where each comes from. */
export function measure() {
  const rust = readTree("src", /\.rs$/);
  const crates = readTree("crates", /\.rs$/);
  const scripts = readTree("js", /\.(?:js|d\.ts)$/);
  const code = [...rust, ...crates].map(({ text }) => withoutTests(text).replace(/^\s*\/\/.*$/gm, ""));
  const script = scripts.map(({ text }) => declaredInScript(text));
  const isRefused = (/** @type {string} */ name) => isBare(name) && !PUBLIC_NAMES.has(name);
  const functions = [
    ...code.flatMap((text) => declaredNames(text, "fn")),
    ...script.flatMap(({ functions }) => functions),
  ].filter(isRefused);
  const types = [
    ...code.flatMap((text) => declaredNames(text, "struct|enum|trait|type")),
    ...script.flatMap(({ types }) => types),
  ].filter(isRefused);
  const programs = readTree("scripts", /\.mjs$/);
  const constants = [...code, ...[...scripts, ...programs].map(({ text }) => text)]
    .flatMap(declaredConstants)
    .filter(isVagueConstant);
  const methods = Array.from(countMethods([...rust, ...crates])).sort(([, a], [, b]) => b - a);
  const wide = scripts
    .filter(({ path }) => path.endsWith(".js"))
    .flatMap(({ path, text }) =>
      text
        .split("\n")
        .filter((line) => line.length > 140)
        .map(() => path),
    );
  return {
    functions: { count: functions.length, found: functions },
    types: { count: types.length, found: types },
    constants: { count: constants.length, found: constants },
    methods: { count: methods[0]?.[1] ?? 0, found: methods.slice(0, 2).map(([name]) => name) },
    circles: { count: countInCircles(rust), found: [] },
    wide: { count: wide.length, found: wide },
  };
}

/** Ends the process where a figure rose above its ceiling; says so where one fell below. */
export function names() {
  for (const [name, { count, found }] of Object.entries(measure())) {
    const { most, of } = CEILINGS[/** @type {keyof typeof CEILINGS} */ (name)];
    if (count > most)
      fail(`expected at most ${most} ${of}, but found ${count}: ${Array.from(new Set(found)).sort().join(" ")}`);
    if (count < most) console.log(`  ${count} ${of}: the ceiling of ${most} in scripts/names.mjs may fall.`);
  }
}
