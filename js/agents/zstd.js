// @ts-check
/** Unpacks files that an agent has compressed by zstd. */

import { loadZstd } from "../host/packages.node.js";
import { joinBytes } from "../storage/bytes.js";
import { LeftoffError } from "../error.js";

/** The first bytes of a zstd frame. */
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
/** The magic of a skippable frame: its first byte has any low half. */
const SKIPPABLE_MAGIC = [0x50, 0x2a, 0x4d, 0x18];
// Limits of unpacking, since a few bytes can stand for any number: no session has so many bytes, nor compresses so
// well.
const MAX_UNPACKED_BYTES = 2 ** 30;
const MAX_RATIO = 250;
/** The unpacked size that any file may have. */
const MIN_LIMIT_BYTES = 2 ** 26;
// The most bytes that the decoder may move, some ten seconds: it moves its whole window with each block.
const MAX_MOVED_BYTES = 2 ** 36;

/** @param {Uint8Array} bytes */
export function isZstd(bytes) {
  return beginsWith(bytes, 0, MAGIC);
}

/**
 * Unpacks a file.
 * @param {Uint8Array} bytes @param {string} path
 * @throws `too_large` where it would be more than any session is; `damaged`
 */
export async function unpackZstd(bytes, path) {
  const { Decompress } = await loadZstd().catch((cause) => {
    throw new LeftoffError({
      code: "missing_dependency",
      message: "the package fzstd, which reads zstd files, could not be loaded: run 'npm install fzstd'",
      cause,
    });
  });
  const most = Math.min(MAX_UNPACKED_BYTES, Math.max(MIN_LIMIT_BYTES, MAX_RATIO * bytes.length));
  const tooLarge = (/** @type {string} */ found) =>
    new LeftoffError({
      code: "too_large",
      message: `expected at most ${most} bytes, compressed to ${bytes.length}, in "${path}", but found ${found} instead`,
    });
  let moved = 0;
  for (const { window, blocks } of frames(bytes)) {
    moved += window * blocks;
    if (window > most || moved > MAX_MOVED_BYTES) throw tooLarge(`${blocks} blocks with a window of ${window} bytes`);
  }
  /** @type {Uint8Array[]} */
  const pieces = [];
  let size = 0;
  const stream = new Decompress((piece) => {
    size += piece.length;
    if (size > most) throw tooLarge("more");
    pieces.push(piece.slice());
  });
  try {
    stream.push(bytes, true);
  } catch (cause) {
    if (cause instanceof LeftoffError) throw cause;
    throw new LeftoffError({
      code: "damaged",
      message: `"${path}" could not be decompressed: its zstd data is damaged`,
      cause,
    });
  }
  return joinBytes(pieces);
}

/**
 * Reads the headers of frames and blocks, as far as possible: the decoder's window, and how often it moves that.
 * RFC 8878.
 * @param {Uint8Array} bytes
 */
function* frames(bytes) {
  const number = (/** @type {number} */ at, /** @type {number} */ length) => {
    let value = 0;
    for (let byte = length - 1; byte >= 0; byte -= 1) value = value * 256 + (bytes[at + byte] ?? 0);
    return value;
  };
  for (let at = 0; at < bytes.length;) {
    if (((bytes[at] ?? 0) & 0xf0) === SKIPPABLE_MAGIC[0] && beginsWith(bytes, at + 1, SKIPPABLE_MAGIC.slice(1))) {
      at += 8 + number(at + 4, 4);
      continue;
    }
    if (!beginsWith(bytes, at, MAGIC)) return;
    const flags = bytes[at + 4] ?? 0;
    const isOne = (flags & 32) !== 0;
    const sizeBytes = [isOne ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0;
    const nameBytes = [0, 1, 2, 4][flags & 3] ?? 0;
    const descriptor = bytes[at + 5] ?? 0;
    const base = 2 ** (10 + (descriptor >> 3));
    at += 5 + (isOne ? 0 : 1) + nameBytes;
    const window = isOne ? number(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0) : base + (base / 8) * (descriptor & 7);
    at += sizeBytes;
    let blocks = 0;
    for (let isLast = false; !isLast && at < bytes.length; blocks += 1) {
      const head = number(at, 3);
      isLast = (head & 1) === 1;
      // Of one byte that is repeated only that stands there.
      at += 3 + (((head >> 1) & 3) === 1 ? 1 : head >> 3);
    }
    at += (flags & 4) === 0 ? 0 : 4;
    yield { window, blocks };
  }
}

/** @param {Uint8Array} bytes @param {number} at @param {number[]} with_ */
function beginsWith(bytes, at, with_) {
  return with_.every((byte, place) => bytes[at + place] === byte);
}
