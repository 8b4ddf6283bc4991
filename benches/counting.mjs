// @ts-check
/** A storage that says how much was read. */

import { sep } from "node:path";
import { NodeStorage } from "../js/index.js";

export class Counting extends NodeStorage {
  bytesRead = 0;
  /** Of those, what lies in the cache: checkpoints. */
  cacheBytesRead = 0;

  /** @param {string} path */
  async read(path) {
    return this.#countBytes(path, await super.read(path));
  }

  /** @param {string} path @param {number} start @param {number} end @param {{ into?: Uint8Array }} [options] */
  async readRange(path, start, end, options) {
    return this.#countBytes(path, await super.readRange(path, start, end, options));
  }

  /** @param {string} path @param {Uint8Array | null} bytes */
  #countBytes(path, bytes) {
    const length = bytes?.length ?? 0;
    this.bytesRead += length;
    if (path.includes(`${sep}cache${sep}`)) this.cacheBytesRead += length;
    return bytes;
  }
}
