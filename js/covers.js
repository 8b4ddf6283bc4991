// @ts-check
/**
 * Which bytes of a log something was made from. What is derived holds as long as they are those bytes: a secret that
 * somebody masked in a log by hand must not be told from a cache. Where the file is as it was by size and times they are
 * not read again; else they are, and compared by their hashes.
 */

import { createHash } from "node:crypto";

import { nowMs } from "./clock.js";

/** @import { Log } from "./log.js" */
/** @import { Stat } from "./storage/contract.js" */

/** `pieces`: SHA-256 of each piece, cut short, so that what was appended costs its own bytes alone @typedef {{ bytes: number, file: string, pieces: string[] }} Covers */

const PIECE = 1 << 20;
/** Longer than a filesystem's clock stands still; where only whole seconds are told, as in Deno, longer than one. */
const TICK_MS = 20;
const SECOND_MS = 1020;

/**
 * The first bytes of a log as they are now.
 * @param {Log} log @param {number} bytes @param {Covers} [known] of fewer bytes of the same log
 * @returns {Promise<Covers>}
 */
export async function coversOf(log, bytes, known) {
  const file = printOf(await log.stat());
  const whole = Math.floor(Math.min(known?.bytes ?? 0, bytes) / PIECE);
  const pieces = known?.pieces.slice(0, whole) ?? [];
  for (let at = whole * PIECE; at < bytes; at += PIECE) {
    const found = await log.range(at, Math.min(bytes, at + PIECE));
    pieces.push(createHash("sha256").update(found).digest("hex").slice(0, 32));
  }
  return { bytes, file, pieces };
}

/**
 * Whether the log has the same bytes still; and whether it had to be read for that.
 * @param {Log} log @param {Covers} covers @returns {Promise<{ isSame: boolean, wasRead: boolean }>}
 */
export async function holds(log, { bytes, file, pieces }) {
  const stat = await log.stat();
  if ((stat?.size ?? 0) < bytes) return { isSame: false, wasRead: false };
  if (file && file === printOf(stat)) return { isSame: true, wasRead: false };
  const now = await coversOf(log, bytes);
  return { isSame: now.pieces.join() === pieces.join(), wasRead: true };
}

/** What was read as covers, where it is such. @param {any} value @returns {Covers | undefined} */
export function asCovers(value) {
  const isOne = Number.isSafeInteger(value?.bytes) && typeof value.file === "string" && Array.isArray(value.pieces);
  return isOne ? value : undefined;
}

// A file that was changed just now may be changed again, and look the same.
/** @param {Stat | null} stat */
function printOf(stat) {
  if (!stat) return "";
  const { size, mtimeMs, ctimeMs } = stat;
  const tickMs = mtimeMs % 1000 === 0 ? SECOND_MS : TICK_MS;
  return Math.max(mtimeMs, ctimeMs ?? 0) < nowMs() - tickMs ? `${size} ${mtimeMs} ${ctimeMs ?? ""}` : "";
}
