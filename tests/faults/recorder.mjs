// @ts-check
/**
 * What a store asks of the system, recorded: every name given or taken in a folder, every write, every flush. The real
 * `NodeStorage` runs over a real folder; only the functions of `fs` by which it changes something are wrapped, so there
 * is no second account of its order to go wrong. Flushes are recorded and not made: what they are worth is the disk's
 * matter, in `disk.mjs`.
 */

import assert from "node:assert/strict";
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { bytesOf, diskOf } from "./disk.mjs";

/** @import { chance } from "./tools.mjs" */

/**
 * A file or a folder, whatever its names are. `content`: all that was ever written to it; nothing is overwritten.
 * @typedef {{ number: number, names: Map<string, Inode> | null, pieces: Uint8Array[], size: number, content: Uint8Array }} Inode
 *
 * @typedef {{ kind: "name", folder: Inode, name: string, inode: Inode }} Name
 * @typedef {{ kind: "unname", folder: Inode, name: string }} Unname
 * @typedef {{ kind: "rename", folder: Inode, from: string, name: string, inode: Inode }} Rename
 * @typedef {{ kind: "write", inode: Inode, start: number, end: number }} Write
 * @typedef {{ kind: "sync", inode: Inode, upTo: number }} Sync at its end; `upTo`: how many entries there were when it
 *   began
 * @typedef {{ kind: "told", what: any }} ToldEntry what the store said to its user
 * @typedef {Name | Unname | Rename | Write | Sync | ToldEntry} Entry
 * @typedef {{ trace: Entry[], root: Inode }} Recording
 */

const { O_CREAT, O_TRUNC } = fs.constants;
const real = { ...fs, promises: { ...fs.promises } };

export class Recorder {
  /** @type {Entry[]} */
  trace = [];
  #folder;
  #random;
  #inodes = 0;
  /** @type {Map<number, Inode>} */
  #open = new Map();
  /**
   * Descriptors of processes that were killed. They stay open to the end: what is left of such a process may close one
   * later, and its number would be another file's by then.
   * @type {Set<number>}
   */
  #ofKilled = new Set();
  /** Why descriptors could not be closed: one that is closed twice may be another file's by the second time. */
  #notClosed = /** @type {unknown[]} */ ([]);
  /** How many changes the process still makes. */
  #left = Infinity;

  /** @param {string} folder an empty one @param {ReturnType<typeof chance>} random how long flushes take */
  constructor(folder, random) {
    this.#folder = folder;
    this.#random = random;
    this.root = this.#makeInode(new Map());
  }

  /**
   * Records what is done in the folder while `life` runs; nothing else may run meanwhile.
   * @param {() => Promise<void>} life
   * @returns {Promise<Recording>}
   */
  async record(life) {
    const { rename, rm, ...wrapped } = this.#wrapFs();
    Object.assign(fs, wrapped);
    Object.assign(fs.promises, { rename, rm });
    try {
      await life();
    } finally {
      await nextTurn(); // A storage closes the folders that it kept open.
      Object.assign(
        fs,
        Object.fromEntries(
          Object.keys(wrapped).map((name) => [name, real[/** @type {keyof typeof wrapped} */ (name)]]),
        ),
      );
      Object.assign(fs.promises, { rename: real.promises.rename, rm: real.promises.rm });
      this.#closeAll();
    }
    this.#isComplete();
    return { trace: this.trace, root: this.root };
  }

  /** @param {unknown} what */
  tell(what) {
    this.trace.push({ kind: "told", what });
  }

  /**
   * The process changes this much more, then nothing: as far as the disk can tell, it was killed.
   * @param {number} changes
   */
  killIn(changes) {
    this.#left = changes;
  }

  /** Another process begins. */
  revive() {
    this.#left = Infinity;
    for (const fd of this.#open.keys()) this.#ofKilled.add(fd);
    this.#open.clear();
  }

  #closeAll() {
    for (const fd of [...this.#open.keys(), ...this.#ofKilled]) real.closeSync(fd);
    this.#open.clear();
    this.#ofKilled.clear();
  }

  #wrapFs() {
    return {
      openSync: (/** @type {string} */ path, /** @type {any} */ flags, /** @type {number} */ mode) =>
        this.#recordOpen(plain(path), flags, mode),
      closeSync: (/** @type {number} */ fd) => this.#recordClose(fd),
      writeSync: (/** @type {number} */ fd, /** @type {Uint8Array} */ bytes) => this.#recordWrite(fd, bytes),
      write: withCallback((/** @type {number} */ fd, /** @type {Uint8Array} */ bytes) => this.#recordWrite(fd, bytes)),
      fsync: (/** @type {number} */ fd, /** @type {(error: Error | null) => void} */ done) =>
        this.#recordSync(fd, done),
      fdatasync: (/** @type {number} */ fd, /** @type {(error: Error | null) => void} */ done) =>
        this.#recordSync(fd, done),
      mkdirSync: (/** @type {string} */ path, /** @type {number} */ mode) => this.#madeFolder(plain(path), mode),
      rmSync: (/** @type {string} */ path, /** @type {fs.RmOptions} */ options) =>
        this.#recordRemove(plain(path), options),
      rm: async (/** @type {string} */ path, /** @type {fs.RmOptions} */ options) =>
        this.#recordRemove(plain(path), options),
      renameSync: (/** @type {string} */ from, /** @type {string} */ to) => this.#recordRename(plain(from), plain(to)),
      rename: async (/** @type {string} */ from, /** @type {string} */ to) =>
        this.#recordRename(plain(from), plain(to)),
    };
  }

  /** @param {string} path @param {any} flags @param {number} mode */
  #recordOpen(path, flags, mode) {
    const isOurs = path === this.#folder || path.startsWith(`${this.#folder}/`);
    if (!isOurs) return real.openSync(path, flags, mode);
    const makes = typeof flags === "string" ? flags === "wx" : (flags & O_CREAT) !== 0;
    assert.ok(
      typeof flags === "string" ? ["wx", "a", "r"].includes(flags) : (flags & O_TRUNC) === 0,
      `${flags} is not modeled`,
    );
    if (makes) this.#mayChange(path);
    const isNew = makes && !real.existsSync(path);
    const fd = real.openSync(path, flags, mode);
    if (isNew) this.#name(path, this.#makeInode(null));
    this.#open.set(fd, this.#inodeAt(path));
    return fd;
  }

  /** @param {number} fd */
  #recordClose(fd) {
    this.#open.delete(fd);
    this.#ofKilled.delete(fd);
    try {
      real.closeSync(fd);
    } catch (error) {
      this.#notClosed.push(error);
      throw error;
    }
  }

  /** @param {string} path @param {number} mode */
  #madeFolder(path, mode) {
    this.#mayChange(path);
    real.mkdirSync(path, mode);
    this.#name(path, this.#makeInode(new Map()));
  }

  /** @param {number} fd @param {Uint8Array} bytes */
  #recordWrite(fd, bytes) {
    if (this.#ofKilled.has(fd)) throw new Error("killed");
    const inode = this.#open.get(fd);
    if (!inode) return real.writeSync(fd, bytes);
    this.#mayChange(`a file of ${inode.size} bytes`);
    const written = real.writeSync(fd, bytes);
    if (written === 0) return 0;
    inode.pieces.push(bytes.slice(0, written));
    this.trace.push({ kind: "write", inode, start: inode.size, end: inode.size + written });
    inode.size += written;
    return written;
  }

  /** @param {number} fd @param {(error: Error | null) => void} done */
  async #recordSync(fd, done) {
    if (this.#ofKilled.has(fd)) return done(new Error("killed"));
    const inode = this.#open.get(fd);
    if (!inode) return done(null);
    const upTo = this.trace.length;
    for (let turns = this.#random.below(4); turns >= 0; turns -= 1) await nextTurn();
    if (this.#left <= 0) return done(new Error("killed"));
    this.trace.push({ kind: "sync", inode, upTo });
    done(null);
  }

  /** @param {string} path @param {fs.RmOptions} options */
  #recordRemove(path, options) {
    this.#mayChange(path);
    const isThere = real.existsSync(path);
    real.rmSync(path, options);
    if (isThere) this.#unname(path);
  }

  /** @param {string} from @param {string} to */
  #recordRename(from, to) {
    this.#mayChange(from);
    assert.equal(dirname(from), dirname(to), "between folders is not modeled");
    real.renameSync(from, to);
    const [folder, inode] = [this.#inodeAt(dirname(from)), this.#inodeAt(from)];
    folder.names?.delete(basename(from));
    folder.names?.set(basename(to), inode);
    this.trace.push({ kind: "rename", folder, from: basename(from), name: basename(to), inode });
  }

  /** @param {string} path */
  #mayChange(path) {
    this.#left -= 1;
    if (this.#left < 0) throw new Error(`killed before "${path}" was changed`);
  }

  /** @param {Map<string, Inode> | null} names @returns {Inode} */
  #makeInode(names) {
    this.#inodes += 1;
    return { number: this.#inodes, names, pieces: [], size: 0, content: new Uint8Array() };
  }

  /** @param {string} path @param {Inode} inode */
  #name(path, inode) {
    const folder = this.#inodeAt(dirname(path));
    folder.names?.set(basename(path), inode);
    this.trace.push({ kind: "name", folder, name: basename(path), inode });
  }

  // What is inside first, as the system wants it.
  /** @param {string} path */
  #unname(path) {
    for (const name of this.#inodeAt(path).names?.keys() ?? []) this.#unname(join(path, name));
    const folder = this.#inodeAt(dirname(path));
    folder.names?.delete(basename(path));
    this.trace.push({ kind: "unname", folder, name: basename(path) });
  }

  /** @param {string} path @returns {Inode} */
  #inodeAt(path) {
    const names = path.slice(this.#folder.length).split("/").filter(Boolean);
    return names.reduce((inode, name) => {
      const found = inode.names?.get(name);
      assert.ok(found, `"${path}" came about by a function that is not wrapped`);
      return found;
    }, this.root);
  }

  /** What is recorded, all of it done, is what is in the folder: nothing went past the wrapped functions. */
  #isComplete() {
    assert.deepEqual(this.#notClosed, []);
    for (const { inode } of this.trace.filter((entry) => entry.kind === "write"))
      inode.content = Buffer.concat(inode.pieces);
    const { files, folders } = diskOf({ trace: this.trace, root: this.root });
    const there = real.readdirSync(this.#folder, { recursive: true, encoding: "utf8" }).map((name) => `/${name}`);
    assert.deepEqual(new Set(there), new Set([...files.keys(), ...folders]));
    for (const [path, file] of files)
      assert.ok(real.readFileSync(join(this.#folder, path)).equals(bytesOf(file)), `"${path}" has other bytes`);
  }
}

/** Where a path leads that names a folder by its descriptor. @param {string} path */
function plain(path) {
  const [fd] = /^\/proc\/self\/fd\/\d+/.exec(path) ?? [];
  return fd ? join(real.readlinkSync(fd), path.slice(fd.length)) : path;
}

/** As a function that calls back. @param {(...args: any[]) => unknown} work */
function withCallback(work) {
  return (/** @type {any[]} */ ...args) => {
    const done = args.pop();
    let outcome;
    try {
      outcome = [null, work(...args)];
    } catch (error) {
      outcome = [error];
    }
    setImmediate(done, ...outcome);
  };
}
