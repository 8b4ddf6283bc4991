// @ts-check
/** Texts that tests/token_equality.rs counted, counted again in WebAssembly. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { countTokens } from "../../js/index.js";

/**
 * Before each text in the files for WebAssembly: its bytes, its tokens in each encoding, each a number of four bytes.
 */
const HEADER = 12;
const ENCODINGS = ["o200k_base", "cl100k_base"];

/** Counts the texts that the native run left, and answers how many bytes they are. @param {string} path */
export async function inWasm(path) {
  const file = readFileSync(path);
  // A text may begin with what a decoder takes for a mark of its encoding.
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let bytes = 0;
  for (let at = 0; at < file.length;) {
    const length = file.readUInt32LE(at);
    const start = at + HEADER;
    const text = decoder.decode(file.subarray(start, start + length));
    for (const [place, encoding] of ENCODINGS.entries()) {
      const expected = file.readUInt32LE(at + 4 * (place + 1));
      for (const limit of [undefined, expected]) {
        const found = await countTokens(text, { encoding, limit });
        assert.equal(found, expected, `${encoding} in WebAssembly, limit ${limit}: ${JSON.stringify(text)}`);
      }
    }
    bytes += length;
    at = start + length;
  }
  return bytes;
}
