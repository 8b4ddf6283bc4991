// @ts-check
// The API reference names all that the package gives, says something of each, and has the signature that ships.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as compat from "../../js/compat/index.js";
import * as leftoff from "../../js/index.js";
import { page } from "../../scripts/docs.mjs";

const types = fileURLToPath(new URL("../../types/types", import.meta.url));

/** What stands below each heading. @param {string} text */
const chapters = (text) => new Map(text.split(/^###+ /m).slice(1).map((one) => [one.slice(0, one.indexOf("\n")), one.slice(one.indexOf("\n"))]));

/** The names that a file of declarations has. @param {string} name */
const namesIn = (name) => Array.from(readFileSync(join(types, name), "utf8").matchAll(/^export (?:interface|type) (\w+)/gm), ([, found = ""]) => found);

test("every function, class and type of both entries has its chapter", () => {
  const [front, veneer] = [chapters(page("leftoff")), chapters(page("compat"))];
  const named = readdirSync(types).filter((name) => !/^(index|compat)\./.test(name)).flatMap(namesIn);
  assert.ok(named.length > 60);
  for (const name of [...Object.keys(leftoff), ...named]) assert.match(front.get(name) ?? "", /\w/, name);
  for (const name of [...Object.keys(compat).filter((name) => !(name in leftoff) || name === "Session"), ...namesIn("compat.d.ts")]) assert.match(veneer.get(name) ?? "", /\w/, name);
});

test("every method that may be called has a chapter that says what it does, and no inside has one", () => {
  const front = chapters(page("leftoff"));
  for (const [name, text] of front) if (/^(Store|Session|Transcript)\.\w/.test(name)) assert.match(text.replace(/```[^]*?```/g, ""), /\w{2,} \w+/, name);
  for (const name of ["Store.list", "Session.append", "Session.context", "Transcript.slice"]) assert.ok(front.has(name), name);
  for (const name of ["Session.letGo", "Session.indexLine", "Store.of", "Session.constructor"]) assert.ok(!front.has(name), name);
});

test("what a method takes and throws, and how it is used, is taken out of its comment", () => {
  const text = chapters(page("leftoff")).get("Session.append") ?? "";
  assert.match(text, /append\(drafts: Draft \| Draft\[\] \| object, options\?: AppendOptions\): Promise<Appended>;/);
  assert.match(text, /^- `drafts`: in the shape that `format` says/m);
  assert.match(text, /^- throws `invalid_request` naming the place/m);
  assert.equal(text.match(/```js/g)?.length, 3);
  assert.doesNotMatch(text, /@\w+/);
});

test("no declaration that ships says any, or reaches an inside", () => {
  const folder = join(types, "..");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".d.ts"));
  assert.ok(files.length > 40);
  for (const name of files) {
    const code = readFileSync(join(folder, name), "utf8").replace(/\/\*[^]*?\*\/|\/\/.*|"[^"\n]*"/g, (found) => (found.startsWith('"') ? found : ""));
    assert.doesNotMatch(code, /\bany\b|pkg\/|\blive\b|privacy\//, name);
  }
});
