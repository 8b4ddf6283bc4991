// @ts-check
/** Folders outside of stores, such as projects: checks, and paths without links. */

import { realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, sep } from "node:path";

import { LeftoffError } from "../error.js";
import { codeOf } from "./folders.js";
import { toStorageError } from "./system-errors.js";

/** The user's own folder, whatever the environment leaves unsaid. */
export const ownFolder = () => homedir() || userInfo().homedir;

/** Whether a folder is there; also one that may not be looked at. @param {string} path */
export function isFolder(path) {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch (cause) {
    const error = toStorageError("stat", path, cause, { hasRoot: false });
    if (error.code === "not_a_folder") return false;
    if (error.code === "permission_denied") return true;
    throw error;
  }
}

/** Refuses a path where something else than a folder stands, or nobody can say what. @param {string} path */
export function rejectUnlessFolder(path) {
  let stat;
  try {
    // Without `throwIfNoEntry`: with it, Node from 22 on reports a file on the way as nothing at all.
    stat = statSync(path);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return rejectFileAbove(path);
    throw toStorageError("stat", path, cause, { hasRoot: false });
  }
  if (!stat.isDirectory())
    throw new LeftoffError({ code: "not_a_folder", message: `"${path}" is a file, not a folder` });
}

/** Rejects a path beneath a file, which Windows reports as absent. @param {string} path */
function rejectFileAbove(path) {
  const above = dirname(path);
  if (sep === "\\" && above !== path) rejectUnlessFolder(above);
}

/** The program's working folder. */
export function workingFolder() {
  try {
    return process.cwd();
  } catch (cause) {
    throw new LeftoffError({ code: "not_found", message: "the working folder is gone", cause });
  }
}

/**
 * The path without links, as far as it exists: the folder may be gone, or another machine's.
 * @param {string} path
 * @returns {string}
 */
export function realPathAsFar(path) {
  if (!isAbsolute(path)) return path;
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPathAsFar(dirname(path)), basename(path));
  }
}

/** The path of a folder without links. @param {string} folder */
export function realPath(folder) {
  let path;
  try {
    path = realpathSync(folder);
  } catch (cause) {
    const isNone = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    throw isNone
      ? new LeftoffError({ code: "not_found", message: `no folder at "${folder}"`, cause })
      : toStorageError("stat", folder, cause, { hasRoot: false });
  }
  rejectUnlessFolder(path);
  return path;
}
