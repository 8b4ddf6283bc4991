// @ts-check

/**
 * Moves within a filesystem, never over what is there. Node has no `renameat2`.
 *
 * A folder is renamed. The system itself refuses to put it over a file, or over a folder with something in it; an empty
 * folder that was made since the look before would be replaced. Making the folder first, to claim the place, would
 * leave it there after a crash, and every later attempt would be refused for it.
 *
 * A file would be renamed over another one. So it gets its second name first, which the system refuses where something
 * is there, and loses its first one then. Who is killed in between leaves it with both.
 */

import fs from "node:fs";

import { codeOf, rejectLink } from "./folders.js";
import { retryWhileBusy } from "./whole-file.js";

/** @import { HeldPlace } from "./folders.js" */

/** The system's errors where a file cannot have two names: filesystems without links, Android, Windows (EISDIR). */
const NO_LINK_CODES = ["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EISDIR"];
const BIGINT_STAT = /** @type {const} */ ({ bigint: true });

/** @param {string} at */
export function rejectUnmovable(at) {
  rejectLink(at);
  const found = fs.lstatSync(at);
  if (found.isFile() || found.isDirectory()) return;
  throw Object.assign(new Error("expected a file or a folder, but found a device instead"), { code: "ENXIO" });
}

/** @param {string} at */
export function rejectTaken(at) {
  if (!fs.lstatSync(at, { throwIfNoEntry: false })) return;
  throw Object.assign(new Error("expected nothing there, but found something instead"), { code: "EEXIST" });
}

/**
 * @param {HeldPlace} source
 * @param {HeldPlace} target
 * @param {() => Promise<void>} confirm makes the disk confirm the new name
 */
export async function move(source, target, confirm) {
  const found = fs.lstatSync(source.systemPath, BIGINT_STAT);
  source.check();
  target.check();
  if (found.isDirectory()) await renamePatiently(source.systemPath, target.systemPath);
  else await moveFile(source.systemPath, target.systemPath, found, confirm);
}

/** @param {string} from @param {string} to @param {fs.BigIntStats} file @param {() => Promise<void>} confirm */
async function moveFile(from, to, file, confirm) {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    if (!NO_LINK_CODES.includes(codeOf(error))) throw error;
    return renamePatiently(from, to);
  }
  try {
    // A disk may keep one change of names and lose another: the old name goes once the new one is safe.
    await confirm();
    if (!isStill(from, file)) throw new Error("expected the same file until the end, but found it replaced meanwhile");
    await retryWhileBusy(() => fs.unlinkSync(from));
  } catch (error) {
    try {
      if (isStill(to, file)) fs.unlinkSync(to);
    } catch {
      // The caller hears why moving failed; that the file kept its second name must not hide it.
    }
    throw error;
  }
}

/** @param {string} from @param {string} to */
function renamePatiently(from, to) {
  // Not by a promise: from the look at `to` on, nothing else of this process comes between.
  return retryWhileBusy(() => {
    try {
      fs.renameSync(from, to);
    } catch (error) {
      // Windows says where a place is taken only that it may not be done.
      if (codeOf(error) === "EPERM") rejectTaken(to);
      throw error;
    }
  });
}

/** @param {string} at @param {fs.BigIntStats} file */
function isStill(at, { ino, dev }) {
  const found = fs.lstatSync(at, { ...BIGINT_STAT, throwIfNoEntry: false });
  return found !== undefined && found.ino === ino && found.dev === dev;
}
