// @ts-check
/** Two storages as one: below a folder the browser's own, which is written; elsewhere the folders that are open. */

import { rejectWrite } from "../storage/read-only.js";

/** @import { Storage } from "../storage/contract.js" */

/** @implements {Storage} */
export class MountedStorage {
  #home;
  #own;
  #around;

  /** @param {string} home @param {{ own: Storage, around: Storage }} storages `own`: of what lies below the home */
  constructor(home, { own, around }) {
    this.#home = home;
    this.#own = own;
    this.#around = around;
    this.capabilities = own.capabilities;
  }

  /** @type {Storage["read"]} */
  read = (path) => this.#at(path).read(path);

  /** @type {Storage["readRange"]} */
  readRange = (path, start, end, options) => this.#at(path).readRange(path, start, end, options);

  /** @type {Storage["list"]} */
  list = (path, options) => this.#at(path).list(path, options);

  /** @type {Storage["stat"]} */
  stat = (path) => this.#at(path).stat(path);

  /** @type {Storage["append"]} */
  append = (path, bytes, options) => this.#at(path).append(path, bytes, options);

  /** @type {Storage["replace"]} */
  replace = (path, bytes, options) => this.#at(path).replace(path, bytes, options);

  /** @type {Storage["move"]} */
  move = (from, to) => (this.#at(to) === this.#own ? this.#at(from).move(from, to) : rejectWrite("move", from));

  /** @type {Storage["link"]} */
  link = (path, target) => this.#at(path).link(path, target);

  /** @type {Storage["remove"]} */
  remove = (path) => this.#at(path).remove(path);

  async close() {
    await Promise.all([this.#own.close(), this.#around.close()]);
  }

  /** @param {string} path */
  #at(path) {
    return path === this.#home || path.startsWith(`${this.#home}/`) ? this.#own : this.#around;
  }
}
