// @ts-check
/** Files that are dropped or chosen: read into a store in memory. */

import { LeftoffError, MemoryStorage, openStore } from "../index.js";

/** @import { Listed, Store } from "../index.js" */
/** @import { FileDamage } from "./damage.js" */

/** @typedef {{ path: string, file: File }} DroppedFile */
/** @typedef {{ storage: MemoryStorage, folder: string, path: string }} StoredFiles `path`: of all of them, to be imported */
/** @typedef {{ store: Store, sessions: Listed[], problems: FileDamage[], files: StoredFiles }} ImportedFiles */

/** Where they lie in the storage in memory. */
const FOLDER = "/dropped";
/** Of a larger file the beginning is shown before all of it is imported, which takes seconds. */
const MAX_WAIT_BYTES = 4_000_000;
const HEAD_BYTES = 500_000;

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
 * @returns {Promise<ImportedFiles>}
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
  // Their logs come without a checkpoint. Closing writes it, else the list and the viewer would each read all.
  for (const { id, agent } of imported) if (agent === "leftoff") await (await store.session(id)).close();
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

/**
 * Imports the beginning of a large file of lines.
 * @param {DroppedFile[]} files
 * @returns {Promise<ImportedFiles | undefined>} nothing for other files, and where the beginning alone is no session
 */
export async function importHead(files) {
  const [{ path, file }] = files;
  if (files.length > 1 || file.size <= MAX_WAIT_BYTES) return undefined;
  const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  if (head[0] !== "{".charCodeAt(0)) return undefined;
  const lines = head.subarray(0, head.lastIndexOf("\n".charCodeAt(0)) + 1);
  try {
    const head = await importFiles([{ path, file: new File([lines], file.name) }]);
    return head.sessions.length > 0 ? head : undefined;
  } catch (error) {
    if (error instanceof LeftoffError) return undefined;
    throw error;
  }
}

/** Lists all sessions without sub-agents', unless there is nothing else. @param {Store} store */
export async function listOwn(store) {
  const all = await store.list({ all: true, type: null, archived: null });
  const own = all.filter(({ type }) => type !== "subagent");
  return own.length > 0 ? own : all;
}
