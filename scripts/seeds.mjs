// @ts-check
// Makes the fuzzer's first inputs: every fixture, in the form that each target takes. See tests/fuzz_checks/.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { root } from "./run.mjs";

/** The longest input, in bytes. Every law shows in shorter ones, and long ones take their time. */
export const MAX_SEED_BYTES = 16 * 1024;

const folders = ["claude-code", "documents", "format", "json-test-suite", "texts"];

/** The agents whose files have a reader, by the names of their fixtures' folders. */
export const AGENTS = [
  "aider",
  "ask",
  "claude-code",
  "cline",
  "codex",
  "continue",
  "copilot",
  "cortext",
  "gemini",
  "nanocoder",
  "opencode",
  "pi",
  "qwen",
  "vscode",
];

/** How many characters of strings and items of lists are kept in a file that is too long. */
const KEPT_COUNTS = [
  { letters: 2000, items: 40 },
  { letters: 200, items: 12 },
  { letters: 60, items: 6 },
  { letters: 40, items: 3 },
];

/** Turns a file into inputs of a target. @type {Record<string, (bytes: Buffer) => Buffer[]>} */
const forms = {
  // The first byte is the size of the pieces.
  scan: (bytes) => [Buffer.concat([Buffer.of(63), bytes])],
  events: (bytes) => [Buffer.concat([Buffer.of(63), bytes])],
  text: (bytes) => strings(bytes).map((inside) => Buffer.concat([Buffer.of(0), inside])),
  blob: (bytes) => strings(bytes).map((inside) => Buffer.concat([Buffer.of(0), inside])),
  // The first byte is the limit, here half of the count.
  tokens: (bytes) => [Buffer.concat([Buffer.of(64), bytes])],
  // Put at two places into the log that the target has, once over what is there.
  resync: (bytes) =>
    [
      [40, 1, 0],
      [200, 1, 100],
    ].map((header) => Buffer.concat([Buffer.from(header), bytes.subarray(0, 512)])),
};

// A reader begins with its own agent's files: what is cut anywhere would be none of them.
for (const agent of AGENTS)
  forms[`read-${agent}`] = (bytes) => [bytes.length > MAX_SEED_BYTES ? shortenInput(bytes) : bytes];
forms.write = (bytes) => [bytes];

/** Shortens a file of JSON, or of JSON lines; of any other file it keeps the first lines. @param {Buffer} bytes */
function shortenInput(bytes) {
  let text = bytes.toString();
  const whole = json(text);
  const values = whole === undefined ? text.split("\n").map((line) => json(line) ?? line) : [whole];
  for (const keep of KEPT_COUNTS) {
    if (text.length <= MAX_SEED_BYTES) break;
    text = values.map((value) => (typeof value === "string" ? value : JSON.stringify(cut(value, keep)))).join("\n");
  }
  return Buffer.from(text.length <= MAX_SEED_BYTES ? text : text.slice(0, text.lastIndexOf("\n", MAX_SEED_BYTES)));
}

/** @param {string} text */
function json(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {unknown} value @param {{ letters: number, items: number }} keep @returns {unknown} */
function cut(value, keep) {
  if (typeof value === "string") return value.slice(0, keep.letters);
  if (Array.isArray(value)) return value.slice(0, keep.items).map((item) => cut(item, keep));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner, keep)]));
}

/** The folders of fixtures that a target begins with. @param {string} target */
function foldersOf(target) {
  return target.startsWith("read-") ? [target.slice("read-".length)] : folders;
}

/** The insides of the strings in a file that say more than words. @param {Buffer} bytes */
function strings(bytes) {
  const found = bytes.toString("latin1").matchAll(/"((?:[^"\\\n]|\\.)*)"/g);
  return Array.from(found, ([, inside = ""]) => inside)
    .filter((inside) => /[^ -~]|\\[^n"]/.test(inside) && inside.length < 1024)
    .map((inside) => Buffer.from(inside, "latin1"));
}

/**
 * Writes a dictionary of the words of the format, or of an agent's, which a fuzzer cannot guess.
 * @param {string} target
 * @param {string} file
 */
export function dictionary(target, file) {
  const folder = join(root, "tests", "fixtures", target.startsWith("read-") ? target.slice("read-".length) : "format");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
  const logs = files.map((path) => readFileSync(path, "latin1")).join("\n");
  const words = new Set(Array.from(logs.matchAll(/"\w{1,20}":?/g), ([word]) => word));
  writeFileSync(file, Array.from(words, (word) => `${JSON.stringify(word)}\n`).join(""));
}

/**
 * Fills the corpus of a target; answers how many inputs it begins with.
 * @param {string} target
 * @param {string} corpus
 */
export function seed(target, corpus) {
  mkdirSync(corpus, { recursive: true });
  const form = forms[target] ?? (() => []);
  const names = new Set();
  for (const folder of foldersOf(target).map((name) => join(root, "tests", "fixtures", name))) {
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
      const file = join(folder, name);
      if (!statSync(file).isFile()) continue;
      for (const input of form(readFileSync(file)).map((input) => input.subarray(0, MAX_SEED_BYTES))) {
        const hash = createHash("sha1").update(input).digest("hex");
        writeFileSync(join(corpus, hash), input);
        names.add(hash);
      }
    }
  }
  return names.size;
}
