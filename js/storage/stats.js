// @ts-check
/** Stats of single files, and of files in many folders at once. */

import fs from "node:fs";
import { join, sep } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";

import { codeOf, isAbsent } from "./folders.js";

/** @import { PlaceFinder } from "./folders.js" */
/** @import { Entry, Kind, Stat } from "./contract.js" */

/** How many folders are looked into before other work has its turn: some milliseconds. */
const FOLDERS_PER_TURN = 1000;

/** @param {fs.Stats} found @returns {Stat} */
export function statOf(found) {
  const file = { number: found.ino, madeMs: found.birthtimeMs };
  return {
    kind: kindOf(found),
    size: found.isFile() ? found.size : 0,
    mtimeMs: found.mtimeMs,
    ctimeMs: found.ctimeMs,
    file,
  };
}

/** @param {{ isFile(): boolean, isDirectory(): boolean }} found @returns {Kind} */
export function kindOf(found) {
  if (found.isFile()) return "file";
  return found.isDirectory() ? "folder" : "other";
}

/**
 * Gives each folder among the entries the stats of the files of these names in it.
 *
 * Holding each folder would take four times as long as plain paths. So plain paths are used; if a folder may have been
 * replaced since the entries were read, their results are dropped, and each folder is held.
 *
 * @param {Entry[]} entries
 * @param {{ path: string, files: string[], as?: ((stats: (Stat | null)[]) => number[]) | undefined, finder: PlaceFinder, isUnchanged: () => boolean }} where
 */
export async function addFiles(entries, { path, files, as, finder, isUnchanged }) {
  const folders = entries.filter(({ kind }) => kind === "folder");
  const plain = finder.plain(path);
  const suffixes = files.map((file) => sep + file);
  const found = (/** @type {(Stat | null)[] | undefined} */ stats) =>
    /** @type {(Stat | null)[] | undefined} */ (stats && as ? /** @type {unknown} */ (as(stats)) : stats);
  for (let start = 0; start < folders.length; start += FOLDERS_PER_TURN) {
    if (start > 0) await nextTurn();
    const some = folders.slice(start, start + FOLDERS_PER_TURN);
    if (isUnchanged()) {
      for (const folder of some) folder.files = found(statsAt(plain + sep + folder.name, suffixes));
      if (isUnchanged()) continue;
    }
    for (const folder of some) folder.files = found(statsHeld(join(path, folder.name), suffixes, finder));
  }
}

/** Nothing where the folder may not be looked into. @param {string} folder @param {string[]} suffixes */
function statsAt(folder, suffixes) {
  try {
    return suffixes.map((suffix) => statAt(folder + suffix));
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** @param {string} folder @param {string[]} suffixes @param {PlaceFinder} finder */
function statsHeld(folder, suffixes, finder) {
  let held;
  try {
    held = finder.holdFolder(folder);
    const stats = statsAt(held.systemPath, suffixes);
    held.check();
    return stats;
  } catch (error) {
    if (isAbsent(error)) return suffixes.map(() => null);
    if (isForbidden(error)) return undefined;
    throw error;
  } finally {
    held?.close();
  }
}

/** @param {unknown} error */
function isForbidden(error) {
  return ["EACCES", "EPERM"].includes(codeOf(error));
}

/** @param {string} at @returns {Stat | null} */
function statAt(at) {
  try {
    const found = fs.lstatSync(at, { throwIfNoEntry: false });
    return found ? statOf(found) : null;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
