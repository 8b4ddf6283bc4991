// @ts-check
/** A store as the core has it, made anew where the core was. */

import { homedir } from "node:os";
import { join, sep } from "node:path";

import { offsetMinutes, randomId } from "./clock.js";
import { called, fromBytes, instance, lent, toBytes } from "./core.js";
import { LeftoffError } from "../error.js";
import { toJson } from "./json.js";
import { drive } from "./drive.js";

/** @import { Live, Store as Native } from "../../pkg/leftoff.js" */
/** @import { Place } from "../placement/placement.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Notice } from "../types/index.js" */
/** @import { CoreFile, Host } from "./drive.js" */

export class CoreStore {
  #setup;
  #storage;
  #storageOf;
  #tell;
  /** @type {Native} */
  #native = /** @type {any} */ (undefined);
  #free = () => {};
  /** Nothing is asked of it any more. */
  isClosed = false;
  /** The instance of the core that it is of. */
  #instance = -1;
  /** @type {Host} */
  #host;

  /**
   * @param {{ home: string, project: string, workspace?: string, idleMs: number, storage: Storage, storageOf: (root?: string) => Storage,
   *   turn: (path?: string) => Promise<() => void>, tell: (notices: { path: string, notice: Notice }[]) => void }} parts `storage`: of the home; `storageOf`: one that does not leave a folder;
   *   `turn`: resolves to what ends the turn of the session of a folder; `tell`: is told what was found out about sessions
   */
  constructor({ storage, storageOf, turn, tell, idleMs, ...folders }) {
    this.#tell = tell;
    const most = Number.MAX_SAFE_INTEGER;
    this.#setup = { ...folders, normalProject: folders.project.normalize("NFC"), user: homedir(), separator: sep, idleMs: Math.trunc(Math.min(Math.max(idleMs, -most), most)) };
    this.#storage = storage;
    this.#storageOf = storageOf;
    const none = async () => undefined;
    this.#host = { at: (file) => this.#at(file), find: none, turn, lease: randomId(), log: () => this.#at({ root: "outside", path: "" }) };
  }

  /** Drives one of the core's operations. @param {string} name @param {(string | object)[]} asked each as a text, or as JSON @returns {Promise<any>} its answer */
  async run(name, ...asked) {
    if (this.isClosed) throw new LeftoffError({ code: "storage_closed", message: "expected a store that is open, but found that it was closed" });
    const [native, words] = [this.#made(), asked.map((one) => (typeof one === "string" ? one : toJson(one)))];
    const { answer, notices } = fromBytes(await drive((operations, now, chance) => operations.beginAt(native, name, words, now, offsetMinutes(now), chance), this.#host));
    if (notices) this.#tell(notices);
    return answer;
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

  /** Gives back what the core has of it; nothing is asked of it any more. */
  close() {
    this.isClosed = true;
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
