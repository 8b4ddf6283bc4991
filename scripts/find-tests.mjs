// @ts-check
// `npm run find-tests -- src/recall/rank.rs`: prints the tests that try a source file or a folder, the nearest first.
// A test names in its first comment what it tries, at the comment's end: `Tries: src/recall/, js/store/store.js`.

import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fail, root } from "./run.mjs";

/**
 * @typedef {{ test: string, tries: string[] }} Test a test file, and the paths that it tries; a folder's ends with "/"
 * @typedef {{ test: string, tried: string }} Match a test file, with the path by which it was found
 */

/** The folders in which tests lie by themselves. */
const FOLDERS = ["tests", "crates/wasm/tests"];
/** Folders below them with data, and with what several tests share. */
const HAS_NO_TESTS = /^tests\/(?:fixtures|common|conformance\/scripts)\/|\/(?:node_modules|target)\//;
const SCRIPT_TEST = /\.(?:test\.js|fault\.mjs|client\.mjs|check\.mjs)$|browser\/viewer[\w-]*\.mjs$/;
/** A test in Rust, in a file that may also have none, as helpers do. */
const RUST_TEST = /^\s*#\[(?:wasm_bindgen_)?test\]/m;
/** The module of a source file's unit tests. */
const UNIT_TESTS = /^#\[cfg\((?:all\()?test\b.*\n(?:#.*\n)*mod \w+ \{/m;
/** The comments before anything else in a file. */
const FIRST_COMMENT = /^(?:\/\/ @ts-check\n\n?)?(?:\/\/.*\n|\/\*\*[^]*?\*\/\n)*/;

/**
 * Reads the paths that a test says it tries; none where it says nothing.
 * @param {string} text
 */
export function readTries(text) {
  const comment = (FIRST_COMMENT.exec(text)?.[0] ?? "").replace(/^\/\/!?|^\/\*\*| \*\/$|^ \*/gm, "");
  const [, paths = ""] = /(?:^|\n)\s*Tries: ([^]*)$/.exec(comment) ?? [];
  return paths
    .split(",")
    .map((path) => path.trim())
    .filter(Boolean);
}

/** Reads what each test file of the repository tries. @returns {Test[]} */
export function readTests() {
  const paths = FOLDERS.flatMap((folder) => listFiles(folder)).filter((path) => !HAS_NO_TESTS.test(path));
  return paths.sort().flatMap((test) => {
    if (!SCRIPT_TEST.test(test) && !test.endsWith(".rs")) return [];
    const text = readFileSync(join(root, test), "utf8");
    return SCRIPT_TEST.test(test) || RUST_TEST.test(text) ? [{ test, tries: readTries(text) }] : [];
  });
}

/** Lists the files below a folder. @param {string} folder */
function listFiles(folder) {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return names.map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
}

/** Reads which source files have unit tests: inside, or for a whole folder in a file `tests.rs`. @returns {Test[]} */
export function readUnitTests() {
  const paths = ["src", "crates"].flatMap((folder) => listFiles(folder)).filter((path) => path.endsWith(".rs"));
  return paths.sort().flatMap((test) => {
    if (test.endsWith("/tests.rs")) return [{ test, tries: [folderOf(test)] }];
    return UNIT_TESTS.test(readFileSync(join(root, test), "utf8")) ? [{ test, tries: [test] }] : [];
  });
}

/**
 * Finds the tests of a path, the nearest first: those that name it, or something in it; those that name its folder;
 * those that name a folder above. If there are none of the first two, those of the files beside it stand for them.
 * @param {string} path a folder's ends with a slash
 * @param {Test[]} tests
 * @returns {Match[]}
 */
export function findTests(path, tests) {
  const find = (/** @type {(tried: string) => boolean} */ isMeant) =>
    tests.flatMap(({ test, tries }) => tries.filter(isMeant).map((tried) => ({ test, tried })));
  const folder = folderOf(path);
  const inside = path.endsWith("/") ? find((tried) => tried.startsWith(path)) : [];
  const nearest = [...find((tried) => tried === path), ...inside, ...find((tried) => tried === folder)];
  const isBeside = (/** @type {string} */ tried) => !tried.endsWith("/") && folderOf(tried) === folder;
  const beside = nearest.length === 0 ? find(isBeside) : [];
  const above = listFoldersAbove(folder).flatMap((place) => find((tried) => tried === place));
  const found = [...nearest, ...beside, ...above];
  return found.filter(({ test }, index) => found.findIndex((other) => other.test === test) === index);
}

/** Returns the folder that a path lies in, with a slash at its end. @param {string} path */
function folderOf(path) {
  return path.replace(/[^/]+\/?$/, "");
}

/** Lists the folders above a folder, the nearest first. @param {string} folder @returns {string[]} */
function listFoldersAbove(folder) {
  const above = folderOf(folder);
  return above ? [above, ...listFoldersAbove(above)] : [];
}

/**
 * Writes a path as headers do: from the repository's root, a folder's with a slash at its end.
 * @param {string} given
 */
function toRepositoryPath(given) {
  const at =
    [given, join(root, given)].find((path) => existsSync(path)) ??
    fail(`expected a file or folder of the repository, but found "${given}" instead`);
  const path = relative(root, at).replaceAll(sep, "/");
  return statSync(at).isDirectory() ? `${path}/` : path;
}

/** Prints the tests of a path, each with the path that it names. @param {string} given */
function printTests(given) {
  const path = toRepositoryPath(given);
  const found = findTests(path, [...readUnitTests(), ...readTests()]);
  const width = Math.max(0, ...found.map(({ test }) => test.length));
  for (const { test, tried } of found) console.log(`${test.padEnd(width)}  tries ${tried === test ? "itself" : tried}`);
  if (found.length === 0) console.log(`no test names "${path}" or a folder above it`);
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
  printTests(process.argv[2] ?? fail("expected a file or folder, as in 'npm run find-tests -- src/recall/rank.rs'"));
}
