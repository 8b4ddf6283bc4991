// @ts-check
// Each test says in its first comment what it tries, by paths that are there, so that the tests of a file can be found;
// and every folder of the sources has one.
// Tries: scripts/find-tests.mjs
import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { findTests, readTests, readTries, readUnitTests } from "../../scripts/find-tests.mjs";
import { root } from "../../scripts/run.mjs";

const tests = readTests();

/**
 * Lists the folders of a tree that have files, each with a slash at its end.
 * @param {string} folder
 * @returns {string[]}
 */
function listFolders(folder) {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  const below = entries.filter((entry) => entry.isDirectory()).flatMap(({ name }) => listFolders(`${folder}${name}/`));
  return entries.some((entry) => entry.isFile()) ? [folder, ...below] : below;
}

test("each test says what it tries, by paths that are there; a folder's ends with a slash", () => {
  assert.ok(tests.length > 200, `${tests.length}`);
  for (const { test, tries } of tests) {
    assert.ok(tries.length > 0, `${test}: expected "Tries: " with paths at the end of its first comment`);
    for (const path of tries) {
      assert.ok(existsSync(join(root, path)), `${test}: expected a path that is there, but found "${path}"`);
      assert.equal(path.endsWith("/"), statSync(join(root, path)).isDirectory(), `${test}: "${path}"`);
      assert.ok(!/^(?:src|js)\/$/.test(path), `${test}: "${path}" says nothing`);
    }
  }
});

test("every folder of src/ and js/ is tried: a test names it, or a file in it", () => {
  const named = new Set(tests.flatMap(({ tries }) => tries).map((path) => path.slice(0, path.lastIndexOf("/") + 1)));
  const folders = ["src/", "js/"].flatMap((top) => listFolders(top));
  assert.ok(folders.length > 50, `${folders.length}`);
  assert.deepEqual(
    folders.filter((folder) => !named.has(folder)),
    [],
  );
});

test("what a test tries is read from the comments of JavaScript and Rust, over several lines", () => {
  for (const [text, expected] of /** @type {[string, string[]][]} */ ([
    ["// @ts-check\n// A law.\n// Tries: src/a.rs, js/b/\nimport x;\n", ["src/a.rs", "js/b/"]],
    ["// @ts-check\n/** A law. */\n// Tries: src/a.rs,\n// js/b/\n\nimport x;\n", ["src/a.rs", "js/b/"]],
    ["// @ts-check\n\n/** A law. */\n// Tries: js/b/\n\nimport x;\n", ["js/b/"]],
    ["/**\n * A law.\n * Tries: js/b/\n */\nimport x;\n", ["js/b/"]],
    ["//! A law.\n//! Tries: src/a.rs,\n//! src/b.rs\n\nuse x;\n", ["src/a.rs", "src/b.rs"]],
    ["// A law.\nimport x;\n// Tries: src/a.rs\n", []],
    ["// It tries: src/a.rs\n", []],
  ])) {
    assert.deepEqual(readTries(text), expected, text);
  }
});

test("a file's own tests come first, then those of its folder, then those of the folders above; each once", () => {
  const some = [
    { test: "above", tries: ["src/"] },
    { test: "beside", tries: ["src/a/c.rs"] },
    { test: "folder", tries: ["src/a/"] },
    { test: "own", tries: ["src/a/", "src/a/b.rs"] },
    { test: "deeper", tries: ["src/a/d/e.rs"] },
  ];
  const find = (/** @type {string} */ path, from = some) => findTests(path, from).map(({ test }) => test);
  assert.deepEqual(find("src/a/b.rs"), ["own", "folder", "above"]);
  assert.deepEqual(find("src/a/"), ["folder", "own", "beside", "deeper", "above"]);
  assert.deepEqual(find("src/a/f.rs"), ["folder", "own", "above"]);
  // Where no test names a file or its folder, those of the files beside it stand for them.
  assert.deepEqual(find("src/a/d/f.rs"), ["deeper", "folder", "own", "above"]);
  assert.deepEqual(find("js/a.js"), []);
});

test("a file with tests inside is a test of its own, and a file of tests alone one of its folder", () => {
  const units = readUnitTests();
  for (const [path, expected] of [
    ["src/recall/rank.rs", "src/recall/rank.rs"],
    ["src/settings/specs.rs", "src/settings/tests.rs"],
  ]) {
    assert.deepEqual(
      findTests(path ?? "", units).map(({ test }) => test),
      [expected],
      path,
    );
  }
});
