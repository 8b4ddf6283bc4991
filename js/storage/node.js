// @ts-check

/**
 * Files on a local disk, for Node, Deno and Bun.
 *
 * One append is one `write` on a descriptor opened with O_APPEND: the system then keeps the lines of several processes
 * apart. `fs.promises.appendFile` would cut at 512 KiB. The write is synchronous, which keeps appends in call order
 * without a queue; only flushing, which takes milliseconds, leaves the thread.
 *
 * With a `root` it stays below that folder, see root.js. One exception: a log that it has open is still appended to if
 * someone moves its folder away and puts a link to it in the folder's place.
 *
 * It does not retry, lock, or promise anything to two writers on NFS, SMB or in a synced folder.
 */

import fs from "node:fs";
import { dirname, sep } from "node:path";

import { checkOptions } from "../wasm/options.js";
import { checkNames, checkRange, storageError } from "./contract.js";
import { syncFolder, waitForFlushes } from "./flush.js";
import {
  UnrootedFinder,
  codeOf,
  isAbsent,
  linkError,
  mayBeOurs,
  rejectLink,
  rejectLinkAndFolder,
  toSystemPath,
} from "./folders.js";
import { addFiles, kindOf, statOf } from "./stats.js";
import { move, rejectTaken, rejectUnmovable } from "./move.js";
import { placeLink } from "./link.js";
import { FileReader, SharedFiles, closeQuietly } from "./file-reader.js";
import { OpenFile, openToAppend } from "./open-file.js";
import { toStorageError } from "./system-errors.js";
import { ReplacedError, RootedFinder } from "./root.js";
import { writeWhole } from "./whole-file.js";

/** @import { LeftoffError } from "../error.js" */
/** @import { PlaceFinder } from "./folders.js" */
/** @import { Capabilities, Entry, Stat, Verb } from "./contract.js" */

/** How many descriptors stay open between appends. */
const MAX_OPEN_FILES = 32;
/** How often a file that was replaced meanwhile is opened again. */
const MAX_ATTEMPTS = 20;

// Windows lacks both. O_NONBLOCK: opening a pipe must not wait for its other end.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;

/**
 * Files on a local disk, for Node, Deno and Bun. Each verb is described at `Storage`. What any of them throws:
 * `permission_denied`,
 * `too_many_files`, `outside_store` where there is a root, `storage_closed` once it was closed, `storage_failed`.
 * @example
 * const storage = new NodeStorage({ root: folder });
 * await storage.read(`${folder}/nothing`); // => null
 * await storage.close();
 */
export class NodeStorage {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "atomic", range: true, durable: true, watch: false });

  /** @type {Map<string, OpenFile>} least recently used first */
  #open = new Map();

  /** @type {Set<string>} folders that were missing, and whose entry in their parent the disk has not confirmed */
  #unconfirmed = new Set();

  /** @type {Set<string>} folders whose entry in their parent the disk has confirmed */
  #confirmed = new Set();

  /** @type {Map<string, Promise<void>>} the last replace of each path */
  #replacing = new Map();

  /** @type {Set<Promise<unknown>>} */
  #underWay = new Set();

  /** @type {LeftoffError | undefined} an error that came only when a file was closed; on network filesystems */
  #closeError;

  #closed = false;

  #reader = new FileReader();

  #reading = new SharedFiles();

  #hasRoot;

  /** @type {PlaceFinder} */
  #finder;

  /**
   * @param {{ root?: string }} [options] `root`: a folder that is not left, there or not
   * @throws {LeftoffError} `invalid_request` for a `root` that is no text; `missing_dependency` in a page, which has no
   *   disk
   */
  constructor(options = {}) {
    const { root } = checkOptions("NodeStorage", options);
    this.#hasRoot = root !== undefined;
    this.#finder = root === undefined ? new UnrootedFinder() : new RootedFinder(root);
  }

  /** @param {string} path @throws {LeftoffError} `not_a_file` for a folder; what any verb throws */
  async read(path) {
    return this.#slice("read", path, 0, Infinity);
  }

  /**
   * @param {string} path
   * @param {number} start
   * @param {number} end
   * @param {{ into?: Uint8Array }} [options]
   * @throws {LeftoffError} `invalid_range` for one that cannot be meant; what `read` throws
   */
  async readRange(path, start, end, { into } = {}) {
    checkRange(path, start, end);
    return this.#slice("readRange", path, start, end, into);
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   * @param {{ durable?: boolean, within?: string }} [options]
   * @throws {LeftoffError} `not_a_file` for a folder or a link; `not_a_folder` where a file stands on the way;
   *   `not_found` where `within` is not there; `disk_full`; `read_only`; what any verb throws
   */
  async append(path, bytes, { durable = false, within } = {}) {
    this.#rejectIfClosed("append", path);
    let written = 0;
    let file;
    let found;
    try {
      file = this.#fileToAppend(path, within);
      written = fs.writeSync(file.fd, bytes);
      if (written < bytes.length) {
        throw storageError("append", path, {
          code: "disk_full",
          detail: `${written} of ${bytes.length} bytes got in`,
          written,
        });
      }
      // If the file lies elsewhere by now, nobody finds these bytes: whoever moved it may have read it before they
      // came.
      found = file.statAfterWrite(this.#finder.plain(path));
      if (!found)
        throw storageError("append", path, {
          code: "storage_failed",
          detail: "removed, replaced or moved away meanwhile",
          written,
        });
    } catch (cause) {
      this.#rejectIfGone("append", path, cause, within);
      throw this.#toStorageError("append", path, cause, { written });
    }
    if (durable) await this.#confirm(path, file, written);
    return { end: found.size, stat: statOf(found) };
  }

  /**
   * @param {string} path
   * @param {Uint8Array} bytes
   * @param {{ durable?: boolean, within?: string }} [options] @throws {LeftoffError} what `append` throws
   */
  replace(path, bytes, options) {
    return this.replacePieces(path, [bytes], options);
  }

  /**
   * @param {string} path
   * @param {Uint8Array[]} pieces
   * @param {{ durable?: boolean, within?: string }} [options] @throws {LeftoffError} what `append` throws
   */
  async replacePieces(path, pieces, { durable = true, within } = {}) {
    this.#rejectIfClosed("replace", path);
    const before = this.#replacing.get(path) ?? Promise.resolve();
    const mine = before.catch(() => {}).then(() => this.#replaceNow(path, pieces, durable, within));
    this.#replacing.set(path, mine);
    try {
      await this.#whileOpen(mine);
    } finally {
      if (this.#replacing.get(path) === mine) this.#replacing.delete(path);
    }
  }

  /**
   * @param {string} from
   * @param {string} to
   * @throws {LeftoffError} `not_found` where nothing is there to be moved; `already_exists`; `invalid_path` for a
   *   folder into itself; `other_filesystem`; `not_a_file` for a link; `not_a_folder` where a file stands on the way;
   *   what any verb throws
   */
  async move(from, to) {
    this.#rejectIfClosed("move", from);
    await this.#whileOpen(this.#moveNow(from, to));
  }

  /**
   * @param {string} path
   * @param {string} target
   * @throws {LeftoffError} `already_exists` where something else stands; `not_a_folder` where a file stands on the way;
   *   what any verb throws
   */
  async link(path, target) {
    this.#rejectIfClosed("link", path);
    let held;
    try {
      held = this.#finder.hold(path, this.#unconfirmed);
      return placeLink(held, target);
    } catch (cause) {
      throw this.#toStorageError("link", path, cause);
    } finally {
      held?.close();
    }
  }

  /**
   * @param {string} path
   * @param {{ files?: string[], as?: (stats: (Stat | null)[]) => number[] }} [options]
   * @returns {Promise<Entry[] | null>}
   * @throws {LeftoffError} `not_a_folder` for a file; `invalid_path` for `files` that are no plain names; what any verb
   *   throws
   */
  async list(path, { files, as } = {}) {
    this.#rejectIfClosed("list", path);
    if (files) checkNames(path, files);
    let held;
    try {
      held = this.#finder.holdFolder(path);
      const isUnchanged = files && this.#finder.snapshotFolder(path);
      const found = await fs.promises.readdir(held.systemPath, { withFileTypes: true });
      held.check();
      /** @type {Entry[]} */
      const entries = found.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      if (isUnchanged) await addFiles(entries, { path, files, as, finder: this.#finder, isUnchanged });
      return entries;
    } catch (cause) {
      if (codeOf(cause) === "ENOENT") return null;
      // Either the path is a file, or a parent of it.
      if (codeOf(cause) === "ENOTDIR" && (await this.stat(path)) === null) return null;
      throw this.#toStorageError("list", path, cause);
    } finally {
      held?.close();
    }
  }

  /** @param {string} path @throws {LeftoffError} what any verb throws */
  async remove(path) {
    this.#rejectIfClosed("remove", path);
    let held;
    try {
      this.#closeFilesWithin(path);
      held = this.#finder.hold(path);
      await held.remove();
    } catch (cause) {
      if (!isAbsent(cause)) throw this.#toStorageError("remove", path, cause);
    } finally {
      held?.close();
    }
  }

  /** @param {string} path @returns {Promise<Stat | null>} @throws {LeftoffError} what any verb throws */
  async stat(path) {
    this.#rejectIfClosed("stat", path);
    const known = this.#open.get(path);
    let held;
    try {
      const same = known?.statAtPath(this.#finder.plain(path));
      if (same) return statOf(same);
      held = this.#finder.hold(path);
      // Synchronous: finding its folder took longer than this, and another thread would cost more than both.
      const found = fs.lstatSync(held.systemPath);
      held.check();
      if (this.#hasRoot && found.isSymbolicLink()) throw linkError();
      return statOf(found);
    } catch (cause) {
      if (isAbsent(cause)) return null;
      throw this.#toStorageError("stat", path, cause);
    } finally {
      held?.close();
    }
  }

  /** @throws {LeftoffError} what `append` throws, where the system says only now that something was not kept */
  async close() {
    this.#closed = true;
    for (const path of [...this.#open.keys()]) this.#closeFile(path);
    await Promise.allSettled(this.#underWay);
    if (this.#closeError) throw this.#closeError;
  }

  /** @param {Verb} verb @param {string} path */
  #rejectIfClosed(verb, path) {
    if (this.#closed) throw storageError(verb, path, { code: "storage_closed" });
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

  /** @param {Verb} verb @param {string} path @param {number} start @param {number} end @param {Uint8Array} [into] */
  async #slice(verb, path, start, end, into = new Uint8Array()) {
    this.#rejectIfClosed(verb, path);
    let file;
    try {
      file = this.#reading.share(path, (path) => this.#openToRead(path));
      const found = fs.fstatSync(file.fd);
      if (!found.isFile()) throw storageError(verb, path, { code: "not_a_file" });
      const from = Math.min(start, found.size);
      const wanted = Math.min(end, found.size) - from;
      const bytes = wanted <= into.length ? into.subarray(0, wanted) : new Uint8Array(wanted);
      const filled = await this.#reader.fill(file.fd, bytes, from);
      return bytes.subarray(0, filled);
    } catch (cause) {
      if (isAbsent(cause)) return null;
      throw this.#toStorageError(verb, path, cause);
    } finally {
      if (file) this.#reading.release(path, file);
    }
  }

  // As the folders on the way to it are: another thread would cost more than to open it, and many small files are read.
  /** @param {string} path */
  #openToRead(path) {
    for (let triesLeft = MAX_ATTEMPTS; ; triesLeft -= 1) {
      const held = this.#finder.hold(path);
      let fd;
      try {
        fd = fs.openSync(held.systemPath, O_RDONLY | O_NONBLOCK | (this.#hasRoot ? O_NOFOLLOW : 0));
        held.check(fd);
        return fd;
      } catch (error) {
        if (fd !== undefined) closeQuietly(fd);
        if (!(error instanceof ReplacedError) || triesLeft === 0) throw error;
      } finally {
        held.close();
      }
    }
  }

  /** @param {string} path @param {string} [within] */
  #fileToAppend(path, within) {
    const known = this.#open.get(path);
    if (known?.isAt(this.#finder.plain(path))) {
      this.#open.delete(path);
      this.#open.set(path, known);
      return known;
    }
    if (known) this.#closeFile(path);
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_OPEN_FILES) this.#closeFile(oldest);
    const file = new OpenFile(this.#openToAppend(path, within), () => this.#syncEntries(path));
    this.#open.set(path, file);
    if (file.isFile()) return file;
    this.#closeFile(path);
    throw storageError("append", path, { code: "not_a_file" });
  }

  /** @param {string} path @param {string} [within] */
  #openToAppend(path, within) {
    const held = this.#finder.hold(path, this.#unconfirmed, within);
    try {
      return openToAppend(held);
    } finally {
      held.close();
    }
  }

  /** @param {string} path */
  #closeFile(path) {
    const file = this.#open.get(path);
    this.#open.delete(path);
    try {
      file?.retire();
    } catch (cause) {
      this.#closeError ??= this.#toStorageError("close", path, cause);
    }
  }

  /** @param {string} path of a file, or of a folder with files in it */
  #closeFilesWithin(path) {
    for (const open of [...this.#open.keys()]) {
      if (open === path || isBelow(open, path)) this.#closeFile(open);
    }
  }

  /** @param {string} path @param {OpenFile} file @param {number} written */
  async #confirm(path, file, written) {
    try {
      await this.#whileOpen(file.sync());
    } catch (cause) {
      // The system reports a failed flush once and then forgets it: this descriptor can prove nothing any more.
      if (this.#open.get(path) === file) this.#closeFile(path);
      throw this.#toStorageError("append", path, cause, { written, durable: false });
    }
  }

  /**
   * Makes the disk confirm a path's name, and that of each folder above it that may be new: all at once, since a
   * program that is busy lets each wait end late.
   * @param {string} path
   */
  async #syncEntries(path) {
    const folders = [];
    for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
      if (this.#unconfirmed.has(folder) || (!this.#confirmed.has(folder) && mayBeOurs(folder))) folders.push(folder);
    }
    await waitForFlushes([this.#syncName(path), ...folders.map((folder) => this.#confirmFolder(folder))]);
  }

  /** @param {string} folder */
  async #confirmFolder(folder) {
    await this.#syncName(folder);
    this.#unconfirmed.delete(folder);
    this.#confirmed.add(folder);
  }

  /** @param {string} path Makes the disk confirm its name. */
  async #syncName(path) {
    const held = this.#finder.holdName(path);
    try {
      await syncFolder(dirname(held.systemPath));
    } finally {
      held.close();
    }
  }

  /** @param {string} path @param {Uint8Array[]} pieces @param {boolean} durable @param {string} [within] */
  async #replaceNow(path, pieces, durable, within) {
    let inPlace = false;
    let held;
    try {
      held = this.#finder.hold(path, this.#unconfirmed, within);
      rejectLinkAndFolder(held.systemPath);
      this.#closeFile(path);
      await writeWhole(held.systemPath, pieces, held.check, durable);
      inPlace = true;
      if (durable) await this.#syncEntries(path);
    } catch (cause) {
      if (!inPlace) this.#rejectIfGone("replace", path, cause, within);
      throw this.#toStorageError("replace", path, cause, inPlace ? { durable: false } : {});
    } finally {
      held?.close();
    }
  }

  /** @param {string} from @param {string} to */
  async #moveNow(from, to) {
    let isMoved = false;
    let source;
    let target;
    try {
      source = this.#finder.hold(from);
      rejectUnmovable(source.systemPath);
      if (isBelow(to, from))
        throw storageError("move", from, { code: "invalid_path", to, reason: "a folder cannot lie in itself" });
      target = this.#finder.hold(to, this.#unconfirmed);
      if (this.#hasRoot) rejectLink(target.systemPath);
      rejectTaken(target.systemPath);
      this.#closeFilesWithin(from);
      await move(source, target, () => this.#syncEntries(to));
      isMoved = true;
      // Confirmations at the target were of what lay there before.
      for (const folder of this.#confirmed) if (folder === to || isBelow(folder, to)) this.#confirmed.delete(folder);
      await this.#syncEntries(to);
      await this.#syncName(from);
    } catch (cause) {
      if (!isMoved && isAbsent(cause) && this.#isAbsent(from))
        throw storageError("move", from, { code: "not_found", to, cause });
      throw this.#toStorageError("move", from, cause, isMoved ? { to, durable: false } : { to });
    } finally {
      source?.close();
      target?.close();
    }
  }

  /** @param {"append" | "replace"} verb @param {string} path @param {unknown} cause @param {string} [within] */
  #rejectIfGone(verb, path, cause, within) {
    if (within === undefined || !isAbsent(cause) || !this.#isAbsent(within)) return;
    throw storageError(verb, path, {
      code: "not_found",
      reason: `expected a folder at "${within}", but found none`,
      cause,
    });
  }

  /** @param {string} path */
  #isAbsent(path) {
    let held;
    try {
      held = this.#finder.hold(path);
      fs.lstatSync(held.systemPath);
      return false;
    } catch (error) {
      return isAbsent(error);
    } finally {
      held?.close();
    }
  }

  /**
   * @param {Verb} verb
   * @param {string} path
   * @param {unknown} cause
   * @param {{ to?: string, written?: number, durable?: boolean }} [extra]
   * @returns {LeftoffError}
   */
  #toStorageError(verb, path, cause, extra) {
    return toStorageError(verb, path, cause, { hasRoot: this.#hasRoot, ...extra });
  }
}

/** @param {string} path @param {string} folder */
function isBelow(path, folder) {
  return toSystemPath(path).startsWith(toSystemPath(folder) + sep);
}
