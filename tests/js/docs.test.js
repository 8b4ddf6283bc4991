// @ts-check
// The API reference names all that the package gives, says something of each, and has the signature that ships.
// Tries: scripts/docs.mjs, js/types/
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import * as ai from "../../js/ai/index.js";
import * as claude from "../../js/claude/index.js";
import * as compat from "../../js/compat/index.js";
import * as html from "../../js/html/index.js";
import * as langchain from "../../js/langchain/index.js";
import * as leftoff from "../../js/index.js";
import * as openai from "../../js/openai/index.js";
import * as opencode from "../../js/opencode/index.js";
import * as viewer from "../../js/viewer/index.js";
import { NAMES, page } from "../../scripts/docs.mjs";

const types = fileURLToPath(new URL("../../types/types", import.meta.url));

/** What stands below each heading. @param {string} text */
const chapters = (text) =>
  new Map(
    text
      .split(/^###+ /m)
      .slice(1)
      .map((one) => [one.slice(0, one.indexOf("\n")), one.slice(one.indexOf("\n"))]),
  );

/** The names that a file of declarations has. @param {string} name */
const namesIn = (name) =>
  Array.from(
    readFileSync(join(types, name), "utf8").matchAll(/^export (?:interface|type) (\w+)/gm),
    ([, found = ""]) => found,
  );

test("every function, class and type of both entries has its chapter", () => {
  const [front, veneer] = [chapters(page("leftoff")), chapters(page("compat"))];
  const named = readdirSync(types)
    .filter((name) => !/^(index|ai|claude|compat|html|langchain|openai|opencode|viewer)\./.test(name))
    .flatMap(namesIn);
  assert.ok(named.length > 60);
  for (const name of [...Object.keys(leftoff), ...named]) assert.match(front.get(name) ?? "", /\w/, name);
  for (const name of [
    ...Object.keys(compat).filter((name) => !(name in leftoff) || name === "Session"),
    ...namesIn("compat.d.ts"),
  ])
    assert.match(veneer.get(name) ?? "", /\w/, name);
  for (const [entry, exported] of Object.entries({ ai, claude, html, langchain, openai, opencode, viewer })) {
    const found = chapters(page(/** @type {typeof NAMES[number]} */ (entry)));
    for (const name of [...Object.keys(exported), ...namesIn(`${entry}.d.ts`)].filter((name) => name !== "default"))
      assert.match(found.get(name) ?? "", /\w/, name);
  }
});

test("every method that may be called has a chapter that says what it does, and no inside has one", () => {
  const front = chapters(page("leftoff"));
  for (const [name, text] of front)
    if (/^(Store|Session|Transcript)\.\w/.test(name))
      assert.match(text.replace(/```[^]*?```/g, ""), /\w{2,} \w+/, name);
  for (const name of ["Store.list", "Session.append", "Session.context", "Transcript.slice"])
    assert.ok(front.has(name), name);
  for (const name of ["Session.release", "Session.indexLine", "Store.of", "Session.constructor"])
    assert.ok(!front.has(name), name);
});

test("what a method takes and throws, and how it is used, is taken out of its comment", () => {
  const text = chapters(page("leftoff")).get("Session.append") ?? "";
  assert.match(
    text,
    /append\(drafts: Appendable \| readonly Appendable\[\], options\?: AppendOptions\): Promise<Appended>;/,
  );
  assert.match(text, /^- `drafts`: in the shape that `format` names/m);
  assert.match(text, /^- throws `invalid_request` naming the place/m);
  assert.equal(text.match(/```js/g)?.length, 3);
  assert.doesNotMatch(text, /@\w+/);
});

/** What throws nothing, whatever it is given: no file is looked at, and nothing given is refused. */
const THROWS_NOTHING = [
  "AgentSession.getSessionId",
  "LeftoffError.constructor",
  "Appended.constructor",
  "Transcript.slice",
  "MemoryStorage.close",
  "OpfsStorage.link",
  // What goes wrong later is told to `report`.
  "recorder",
  // `whole` rejects with it.
  "openViewer",
  // Who asks the manager for a session opens a store, and hears then what is wrong.
  "SessionManager.constructor",
  "Session.constructor",
  "ContextManager.constructor",
];

/** The calls of all entries: each with its signature, and what it is said to throw. */
const calls = NAMES.flatMap((name) =>
  Array.from(chapters(page(name).split("\n## Types")[0] ?? ""), ([called, text]) => {
    const signature = /```ts\n([^]*?)```/.exec(text)?.[1] ?? "";
    const throws = Array.from(text.matchAll(/^- throws (.*(?:\n(?!- |\n).*)*)/gm), ([, said = ""]) => said).join("; ");
    return { name: called, signature, throws };
  }),
).filter(({ signature }) => /^(?:static |function )*[\w.[\]]+(?:<[^(]*>)?\(/.test(signature));

test("whatever waits or takes something says which errors it throws, by codes that there are", () => {
  const owing = calls.filter(
    ({ signature }) => !/^[^(]*\(\)/.test(signature) || /\): (?:Promise|AsyncGenerator)</.test(signature),
  );
  assert.ok(owing.length > 100);
  const silent = owing.filter(({ name, throws }) => !throws && !THROWS_NOTHING.includes(name));
  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  );
  for (const name of THROWS_NOTHING)
    assert.ok(
      owing.some((one) => one.name === name && !one.throws),
      name,
    );
  const unions = ["types/errors.d.ts", "records.d.ts"].map(
    (name) =>
      /type (?:ErrorCode|CoreCode) =([^;]*);/.exec(
        readFileSync(join(types, "..", name), "utf8").replace(/\/\*[^]*?\*\//g, ""),
      )?.[1],
  );
  const codes = Array.from(unions.join().matchAll(/"(\w+)"/g), ([, code = ""]) => code);
  assert.ok(codes.length > 50);
  const declared = new Set(
    NAMES.flatMap((name) => page(name).match(/```ts\n[^]*?```/g) ?? [])
      .join()
      .split(/\W+/),
  );
  for (const { name, throws } of calls) {
    // Each clause begins with a code, or says whose codes they are; whatever else is named can be looked up.
    for (const clause of throws ? throws.split("; ") : []) {
      const [, code, other] =
        /^(?:(?:of|for) one file: )?`(\w+)`|^what (?:`(?:Session\.)?(\w+)`|any (?:method|verb)) |^those of the storage|^(?:of|for) a (?:file|folder) they are among/.exec(
          clause,
        ) ?? assert.fail(`${name}: ${clause}`);
      assert.ok(!code || codes.includes(code), `${name}: ${code}`);
      assert.ok(!other || calls.some((one) => one.name.split(".").pop() === other && one.throws), `${name}: ${other}`);
    }
    for (const [, word = ""] of throws.matchAll(/`(\w+)`/g))
      assert.ok(codes.includes(word) || (!word.includes("_") && declared.has(word)), `${name}: ${word}`);
  }
});

test("no declaration that ships says any, or reaches an inside", () => {
  const folder = join(types, "..");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".d.ts"));
  assert.ok(files.length > 40);
  for (const name of files) {
    const code = readFileSync(join(folder, name), "utf8").replace(/\/\*[^]*?\*\/|\/\/.*|"[^"\n]*"/g, (found) =>
      found.startsWith('"') ? found : "",
    );
    assert.doesNotMatch(code, /\bany\b|pkg\/|\blive\b|privacy\//, name);
  }
});
