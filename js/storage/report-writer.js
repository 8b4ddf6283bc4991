// @ts-check
/** Writes the report of the last context beside the derived files. */

import { unlessBug } from "../error.js";

/** @import { Storage } from "./contract.js" */

export class ReportWriter {
  /** The newest report, not written yet. @type {Uint8Array | undefined} */
  #report;
  /** @type {Promise<void> | undefined} */
  #keeping;

  /**
   * Writes a report; nobody waits for the disk.
   * @param {{ storage: Storage, path: string }} at
   * @param {Uint8Array} report
   */
  keep(at, report) {
    this.#report = report;
    this.#keeping ??= this.#keepNewest(at);
  }

  // A report that cannot be written must not fail the context.
  /** @param {{ storage: Storage, path: string }} at */
  async #keepNewest({ storage, path }) {
    for (let bytes; (bytes = this.#report);) {
      this.#report = undefined;
      await storage.replace(path, bytes).catch(unlessBug);
    }
    this.#keeping = undefined;
  }

  /** Waits for a report that is being written. */
  async flush() {
    await this.#keeping;
  }
}
