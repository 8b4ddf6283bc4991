// @ts-check
/** Folders outside of stores: projects, as they are named and as they are. */

import { realpathSync, statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { basename, dirname, isAbsolute, join, sep } from "node:path";

import { LeftoffError } from "../error.js";
import { codeOf } from "./folders.js";
import { toStorageError } from "./system-errors.js";

/** The user's own folder, whatever the environment leaves unsaid. */
export const ownFolder = () => homedir() || userInfo().homedir;

/** Whether there is one; also one that may not be looked at. @param {string} path */
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

/** Refuses where something else stands, or nobody can say what. @param {string} path */
export function rejectUnlessFolder(path) {
  let stat;
  try {
    // Without `throwIfNoEntry`: by that, Node from 22 on takes a file on the way for nothing at all.
    stat = statSync(path);
  } catch (cause) {
    if (codeOf(cause) === "ENOENT") return rejectFileAbove(path);
    throw toStorageError("stat", path, cause, { hasRoot: false });
  }
  if (!stat.isDirectory()) throw new LeftoffError({ code: "not_a_folder", message: `"${path}" is a file, not a folder` });
}

/** Windows says of what lies beneath a file that it is not there. @param {string} path */
function rejectFileAbove(path) {
  const above = dirname(path);
  if (sep === "\\" && above !== path) rejectUnlessFolder(above);
}

/** The one that the program is in. */
export function workingFolder() {
  try {
    return process.cwd();
  } catch (cause) {
    throw new LeftoffError({ code: "not_found", message: "the working folder is gone", cause });
  }
}

/** The same as far as it is there, for a folder that may be gone, or of another machine. @param {string} path @returns {string} */
export function realPathAsFar(path) {
  if (!isAbsolute(path)) return path;
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(realPathAsFar(dirname(path)), basename(path));
  }
}

/** Its path without links. @param {string} folder */
export function realPath(folder) {
  let path;
  try {
    path = realpathSync(folder);
  } catch (cause) {
    const isNone = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    throw isNone ? new LeftoffError({ code: "not_found", message: `no folder at "${folder}"`, cause }) : toStorageError("stat", folder, cause, { hasRoot: false });
  }
  rejectUnlessFolder(path);
  return path;
}
