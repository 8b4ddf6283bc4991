// @ts-check
/** The roots of a store where sessions lie, each with a storage of its own. */

import { conversationOf } from "./placement.js";

/** @import { SessionPlace } from "./placement.js" */
/** @import { Storage } from "../storage/contract.js" */

export class Places {
  #storage;
  #storageAt;
  /** @type {Map<string | undefined, Storage>} by their roots */
  #storages = new Map();

  /** @param {{ storage: Storage, storageAt: (root?: string) => Storage }} parts `storage`: of the home */
  constructor({ storage, storageAt }) {
    this.#storage = storage;
    this.#storageAt = storageAt;
  }

  /** A storage that does not leave its root; or, without one, a storage of all files. @param {string} [root] */
  storageOf(root) {
    const storage = this.#storages.get(root) ?? this.#storageAt(root);
    this.#storages.set(root, storage);
    return storage;
  }

  /** @param {{ path: string, placement: "home" | "workspace" }} one @returns {SessionPlace} */
  placeOf({ path, placement }) {
    const storage = placement === "home" ? this.#storage : this.storageOf(conversationOf(path).workspace);
    return { storage, path, placement };
  }

  /** Closes all storages; answers what went wrong. */
  async close() {
    return Promise.allSettled([this.#storage, ...this.#storages.values()].map((storage) => storage.close()));
  }
}
