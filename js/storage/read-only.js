// @ts-check
/** Storages that are only read: writing is refused as on a read-only filesystem. */

import { storageError } from "./contract.js";

/** @import { Storage } from "./contract.js" */

/** The verbs that write, of a storage that is only read: each is refused. */
export class RefusedVerbs {
  /** @type {Storage["append"]} */
  append = (path) => rejectWrite("append", path);

  /** @type {Storage["replace"]} */
  replace = (path) => rejectWrite("replace", path);

  /** @type {Storage["move"]} */
  move = (path) => rejectWrite("move", path);

  /** @type {Storage["link"]} */
  link = (path) => rejectWrite("link", path);

  /** @type {Storage["remove"]} */
  remove = (path) => rejectWrite("remove", path);
}

/**
 * A read-only view of another storage.
 * @implements {Storage}
 */
export class ReadOnlyStorage extends RefusedVerbs {
  #storage;

  /** @param {Storage} storage */
  constructor(storage) {
    super();
    this.#storage = storage;
    this.capabilities = storage.capabilities;
  }

  /** @type {Storage["read"]} */
  read = (path) => this.#storage.read(path);

  /** @type {Storage["readRange"]} */
  readRange = (path, start, end, options) => this.#storage.readRange(path, start, end, options);

  /** @type {Storage["list"]} */
  list = (path, options) => this.#storage.list(path, options);

  /** @type {Storage["stat"]} */
  stat = (path) => this.#storage.stat(path);

  /** @type {Storage["close"]} */
  close = () => this.#storage.close();
}

/**
 * Makes storages read-only where that is wanted.
 * @param {(root?: string) => Storage} each
 * @param {boolean} isWanted
 * @returns {typeof each}
 */
export function readOnlyStorages(each, isWanted) {
  return isWanted ? (root) => new ReadOnlyStorage(each(root)) : each;
}

/**
 * Refuses what would write.
 * @param {import("./contract.js").Verb} verb @param {string} path @returns {Promise<never>}
 */
export async function rejectWrite(verb, path) {
  throw storageError(verb, path, { code: "read_only", reason: "this store was opened to be read" });
}
