// @ts-check
/** What the last context was made of, kept beside what is derived. */

import { unlessBug } from "../error.js";

/** @import { Storage } from "./contract.js" */

export class ReportWriter {
  /** The newest report that is not kept yet. @type {Uint8Array | undefined} */
  #report;
  /** @type {Promise<void> | undefined} */
  #keeping;

  /** Keeps it. Nobody waits for the disk to have it. @param {{ storage: Storage, path: string }} at @param {Uint8Array} report */
  keep(at, report) {
    this.#report = report;
    this.#keeping ??= this.#keepNewest(at);
  }

  // A report that cannot be kept is no reason to have no context.
  /** @param {{ storage: Storage, path: string }} at */
  async #keepNewest({ storage, path }) {
    for (let bytes; (bytes = this.#report); ) {
      this.#report = undefined;
      await storage.replace(path, bytes).catch(unlessBug);
    }
    this.#keeping = undefined;
  }

  /** Waits for a report that is on its way to the disk. */
  async flush() {
    await this.#keeping;
  }
}
