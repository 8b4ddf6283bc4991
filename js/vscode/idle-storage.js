// @ts-check
/** A storage that is closed while nobody uses it: a browser lets no other window write a file that one holds open. */

/** @import { Storage } from "../storage/contract.js" */

/** How long after the last use it is closed: longer than one piece of work pauses. */
const IDLE_MS = 300;

/** @implements {Storage} */
export class IdleStorage {
  #make;
  /** @type {Storage | undefined} */
  #storage;
  #users = 0;
  #isClosed = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #idle;

  /** @param {() => Storage} make */
  constructor(make) {
    this.#make = make;
    const storage = make();
    this.#storage = storage;
    this.capabilities = storage.capabilities;
  }

  /** @type {Storage["read"]} */
  read = (path) => this.#use((storage) => storage.read(path));

  /** @type {Storage["readRange"]} */
  readRange = (path, start, end, options) => this.#use((storage) => storage.readRange(path, start, end, options));

  /** @type {Storage["list"]} */
  list = (path, options) => this.#use((storage) => storage.list(path, options));

  /** @type {Storage["stat"]} */
  stat = (path) => this.#use((storage) => storage.stat(path));

  /** @type {Storage["append"]} */
  append = (path, bytes, options) => this.#use((storage) => storage.append(path, bytes, options));

  /** @type {Storage["replace"]} */
  replace = (path, bytes, options) => this.#use((storage) => storage.replace(path, bytes, options));

  /** @type {Storage["move"]} */
  move = (from, to) => this.#use((storage) => storage.move(from, to));

  /** @type {Storage["link"]} */
  link = (path, target) => this.#use((storage) => storage.link(path, target));

  /** @type {Storage["remove"]} */
  remove = (path) => this.#use((storage) => storage.remove(path));

  async close() {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#storage ??= this.#make();
    await this.#storage.close();
  }

  /** @template T @param {(storage: Storage) => Promise<T>} work */
  async #use(work) {
    clearTimeout(this.#idle);
    this.#users += 1;
    this.#storage ??= this.#make();
    try {
      return await work(this.#storage);
    } finally {
      this.#users -= 1;
      if (this.#users === 0 && !this.#isClosed) this.#idle = setTimeout(() => this.#release(), IDLE_MS);
    }
  }

  #release() {
    const storage = this.#storage;
    this.#storage = undefined;
    // What was appended is written already; that the browser may say of it only now is for nobody here to hear.
    void storage?.close().catch(() => {});
  }
}
