// @ts-check

import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as wait } from "node:timers/promises";

import { flush } from "./flush.js";

/**
 * The waits between attempts, 10 s in all: Windows refuses a rename while a virus scanner or a reader holds the file.
 */
const RETRY_WAITS_MS = [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120];

/** The most bytes written synchronously: the system takes them sooner than another thread would start. */
const MAX_QUICK_BYTES = 2 ** 20;

/**
 * Replaces a file whole: writes beside it, counts the bytes, flushes where it is to be durable, renames. Whatever
 * fails, the old file stays. The name is not flushed; that is the folder's part.
 *
 * @param {string} path its folder exists
 * @param {Uint8Array[]} pieces
 * @param {(fd: number, at: string) => void} check throws where the new file must not be written
 * @param {boolean} durable
 */
export async function writeWhole(path, pieces, check, durable) {
  const temporary = temporaryPathFor(path);
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  const isQuick = size <= MAX_QUICK_BYTES;
  const fd = fs.openSync(temporary, "wx", 0o600);
  try {
    try {
      check(fd, temporary);
      fs.fchmodSync(fd, 0o600); // The umask may have taken from it.
      for (const piece of pieces) await fill(fd, piece, isQuick);
      const { size: found } = fs.fstatSync(fd);
      if (found !== size) throw new Error(`expected a file of ${size} bytes, but found ${found} instead`);
      if (durable) await flush(fs.fsync, fd);
    } finally {
      fs.closeSync(fd);
    }
    await retryWhileBusy(() => (isQuick ? fs.renameSync(temporary, path) : fs.promises.rename(temporary, path)));
  } catch (error) {
    removeQuietly(temporary);
    throw error;
  }
}

/**
 * The name of a file until it is whole: beside its place, since a rename does not cross filesystems.
 * @param {string} path
 */
export function temporaryPathFor(path) {
  return join(dirname(path), `.${basename(path)}.${process.pid}.${randomBytes(8).toString("hex")}.tmp`);
}

/** @param {number} fd @param {Uint8Array} bytes @param {boolean} isQuick */
async function fill(fd, bytes, isQuick) {
  for (let offset = 0; offset < bytes.length;) {
    const rest = bytes.subarray(offset);
    const written = isQuick ? fs.writeSync(fd, rest) : await write(fd, rest);
    if (written === 0) break;
    offset += written;
  }
}

/** @param {number} fd @param {Uint8Array} bytes @returns {Promise<number>} */
function write(fd, bytes) {
  return new Promise((resolve, reject) => {
    fs.write(fd, bytes, (error, written) => (error ? reject(error) : resolve(written)));
  });
}

/**
 * Runs a step that renames or unlinks, on Windows again and again while somebody holds the file.
 * @param {() => unknown} step
 */
export async function retryWhileBusy(step) {
  for (const waitMs of process.platform === "win32" ? RETRY_WAITS_MS : []) {
    try {
      await step();
      return;
    } catch (error) {
      const busy =
        error instanceof Error && "code" in error && ["EPERM", "EACCES", "EBUSY"].includes(String(error.code));
      if (!busy) throw error;
      await wait(waitMs);
    }
  }
  await step();
}

/** @param {string} path */
function removeQuietly(path) {
  try {
    fs.rmSync(path, { force: true });
  } catch {
    // The caller hears why replacing failed; that a temporary file stayed behind must not hide it.
  }
}
