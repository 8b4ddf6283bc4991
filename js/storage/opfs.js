// @ts-check
/**
 * Files that a browser keeps for an origin (OPFS), in a worker: nobody else may hold one open to write to it. Here is
 * also what browsers lack: times of files that are held open, and moving folders.
 */

import { LeftoffError } from "../error.js";
import { nowMs, randomId } from "../wasm/clock.js";
import { checkNames, checkRange, storageError } from "./contract.js";

/** @import { Capabilities, Code, Entry, Stat, Verb } from "./contract.js" */

/**
 * The parts of the DOM's types that are used here, for programs without them.
 * @typedef {{ kind: "file", name: string, getFile: () => Promise<{ size: number, lastModified: number, slice: (start: number, end: number) => { arrayBuffer: () => Promise<ArrayBuffer> }, text: () => Promise<string> }>, createSyncAccessHandle: () => Promise<AccessHandle>, move: (to: Folder, name: string) => Promise<void> }} File
 * @typedef
 *   {{ kind: "directory", name: string, entries: () => AsyncIterable<[string, File | Folder]>, getFileHandle: (name: string, how?: { create?: boolean }) => Promise<File>,
 *   getDirectoryHandle: (name: string, how?: { create?: boolean }) => Promise<Folder>, removeEntry: (name: string,
 * how?: { recursive?: boolean }) => Promise<void> }} Folder
 * @typedef
 *   {{ getSize: () => number, read: (into: Uint8Array, how: { at: number }) => number, write: (bytes: Uint8Array, how: { at: number }) => number, truncate: (size: number) => void,
 *   flush: () => void, close: () => void }} AccessHandle
 * @typedef {{ madeMs: number, changedMs: number, seenMs?: number }} Note a file's times, made and last changed;
 *   `seenMs`: the browser's own time of change
 */

/** The most files held open: no other tab can append to one that is. */
const MAX_HELD_HANDLES = 32;
/** The file that says from where to where a folder is being moved, until that is done. */
const MOVE_RECORD = ".leftoff-moving.json";

/** Whether this is a worker of a browser with such files. */
export function hasOpfs() {
  const { FileSystemFileHandle, navigator } = /** @type {any} */ (globalThis);
  return (
    typeof FileSystemFileHandle === "function" &&
    "createSyncAccessHandle" in FileSystemFileHandle.prototype &&
    typeof navigator?.storage?.getDirectory === "function"
  );
}

/**
 * Keeps everything in the origin's private files, in a worker: durable as the browser is, which may clear them away
 * where the origin is not
 * `navigator.storage.persist()`ed. Each verb is described at `Storage`. What any of them throws: `permission_denied`
 * where another tab or worker has the file open, `storage_closed` once it was closed, `storage_failed`.
 */
export class OpfsStorage {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "exclusive", range: true, durable: true, watch: false });

  /** Least recently used first. @type {Map<string, AccessHandle>} */
  #held = new Map();
  /** Notes on files that were looked at. @type {Map<string, Note>} */
  #notes = new Map();
  /** One verb at a time: later ones wait. @type {Promise<unknown>} */
  #turn = Promise.resolve();
  #isClosed = false;
  #lastMs = 0;
  /** @type {Promise<Folder> | undefined} */
  #root;

  /** @throws {LeftoffError} `storage_failed` where there are no such files */
  constructor() {
    if (!hasOpfs())
      throw storageError("stat", "/", {
        code: "storage_failed",
        reason: "expected a worker of a browser with private files of the origin (OPFS), but found none",
      });
  }

  /** @param {string} path @throws {LeftoffError} `not_a_file` for a folder; what any verb throws */
  read(path) {
    return this.#slice("read", path, 0, Infinity);
  }

  /**
   * @param {string} path
   * @param {number} start
   * @param {number} end @throws {LeftoffError} `invalid_range` for one that cannot be meant; what `read` throws
   */
  async readRange(path, start, end) {
    checkRange(path, start, end);
    return this.#slice("readRange", path, start, end);
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   * @param {{ durable?: boolean, within?: string }} [options]
   * @returns {Promise<{ end: number }>}
   * @throws {LeftoffError} `not_a_file` for a folder; `not_a_folder` where a file stands on the way; `not_found` where
   *   `within` is not there; `disk_full`; what any verb throws
   */
  append(path, bytes, { durable = false, within } = {}) {
    const own = bytes.slice();
    return this.#inTurn("append", path, async () => {
      await this.#rejectIfGone("append", path, within);
      const held = await this.#open(path);
      const start = held.getSize();
      try {
        if (!writeAll(held, own, start)) throw storageError("append", path, { code: "disk_full" });
      } catch (error) {
        held.truncate(start);
        throw error;
      }
      this.#note(path);
      if (durable) held.flush();
      return { end: start + own.length };
    });
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   * @param {{ within?: string }} [options]
   * @returns {Promise<void>} @throws {LeftoffError} what `append` throws
   */
  replace(path, bytes, { within } = {}) {
    return this.#inTurn("replace", path, async () => {
      await this.#rejectIfGone("replace", path, within);
      const { folder, name } = await this.#parent(path, true);
      if ((await child(folder, name))?.kind === "directory")
        throw storageError("replace", path, { code: "not_a_file" });
      this.#closeHeld(path);
      const temporary = `.${name}.${randomId()}.tmp`;
      const file = await folder.getFileHandle(temporary, { create: true });
      try {
        const held = await file.createSyncAccessHandle();
        try {
          if (!writeAll(held, bytes, 0)) throw storageError("replace", path, { code: "disk_full" });
          held.flush();
        } finally {
          held.close();
        }
        // Moves in one step, over what is there.
        await file.move(folder, name);
      } catch (error) {
        await folder.removeEntry(temporary).catch(unlessAbsent);
        throw error;
      }
      this.#notes.delete(path);
      this.#note(path);
    });
  }

  /** Has no links. @param {string} _path */
  async link(_path) {
    return false;
  }

  /**
   * @param {string} from
   * @param {string} to
   * @returns {Promise<void>}
   * @throws {LeftoffError} `not_found` where nothing is there to be moved; `already_exists`; `invalid_path` for a
   *   folder into itself; `not_a_folder` where a file stands on the way; what any verb throws
   */
  move(from, to) {
    return this.#inTurn(
      "move",
      from,
      async () => {
        const refused = (/** @type {Code} */ code, /** @type {string | undefined} */ reason = undefined) =>
          storageError("move", from, { code, to, reason });
        const source = await this.#findEntry(from);
        if (!source) throw refused("not_found");
        if (to.startsWith(`${from}/`)) throw refused("invalid_path", "a folder cannot lie in itself");
        if (await this.#findEntry(to)) throw refused("already_exists");
        const { folder, name } = await this.#parent(to, true);
        for (const path of [...this.#held.keys()]) if (isAt(path, from)) this.#closeHeld(path);
        for (const path of [...this.#notes.keys()]) if (isAt(path, from)) this.#notes.delete(path);
        if (source.kind === "file") return source.move(folder, name);
        const root = await this.#openRoot();
        await withMoveLock(async () => {
          await writeText(root, MOVE_RECORD, JSON.stringify({ from, to }));
          await moveFolder(root, { from, to });
        });
      },
      to,
    );
  }

  /**
   * @param {string} path
   * @param {{ files?: string[] }} [options]
   * @returns {Promise<Entry[] | null>}
   * @throws {LeftoffError} `not_a_folder` for a file; `invalid_path` for `files` that are no plain names; what any verb
   *   throws
   */
  async list(path, { files } = {}) {
    if (files) checkNames(path, files);
    return this.#inTurn("list", path, async () => {
      const folder = await this.#findEntry(path);
      if (!folder) return null;
      if (folder.kind === "file") throw storageError("list", path, { code: "not_a_folder" });
      /** @type {Entry[]} */
      const entries = [];
      for await (const [name, { kind }] of folder.entries()) {
        if (name === MOVE_RECORD || /^\..+\.[0-9a-f-]{36}\.tmp$/.test(name)) continue;
        const stats =
          files && kind === "directory"
            ? await Promise.all(files.map((file) => this.#findStat(`${path}/${name}/${file}`)))
            : undefined;
        entries.push({ name, kind: kind === "file" ? "file" : "folder", ...(stats && { files: stats }) });
      }
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  /** @param {string} path @returns {Promise<void>} @throws {LeftoffError} what any verb throws */
  remove(path) {
    return this.#inTurn("remove", path, async () => {
      for (const one of [...this.#held.keys()]) if (isAt(one, path)) this.#closeHeld(one);
      for (const one of [...this.#notes.keys()]) if (isAt(one, path)) this.#notes.delete(one);
      const parent = await this.#parent(path, false).catch(unlessAbsent);
      await parent?.folder.removeEntry(parent.name, { recursive: true }).catch(unlessAbsent);
    });
  }

  /** @param {string} path @returns {Promise<Stat | null>} @throws {LeftoffError} what any verb throws */
  stat(path) {
    return this.#inTurn("stat", path, () => this.#findStat(path));
  }

  /** @throws {LeftoffError} what `append` throws, where the browser says only now that something was not kept */
  async close() {
    await this.#turn.catch(() => {});
    this.#isClosed = true;
    for (const path of [...this.#held.keys()]) this.#closeHeld(path);
  }

  /**
   * @template T
   * @param {Verb} verb
   * @param {string} path
   * @param {() => Promise<T>} work
   * @param {string} [to]
   * @returns {Promise<T>}
   */
  #inTurn(verb, path, work, to) {
    const mine = this.#turn
      .catch(() => {})
      .then(async () => {
        if (this.#isClosed) throw storageError(verb, path, { code: "storage_closed" });
        try {
          return await work();
        } catch (cause) {
          throw toStorageError(verb, path, cause, to);
        }
      });
    this.#turn = mine;
    return mine;
  }

  /**
   * @param {"read" | "readRange"} verb
   * @param {string} path
   * @param {number} start
   * @param {number} end
   * @returns {Promise<Uint8Array | null>}
   */
  #slice(verb, path, start, end) {
    return this.#inTurn(verb, path, async () => {
      const held = this.#held.get(path);
      if (held) {
        const size = held.getSize();
        const bytes = new Uint8Array(Math.min(end, size) - Math.min(start, size));
        held.read(bytes, { at: start });
        return bytes;
      }
      const found = await this.#findEntry(path);
      if (!found) return null;
      if (found.kind !== "file") throw storageError(verb, path, { code: "not_a_file" });
      const file = await found.getFile();
      return new Uint8Array(await file.slice(start, Math.min(end, file.size)).arrayBuffer());
    });
  }

  /** @param {"append" | "replace"} verb @param {string} path @param {string} [within] */
  async #rejectIfGone(verb, path, within) {
    if (within === undefined || (await this.#findEntry(within))?.kind === "directory") return;
    throw storageError(verb, path, { code: "not_found", reason: `expected a folder at "${within}", but found none` });
  }

  // While a file is held open, the browser gives its old times; for others they show changes by someone else.
  /** @param {string} path @returns {Promise<Stat | null>} */
  async #findStat(path) {
    const found = await this.#findEntry(path);
    if (!found) return null;
    if (found.kind !== "file") return { kind: "folder", size: 0, mtimeMs: 0, ctimeMs: 0 };
    const { size, lastModified } = await found.getFile();
    const held = this.#held.get(path);
    let note = this.#notes.get(path);
    if (!note || (!held && note.seenMs !== undefined && note.seenMs !== lastModified))
      note = { madeMs: lastModified, changedMs: lastModified };
    if (!held) note.seenMs = lastModified;
    this.#notes.set(path, note);
    return {
      kind: "file",
      size: held?.getSize() ?? size,
      mtimeMs: note.changedMs,
      ctimeMs: note.changedMs,
      file: { number: 0, madeMs: note.madeMs },
    };
  }

  /** Notes that a file was changed here. @param {string} path */
  #note(path) {
    this.#lastMs = Math.max(nowMs(), this.#lastMs + 0.001);
    const madeMs = this.#notes.get(path)?.madeMs ?? this.#lastMs;
    this.#notes.set(path, { madeMs, changedMs: this.#lastMs });
  }

  /** Opens a file for appending; makes it where it is missing. @param {string} path */
  async #open(path) {
    const known = this.#held.get(path);
    this.#held.delete(path);
    const [oldest] = this.#held.keys();
    if (!known && this.#held.size >= MAX_HELD_HANDLES && oldest !== undefined) this.#closeHeld(oldest);
    if (!known) await this.#findStat(path);
    const { folder, name } = await this.#parent(path, true);
    const held = known ?? (await (await folder.getFileHandle(name, { create: true })).createSyncAccessHandle());
    this.#held.set(path, held);
    return held;
  }

  /** @param {string} path */
  #closeHeld(path) {
    const held = this.#held.get(path);
    this.#held.delete(path);
    held?.flush();
    held?.close();
    const note = this.#notes.get(path);
    if (note) note.seenMs = undefined;
  }

  /** The origin's root folder; a folder's move that was cut off is finished before anything else. */
  #openRoot() {
    this.#root ??= (async () => {
      /** @type {Folder} */
      const root = await /** @type {any} */ (globalThis).navigator.storage.getDirectory();
      await withMoveLock(async () => {
        const record = await child(root, MOVE_RECORD);
        if (record?.kind !== "file") return;
        const move = parseMove(await (await record.getFile()).text());
        // One that is not whole was cut off before anything was moved.
        await (move ? moveFolder(root, move) : root.removeEntry(MOVE_RECORD));
      });
      return root;
    })();
    return this.#root;
  }

  /** @param {string} path @param {boolean} create */
  async #parent(path, create) {
    return parentOf(await this.#openRoot(), path, create);
  }

  /** @param {string} path */
  async #findEntry(path) {
    return findEntryBelow(await this.#openRoot(), path);
  }
}

/** Finds a file or a folder; nothing where none is. @param {Folder} root @param {string} path */
async function findEntryBelow(root, path) {
  const parent = await parentOf(root, path, false).catch(unlessAbsent);
  if (!parent) return undefined;
  return parent.name === "" ? parent.folder : child(parent.folder, parent.name);
}

/** @param {Folder} folder @param {string} name */
async function child(folder, name) {
  return (
    (await folder.getFileHandle(name).catch(unlessAbsent)) ??
    (await folder.getDirectoryHandle(name).catch(unlessAbsent))
  );
}

/** @param {Folder} root @param {string} path @param {boolean} create */
async function parentOf(root, path, create) {
  const names = path.split("/").filter(Boolean);
  const name = names.pop() ?? "";
  let folder = root;
  for (const part of names) folder = await folder.getDirectoryHandle(part, { create }).catch(throwNotFolder);
  return { folder, name };
}

/** Whether a path is the folder, or below it. @param {string} path @param {string} folder */
function isAt(path, folder) {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Runs work while nobody else moves folders or opens the storage. @param {() => Promise<void>} work */
function withMoveLock(work) {
  return /** @type {any} */ (globalThis).navigator.locks.request("leftoff-moving", work);
}

/**
 * Writes bytes; answers whether all are written. Where the origin may not have more, Chromium 148 writes a part and gives
 * 4,294,967,288, its own negative error without the sign.
 * @param {AccessHandle} held @param {Uint8Array} bytes @param {number} at
 */
const writeAll = (held, bytes, at) => held.write(bytes, { at }) === bytes.length;

/** @param {Folder} folder @param {string} name @param {string} text */
async function writeText(folder, name, text) {
  const held = await (await folder.getFileHandle(name, { create: true })).createSyncAccessHandle();
  try {
    held.truncate(0);
    if (!writeAll(held, new TextEncoder().encode(text), 0)) throw new DOMException("", "QuotaExceededError");
    held.flush();
  } finally {
    held.close();
  }
}

/** @param {string} text @returns {{ from: string, to: string } | undefined} nothing for one that is not whole */
function parseMove(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Moves a folder file by file, continuing a move that was cut off; the file that says so stays until all is done.
 * @param {Folder} root @param {{ from: string, to: string }} where
 */
async function moveFolder(root, { from, to }) {
  const source = await findEntryBelow(root, from);
  if (source?.kind === "directory") {
    const { folder, name } = await parentOf(root, to, true);
    await moveEntries(source, await folder.getDirectoryHandle(name, { create: true }));
    const old = await parentOf(root, from, false);
    await old.folder.removeEntry(old.name, { recursive: true });
  }
  await root.removeEntry(MOVE_RECORD).catch(unlessAbsent);
}

/** @param {Folder} from @param {Folder} to */
async function moveEntries(from, to) {
  const entries = [];
  for await (const [, handle] of from.entries()) entries.push(handle);
  for (const handle of entries) {
    if (handle.kind === "file") await handle.move(to, handle.name);
    else await moveEntries(handle, await to.getDirectoryHandle(handle.name, { create: true }));
  }
}

/** Throws for a file that stands on the way. @param {any} error @returns {never} */
function throwNotFolder(error) {
  throw error?.name === "TypeMismatchError"
    ? Object.assign(new Error(error.message, { cause: error }), { name: "NotAFolder" })
    : error;
}

/** @param {any} error @returns {undefined} */
function unlessAbsent(error) {
  if (!["NotFoundError", "TypeMismatchError", "NotAFolder"].includes(error?.name)) throw error;
}

/** @type {Record<string, { code: Code, reason?: string }>} */
const CODES = {
  QuotaExceededError: { code: "disk_full" },
  NoModificationAllowedError: { code: "permission_denied", reason: "another tab or worker has it open" },
  NotAllowedError: { code: "permission_denied" },
  TypeMismatchError: { code: "not_a_file" },
  NotAFolder: { code: "not_a_folder" },
};

/** @param {Verb} verb @param {string} path @param {any} cause @param {string} [to] */
function toStorageError(verb, path, cause, to) {
  if (cause instanceof LeftoffError) return cause;
  return storageError(verb, path, {
    to,
    ...(CODES[cause?.name] ?? { code: "storage_failed" }),
    detail: cause?.name,
    cause,
  });
}
