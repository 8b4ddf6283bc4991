// @ts-check

import fs from "node:fs";

import { ticksMs } from "../wasm/clock.js";
import { flush, waitForFlushes } from "./flush.js";
import { codeOf, rejectLinkAndFolder } from "./folders.js";

/** @import { HeldPlace } from "./folders.js" */

// Windows lacks both. O_NONBLOCK: opening a pipe must not wait for its other end.
const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const APPEND_FLAGS = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK;

/** How long a look at the path holds, in milliseconds: from learning the size to appending in the same turn. */
const STAT_LIFETIME_MS = 1;
/**
 * How long, in milliseconds, the file alone is looked at, which is faster than its path. A file that is removed or
 * replaced has a link less, and most filesystems note the time of a move, within some milliseconds. Where one does not,
 * or a folder was moved with the file in it, a look misses that for so long; an append does not: it looks at the path
 * once it has written.
 */
const PATH_LIFETIME_MS = 50;

/** A descriptor for appending, and the proof that what it wrote reached the disk. */
export class OpenFile {
  #identity;
  #lookedAt = -Infinity;
  /** When the path was last looked at. */
  #pathCheckedAt = -Infinity;
  /** The file's link count when it was last looked at or written. */
  #links = 0;
  #changedMs = 0;
  #syncEntries;
  /** The flush under way. @type {Promise<void> | undefined} */
  #running;
  /** The next flush, for all that was written since the running one began. @type {Promise<void> | undefined} */
  #next;
  #flushes = 0;
  #entriesSynced = false;
  #retired = false;
  /** @type {unknown} */
  #failure;

  /**
   * @param {number} fd
   * @param {() => Promise<void>} syncEntries makes the disk confirm where the file is found, not only what is in it
   */
  constructor(fd, syncEntries) {
    this.fd = fd;
    this.#identity = fs.fstatSync(fd, { bigint: true });
    this.#syncEntries = syncEntries;
  }

  isFile() {
    return this.#identity.isFile();
  }

  /** Whether the path still leads to this file: it may have been removed or replaced. @param {string} path */
  isAt(path) {
    return ticksMs() - this.#lookedAt < STAT_LIFETIME_MS || this.statAtPath(path) !== null;
  }

  /**
   * The stat at the path, or null where another file or none stands there.
   * @param {string} path
   * @returns {fs.Stats | null}
   */
  statAtPath(path) {
    const now = ticksMs();
    if (now - this.#pathCheckedAt < PATH_LIFETIME_MS) {
      const found = fs.fstatSync(this.fd);
      if (found.nlink === this.#links && found.ctimeMs === this.#changedMs) {
        this.#lookedAt = now;
        return found;
      }
    }
    const found = this.#statIfSame(path);
    this.#lookedAt = found ? now : -Infinity;
    // Some network filesystems count no links at all.
    this.#pathCheckedAt = found && found.nlink > 0 ? now : -Infinity;
    return found;
  }

  /** The stat at the path after a write, or null where this file is not there any more. @param {string} path */
  statAfterWrite(path) {
    const found = this.#statIfSame(path);
    if (!found) this.#lookedAt = this.#pathCheckedAt = -Infinity;
    return found;
  }

  /** @param {string} path @returns {fs.Stats | null} */
  #statIfSame(path) {
    const found = fs.lstatSync(path, { throwIfNoEntry: false });
    if (!found || !this.#isSame(Number.isSafeInteger(found.ino) ? found : fs.lstatSync(path, { bigint: true })))
      return null;
    this.#links = found.nlink;
    this.#changedMs = found.ctimeMs;
    return found;
  }

  /** @param {{ ino: number | bigint, dev: number | bigint }} found */
  #isSame({ ino, dev }) {
    return BigInt(ino) === this.#identity.ino && BigInt(dev) === this.#identity.dev;
  }

  /** Resolves once the disk has confirmed all that was written before this call. Callers share flushes. */
  sync() {
    this.#next ??= this.#flushAfter(this.#running);
    return this.#next;
  }

  /** Closes the descriptor, at the end of the last flush where one is under way. */
  retire() {
    this.#retired = true;
    if (this.#flushes === 0) fs.closeSync(this.fd);
  }

  /** @param {Promise<void> | undefined} running */
  async #flushAfter(running) {
    this.#flushes += 1;
    try {
      // Waiting, even for nothing, lets all appends of this turn share the flush. What went wrong is in #failure.
      await running?.catch(() => {});
      this.#running = this.#next;
      this.#next = undefined;
      // The system reported the failure to the flush before, and would call this one a success.
      if (this.#failure) throw this.#failure;
      await this.#flush();
    } catch (error) {
      this.#failure = error;
      throw error;
    } finally {
      this.#flushes -= 1;
      if (this.#retired && this.#flushes === 0) fs.closeSync(this.fd);
    }
  }

  async #flush() {
    if (this.#entriesSynced) return flush(fs.fdatasync, this.fd);
    // Whoever made the file may have died before the disk knew its name.
    await waitForFlushes([flush(fs.fsync, this.fd), this.#syncEntries()]);
    this.#entriesSynced = true;
  }
}

/** Opens the file at a place for appending, or makes a new one. @param {HeldPlace} held */
export function openToAppend({ systemPath: at, check }) {
  rejectLinkAndFolder(at);
  const fd = openOrCreate(at);
  try {
    check(fd);
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
  return fd;
}

/** @param {string} at */
function openOrCreate(at) {
  try {
    return fs.openSync(at, APPEND_FLAGS);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  try {
    const fd = fs.openSync(at, APPEND_FLAGS | O_CREAT | O_EXCL, 0o600);
    fs.fchmodSync(fd, 0o600); // The umask may have taken from it.
    return fd;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return fs.openSync(at, APPEND_FLAGS); // Another process was faster.
  }
}
