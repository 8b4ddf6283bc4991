// @ts-check
/** A store as the core has it, made anew where the core was. */

import { homedir } from "node:os";
import { join, sep } from "node:path";

import { offsetMinutes } from "../clock.js";
import { called, fromBytes, instance, lent, toBytes } from "../core.js";
import { drive } from "./drive.js";

/** @import { Live, Store as Native } from "../../pkg/leftoff.js" */
/** @import { Place } from "../placement.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { CoreFile, Host } from "./drive.js" */

export class CoreStore {
  #setup;
  #storage;
  #storageOf;
  /** @type {Native} */
  #native = /** @type {any} */ (undefined);
  #free = () => {};
  /** The instance of the core that it is of. */
  #instance = -1;
  /** @type {Host} */
  #host;

  /**
   * @param {{ home: string, project: string, workspace?: string, idleMs: number, storage: Storage, storageOf: (root?: string) => Storage }} parts
   *   `storage`: of the home; `storageOf`: one that does not leave a folder
   */
  constructor({ storage, storageOf, idleMs, ...folders }) {
    const most = Number.MAX_SAFE_INTEGER;
    this.#setup = { ...folders, normalProject: folders.project.normalize("NFC"), user: homedir(), separator: sep, idleMs: Math.trunc(Math.min(Math.max(idleMs, -most), most)) };
    this.#storage = storage;
    this.#storageOf = storageOf;
    const none = async () => undefined;
    this.#host = { at: (file) => this.#at(file), find: none, turn: async () => () => {}, log: () => this.#at({ root: "outside", path: "" }) };
  }

  /** Drives one of the core's operations. @param {string} name @param {object} [request] @returns {Promise<any>} its answer */
  async run(name, request = {}) {
    const [native, bytes] = [this.#made(), toBytes(request)];
    return fromBytes(await drive((operations, now, chance) => operations.beginAt(native, name, bytes, now, offsetMinutes(now), chance), this.#host));
  }

  /** The core's own of a session that is open, for as long as it is. @param {Place} place @param {string} id where it was opened before @returns {{ handle: Live, free: () => void }} */
  live({ path, placement }, id) {
    const native = this.#made();
    const { handle, free } = lent(() => native.live(path, placement === "workspace", id));
    const made = this.#instance;
    const forget = () => {
      if (made === instance()) called(() => native.forget(handle));
      free();
    };
    return { handle, free: forget };
  }

  /** Gives back what the core has of it. */
  close() {
    this.#free();
    this.#instance = -1;
  }

  #made() {
    if (this.#instance !== instance()) {
      ({ handle: this.#native, free: this.#free } = lent((core) => new core.Store(toBytes(this.#setup))));
      this.#instance = instance();
    }
    return this.#native;
  }

  /** @param {CoreFile} file */
  #at({ root, path }) {
    if (root === "home") return { storage: this.#storage, path: join(this.#setup.home, path), folder: "" };
    if (root === "outside") return { storage: this.#storageOf(), path, folder: "" };
    const folder = root === "project" ? this.#setup.project : root.workspace;
    return { storage: this.#storageOf(folder), path: join(folder, path), folder };
  }
}
