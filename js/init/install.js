// @ts-check
/**
 * Writes files into a project, and takes them out again. A record beside the project's settings says what was written,
 * so that removing it leaves what was there, and what the user did since.
 */

import { mkdir, readFile, readdir, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, relative, toNamespacedPath } from "node:path";

import { addEntries, hashOf, removeEntries } from "./json-file.js";
import { rejectLinks } from "./init-record.js";

/** @import { Change } from "./json-file.js" */
/** @import { Entry, OwnFile } from "./parts.js" */

/**
 * The installation for one agent. `files`: each file's hash as it was written; `changes`: those made to the user's
 * files;
 * `folders`: the created ones, outermost first.
 * @typedef {{ files: Record<string, string>, changes: Record<string, Change>, folders: string[] }} Installation
 *
 * @typedef {{ path: string, did: "written" | "updated" | "unchanged" | "yours" | "removed" | "gone" | "others" }}
 *   FileOutcome `yours`: differs from
 *   what leftoff wrote, and is left as it is; `others`: never written by leftoff
 */

/**
 * Writes what is not there yet; writes nothing if one of the files cannot be written.
 * @param {string} root @param {{ files: OwnFile[], entries: Entry[] }} parts @param {Installation} [before]
 * @returns {Promise<{ installed: Installation, told: FileOutcome[] }>}
 */
export async function install(root, { files, entries }, before = { files: {}, changes: {}, folders: [] }) {
  /** @type {Installation} */
  const installed = { files: { ...before.files }, changes: { ...before.changes }, folders: [...before.folders] };
  /** @type {{ path: string, found: string | undefined, text: string }[]} */
  const all = [];
  /** @type {FileOutcome[]} */
  const told = [];
  for (const { path } of [...files, ...entries]) await rejectLinks(root, path);
  for (const { path, text } of files) {
    const found = await readTextAt(join(root, path));
    if (found !== undefined && found !== text && hashOf(found) !== before.files[path]) {
      told.push({ path, did: "yours" });
      continue;
    }
    // An identical file that somebody else wrote is not leftoff's to remove.
    if (found !== text || before.files[path]) installed.files[path] = hashOf(text);
    all.push({ path, found, text });
  }
  for (const path of new Set(entries.map((entry) => entry.path))) {
    const found = await readTextAt(join(root, path));
    const { text, change } = addEntries(
      found,
      entries.filter((entry) => entry.path === path),
      { path, before: before.changes[path] },
    );
    installed.changes[path] = change;
    all.push({ path, found, text });
  }
  for (const { path, found, text } of all) {
    if (found !== text) await writeWithFolders(root, join(root, path), text, installed.folders);
    told.push({ path, did: found === text ? "unchanged" : found === undefined ? "written" : "updated" });
  }
  return { installed, told };
}

/**
 * Removes what was written.
 * @param {string} root
 * @param {Installation} installed with nothing but leftoff's own
 * @returns {Promise<FileOutcome[]>}
 */
export async function uninstall(root, { files, changes, folders }) {
  /** @type {FileOutcome[]} */
  const told = [];
  for (const path of [...Object.keys(files), ...Object.keys(changes), ...folders]) await rejectLinks(root, path);
  for (const [path, hash] of Object.entries(files)) {
    const file = join(root, path);
    const found = await readTextAt(file);
    const isOurs = found !== undefined && hashOf(found) === hash;
    if (isOurs) await rm(file);
    told.push({ path, did: found === undefined ? "gone" : isOurs ? "removed" : "yours" });
  }
  for (const [path, change] of Object.entries(changes)) {
    const file = join(root, path);
    const found = await readTextAt(file);
    if (found === undefined) {
      told.push({ path, did: "gone" });
      continue;
    }
    const text = removeEntries(found, change, path);
    if (text === undefined) await rm(file);
    else if (text !== found) await writeFile(file, text);
    told.push({ path, did: text === undefined ? "removed" : text === found ? "unchanged" : "updated" });
  }
  for (const folder of folders.toReversed()) await removeIfEmpty(join(root, folder));
  return told;
}

/**
 * @param {string} root
 * @param {string} file
 * @param {string} text
 * @param {string[]} folders those that are made are added
 */
export async function writeWithFolders(root, file, text, folders) {
  const first = await mkdir(dirname(file), { recursive: true });
  if (first) {
    const made = relative(root, dirname(file)).split(/[/\\]/);
    // Windows' Node may put `\\?\` before what it made.
    const from = relative(toNamespacedPath(root), toNamespacedPath(first));
    const isRoot = from === "" || from.startsWith("..");
    if (isRoot) folders.push(".");
    for (let depth = isRoot ? 1 : from.split(/[/\\]/).length; depth <= made.length; depth += 1)
      folders.push(made.slice(0, depth).join("/"));
  }
  await writeFile(file, text);
}

/** @param {string} file @returns {Promise<string | undefined>} */
export async function readTextAt(file) {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ENOENT") return undefined;
    throw error;
  }
}

/** @param {string} folder */
async function removeIfEmpty(folder) {
  const entries = await readdir(folder).catch(() => undefined);
  if (entries?.length === 0) await rmdir(folder);
}
