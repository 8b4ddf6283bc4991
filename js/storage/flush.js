// @ts-check

import fs from "node:fs";
import process from "node:process";

/**
 * Flushes off the thread: it takes milliseconds.
 *
 * @param {(fd: number, done: fs.NoParamCallback) => void} how `fs.fsync` or `fs.fdatasync`
 * @param {number} fd
 * @returns {Promise<void>}
 */
export function flush(how, fd) {
  return new Promise((resolve, reject) => how(fd, (error) => (error ? reject(error) : resolve())));
}

/**
 * Waits for flushes that run at once, also where one has failed: their files must not be closed before.
 * @param {Promise<void>[]} flushes
 */
export async function waitForFlushes(flushes) {
  for (const end of await Promise.allSettled(flushes)) if (end.status === "rejected") throw end.reason;
}

/** Makes the disk confirm which names are in a folder. @param {string} folder */
export async function syncFolder(folder) {
  // Windows opens no folders; NTFS keeps their entries in a journal of its own.
  if (process.platform === "win32") return;
  const fd = fs.openSync(folder, fs.constants.O_RDONLY);
  try {
    await flush(fs.fsync, fd);
  } catch (error) {
    // A filesystem that cannot flush folders says EINVAL; nothing more can be asked of it.
    if (!(error instanceof Error && "code" in error && error.code === "EINVAL")) throw error;
  } finally {
    fs.closeSync(fd);
  }
}
