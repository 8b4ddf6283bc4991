// @ts-check
/**
 * A folder that nothing leads out of: neither `..` nor a link below it, nor a folder that another process swaps for a
 * link while it is looked at. Links on the way to it are followed, once.
 *
 * Node has no `openat`. On Linux `/proc/self/fd/<n>/` serves as one: it leads to the folder that was opened, whatever
 * has its name by now. So each folder is opened in the one before, never through a link, and what is to be done is done
 * in the last one. That holds whatever others do meanwhile.
 *
 * Elsewhere, and in Deno where it may not use `/proc`, all folders are looked at first, and what was opened is compared
 * with what stands there afterwards, before a byte goes either way. Someone who swaps a folder there and back within
 * such a call can have an empty file or folder made elsewhere, or a file there listed, moved or removed; by three swaps
 * within one call, at the right moments, also read or written.
 *
 * A hard link is a file like any other: the system doesn't tell its other names.
 */

import fs from "node:fs";
import { join, resolve, sep } from "node:path";
import process from "node:process";

import { UnrootedFinder, codeOf, makeFolder, makeFolders, notFolderError, toSystemPath } from "./folders.js";

/** @import { HeldPlace } from "./folders.js" */

const FD_FOLDER = "/proc/self/fd";
// Node does not name it. With it a folder can be opened that may be passed through, but not listed.
const O_PATH = 0o10000000;
const { O_DIRECTORY = 0, O_NOFOLLOW = 0 } = fs.constants;
const FOLDER_FLAGS = O_PATH | O_DIRECTORY | O_NOFOLLOW;
const BIGINT_STAT = /** @type {const} */ ({ bigint: true });
/**
 * Longer than a filesystem's clock stands still, which is a tick of the system: two changes within one look like one.
 */
const TICK_MS = 20;
/** The same where times have only whole seconds, as in Deno. */
const SECOND_MS = 1020;
/** How many folders stay open within one turn. */
const MAX_KEPT_FOLDERS = 8;
/** Names that Windows takes for a device, a stream or another name. */
const ODD_ON_WINDOWS = /[\x00-\x1f:*?"<>|]|[. ]$|^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\.|$)/i;

/** A path that leads out of the root. Its message says what was found. */
export class OutsideRootError extends Error {}

/** The opened file is not the one at the path any more: it was replaced meanwhile, or lies outside. */
export class ReplacedError extends OutsideRootError {}

/** A `PlaceFinder` that does not leave its folder. */
export class RootedFinder {
  #givenPath;
  /** The root without links on the way to it; empty until it is there. */
  #real = "";
  #hasDescriptors = false;
  /** Folders that are open for a moment, by their paths. @type {Map<string, number>} */
  #kept = new Map();

  /** @param {string} folder */
  constructor(folder) {
    this.#givenPath = resolve(folder);
  }

  /** @param {string} path @param {Set<string>} [made] @param {string} [within] @returns {HeldPlace} */
  hold(path, made, within) {
    const names = this.#names(path);
    const last = names.pop();
    const least = within === undefined ? 0 : this.#names(within).length;
    if (made && within === undefined) makeFolders(this.#givenPath, made);
    if (last !== undefined) return this.#holdNames(names, { last, made, least });
    const remove = () =>
      Promise.reject(
        new OutsideRootError(`expected a path below "${this.#givenPath}", but found the folder itself instead`),
      );
    return { ...this.#holdNames([], { last: "." }), remove };
  }

  /** @param {string} path @returns {HeldPlace} */
  holdFolder(path) {
    return this.#holdNames(this.#names(path), {});
  }

  /** @param {string} path @returns {HeldPlace} */
  holdName(path) {
    const isAbove = this.#givenPath === toSystemPath(path) || this.#givenPath.startsWith(toSystemPath(path) + sep);
    return isAbove ? new UnrootedFinder().hold(path) : this.hold(path);
  }

  /** @param {string} path */
  plain(path) {
    return this.#real + path.slice(this.#givenPath.length);
  }

  /** @param {string} path */
  snapshotFolder(path) {
    const names = this.#names(path);
    if (!this.#real) this.#resolve();
    const nowMs = Date.now();
    const before = this.#statChain(names);
    const isSettled = before.every(
      ({ ctimeMs }) => Number(ctimeMs) < nowMs - (ctimeMs % 1000n === 0n ? SECOND_MS : TICK_MS),
    );
    return () =>
      isSettled &&
      this.#statChain(names).every((found, at) => isSame(found, before[at]) && found.ctimeNs === before[at].ctimeNs);
  }

  /** The names below the root. @param {string} path */
  #names(path) {
    const whole = toSystemPath(path);
    if (whole === this.#givenPath) return [];
    const start = this.#givenPath.endsWith(sep) ? this.#givenPath : this.#givenPath + sep;
    const names = whole.startsWith(start)
      ? whole.slice(start.length).split(process.platform === "win32" ? /[\\/]/ : "/")
      : [".."];
    if (names.some(isOdd))
      throw new OutsideRootError(`expected a path in "${this.#givenPath}", but found another one instead`);
    return names;
  }

  /**
   * @param {string[]} names
   * @param {{ last?: string, made?: Set<string>, least?: number }} options `least`: so many are not made
   * @returns {HeldPlace}
   */
  #holdNames(names, { last, made, least = 0 }) {
    if (!this.#real) this.#resolve();
    if (this.#hasDescriptors) {
      const fd = this.#openFolders(names, made, least);
      const at = last === undefined ? `${FD_FOLDER}/${fd}` : `${FD_FOLDER}/${fd}/${last}`;
      return { systemPath: at, check: () => {}, remove: async () => removeTree(at), close: () => closeFolder(fd) };
    }
    const folder = this.#checkFolders(names, made, least);
    const at = last === undefined ? folder : join(folder, last);
    const remove = () => fs.promises.rm(at, { recursive: true, force: true });
    const check = (/** @type {number | undefined} */ fd, /** @type {string} */ beside = at) => {
      this.#checkFolders(names);
      if (fd !== undefined && !isSame(fs.fstatSync(fd, BIGINT_STAT), fs.lstatSync(beside, BIGINT_STAT))) {
        throw new ReplacedError(`expected a file at "${beside}", but found another one instead`);
      }
      this.#checkFolders(names);
    };
    return { systemPath: at, check, remove, close: () => {} };
  }

  #resolve() {
    const real = fs.realpathSync(this.#givenPath);
    this.#hasDescriptors = process.platform === "linux" && hasDescriptors(real);
    this.#real = real;
  }

  /**
   * Opens a folder, each on the way within the one before.
   * @param {string[]} names
   * @param {Set<string>} [made]
   * @param {number} [least]
   */
  #openFolders(names, made, least = 0) {
    const last = names.at(-1);
    if (last === undefined) return openFolder(this.#real, this.#givenPath);
    const above = names.slice(0, -1);
    const mayMake = above.length < least ? undefined : made;
    return openFolder(
      `${FD_FOLDER}/${this.#openParent(above, made, least)}/${last}`,
      join(this.#givenPath, ...names),
      mayMake,
    );
  }

  /**
   * Opens a folder that stays open for the next one in it.
   * @param {string[]} names @param {Set<string> | undefined} made @param {number} least
   */
  #openParent(names, made, least) {
    const at = join(this.#real, ...names);
    const kept = this.#findKept(at);
    if (kept !== undefined) return kept;
    let path = this.#givenPath;
    let fd = openFolder(this.#real, path);
    for (const [depth, name] of names.entries()) {
      path = join(path, name);
      const parent = fd;
      try {
        fd = openFolder(`${FD_FOLDER}/${parent}/${name}`, path, depth < least ? undefined : made);
      } finally {
        closeFolder(parent);
      }
    }
    this.#keep(at, fd);
    return fd;
  }

  /** A kept folder, if the system says that it still lies there. @param {string} path */
  #findKept(path) {
    const fd = this.#kept.get(path);
    try {
      // In a name that is not UTF-8, Node replaces what it cannot read: two names may then look like one.
      if (fd !== undefined && fs.readlinkSync(`${FD_FOLDER}/${fd}`) === path && !path.includes("\ufffd")) return fd;
    } catch {
      // It is opened anew.
    }
    return undefined;
  }

  /** Keeps an open folder until other work has its turn. @param {string} path @param {number} fd */
  #keep(path, fd) {
    if (this.#kept.size === 0) setImmediate(() => this.#closeKept());
    if (this.#kept.has(path) || this.#kept.size >= MAX_KEPT_FOLDERS) this.#closeKept();
    this.#kept.set(path, fd);
  }

  #closeKept() {
    for (const fd of this.#kept.values()) closeFolder(fd);
    this.#kept.clear();
  }

  /**
   * The stats of a folder and each on the way: one whose names change, or that is moved, gets another ctime.
   * @param {string[]} names
   */
  #statChain(names) {
    let path = this.#givenPath;
    let at = this.#real;
    const found = [statFolder(at, path)];
    for (const name of names) {
      at = join(at, name);
      path = join(path, name);
      found.push(statFolder(at, path));
    }
    return found;
  }

  /**
   * Checks a folder and each on the way; answers its path.
   * @param {string[]} names
   * @param {Set<string>} [made]
   * @param {number} [least]
   */
  #checkFolders(names, made, least = 0) {
    let path = this.#givenPath;
    let at = this.#real;
    statFolder(at, path);
    for (const [depth, name] of names.entries()) {
      at = join(at, name);
      path = join(path, name);
      if (made && depth >= least && !fs.lstatSync(at, { throwIfNoEntry: false })) {
        made.add(path);
        makeFolder(at);
      }
      statFolder(at, path);
    }
    return at;
  }
}

/** @param {string} name */
function isOdd(name) {
  return (
    name === "" ||
    name === "." ||
    name === ".." ||
    name.includes("\0") ||
    (process.platform === "win32" && ODD_ON_WINDOWS.test(name))
  );
}

/** Whether entries of an open folder can be reached by its descriptor. @param {string} folder */
function hasDescriptors(folder) {
  const fd = fs.openSync(folder, FOLDER_FLAGS);
  try {
    return isSame(fs.lstatSync(`${FD_FOLDER}/${fd}/.`, BIGINT_STAT), fs.fstatSync(fd, BIGINT_STAT));
  } catch {
    return false; // No /proc, or none for this program: the other way is used.
  } finally {
    closeFolder(fd);
  }
}

/**
 * Opens a folder, making it first where wanted.
 * @param {string} at
 * @param {string} path
 * @param {Set<string>} [made]
 * @returns {number}
 */
function openFolder(at, path, made) {
  try {
    return fs.openSync(at, FOLDER_FLAGS);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") statFolder(at, path);
    if (!made || codeOf(error) !== "ENOENT") throw error;
  }
  // Also where another process is faster: that one may not live to flush it.
  made.add(path);
  const isNew = makeFolder(at);
  const fd = openFolder(at, path);
  // Only a umask that takes from the owner makes it differ.
  if (isNew && (fs.fstatSync(fd).mode & 0o777) !== 0o700) fs.chmodSync(`${FD_FOLDER}/${fd}`, 0o700);
  return fd;
}

// Closes a folder. Its failure is ignored: nothing was written through it, and it is no answer to the call.
/** @param {number} fd of a folder */
function closeFolder(fd) {
  try {
    fs.closeSync(fd);
  } catch {}
}

/** Refuses what is no folder. @param {string} at @param {string} path */
function statFolder(at, path) {
  const found = fs.lstatSync(at, BIGINT_STAT);
  if (found.isSymbolicLink()) throw new OutsideRootError(`expected a folder at "${path}", but found a link instead`);
  if (!found.isDirectory()) throw notFolderError(path);
  return found;
}

/** Removes what is there, a folder with all in it. @param {string} at */
async function removeTree(at) {
  const found = fs.lstatSync(at, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return fs.promises.rm(at, { force: true });
  const fd = openFolder(at, at);
  try {
    for (const name of await fs.promises.readdir(`${FD_FOLDER}/${fd}`)) await removeTree(`${FD_FOLDER}/${fd}/${name}`);
  } finally {
    closeFolder(fd);
  }
  fs.rmdirSync(at);
}

/** @param {fs.BigIntStats} one @param {fs.BigIntStats} other */
function isSame(one, other) {
  return one.ino === other.ino && one.dev === other.dev;
}
