// @ts-check
/** Writes derived files, as the report of the last context, of each only the newest: nobody waits for the disk. */

import { unlessBug } from "../error.js";

/** @import { Storage } from "./contract.js" */

export class LazyWriter {
  /** The newest bytes of each path, not written yet. @type {Map<string, { storage: Storage, bytes: Uint8Array }>} */
  #waiting = new Map();
  /** @type {Promise<void> | undefined} */
  #writing;

  /**
   * Writes a file soon.
   * @param {{ storage: Storage, path: string }} at
   * @param {Uint8Array} bytes
   */
  replace({ storage, path }, bytes) {
    this.#waiting.set(path, { storage, bytes });
    this.#writing ??= this.#writeAll();
  }

  // A derived file that cannot be written must not fail what it was derived for.
  async #writeAll() {
    for (const [path, { storage, bytes }] of this.#waiting) {
      this.#waiting.delete(path);
      await storage.replace(path, bytes).catch(unlessBug);
    }
    this.#writing = undefined;
  }

  /** Waits for what is being written. */
  async flush() {
    await this.#writing;
  }
}
