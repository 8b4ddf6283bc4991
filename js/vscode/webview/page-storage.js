// @ts-check
/** The page's view of the store: the extension reads for it, and nothing is written. */

import { LeftoffError } from "../../error.js";
import { convertStats } from "../../storage/contract.js";
import { RefusedVerbs } from "../../storage/read-only.js";

/** @import { Capabilities, Stat, Storage, Verb } from "../../storage/contract.js" */
/** @import { FromPage, ToPage } from "./messages.js" */

/** @implements {Storage} */
export class PageStorage extends RefusedVerbs {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "none", range: true, durable: false, watch: false });

  #send;
  #count = 0;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: unknown) => void }>} */
  #waiting = new Map();

  /** @param {(message: FromPage) => void} send */
  constructor(send) {
    super();
    this.#send = send;
  }

  /** @param {ToPage & { kind: "answer" }} answer */
  settle({ id, value, error }) {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(new LeftoffError(/** @type {any} */ (error)));
    else waiting?.resolve(value);
  }

  /** @param {string} path @returns {Promise<Uint8Array | null>} */
  read(path) {
    return this.#ask("read", path);
  }

  /** @param {string} path @param {number} start @param {number} end @returns {Promise<Uint8Array | null>} */
  readRange(path, start, end) {
    return this.#ask("readRange", path, start, end);
  }

  /** @param {string} path @param {{ files?: string[], as?: (stats: (Stat | null)[]) => number[] }} [options] */
  async list(path, { files, as } = {}) {
    return convertStats(await this.#ask("list", path, { files }), as);
  }

  /** @param {string} path @returns {Promise<Stat | null>} */
  stat(path) {
    return this.#ask("stat", path);
  }

  async close() {}

  /** @param {Verb} verb @param {string} path @param {unknown[]} args @returns {Promise<any>} */
  #ask(verb, path, ...args) {
    const id = (this.#count += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ kind: "read", id, verb, path, args });
    });
  }
}
