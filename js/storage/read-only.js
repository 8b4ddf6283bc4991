// @ts-check
/** The files of another storage, to be read alone: writing is refused as on a filesystem that is read-only. */

import { failed } from "./contract.js";

/** @import { Storage } from "./contract.js" */

/** @implements {Storage} */
export class ReadOnlyStorage {
  #storage;

  /** @param {Storage} storage */
  constructor(storage) {
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

  /** @type {Storage["append"]} */
  append = (path) => refuse("append", path);

  /** @type {Storage["replace"]} */
  replace = (path) => refuse("replace", path);

  /** @type {Storage["move"]} */
  move = (path) => refuse("move", path);

  /** @type {Storage["link"]} */
  link = (path) => refuse("link", path);

  /** @type {Storage["remove"]} */
  remove = (path) => refuse("remove", path);

  /** @type {Storage["close"]} */
  close = () => this.#storage.close();
}

/** The same storages, to be read alone where that is wanted. @param {(root?: string) => Storage} each @param {boolean} isWanted @returns {typeof each} */
export function readableOnly(each, isWanted) {
  return isWanted ? (root) => new ReadOnlyStorage(each(root)) : each;
}

/** @param {import("./contract.js").Verb} verb @param {string} path @returns {Promise<never>} */
async function refuse(verb, path) {
  throw failed(verb, path, { code: "read_only", reason: "this store was opened to be read" });
}
