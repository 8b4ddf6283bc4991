// @ts-check
/** Packs stats and entries into numbers for the core, in one piece, since objects cross slowly. */

import { joinBytes } from "./bytes.js";

/** @import { Entry, Stat } from "./contract.js" */
/**
 * A buffer for parts of long files, one part in each step.
 * @typedef {{ into?: Uint8Array, isLent?: boolean }} ReadBuffer
 */

/** The kinds of entries, as the core numbers them. */
const KIND_NUMBERS = { file: 1, folder: 2, other: 3 };

/** From so many bytes on parts of files are read into the same memory. */
const MIN_SHARED_BYTES = 1 << 14;
const MAX_SHARED_BYTES = 1 << 20;

/**
 * The buffer for a part of a file: new memory for each part would lie around, megabyte by megabyte, until it is
 * collected.
 * @param {ReadBuffer} reading
 * @param {number} length
 */
export function bufferFor(reading, length) {
  if (reading.isLent || length < MIN_SHARED_BYTES || length > MAX_SHARED_BYTES) return {};
  reading.isLent = true;
  reading.into ??= new Uint8Array(MAX_SHARED_BYTES);
  return { into: reading.into };
}

/** Packs entries and their files' stats. @param {Entry[]} entries @param {number} most files of each */
export function packEntries(entries, most) {
  const rows = new Float64Array(entries.length * (1 + 4 * most));
  let at = 0;
  for (const { kind, files } of entries) {
    rows[at] = KIND_NUMBERS[kind];
    if (files) rows.set(typeof files[0] === "number" ? files : packStats(files), at + 1);
    else if (most > 0) rows[at + 1] = -1;
    at += 1 + 4 * most;
  }
  return rows;
}

/** Packs the stats of a folder's files. @param {(Stat | null)[]} stats @returns {any} four numbers for each */
export function packStats(stats) {
  const row = [];
  for (const stat of stats) {
    if (stat) row.push(KIND_NUMBERS[stat.kind], stat.size, stat.mtimeMs, stat.ctimeMs);
    else row.push(0, 0, 0, 0);
  }
  return row;
}

/** The array for a log's stat on its way into the core: making one costs more than filling it. */
export const LOG_ROW = new Float64Array(6);

/** Packs a stat. @param {Stat | null} stat @param {Float64Array} [into] an array to reuse, where it is read at once */
export function packStat(stat, into = new Float64Array(6)) {
  if (!stat) return into.subarray(0, 0);
  const { kind, size, mtimeMs, ctimeMs, file } = stat;
  const numbers = file ? into : into.subarray(0, 4);
  numbers[0] = KIND_NUMBERS[kind];
  numbers[1] = size;
  numbers[2] = mtimeMs;
  numbers[3] = ctimeMs;
  if (file) {
    numbers[4] = file.number;
    numbers[5] = file.madeMs;
  }
  return numbers;
}

/** No model's vectors are longer, by far. */
const MAX_VECTOR_NUMBERS = 1 << 16;

/** Packs vectors: for each the count of its numbers, then the numbers. @param {any} vectors */
export function packVectors(vectors) {
  const all = Array.isArray(vectors)
    ? vectors.map((vector) => {
        if (vector?.length > MAX_VECTOR_NUMBERS)
          throw new RangeError(
            `expected at most ${MAX_VECTOR_NUMBERS} numbers in a vector, but found ${vector.length}`,
          );
        return Float32Array.from(vector ?? []);
      })
    : [];
  return joinBytes(
    all
      .flatMap((vector) => [Uint32Array.of(vector.length), vector])
      .map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
}
