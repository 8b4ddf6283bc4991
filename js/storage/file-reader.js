// @ts-check
/** Reads open files: little at once, much off the thread. */

import fs from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** The most bytes of one read: systems refuse lengths over 2 GiB. */
const MAX_READ_BYTES = 1 << 30;
/** The most bytes read synchronously: the system has them sooner than another thread would start. */
const MAX_QUICK_BYTES = 64 * 1024;
/** How many reads in a row are synchronous; then one lets other work have its turn. */
const QUICK_READS_PER_TURN = 16;

/**
 * Open files, by path. Reads that begin in one turn of the program share a descriptor: to open a file costs more than to
 * read a little of it. A later read opens it anew, for by then another file may have its name.
 */
export class SharedFiles {
  /** @type {Map<string, { fd: number, readers: number }>} */
  #open = new Map();

  /** @param {string} path @param {(path: string) => number} open */
  share(path, open) {
    const known = this.#open.get(path);
    const file = known ?? { fd: open(path), readers: 0 };
    file.readers += 1;
    if (!known) {
      this.#open.set(path, file);
      queueMicrotask(() => this.#forget(path, file));
    }
    return file;
  }

  /** Ends a read. @param {string} path @param {{ fd: number, readers: number }} file */
  release(path, file) {
    file.readers -= 1;
    if (file.readers > 0) return;
    this.#forget(path, file);
    closeQuietly(file.fd);
  }

  /** @param {string} path @param {object} file */
  #forget(path, file) {
    if (this.#open.get(path) === file) this.#open.delete(path);
  }
}

export class FileReader {
  /** How many reads were synchronous since the last that was not. */
  #quickReads = 0;

  /**
   * Fills bytes with those of a file from a place on; gives how many there were.
   * @param {number} fd
   * @param {Uint8Array} bytes
   * @param {number} from
   */
  async fill(fd, bytes, from) {
    const isQuick = bytes.length <= MAX_QUICK_BYTES && this.#quickReads < QUICK_READS_PER_TURN;
    this.#quickReads = isQuick ? this.#quickReads + 1 : 0;
    let filled = 0;
    let count;
    do {
      const length = Math.min(MAX_READ_BYTES, bytes.length - filled);
      count = isQuick
        ? fs.readSync(fd, bytes, filled, length, from + filled)
        : await readAt(fd, bytes, filled, length, from + filled);
      filled += count;
    } while (count > 0 && filled < bytes.length); // Else the file was cut while it was read.
    return filled;
  }
}

/**
 * @param {number} fd
 * @param {Uint8Array} into
 * @param {number} offset
 * @param {number} length
 * @param {number} position
 * @returns {Promise<number>} how many bytes
 */
function readAt(fd, into, offset, length, position) {
  // Node reads nothing at once: who reads again and again until something comes would let nobody have their turn.
  if (length === 0) return nextTurn(0);
  return new Promise((resolve, reject) =>
    fs.read(fd, into, offset, length, position, (error, count) => (error ? reject(error) : resolve(count))),
  );
}

// Whatever it says: what was read is read, and the error of a read that failed is the one to hear.
/** @param {number} fd */
export function closeQuietly(fd) {
  try {
    fs.closeSync(fd);
  } catch {}
}
