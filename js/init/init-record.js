// @ts-check
/**
 * The record in a project of what `leftoff init` wrote there. The project may come from somebody else, and its record
 * with it: so only entries count that leftoff itself writes for that agent, inside the folder, without a link on the
 * way.
 */

import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";

import { LeftoffError } from "../error.js";

/** @import { Installation } from "./install.js" */
/** @import { Change } from "./json-file.js" */
/** @import { Parts } from "./parts.js" */

/** @type {Installation} */
const EMPTY_INSTALLATION = { files: {}, changes: {}, folders: [] };

/**
 * Splits a record into what leftoff wrote and `others`, paths that it never writes.
 * @param {unknown} noted @param {Pick<Parts, "files" | "entries">} parts @param {string} agent
 * @returns {{ own: Installation, others: string[] }}
 */
export function splitRecord(noted, { files, entries }, agent) {
  const { files: hashes, changes, folders } = { ...EMPTY_INSTALLATION, ...(isObject(noted) ? noted : {}) };
  const paths = { files: new Set(files.map(({ path }) => path)), changes: new Set(entries.map(({ path }) => path)) };
  const ownFolders = new Set([".", ...[...paths.files, ...paths.changes].flatMap(ancestorsOf)]);
  const of = (/** @type {unknown} */ from) => (isObject(from) ? Object.entries(from) : []);
  const own = {
    files: Object.fromEntries(of(hashes).filter(([path, hash]) => paths.files.has(path) && typeof hash === "string")),
    changes: Object.fromEntries(
      of(changes).flatMap(([path, change]) =>
        paths.changes.has(path) && isObject(change) ? [[path, changeOf(change, agent)]] : [],
      ),
    ),
    folders: Array.isArray(folders) ? folders.filter((folder) => ownFolders.has(folder)) : [],
  };
  const others = [...of(hashes), ...of(changes)]
    .map(([path]) => path)
    .filter((path) => !paths.files.has(path) && !paths.changes.has(path));
  return { own, others };
}

/**
 * Refuses a path with a link on its way: what lies behind it is not the project's.
 * @param {string} root @param {string} path below it
 */
export async function rejectLinks(root, path) {
  for (const name of [...ancestorsOf(path).toReversed(), path]) {
    const place = join(root, name);
    const stat = await lstat(place).catch((error) => {
      if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
      throw error;
    });
    if (stat?.isSymbolicLink())
      throw new LeftoffError({
        code: "outside_store",
        message: `expected a ${name === path ? "file" : "folder"} at "${place}", but found a link instead, and none is followed; nothing was changed`,
      });
  }
}

/** The folders that a path lies in, the innermost first. @param {string} path @returns {string[]} */
function ancestorsOf(path) {
  const folder = dirname(path);
  return folder === "." || folder === path ? [] : [folder, ...ancestorsOf(folder)];
}

// Keeps of a change only hooks that run leftoff's own command, and the places of hooks.
/** @param {Record<string, any>} change @param {string} agent @returns {Change} */
function changeOf({ entries = [], made = [], pieces = [], after = "" }, agent) {
  const isPlace = (/** @type {unknown} */ at) =>
    Array.isArray(at) && at.every((name) => typeof name === "string") && (at.length === 0 || at[0] === "hooks");
  const runs = (/** @type {any} */ value) =>
    [value?.hooks].flat().every((hook) => new RegExp(` hook ${agent}(?: --plugin)?$`).test(String(hook?.command)));
  const isPiece = (/** @type {any} */ piece) =>
    Number.isSafeInteger(piece?.offset) &&
    /^[\s,{}[\]]*$/.test(String(piece.removed)) &&
    typeof piece.inserted === "string";
  return {
    entries: [entries]
      .flat()
      .filter((/** @type {any} */ entry) => isPlace(entry?.at) && entry.at.length === 2 && runs(entry.value)),
    made: [made].flat().filter(isPlace),
    pieces: Array.isArray(pieces) && pieces.every(isPiece) ? pieces : [],
    after: String(after),
  };
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
