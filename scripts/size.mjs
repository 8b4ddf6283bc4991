// @ts-check
// The size gate: what a user has to load, gzipped.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { compile } from "./build.mjs";
import { root } from "./run.mjs";

const plain = join(root, "target", "size");
compile("wasm", "plain", plain);

/** @param {string} what @param {string} path @param {number} limit in KB of 1000 bytes */
function check(what, path, limit) {
  const size = gzipSync(readFileSync(path), { level: 9 }).length / 1000;
  const verdict = size <= limit ? "within" : "over";
  console.log(`${what} is ${size.toFixed(0)} KB gzipped, ${verdict} its limit of ${limit} KB.`);
  if (size > limit) process.exitCode = 1;
}

check("The core without counting", join(plain, "plain.wasm"), 250);
check("The core with counting, beside the vocabulary,", join(root, "pkg", "leftoff.wasm"), 700);
