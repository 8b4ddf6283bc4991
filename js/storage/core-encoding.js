// @ts-check
/** What a host found, as the core reads it: numbers in one piece, since objects cross slowly. */

import { joinBytes } from "./bytes.js";

/** @import { Entry, Stat } from "./contract.js" */
/** What parts of long files are read into, one in each step. @typedef {{ into?: Uint8Array, isLent?: boolean }} ReadBuffer */

/** What lies at a path, as the core reads it. */
const KINDS = { file: 1, folder: 2, other: 3 };

/** Parts of files of so many bytes are read into the same memory. */
const LONG = 1 << 14;
const LONGEST = 1 << 20;

/**
 * Where a part of a file may be put: what is read anew each time lies around, megabyte by megabyte, until it is collected.
 * @param {ReadBuffer} reading
 * @param {number} length
 */
export function bufferFor(reading, length) {
  if (reading.isLent || length < LONG || length > LONGEST) return {};
  reading.isLent = true;
  reading.into ??= new Uint8Array(LONGEST);
  return { into: reading.into };
}

/** What entries and their files are like, as the core reads it. @param {Entry[]} entries @param {number} most files of each */
export function packEntries(entries, most) {
  const rows = new Float64Array(entries.length * (1 + 4 * most));
  let at = 0;
  for (const { kind, files } of entries) {
    rows[at] = KINDS[kind];
    if (files) rows.set(typeof files[0] === "number" ? files : packStats(files), at + 1);
    else if (most > 0) rows[at + 1] = -1;
    at += 1 + 4 * most;
  }
  return rows;
}

/** What the files of a folder are like. @param {(Stat | null)[]} stats @returns {any} four numbers for each */
export function packStats(stats) {
  const row = [];
  for (const stat of stats) {
    if (stat) row.push(KINDS[stat.kind], stat.size, stat.mtimeMs, stat.ctimeMs);
    else row.push(0, 0, 0, 0);
  }
  return row;
}

/** What the log was like, on its way into the core: to make an array costs more than to fill it. */
export const SEEN = new Float64Array(6);

/** What a file is like, as the core reads it. @param {Stat | null} stat @param {Float64Array} [into] where it is read at once */
export function packStat(stat, into = new Float64Array(6)) {
  if (!stat) return into.subarray(0, 0);
  const { kind, size, mtimeMs, ctimeMs, file } = stat;
  const numbers = file ? into : into.subarray(0, 4);
  numbers[0] = KINDS[kind];
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
const LONGEST_VECTOR = 1 << 16;

/** Vectors, as the core reads them: of each how many numbers it has, and these. @param {any} vectors */
export function packVectors(vectors) {
  const all = Array.isArray(vectors) ? vectors.map((vector) => {
    if (vector?.length > LONGEST_VECTOR) throw new RangeError(`expected at most ${LONGEST_VECTOR} numbers in a vector, but found ${vector.length}`);
    return Float32Array.from(vector ?? []);
  }) : [];
  return joinBytes(all.flatMap((vector) => [Uint32Array.of(vector.length), vector]).map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)));
}
