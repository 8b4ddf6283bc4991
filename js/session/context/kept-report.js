// @ts-check
/** What the last context was made of, kept beside what is derived. */

import { fromBytes, toBytes } from "../../wasm/core.js";
import { unlessBug } from "../../error.js";

/** @import { Storage } from "../../storage/contract.js" */

export class KeptReport {
  #storage;
  #path;
  /** The newest report that is not kept yet. @type {Uint8Array | undefined} */
  #report;
  /** @type {Promise<void> | undefined} */
  #keeping;

  /** @param {Storage} storage @param {() => string} path */
  constructor(storage, path) {
    this.#storage = storage;
    this.#path = path;
  }

  /** Keeps it. Nobody waits for the disk to have it. @param {object} report */
  keep(report) {
    this.#report = toBytes(report);
    this.#keeping ??= this.#keepNewest();
  }

  // A report that cannot be kept is no reason to have no context.
  async #keepNewest() {
    for (let bytes; (bytes = this.#report); ) {
      this.#report = undefined;
      await this.#storage.replace(this.#path(), bytes).catch(unlessBug);
    }
    this.#keeping = undefined;
  }

  /** Waits for a report that is on its way to the disk. */
  async settled() {
    await this.#keeping;
  }

  /** The last one; nothing where none was kept, or not as it was written. */
  async last() {
    await this.settled();
    const json = await this.#storage.read(this.#path());
    try {
      return json ? fromBytes(json) : undefined;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return undefined;
    }
  }
}
