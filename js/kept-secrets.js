// @ts-check
/** Secrets in the files of a session, and where they lie. */

import { join } from "node:path";

import { secretsStored } from "./redaction.js";

/** @import { Place } from "./placement.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { FileProblem } from "./types/index.js" */

// So many bytes of lines are looked at together.
const TOGETHER = 1 << 22;
const LINE_FEED = 10;

/** @param {Place} place @returns {Promise<FileProblem[]>} */
export async function keptSecrets({ storage, path }) {
  /** @type {FileProblem[]} */
  const problems = [];
  for await (const file of below(storage, path, "")) {
    for await (const { bytes, from } of batches(storage, join(path, file))) {
      /** By where it begins. @type {Map<number, { end: number, rules: string[] }>} */
      const lines = new Map();
      for (const { start, end, rule } of await secretsStored(bytes, { isLog: file.endsWith(".jsonl") })) {
        const line = lines.get(start) ?? { end, rules: [] };
        line.rules.push(rule);
        lines.set(start, line);
      }
      for (const [start, { end, rules }] of lines) problems.push({ file, start: from + start, end: from + end, code: "secret", message: `expected no secret, but found ${rules.length}: ${[...new Set(rules)].join(", ")}` });
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
