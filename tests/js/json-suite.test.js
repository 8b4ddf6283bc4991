// @ts-check
// JSONTestSuite inside WebAssembly: the same files and the same table as tests/json_suite.rs, which runs natively.
// Tries: src/json/, src/record/scan.rs, js/wasm/json.js
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { agents } from "../../js/wasm/agents.js";

const module = agents.call((module) => module);
const folder = fileURLToPath(new URL("../fixtures/json-test-suite/", import.meta.url));
const files = readdirSync(join(folder, "test_parsing")).map((name) => ({
  name,
  file: readFileSync(join(folder, "test_parsing", name)),
}));

/** What leftoff does where a parser is free, by name. */
const table = new Map(
  readFileSync(join(folder, "implementation-defined.txt"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [name = "", verdict] = line.split(/[ :]+/);
      return [name, verdict === "accepted"];
    }),
);

/** @param {string} name */
const isAccepted = (name) => name.startsWith("y_") || (name.startsWith("i_") && table.get(name));

/** @param {Buffer[]} parts @returns {{ messages: any[], problems: any[] }} */
const scan = (...parts) => JSON.parse(Buffer.from(module.scanLog(Buffer.concat(parts))).toString("utf8"));

const line = Buffer.from('{"role":"user","content":"hello"}\n');

/**
 * As the value of a field that leftoff does not know; what holds a line feed stands in no line, but in a request.
 * @param {Buffer} file
 */
function accepts(file) {
  if (file.includes("\n")) return acceptsInRequest(file);
  const { messages, problems } = scan(Buffer.from('{"role":"user","content":"","x":'), file, Buffer.from("}\n"));
  return problems.length === 0 && messages.length === 1;
}

/** @param {Buffer} file */
function acceptsInRequest(file) {
  const request = Buffer.concat([
    Buffer.from('{"window":8000,"encoding":"estimate-1","tools":'),
    file,
    Buffer.from("}"),
  ]);
  try {
    module.contextOfLog(line, request, module.Counter.estimate());
    return true;
  } catch (error) {
    assert.match(/** @type {any} */ (error).code, /^invalid_(request|json)$/);
    return false;
  }
}

test("the value parser accepts what is JSON and refuses what is none", () => {
  const count = (/** @type {string} */ letter) => files.filter(({ name }) => name.startsWith(letter)).length;
  assert.deepEqual([count("y_"), count("n_"), count("i_"), table.size], [95, 188, 35, 35]);
  for (const { name, file } of files) assert.equal(accepts(file), isAccepted(name), name);
});

test("each file between two lines leaves both whole", () => {
  for (const { name, file } of files) {
    const { messages } = scan(line, file, Buffer.from("\n"), line);
    const whole = messages.filter(({ role, content }) => role === "user" && content === "hello");
    assert.equal(whole.length, 2, name);
  }
});
