// @ts-check
/** Makes folders, and holds one while something is done in it. */

import fs from "node:fs";
import { dirname, sep } from "node:path";

import { tryAllowed, isRefused } from "../host/permissions.js";

/**
 * A place that a path leads to: its folder is held until `close`.
 * @typedef {object} HeldPlace
 * @property {string} systemPath the path by which the system finds it
 * @property {(fd?: number, at?: string) => void} check
 *   Throws where the folder is not there any more, or what was opened at `at` is not what stands there. To be called
 *   before a byte is read or written.
 * @property {() => Promise<void>} remove removes it, a folder with all in it
 * @property {() => void} close
 *
 * Finds places for a storage. `made` collects the folders that were missing; without it none is made.
 * @typedef {object} PlaceFinder
 * @property {(path: string, made?: Set<string>, within?: string) => HeldPlace} hold
 *   A file or folder, there or not; its folder is there. `within`: a folder that is not made, nor any above it
 * @property {(path: string) => HeldPlace} holdFolder a folder that is there
 * @property {(path: string) => HeldPlace} holdName the same as `hold`; also what lies above the root
 * @property {(path: string) => string} plain the path without links on the way to the root
 * @property {(path: string) => () => boolean} snapshotFolder
 *   Looks at a folder that is there. The returned function tells whether the folder, each on the way and the names in
 * it are
 *   known to be the same since.
 */

/** A `PlaceFinder` of places anywhere; links on the way are followed. */
export class UnrootedFinder {
  /** @param {string} path @param {Set<string>} [made] @param {string} [within] */
  hold(path, made, within) {
    if (within !== undefined && !fs.existsSync(within))
      throw Object.assign(new Error("expected a folder, but found none"), { code: "ENOENT" });
    if (made) makeFolders(dirname(path), made);
    return this.holdFolder(path);
  }

  /** @param {string} path @returns {HeldPlace} */
  holdFolder(path) {
    return {
      systemPath: path,
      check: () => {},
      remove: () => fs.promises.rm(path, { recursive: true, force: true }),
      close: () => {},
    };
  }

  /** @param {string} path */
  holdName(path) {
    return this.hold(path);
  }

  /** @param {string} path */
  plain(path) {
    return path;
  }

  /** Links are followed, so there is nothing to find out. @param {string} _path */
  snapshotFolder(_path) {
    return () => true;
  }
}

/**
 * Makes a folder and those above it.
 * @param {string} folder
 * @param {Set<string>} made collects those that were missing
 */
export function makeFolders(folder, made) {
  const missing = [];
  let there = folder;
  for (; !fs.existsSync(there) && dirname(there) !== there; there = dirname(there)) missing.unshift(there);
  // Windows reports a path beneath a file as absent.
  if (sep === "\\" && fs.lstatSync(there, { throwIfNoEntry: false })?.isFile()) throw notFolderError(there);
  for (const at of missing) {
    // Noted even if another process made it first: that one may die before it flushes the name.
    made.add(at);
    if (!makeFolder(at)) continue;
    // Only a umask that takes from the owner makes it differ.
    if ((fs.lstatSync(at).mode & 0o777) !== 0o700) fs.chmodSync(at, 0o700);
  }
}

/** @param {string} at its parent exists @returns {boolean} whether it was missing */
export function makeFolder(at) {
  try {
    fs.mkdirSync(at, 0o700);
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return false;
  }
}

/**
 * Whether a process like this one may have made the folder, and died before it was flushed.
 *
 * @param {string} folder
 */
export function mayBeOurs(folder) {
  try {
    if ((fs.statSync(folder).mode & 0o777) !== 0o700) return false;
    // Where Deno does not tell who one is, it may be.
    tryAllowed(() => fs.accessSync(dirname(folder), fs.constants.W_OK));
    return true;
  } catch (error) {
    if (["EACCES", "EPERM", "EROFS"].includes(codeOf(error))) return false;
    throw error;
  }
}

/** @param {unknown} error what the system said */
export function codeOf(error) {
  if (isRefused(error)) return "EACCES";
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** @param {unknown} error */
export function isAbsent(error) {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

/** The error for a link found before the system is asked to open it: the system's own. */
export function linkError() {
  return Object.assign(new Error("expected a file, but found a link instead"), { code: "ELOOP" });
}

/** @param {string} at what stands there */
export function rejectLink(at) {
  const found = fs.lstatSync(at, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) throw linkError();
  return found;
}

/**
 * Rejects links and folders where a file is to be written. Windows would report a folder as not permitted.
 * @param {string} at
 */
export function rejectLinkAndFolder(at) {
  if (rejectLink(at)?.isDirectory())
    throw Object.assign(new Error("expected a file, but found a folder instead"), { code: "EISDIR" });
}

/** @param {string} path that of a file */
export function notFolderError(path) {
  return Object.assign(new Error(`"${path}" is a file, not a folder`), { code: "ENOTDIR" });
}

/** A path as Windows writes it: callers may separate names by `/` there, too. @param {string} path */
export function toSystemPath(path) {
  return sep === "\\" ? path.replaceAll("/", sep) : path;
}
