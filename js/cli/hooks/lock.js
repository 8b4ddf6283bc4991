// @ts-check
/**
 * One recorder at a time: a lock that a killed process does not leave behind. Its files are numbered and the highest
 * counts, so that of many who find it abandoned one gets it: whoever makes the next number.
 */

import { linkSync, readFileSync, readdirSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { nowMs } from "../../wasm/clock.js";
import { describeProcess, isGone } from "../../storage/process.js";

/** @import { ProcessName } from "../../storage/process.js" */

const LOCK_PREFIX = "lock-";
/** The longest that a lock holds where the system does not tell a process from a later one of the same number. */
const MAX_HOLD_MS = 600_000;

/** The process that holds the lock of a folder; nothing where it is free. @param {string} folder */
export function findHolder(folder) {
  return holderOf(folder, highestLock(folder));
}

/**
 * Takes the lock for a process.
 * @param {string} folder
 * @param {number} [pid]
 * @returns {boolean} whether it was free
 */
export function takeLock(folder, pid = process.pid) {
  const known = highestLock(folder);
  if (holderOf(folder, known)) return false;
  // A link appears with all that the file holds, and not where there is one.
  const made = writeTemporary(folder, describeProcess(pid));
  try {
    linkSync(made, join(folder, `${LOCK_PREFIX}${known + 1}`));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  } finally {
    unlinkSync(made);
  }
  for (const number of lockNumbers(folder))
    if (number <= known) rmSync(join(folder, `${LOCK_PREFIX}${number}`), { force: true });
  return true;
}

/** Frees the lock that this process holds; its number stays taken. @param {string} folder */
export function freeLock(folder) {
  renameSync(writeTemporary(folder, {}), join(folder, `${LOCK_PREFIX}${highestLock(folder)}`));
}

/** The names in a folder; none where it is not there yet. @param {string} folder */
export function namesIn(folder) {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** @param {string} folder @param {object} value */
function writeTemporary(folder, value) {
  const path = join(folder, `.${LOCK_PREFIX}${process.pid}.tmp`);
  writeFileSync(path, JSON.stringify(value), { mode: 0o600 });
  return path;
}

/** @param {string} folder */
function lockNumbers(folder) {
  return namesIn(folder).flatMap((name) =>
    name.startsWith(LOCK_PREFIX) ? [Number(name.slice(LOCK_PREFIX.length))] : [],
  );
}

/** @param {string} folder @returns {number} 0 where nobody has had it yet */
function highestLock(folder) {
  return Math.max(0, ...lockNumbers(folder));
}

/** @param {string} folder @param {number} number @returns {ProcessName | undefined} */
function holderOf(folder, number) {
  const path = join(folder, `${LOCK_PREFIX}${number}`);
  const holder = number > 0 ? readHolder(path) : undefined;
  if (!holder?.pid || isGone(holder)) return undefined;
  return holder.start || nowMs() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) < MAX_HOLD_MS
    ? holder
    : undefined;
}

/** @param {string} path @returns {ProcessName | undefined} */
function readHolder(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined; // Somebody has the next number by now, or the machine went down while it was written.
  }
}
