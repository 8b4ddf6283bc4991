// @ts-check
/** A storage that is closed while nobody writes: a browser lets no other window write a file that one holds open. */

/** @import { Storage } from "../storage/contract.js" */

/** How long after the last write it is closed: longer than one piece of work pauses. */
const IDLE_MS = 300;

/** @implements {Storage} */
export class IdleStorage {
  #make;
  /** @type {Storage | undefined} */
  #storage;
  #writers = 0;
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
  read = (path) => this.#current().read(path);

  /** @type {Storage["readRange"]} */
  readRange = (path, start, end, options) => this.#current().readRange(path, start, end, options);

  /** @type {Storage["list"]} */
  list = (path, options) => this.#current().list(path, options);

  /** @type {Storage["stat"]} */
  stat = (path) => this.#current().stat(path);

  /** @type {Storage["append"]} */
  append = (path, bytes, options) => this.#write((storage) => storage.append(path, bytes, options));

  /** @type {Storage["replace"]} */
  replace = (path, bytes, options) => this.#write((storage) => storage.replace(path, bytes, options));

  /** @type {Storage["move"]} */
  move = (from, to) => this.#write((storage) => storage.move(from, to));

  /** @type {Storage["link"]} */
  link = (path, target) => this.#write((storage) => storage.link(path, target));

  /** @type {Storage["remove"]} */
  remove = (path) => this.#write((storage) => storage.remove(path));

  async close() {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#current().close();
  }

  #current() {
    this.#storage ??= this.#make();
    return this.#storage;
  }

  /** @template T @param {(storage: Storage) => Promise<T>} work */
  async #write(work) {
    clearTimeout(this.#idle);
    this.#writers += 1;
    try {
      return await work(this.#current());
    } finally {
      this.#writers -= 1;
      if (this.#writers === 0 && !this.#isClosed) this.#idle = setTimeout(() => this.#release(), IDLE_MS);
    }
  }

  /** Reads that are under way end before it is closed, as the contract has it. */
  #release() {
    const storage = this.#storage;
    this.#storage = undefined;
    // What was appended is written already; that the browser may say of it only now is for nobody here to hear.
    void storage?.close().catch(() => {});
  }
}
