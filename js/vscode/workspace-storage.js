// @ts-check
/** The files of the folders that are open, as the editor reads them, wherever they lie: nothing is written. */

import { LeftoffError } from "../index.js";
import { checkNames, checkRange, storageError } from "../storage/contract.js";
import { RefusedVerbs } from "../storage/read-only.js";

/** @import { FileStat, FileSystem, Uri } from "vscode" */
/** @import { Capabilities, Code, Entry, Kind, Stat, Storage, Verb } from "../storage/contract.js" */

/** @typedef {{ mtime: number, size: number, bytes: Uint8Array }} KeptFile */

/** How many files are kept whole, since the editor reads no part of one. */
const MAX_KEPT_FILES = 16;
/** The numbers of `vscode.FileType`; a link has another one in it. */
const FILE = 1;
const FOLDER = 2;
const ABSENT = ["FileNotFound", "FileNotADirectory"];
/** @type {Record<string, Code>} */
const CODES = { NoPermissions: "permission_denied", FileIsADirectory: "not_a_file", FileNotADirectory: "not_a_folder" };

/** @implements {Storage} */
export class WorkspaceStorage extends RefusedVerbs {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "none", range: false, durable: false, watch: false });

  #fs;
  #uriOf;
  /** Least recently used first. @type {Map<string, KeptFile>} */
  #kept = new Map();
  #isClosed = false;

  /**
   * @param {Pick<FileSystem, "stat" | "readFile" | "readDirectory">} fs
   * @param {(path: string) => Uri | undefined} uriOf nothing for a path that lies in no folder
   */
  constructor(fs, uriOf) {
    super();
    this.#fs = fs;
    this.#uriOf = uriOf;
  }

  /** @param {string} path @returns {Promise<Uint8Array | null>} */
  read(path) {
    return this.#slice("read", path, 0, Infinity);
  }

  /** @param {string} path @param {number} start @param {number} end @returns {Promise<Uint8Array | null>} */
  async readRange(path, start, end) {
    checkRange(path, start, end);
    return this.#slice("readRange", path, start, end);
  }

  /** @param {string} path @param {{ files?: string[] }} [options] @returns {Promise<Entry[] | null>} */
  async list(path, { files } = {}) {
    if (files) checkNames(path, files);
    const found = await this.#find("list", path);
    if (!found) return null;
    if (!(found.type & FOLDER)) throw storageError("list", path, { code: "not_a_folder" });
    const read = await this.#try("list", path, (uri) => this.#fs.readDirectory(uri));
    const entries = (read ?? []).map(([name, type]) => /** @type {Entry} */ ({ name, kind: kindOf(type) }));
    await Promise.all(
      entries.map(async (entry) => {
        if (files && entry.kind === "folder")
          entry.files = await Promise.all(files.map((file) => this.stat(`${path}/${entry.name}/${file}`)));
      }),
    );
    return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  /** @param {string} path @returns {Promise<Stat | null>} */
  async stat(path) {
    const found = await this.#find("stat", path);
    return found && statOf(found);
  }

  async close() {
    this.#isClosed = true;
    this.#kept.clear();
  }

  /** @param {"read" | "readRange"} verb @param {string} path @param {number} start @param {number} end */
  async #slice(verb, path, start, end) {
    const found = await this.#find(verb, path);
    if (!found) return null;
    if (!(found.type & FILE)) throw storageError(verb, path, { code: "not_a_file" });
    const bytes = await this.#readWhole(verb, path, found);
    // A copy: a part would hold the whole file, which others read, too.
    return bytes && new Uint8Array(bytes.subarray(Math.min(start, bytes.length), Math.min(end, bytes.length)));
  }

  /** Reads a file, unless it is kept as it is now. @param {Verb} verb @param {string} path @param {FileStat} found */
  async #readWhole(verb, path, { mtime, size }) {
    let kept = this.#kept.get(path);
    this.#kept.delete(path);
    if (kept?.mtime !== mtime || kept.size !== size) {
      const bytes = await this.#try(verb, path, (uri) => this.#fs.readFile(uri));
      if (!bytes) return null;
      kept = { mtime, size, bytes };
    }
    this.#keep(path, kept);
    return kept.bytes;
  }

  /** @param {string} path @param {KeptFile} file */
  #keep(path, file) {
    this.#kept.set(path, file);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT_FILES && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** @param {Verb} verb @param {string} path */
  async #find(verb, path) {
    const found = await this.#try(verb, path, (uri) => this.#fs.stat(uri));
    if (!found || !(found.type & FILE) || found.size > 0) return found;
    // Where files are far away, not every provider says how long one is.
    const bytes = await this.#try(verb, path, (uri) => this.#fs.readFile(uri));
    if (!bytes) return null;
    this.#kept.delete(path);
    this.#keep(path, { mtime: found.mtime, size: bytes.length, bytes });
    return { ...found, size: bytes.length };
  }

  /**
   * Asks the editor; nothing where nothing is there.
   * @template T
   * @param {Verb} verb @param {string} path @param {(uri: Uri) => Thenable<T>} ask
   * @returns {Promise<T | null>}
   */
  async #try(verb, path, ask) {
    if (this.#isClosed) throw storageError(verb, path, { code: "storage_closed" });
    const uri = this.#uriOf(path);
    if (!uri) return null;
    try {
      return await ask(uri);
    } catch (cause) {
      if (cause instanceof LeftoffError) throw cause;
      const { code = "" } = /** @type {{ code?: string }} */ (cause);
      if (ABSENT.includes(code)) return null;
      throw storageError(verb, path, { code: CODES[code] ?? "storage_failed", detail: code, cause });
    }
  }
}

/** @param {number} type @returns {Kind} */
function kindOf(type) {
  if (type === FILE) return "file";
  return type === FOLDER ? "folder" : "other";
}

/** The editor does not tell when anything of a file changed, but its bytes. @param {FileStat} found @returns {Stat} */
function statOf({ type, size, mtime, ctime }) {
  const kind = kindOf(type);
  return {
    kind,
    size: kind === "file" ? size : 0,
    mtimeMs: mtime,
    ctimeMs: mtime,
    file: { number: 0, madeMs: ctime || mtime },
  };
}
