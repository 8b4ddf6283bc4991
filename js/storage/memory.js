// @ts-check

/** A storage in memory, which lives as long as its object: for tests, and where nothing may be kept. */

import { resolve, sep } from "../host/path.node.js";
import { nowMs } from "../wasm/clock.js";
import { checkOptions } from "../wasm/options.js";
import { checkNames, checkRange, storageError } from "./contract.js";

/** @import { Capabilities, Code, Entry, Stat, Verb } from "./contract.js" */

/** @typedef {{ mtimeMs: number, ctimeMs: number }} Times */
/**
 * @typedef {Times & { bytes: Uint8Array, size: number, madeMs: number }} File `bytes` has room to grow behind `size`;
 *   `madeMs`: when all of it was written
 */

/**
 * Keeps everything in this process's memory: what it acknowledges is `volatile`. Each verb is described at `Storage`;
 * any of them
 * throws `storage_closed` once it was closed.
 * @example
 * const opened = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
 * const session = await opened.create();
 * (await session.append({ role: "user", content: "Hello" })).acknowledged; // => "volatile"
 */
export class MemoryStorage {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "exclusive", range: true, durable: false, watch: false });

  /** @type {Map<string, File>} */
  #files = new Paths();

  /** @type {Map<string, Times>} "" is the root */
  #folders = new Paths();

  /** The time of the last change, by a clock that never gives the same time twice. */
  #changedMs = 0;

  #now;
  #closed = false;

  /**
   * @param {{ now?: () => number }} [options] `now`: milliseconds since 1970, for `mtimeMs`
   * @throws {LeftoffError} `invalid_request` for a `now` that is no function
   */
  constructor(options = {}) {
    const { now = nowMs } = checkOptions("MemoryStorage", options);
    this.#now = now;
    this.#folders.set("", this.#times());
  }

  /** @param {string} path @throws {LeftoffError} `not_a_file` for a folder; what any verb throws */
  async read(path) {
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
   * @throws {LeftoffError} `not_a_file` for a folder; `not_a_folder` where a file stands on the way; `not_found` where
   *   `within` is not there; what any verb throws
   */
  async append(path, bytes, { within } = {}) {
    this.#rejectIfClosed("append", path);
    this.#rejectIfGone("append", path, within);
    const file = this.#fileToWrite("append", path);
    grow(file, bytes);
    Object.assign(file, this.#times());
    return { end: file.size };
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   * @param {{ within?: string }} [options]
   * @throws {LeftoffError} what `append` throws
   */
  async replace(path, bytes, { within } = {}) {
    this.#rejectIfClosed("replace", path);
    this.#rejectIfGone("replace", path, within);
    const file = this.#fileToWrite("replace", path);
    file.bytes = bytes.slice();
    file.size = bytes.length;
    Object.assign(file, this.#times(), { madeMs: this.#changedMs });
  }

  /** Has no links. @param {string} path @throws {LeftoffError} what any verb throws */
  async link(path) {
    this.#rejectIfClosed("link", path);
    return false;
  }

  /**
   * @param {string} from
   * @param {string} to
   * @throws {LeftoffError} `not_found` where nothing is there to be moved; `already_exists`; `invalid_path` for a
   *   folder into itself; `not_a_folder` where a file stands on the way; what any verb throws
   */
  async move(from, to) {
    this.#rejectIfClosed("move", from);
    const refused = (/** @type {Code} */ code, /** @type {string | undefined} */ reason = undefined) =>
      storageError("move", from, { code, to, reason });
    if (!this.#findStat(from)) throw refused("not_found");
    const [old, now] = [normalizePath(from), normalizePath(to)];
    if (now.startsWith(`${old}/`)) throw refused("invalid_path", "a folder cannot lie in itself");
    if (this.#findStat(to)) throw refused("already_exists");
    this.#makeFolder(parentOf(to), () => refused("not_a_folder"));
    for (const paths of /** @type {Map<string, any>[]} */ ([this.#files, this.#folders])) {
      for (const [path, what] of [...paths]) {
        if (path !== old && !path.startsWith(`${old}/`)) continue;
        paths.delete(path);
        paths.set(now + path.slice(old.length), what);
      }
    }
    this.#touch(parentOf(from));
    this.#touch(parentOf(to));
  }

  /**
   * @param {string} path
   * @param {{ files?: string[] }} [options]
   * @returns {Promise<Entry[] | null>}
   * @throws {LeftoffError} `not_a_folder` for a file; `invalid_path` for `files` that are no plain names; what any verb
   *   throws
   */
  async list(path, { files } = {}) {
    this.#rejectIfClosed("list", path);
    if (files) checkNames(path, files);
    const folder = normalizePath(path).replace(/\/$/, "");
    if (this.#files.has(folder)) throw storageError("list", path, { code: "not_a_folder" });
    if (!this.#folders.has(folder)) return null;
    const within = (/** @type {string} */ other) => other !== "" && parentOf(other) === folder;
    /** @type {Entry[]} */
    const entries = [
      ...[...this.#files.keys()]
        .filter(within)
        .map((file) => ({ name: nameOf(file), kind: /** @type {const} */ ("file") })),
      ...[...this.#folders.keys()].filter(within).map((inner) => ({
        name: nameOf(inner),
        kind: /** @type {const} */ ("folder"),
        ...(files && { files: files.map((file) => this.#findStat(`${inner}/${file}`)) }),
      })),
    ];
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** @param {string} path @throws {LeftoffError} what any verb throws */
  async remove(path) {
    this.#rejectIfClosed("remove", path);
    if (this.#findStat(path)) this.#touch(parentOf(path));
    const gone = normalizePath(path);
    for (const paths of [this.#files, this.#folders]) {
      for (const other of paths.keys()) {
        if (other === gone || other.startsWith(`${gone}/`)) paths.delete(other);
      }
    }
  }

  /** @param {string} path @returns {Promise<Stat | null>} @throws {LeftoffError} what any verb throws */
  async stat(path) {
    this.#rejectIfClosed("stat", path);
    return this.#findStat(path);
  }

  async close() {
    this.#closed = true;
  }

  /** @param {"read" | "readRange"} verb @param {string} path @param {number} start @param {number} end */
  #slice(verb, path, start, end) {
    this.#rejectIfClosed(verb, path);
    if (this.#folders.has(path)) throw storageError("read", path, { code: "not_a_file" });
    const file = this.#files.get(path);
    if (!file) return null;
    return file.bytes.slice(Math.min(start, file.size), Math.min(end, file.size));
  }

  /** @param {"append" | "replace"} verb @param {string} path @param {string} [within] */
  #rejectIfGone(verb, path, within) {
    if (within === undefined || this.#folders.has(within)) return;
    throw storageError(verb, path, { code: "not_found", reason: `expected a folder at "${within}", but found none` });
  }

  /** @param {"append" | "replace"} verb @param {string} path */
  #fileToWrite(verb, path) {
    const known = this.#files.get(path);
    if (known) return known;
    if (this.#folders.has(path)) throw storageError(verb, path, { code: "not_a_file" });
    this.#makeFolder(parentOf(path), () => storageError(verb, path, { code: "not_a_folder" }));
    const file = { bytes: new Uint8Array(0), size: 0, ...this.#times(), madeMs: this.#changedMs };
    this.#files.set(path, file);
    this.#touch(parentOf(path));
    return file;
  }

  /** @param {string} path @param {() => Error} refused where a file stands on the way */
  #makeFolder(path, refused) {
    const missing = [];
    let folder = path;
    for (; !this.#folders.has(folder); folder = parentOf(folder)) {
      if (this.#files.has(folder)) throw refused();
      missing.push(folder);
    }
    if (missing.length > 0) this.#touch(folder);
    for (const one of missing) this.#folders.set(one, this.#times());
  }

  /** @param {string} path @returns {Stat | null} */
  #findStat(path) {
    const file = this.#files.get(path);
    if (file)
      return {
        kind: "file",
        size: file.size,
        mtimeMs: file.mtimeMs,
        ctimeMs: file.ctimeMs,
        file: { number: 0, madeMs: file.madeMs },
      };
    const folder = this.#folders.get(path);
    return folder ? { kind: "folder", size: 0, ...folder } : null;
  }

  /** Notes that a name in the folder is new or gone. @param {string} folder */
  #touch(folder) {
    const times = this.#folders.get(folder);
    if (times) Object.assign(times, this.#times());
  }

  /** The times of a change that happens now. @returns {Times} */
  #times() {
    const mtimeMs = this.#now();
    // Microseconds, so that many changes at once do not carry it far from the time of day.
    this.#changedMs = Math.max(mtimeMs, this.#changedMs + 0.001);
    return { mtimeMs, ctimeMs: this.#changedMs };
  }

  /** @param {Verb} verb @param {string} path */
  #rejectIfClosed(verb, path) {
    if (this.#closed) throw storageError(verb, path, { code: "storage_closed" });
  }
}

/** @param {File} file @param {Uint8Array} bytes */
function grow(file, bytes) {
  const size = file.size + bytes.length;
  if (size > file.bytes.length) {
    // Doubling: a log of many small lines is not copied once for each of them.
    const room = new Uint8Array(Math.max(size, file.bytes.length * 2));
    room.set(file.bytes.subarray(0, file.size));
    file.bytes = room;
  }
  file.bytes.set(bytes, file.size);
  file.size = size;
}

/** A map by paths, however this machine separates their names. @template T @extends {Map<string, T>} */
class Paths extends Map {
  /** @param {string} path */
  get(path) {
    return super.get(normalizePath(path));
  }

  /** @param {string} path */
  has(path) {
    return super.has(normalizePath(path));
  }

  /** @param {string} path @param {T} what */
  set(path, what) {
    return super.set(normalizePath(path), what);
  }

  /** @param {string} path */
  delete(path) {
    return super.delete(normalizePath(path));
  }
}

/**
 * Windows reads a path without a drive as one on the drive at hand, in files as in what callers give.
 * @param {string} path
 */
function normalizePath(path) {
  return sep === "\\" ? (/^[\\/]/.test(path) ? resolve(path) : path).replaceAll(sep, "/") : path;
}

/** @param {string} path */
function parentOf(path) {
  return normalizePath(path).slice(0, Math.max(0, normalizePath(path).lastIndexOf("/")));
}

/** @param {string} path */
function nameOf(path) {
  return path.slice(normalizePath(path).lastIndexOf("/") + 1);
}
