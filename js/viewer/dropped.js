// @ts-check
/** Files that are dropped or chosen: read into a store in memory. */

import { MemoryStorage, openStore } from "../index.js";

/** @import { Listed, Store } from "../index.js" */
/** @import { FileDamage } from "./damage.js" */

/** @typedef {{ path: string, file: File }} DroppedFile */
/** @typedef {{ storage: MemoryStorage, folder: string, path: string }} StoredFiles `path`: of all of them, to be imported */

/** Where they lie in the storage in memory. */
const FOLDER = "/dropped";

/** All files below a dropped one. @param {FileSystemEntry} entry @returns {Promise<DroppedFile[]>} */
export async function filesIn(entry) {
  if (entry.isFile) {
    const file = await new Promise((given, refused) => /** @type {FileSystemFileEntry} */ (entry).file(given, refused));
    return [{ path: entry.fullPath.slice(1), file }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const found = [];
  for (;;) {
    // A browser gives a part of a large folder each time, and nothing at its end.
    const part = await new Promise((given, refused) => reader.readEntries(given, refused));
    if (part.length === 0) return found;
    for (const one of part) found.push(...(await filesIn(one)));
  }
}

/**
 * Imports files into a store in memory.
 * @param {DroppedFile[]} files
 * @returns {Promise<{ store: Store, sessions: Listed[], problems: FileDamage[], files: StoredFiles }>}
 * @throws {LeftoffError} what `Store.import` throws: `unknown_format` for one file that is no session
 */
export async function importFiles(files) {
  const storage = new MemoryStorage();
  for (const { path, file } of files)
    await storage.replace(`${FOLDER}/${path}`, new Uint8Array(await file.arrayBuffer()));
  const path = files.length === 1 ? `${FOLDER}/${files[0].path}` : FOLDER;
  const place = { storage, home: "/leftoff", project: "/project" };
  const store = await openStore(place);
  const { imported, problems } = await store.import(path);
  const named = problems.map((problem) => ({
    ...problem,
    path: problem.path.slice(FOLDER.length + 1),
    sessions: imported.filter((one) => one.path === problem.path).map(({ id }) => id),
    read: (/** @type {number} */ start, /** @type {number} */ end) => storage.readRange(problem.path, start, end),
  }));
  // What the model saw of a session is looked at, and not changed.
  return {
    store: await openStore({ ...place, readOnly: true }),
    sessions: await listOwn(store),
    problems: named,
    files: { storage, folder: FOLDER, path },
  };
}

/** Lists all sessions without sub-agents', unless there is nothing else. @param {Store} store */
export async function listOwn(store) {
  const all = await store.list({ all: true, type: null, archived: null });
  const own = all.filter(({ type }) => type !== "subagent");
  return own.length > 0 ? own : all;
}
