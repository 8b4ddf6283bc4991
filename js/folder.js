// @ts-check
/** Folders outside of stores: projects, as they are named and as they are. */

import { realpathSync, statSync } from "node:fs";

import { LeftoffError } from "./error.js";

/** Whether there is one. @param {string} path */
export function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The one that the program is in. */
export function workingFolder() {
  try {
    return process.cwd();
  } catch (cause) {
    throw new LeftoffError({ code: "not_found", message: "expected to be in a folder, but found that it is gone", cause });
  }
}

/** Its path without links. @param {string} folder */
export function realPath(folder) {
  try {
    return realpathSync(folder);
  } catch (cause) {
    throw new LeftoffError({ code: "not_found", message: `expected a folder at "${folder}", but found none`, cause });
  }
}
