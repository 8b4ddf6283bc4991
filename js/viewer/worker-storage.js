// @ts-check
/** The page's view of the origin's private files, to which a worker alone may write: each verb is a message to it. */

import { LeftoffError } from "../error.js";
import { convertStats, storageError } from "../storage/contract.js";

/** @import { Capabilities, Stat, Storage, Verb } from "../storage/contract.js" */
/** @import { StoredFiles } from "./dropped.js" */

/** @typedef {{ id: number, verb: Verb, given: unknown[] }} StorageRequest */
/** @typedef {{ value?: any, error?: ConstructorParameters<typeof LeftoffError>[0] }} StorageResult */

/** @type {StorageResult} */
const WORKER_FAILED = { error: { code: "storage_failed", message: "the worker that keeps files does not run" } };

/** @implements {Storage} */
export class WorkerStorage {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "exclusive", range: true, durable: true, watch: false });

  #worker;
  #files;
  /** What waits for a result. @type {Map<number, (result: StorageResult) => void>} */
  #waiting = new Map();
  #lastId = 0;
  #hasFailed = false;
  #isClosed = false;

  /**
   * @param {Worker} worker for this storage alone; it ends with it
   * @param {StoredFiles} [files] whose folder is here, too, to be read
   */
  constructor(worker, files) {
    this.#worker = worker;
    this.#files = files;
    worker.addEventListener("message", ({ data: { id, result } }) => this.#waiting.get(id)?.(result));
    worker.addEventListener("error", () => {
      this.#hasFailed = true;
      for (const give of this.#waiting.values()) give(WORKER_FAILED);
    });
  }

  /** @param {string} path @returns {Promise<Uint8Array | null>} */
  read = (path) => this.#run("read", path);

  /** @param {string} path @param {number} start @param {number} end @returns {Promise<Uint8Array | null>} */
  readRange = (path, start, end) => this.#run("readRange", path, start, end);

  /** @param {string} path @param {{ files?: string[], as?: (stats: (Stat | null)[]) => number[] }} [options] */
  async list(path, { files, as } = {}) {
    return convertStats(await this.#run("list", path, { files }), as);
  }

  /** @param {string} path @returns {Promise<Stat | null>} */
  stat = (path) => this.#run("stat", path);

  /** @type {Storage["append"]} */
  append = (path, bytes, options) => this.#run("append", path, bytes, options);

  /** @type {Storage["replace"]} */
  replace = (path, bytes, options) => this.#run("replace", path, bytes, options);

  /** @type {Storage["move"]} */
  move = (from, to) => this.#run("move", from, to);

  /** @type {Storage["link"]} */
  link = (path, target) => this.#run("link", path, target);

  /** @type {Storage["remove"]} */
  remove = (path) => this.#run("remove", path);

  async close() {
    if (this.#isClosed) return;
    const closing = this.#run("close", "/");
    this.#isClosed = true;
    await closing.finally(() => this.#worker.terminate());
  }

  /** @param {Verb} verb @param {string} path @param {unknown[]} more */
  async #run(verb, path, ...more) {
    if (this.#isClosed) throw storageError(verb, path, { code: "storage_closed" });
    if (this.#files && path.startsWith(this.#files.folder))
      return /** @type {any} */ (this.#files.storage)[verb](path, ...more);
    const id = (this.#lastId += 1);
    const { value, error } = await new Promise((/** @type {(result: StorageResult) => void} */ give) => {
      if (this.#hasFailed) return give(WORKER_FAILED);
      this.#waiting.set(id, give);
      // The bytes are copied before this returns, so the caller may reuse them.
      this.#worker.postMessage(/** @type {StorageRequest} */ ({ id, verb, given: [path, ...more] }));
    });
    this.#waiting.delete(id);
    if (error) throw new LeftoffError(error);
    return value;
  }
}
