// @ts-check
// The cases of tests/conformance in WebAssembly; tests/conformance/mod.rs runs them natively. Each compares the
// bytes that it gets with those that the file says, so that both give the same ones. Those of contexts run in the
// component, too: tests/js/component.test.js.
// Tries: src/calls.rs, crates/wasm/, js/wasm/core.js, js/wasm/agents.js
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { agents } from "../../js/wasm/agents.js";

/**
 * @typedef {string | object[] | { base64?: string, file?: string, json?: unknown }} Input
 * @typedef {{ request?: unknown, stamp?: unknown, vocabulary?: boolean }} Options
 * @typedef {{ name: string, call: string, input: Input, options?: Options, expected: unknown }} Case
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const module = agents.call((module) => module);
const exact = module.Counter.fromPlanes(readFileSync(join(root, "pkg", "o200k_base.planes")));

/** A value as it crosses: an object as compact JSON, a string as the text that it is. @param {unknown} value */
const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
/** @param {unknown} value */
const bytes = (value) => new TextEncoder().encode(text(value));

/** @param {Input} input */
function inputOf(input) {
  if (typeof input === "string") return bytes(input);
  if (Array.isArray(input)) return bytes(input.map((line) => `${JSON.stringify(line)}\n`).join(""));
  if (input.base64 !== undefined) return new Uint8Array(Buffer.from(input.base64, "base64"));
  if (input.file !== undefined)
    return new Uint8Array(readFileSync(join(root, "tests", "fixtures", "format", input.file)));
  return bytes(input.json);
}

/**
 * What the file says, as bytes; the core writes what some readers take for the end of a line as an escape.
 * @param {unknown} expected
 */
function expectedOf(expected) {
  return text(expected).replace(/[\u0085\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @type {Record<string, (input: Uint8Array, options: Options) => Uint8Array>} */
const inModule = {
  scan: (log) => module.scanLog(log),
  context: (log, { request, vocabulary }) =>
    module.contextOfLog(log, bytes(request), vocabulary ? exact : module.Counter.estimate()),
  "resume-block": (session, { stamp }) => module.resumeBlock(session, text(stamp)),
  drift: (about) => module.drift(about),
};

/** The bytes as text, or the error's code. @param {() => Uint8Array} call */
function answer(call) {
  try {
    return Buffer.from(call()).toString("utf8");
  } catch (/** @type {any} */ error) {
    const { code } = error;
    if (!code) throw error;
    return JSON.stringify({ error: code });
  }
}

for (const name of ["scan", "context", "resume-block", "drift"]) {
  /** @type {Case[]} */
  const cases = JSON.parse(readFileSync(join(root, "tests", "conformance", `${name}.json`), "utf8"));

  test(`${name}: the module gives the bytes that the cases say`, () => {
    assert.ok(cases.length >= 10);
    for (const { name, call, input, options = {}, expected } of cases) {
      assert.equal(
        answer(() => inModule[call](inputOf(input), options)),
        expectedOf(expected),
        name,
      );
    }
  });
}

test("bytes that are no UTF-8 are refused where text is asked for", () => {
  const torn = new Uint8Array([0x22, 0xc3]);
  const stamp = JSON.stringify({ nowMs: 0, offsetMinutes: 0, entropy: "00".repeat(32) });
  const refused = JSON.stringify({ error: "invalid_json" });
  assert.equal(
    answer(() => module.contextOfLog(torn, torn, exact)),
    refused,
  );
  assert.equal(
    answer(() => module.resumeBlock(torn, stamp)),
    refused,
  );
  assert.equal(
    answer(() => module.drift(torn)),
    refused,
  );
});
