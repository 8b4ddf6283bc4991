// @ts-check
/** Files that an agent has compressed. */

import { joined } from "../bytes.js";
import { LeftoffError } from "../error.js";

/** How a frame of zstd begins. */
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
// A few bytes can stand for any number of others; no session has so many.
const MOST_BYTES = 1 << 30;

/** @param {Uint8Array} bytes */
export function isPacked(bytes) {
  return MAGIC.every((byte, place) => bytes[place] === byte);
}

/** What was compressed. @param {Uint8Array} bytes @param {string} path */
export async function unpacked(bytes, path) {
  const { Decompress } = await import("fzstd").catch((cause) => {
    throw new LeftoffError({ code: "missing_dependency", message: "expected the package fzstd, which reads what zstd compressed, but could not load it", cause });
  });
  const refused = (/** @type {string} */ found, /** @type {unknown} */ cause) =>
    new LeftoffError({ code: "unknown_format", message: `expected what zstd compressed in "${path}", but ${found}`, cause });
  /** @type {Uint8Array[]} */
  const pieces = [];
  let size = 0;
  const stream = new Decompress((piece) => {
    size += piece.length;
    if (size > MOST_BYTES) throw refused(`found more than ${MOST_BYTES} bytes`, undefined);
    pieces.push(piece.slice());
  });
  try {
    stream.push(bytes, true);
  } catch (cause) {
    throw cause instanceof LeftoffError ? cause : refused("it could not be read", cause);
  }
  return joined(pieces);
}
