// @ts-check
/** The folders of a store where sessions lie, each behind a storage of its own. */

import { join } from "node:path";

import { nowMs, offsetMinutes } from "./clock.js";
import { Moves } from "./moving.js";
import { Home, conversationOf, names } from "./placement.js";

/** @import { Place } from "./placement.js" */
/** @import { Storage } from "./storage/contract.js" */

export class Places {
  #storage;
  #storageAt;
  #workspace;
  /** @type {Map<string | undefined, Storage>} by their roots */
  #storages = new Map();

  /**
   * @param {{ home: string, workspace: string, storage: Storage, storageAt: (root?: string) => Storage }} parts
   *   `storage`: of the home
   */
  constructor({ home, workspace, storage, storageAt }) {
    this.#storage = storage;
    this.#storageAt = storageAt;
    this.#workspace = workspace;
    this.home = new Home({ storage, home });
    this.moves = new Moves({ storage, home, of: (named) => this.of(named) });
  }

  /** A storage that does not leave a folder; or, without one, of all files. @param {string} [root] */
  storageOf(root) {
    const storage = this.#storages.get(root) ?? this.#storageAt(root);
    this.#storages.set(root, storage);
    return storage;
  }

  /** @param {{ path: string, placement: "home" | "workspace" }} one @returns {Place} */
  of({ path, placement }) {
    const storage = placement === "home" ? this.#storage : this.storageOf(conversationOf(path).workspace);
    return { storage, path, placement };
  }

  /** Where a conversation of the workspace has its session. @param {string} name @param {string} [day] today unless given @returns {Place} */
  conversation(name, day = today()) {
    return this.of({ path: join(this.#workspace, names().conversations, day, name, names().sessionFolder), placement: "workspace" });
  }

  /** Lets go of all files; gives what went wrong. */
  async close() {
    return Promise.allSettled([this.#storage, ...this.#storages.values()].map((storage) => storage.close()));
  }
}

// A day is one of local time.
function today() {
  const ms = nowMs();
  return new Date(ms + offsetMinutes(ms) * 60_000).toISOString().slice(0, 10);
}
