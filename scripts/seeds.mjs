// @ts-check
// What the fuzzer begins with: every fixture, in the form that each target takes. See tests/fuzzed/.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { root } from "./run.mjs";

/** The longest input, in bytes. Every law shows in shorter ones, and long ones take their time. */
export const LONGEST = 16 * 1024;

const folders = ["claude-code", "documents", "format", "json-test-suite", "texts"];

/** How a file becomes inputs of a target. @type {Record<string, (bytes: Buffer) => Buffer[]>} */
const forms = {
  // The first byte is the size of the pieces.
  scan: (bytes) => [Buffer.concat([Buffer.of(63), bytes])],
  events: (bytes) => [Buffer.concat([Buffer.of(63), bytes])],
  text: (bytes) => strings(bytes).map((inside) => Buffer.concat([Buffer.of(0), inside])),
  blob: (bytes) => strings(bytes).map((inside) => Buffer.concat([Buffer.of(0), inside])),
  // The first byte is the limit, here half of the count.
  tokens: (bytes) => [Buffer.concat([Buffer.of(64), bytes])],
  // Put at two places into the log that the target has, once over what is there.
  resync: (bytes) => [[40, 1, 0], [200, 1, 100]].map((header) => Buffer.concat([Buffer.from(header), bytes.subarray(0, 512)])),
};

/** The insides of the strings in a file that say more than words. @param {Buffer} bytes */
function strings(bytes) {
  const found = bytes.toString("latin1").matchAll(/"((?:[^"\\\n]|\\.)*)"/g);
  return Array.from(found, ([, inside = ""]) => inside).filter((inside) => /[^ -~]|\\[^n"]/.test(inside) && inside.length < 1024).map((inside) => Buffer.from(inside, "latin1"));
}

/** Writes the words of the format, of which a fuzzer guesses none. @param {string} file */
export function dictionary(file) {
  const folder = join(root, "tests", "fixtures", "format");
  const logs = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1")).join("\n");
  const words = new Set(Array.from(logs.matchAll(/"\w{1,20}":?/g), ([word]) => word));
  writeFileSync(file, Array.from(words, (word) => `${JSON.stringify(word)}\n`).join(""));
}

/** Fills the corpus of a target; answers how many inputs it begins with. @param {string} target @param {string} corpus */
export function seed(target, corpus) {
  mkdirSync(corpus, { recursive: true });
  const form = forms[target] ?? (() => []);
  const names = new Set();
  for (const folder of folders.map((name) => join(root, "tests", "fixtures", name))) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const file = join(folder, name);
      if (!statSync(file).isFile()) continue;
      for (const input of form(readFileSync(file)).map((input) => input.subarray(0, LONGEST))) {
        const hash = createHash("sha1").update(input).digest("hex");
        writeFileSync(join(corpus, hash), input);
        names.add(hash);
      }
    }
  }
  return names.size;
}
