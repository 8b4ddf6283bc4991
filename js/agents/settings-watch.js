// @ts-check
/** Opens a store for a process that runs for long: anew once its settings were changed. */

import { join } from "node:path";

import { homeOf, markOf } from "../cli/hooks/queue.js";
import { openStore } from "../index.js";

/** @import { Store } from "../store/store.js" */
/** @typedef {{ project: string, home?: string, redact?: any }} StoreOptions */

export class StoreOpener {
  #options;
  #marks = "";
  /** @type {Promise<Store> | undefined} */
  #opening;
  /** Those that were opened: work in one goes on there. @type {Promise<Store>[]} */
  #opened = [];

  /** @param {StoreOptions} options as `openStore` takes them */
  constructor(options) {
    this.#options = options;
  }

  /** The store, by the settings of now. */
  open() {
    const { project, home } = this.#options;
    const files = [join(homeOf(home), "settings.json"), join(project, ".leftoff", "settings.json")];
    const marks = files.map(markOf).join(" ");
    if (!this.#opening || marks !== this.#marks) {
      const opening = openStore(this.#options);
      this.#marks = marks;
      this.#opening = opening;
      this.#opened.push(opening);
      // The next one tries again.
      opening.catch(() => this.#opening === opening && (this.#opening = undefined));
    }
    return this.#opening;
  }

  /** Closes all that was opened. */
  async close() {
    const opened = await Promise.allSettled(this.#opened);
    const closed = await Promise.allSettled(
      opened.map((one) => (one.status === "fulfilled" ? one.value.close() : undefined)),
    );
    for (const one of closed) if (one.status === "rejected") throw one.reason;
  }
}
