// @ts-check
/** Secrets in the files of a session, and where they lie. */

import { join } from "node:path";

import { secretsIn } from "./redaction.js";

/** @import { Place } from "./placement.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { FileProblem } from "./types/index.js" */

// So many bytes of lines are looked at together.
const TOGETHER = 1 << 22;
const LINE_FEED = 10;

/** @typedef {{ start: number, end: number, value: unknown }} Piece a line, or a file that has none */

/** @param {Place} place @returns {Promise<FileProblem[]>} */
export async function keptSecrets({ storage, path }) {
  /** @type {FileProblem[]} */
  const problems = [];
  for await (const file of below(storage, path, "")) {
    for await (const { bytes, from } of batches(storage, join(path, file))) {
      for (const { start, end, value } of file.endsWith(".jsonl") ? lines(bytes, from) : [piece(bytes, from)]) {
        const rules = (await secretsIn(value)).map(({ rule }) => rule);
        if (rules.length > 0) problems.push({ file, start, end, code: "secret", message: `expected no secret, but found ${rules.length}: ${[...new Set(rules)].join(", ")}` });
      }
    }
  }
  return problems;
}

/** The files in a folder, named from there. @param {Storage} storage @param {string} folder @param {string} name @returns {AsyncGenerator<string>} */
export async function* below(storage, folder, name) {
  for (const entry of (await storage.list(join(folder, name))) ?? []) {
    const one = name ? `${name}/${entry.name}` : entry.name;
    if (entry.kind === "folder") yield* below(storage, folder, one);
    else if (entry.kind === "file") yield one;
  }
}

/** Whole lines. @param {Storage} storage @param {string} path @param {number} [start] @returns {AsyncGenerator<{ bytes: Uint8Array, from: number }>} */
export async function* batches(storage, path, start = 0) {
  const size = (await storage.stat(path))?.size ?? 0;
  let wanted = TOGETHER;
  for (let at = start; at < size; ) {
    const bytes = (await storage.readRange(path, at, Math.min(size, at + wanted))) ?? new Uint8Array();
    const isLast = at + bytes.length >= size || bytes.length === 0;
    const end = isLast ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1;
    if (end === 0 && !isLast) {
      wanted *= 2; // The line is longer than that.
      continue;
    }
    yield { bytes: bytes.subarray(0, end), from: at };
    if (isLast) return;
    at += end;
    wanted = TOGETHER;
  }
}

/** @param {Uint8Array} bytes @param {number} from @returns {Piece[]} */
export function lines(bytes, from) {
  const all = [];
  for (let at = 0; at < bytes.length; ) {
    const feed = bytes.indexOf(LINE_FEED, at);
    const end = feed < 0 ? bytes.length : feed + 1;
    all.push(piece(bytes.subarray(at, end), from + at));
    at = end;
  }
  return all;
}

// What is no JSON, damaged or a blob, is a text.
/** @param {Uint8Array} bytes @param {number} start @returns {Piece} */
function piece(bytes, start) {
  const text = new TextDecoder().decode(bytes);
  const place = { start, end: start + bytes.length };
  try {
    return { ...place, value: JSON.parse(text) };
  } catch {
    return { ...place, value: text };
  }
}
