// @ts-check

/**
 * Files on a local disk, for Node, Deno and Bun.
 *
 * One append is one `write` on a descriptor opened with O_APPEND: the system then keeps the lines of several processes
 * apart. `fs.promises.appendFile` would cut at 512 KiB. The write is synchronous, which keeps appends in call order
 * without a queue; only flushing, which takes milliseconds, leaves the thread.
 *
 * What it does not do: retry, lock, or promise anything to two writers on NFS, SMB or in a synced folder.
 */

import fs from "node:fs";
import { dirname, sep } from "node:path";

import { LeftoffError } from "../error.js";
import { checkRange, failed } from "./contract.js";
import { syncFolder } from "./flush.js";
import { OpenFile } from "./open-file.js";
import { writeWhole } from "./whole-file.js";

/** @import { Capabilities, Code, Entry, Kind, Stat, Verb } from "./contract.js" */

/** How many descriptors are kept between appends. */
const KEPT = 32;
/** One read asks for no more: systems refuse lengths over 2 GiB. */
const READ = 1 << 30;

// Windows lacks both. O_NONBLOCK: opening a pipe must not wait for its other end.
const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const APPEND = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK;

/** @type {Record<string, Code>} */
const CODES = {
  EACCES: "permission_denied",
  EPERM: "permission_denied",
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EFBIG: "disk_full",
  EROFS: "read_only",
  EMFILE: "too_many_files",
  ENFILE: "too_many_files",
  EISDIR: "not_a_file",
  ELOOP: "not_a_file",
  ENXIO: "not_a_file",
  ENOTDIR: "not_a_folder",
};

export class NodeStorage {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "atomic", range: true, durable: true, watch: false });

  /** @type {Map<string, OpenFile>} least recently used first */
  #open = new Map();

  /** @type {Map<string, boolean>} folder -> whether the disk has confirmed its entry in its parent */
  #confirmed = new Map();

  /** @type {Map<string, Promise<void>>} the last replace of each path */
  #replacing = new Map();

  /** @type {Set<Promise<unknown>>} */
  #underWay = new Set();

  /** @type {LeftoffError | undefined} what the system said only when a file was closed; network filesystems do */
  #lost;

  #closed = false;

  /** @param {string} path */
  async read(path) {
    return this.#slice("read", path, 0, Infinity);
  }

  /** @param {string} path @param {number} start @param {number} end */
  async readRange(path, start, end) {
    checkRange(path, start, end);
    return this.#slice("readRange", path, start, end);
  }

  /** @param {string} path @param {Uint8Array} bytes @param {{ durable?: boolean }} [options] */
  async append(path, bytes, { durable = false } = {}) {
    this.#refuseIfClosed("append", path);
    let written = 0;
    let file;
    let end;
    try {
      file = this.#fileToAppend(path);
      written = fs.writeSync(file.fd, bytes);
      if (written < bytes.length) {
        throw failed("append", path, { code: "disk_full", detail: `${written} of ${bytes.length} bytes got in`, written });
      }
      const size = file.size();
      if (size === null) throw failed("append", path, { code: "storage_failed", detail: "removed meanwhile", written });
      end = size;
    } catch (cause) {
      throw translated("append", path, cause, { written });
    }
    if (durable) await this.#confirm(path, file, written);
    return { end };
  }

  /** @param {string} path @param {Uint8Array} bytes */
  async replace(path, bytes) {
    this.#refuseIfClosed("replace", path);
    const before = this.#replacing.get(path) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(() => this.#replaceNow(path, bytes));
    this.#replacing.set(path, mine);
    try {
      await this.#whileOpen(mine);
    } finally {
      if (this.#replacing.get(path) === mine) this.#replacing.delete(path);
    }
  }

  /** @param {string} path @returns {Promise<Entry[] | null>} */
  async list(path) {
    this.#refuseIfClosed("list", path);
    try {
      const entries = await fs.promises.readdir(path, { withFileTypes: true });
      return entries
        .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return null;
      // Either the path is a file, or a parent of it.
      if (codeOf(cause) === "ENOTDIR" && (await this.stat(path)) === null) return null;
      throw translated("list", path, cause);
    }
  }

  /** @param {string} path */
  async remove(path) {
    this.#refuseIfClosed("remove", path);
    try {
      for (const open of [...this.#open.keys()]) {
        if (open === path || open.startsWith(path + sep)) this.#letGo(open);
      }
      await fs.promises.rm(path, { recursive: true, force: true });
    } catch (cause) {
      if (!isAbsent(cause)) throw translated("remove", path, cause);
    }
  }

  /** @param {string} path @returns {Promise<Stat | null>} */
  async stat(path) {
    this.#refuseIfClosed("stat", path);
    try {
      // Asked for before each append: a way through the thread pool would take most of its time.
      const found = fs.lstatSync(path, { throwIfNoEntry: false });
      return found ? { kind: kindOf(found), size: found.isFile() ? found.size : 0, mtimeMs: found.mtimeMs } : null;
    } catch (cause) {
      if (isAbsent(cause)) return null;
      throw translated("stat", path, cause);
    }
  }

  async close() {
    this.#closed = true;
    for (const path of [...this.#open.keys()]) this.#letGo(path);
    await Promise.allSettled(this.#underWay);
    if (this.#lost) throw this.#lost;
  }

  /** @param {Verb} verb @param {string} path */
  #refuseIfClosed(verb, path) {
    if (this.#closed) throw failed(verb, path, { code: "storage_closed" });
  }

  /** @template T @param {Promise<T>} work @returns {Promise<T>} the same, and `close` waits for it */
  async #whileOpen(work) {
    this.#underWay.add(work);
    try {
      return await work;
    } finally {
      this.#underWay.delete(work);
    }
  }

  /** @param {Verb} verb @param {string} path @param {number} start @param {number} end */
  async #slice(verb, path, start, end) {
    this.#refuseIfClosed(verb, path);
    let handle;
    try {
      handle = await fs.promises.open(path, O_RDONLY | O_NONBLOCK);
      const found = await handle.stat();
      if (!found.isFile()) throw failed(verb, path, { code: "not_a_file" });
      const from = Math.min(start, found.size);
      const bytes = new Uint8Array(Math.min(end, found.size) - from);
      let filled = 0;
      while (filled < bytes.length) {
        const length = Math.min(READ, bytes.length - filled);
        const { bytesRead } = await handle.read(bytes, filled, length, from + filled);
        if (bytesRead === 0) break; // The file was cut while it was read.
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    } catch (cause) {
      if (isAbsent(cause)) return null;
      throw translated(verb, path, cause);
    } finally {
      // Whatever closing says: what was read is read, and the error of a read that failed is the one to hear.
      await handle?.close().catch(() => {});
    }
  }

  /** @param {string} path */
  #fileToAppend(path) {
    const known = this.#open.get(path);
    if (known?.isAt(path)) {
      this.#open.delete(path);
      this.#open.set(path, known);
      return known;
    }
    if (known) this.#letGo(path);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= KEPT) this.#letGo(oldest);
    const file = new OpenFile(this.#openToAppend(path), () => this.#syncEntries(path));
    this.#open.set(path, file);
    if (file.isFile()) return file;
    this.#letGo(path);
    throw failed("append", path, { code: "not_a_file" });
  }

  /** @param {string} path */
  #openToAppend(path) {
    refuseLink("append", path);
    try {
      return fs.openSync(path, APPEND);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      this.#makeFolder(dirname(path));
      return createOrOpen(path);
    }
  }

  /** @param {string} folder */
  #makeFolder(folder) {
    const missing = [];
    for (let at = folder; !fs.existsSync(at) && dirname(at) !== at; at = dirname(at)) missing.unshift(at);
    for (const at of missing) {
      // Also where another process is faster: that one may not live to flush it.
      this.#confirmed.set(at, false);
      makePrivate(at);
    }
  }

  /** @param {string} path */
  #letGo(path) {
    const file = this.#open.get(path);
    this.#open.delete(path);
    try {
      file?.retire();
    } catch (cause) {
      this.#lost ??= translated("close", path, cause);
    }
  }

  /** @param {string} path @param {OpenFile} file @param {number} written */
  async #confirm(path, file, written) {
    try {
      await this.#whileOpen(file.sync());
    } catch (cause) {
      // The system reports a failed flush once and then forgets it: this descriptor can prove nothing any more.
      if (this.#open.get(path) === file) this.#letGo(path);
      throw translated("append", path, cause, { written, durable: false });
    }
  }

  /** @param {string} path Makes the disk confirm its name, and that of each folder above it that may be new. */
  async #syncEntries(path) {
    await syncFolder(dirname(path));
    for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
      if (this.#confirmed.get(folder) ?? !mayBeOurs(folder)) continue;
      await syncFolder(dirname(folder));
      this.#confirmed.set(folder, true);
    }
  }

  /** @param {string} path @param {Uint8Array} bytes */
  async #replaceNow(path, bytes) {
    let inPlace = false;
    try {
      refuseLink("replace", path);
      this.#letGo(path);
      this.#makeFolder(dirname(path));
      await writeWhole(path, bytes);
      inPlace = true;
      await this.#syncEntries(path);
    } catch (cause) {
      throw translated("replace", path, cause, inPlace ? { durable: false } : {});
    }
  }
}

/** @param {Verb} verb @param {string} path */
function refuseLink(verb, path) {
  if (fs.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) throw failed(verb, path, { code: "not_a_file" });
}

/** @param {string} folder its parent exists */
function makePrivate(folder) {
  try {
    fs.mkdirSync(folder, 0o700);
    // Only a umask that takes from the owner makes it differ.
    if ((fs.lstatSync(folder).mode & 0o777) !== 0o700) fs.chmodSync(folder, 0o700);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

/**
 * Whether a process like this one may have made it, and died before it was flushed.
 *
 * @param {string} folder
 */
function mayBeOurs(folder) {
  try {
    if ((fs.statSync(folder).mode & 0o777) !== 0o700) return false;
    fs.accessSync(dirname(folder), fs.constants.W_OK);
    return true;
  } catch (error) {
    if (["EACCES", "EPERM", "EROFS"].includes(codeOf(error))) return false;
    throw error;
  }
}

/** @param {string} path */
function createOrOpen(path) {
  try {
    const fd = fs.openSync(path, APPEND | O_CREAT | O_EXCL, 0o600);
    fs.fchmodSync(fd, 0o600); // The umask may have taken from it.
    return fd;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    return fs.openSync(path, APPEND); // Another process was faster.
  }
}

/** @param {{ isFile(): boolean, isDirectory(): boolean }} found @returns {Kind} */
function kindOf(found) {
  if (found.isFile()) return "file";
  return found.isDirectory() ? "folder" : "other";
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** @param {unknown} error */
function isAbsent(error) {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

/** @param {Verb} verb @param {string} path @param {unknown} cause @param {{ written?: number, durable?: boolean }} [extra] */
function translated(verb, path, cause, extra) {
  if (cause instanceof LeftoffError) return cause;
  const code = CODES[codeOf(cause)] ?? "storage_failed";
  return failed(verb, path, { code, detail: codeOf(cause) || String(cause), cause, ...extra });
}
