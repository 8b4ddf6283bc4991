// @ts-check
/** The core's store, made anew after a trap; or the second module's, which is to the core like another process. */

import { userFolder } from "../host/host.node.js";
import { join, sep } from "../host/path.node.js";

import { agents, counterBeside } from "./agents.js";
import { offsetMinutes, randomId } from "./clock.js";
import { callCore, fromBytes, toBytes, coreModule } from "./core.js";
import { LeftoffError } from "../error.js";
import { toJson } from "./json.js";
import { drivePages } from "./drive.js";

/** @import { Live, Store as Native } from "../../pkg/leftoff.js" */
/** @import { OutgoingRedactor } from "../privacy/redaction.js" */
/** @import { SessionPlace } from "../placement/placement.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { CoreFile, Host, CallerFunctions } from "./drive.js" */

/**
 * The parts of a core store.
 * @typedef
 *   {{ home: string, project: string, workspace?: string, idleMs: number, redacts?: boolean, countTokens: boolean, storage: Storage,
 *   storageOf: (root?: string) => Storage, runGit?: Host["runGit"], turn: (path?: string) => Promise<() => void>,
 * tell?: (notices: object[]) => void }} CoreStoreParts
 *   `storage`: the home's; `storageOf`: one that does not leave a folder; `turn`: waits for a folder's turn; `tell`:
 * receives the second
 *   module's notices about sessions
 */

/**
 * Reads the effective settings before a store is opened.
 * @param {Pick<CoreStoreParts, "home" | "project" | "storage" | "storageOf">} parts
 * @returns {Promise<import("../store/open-sessions.js").ReadSettings>}
 */
export function readSettings(parts) {
  const core = new CoreStore({ ...parts, idleMs: 0, countTokens: false, turn: async () => () => {} });
  return core.run("settings").finally(() => core.close());
}

export class CoreStore {
  #module;
  #countTokens;
  #setup;
  #storage;
  #storageOf;
  #tell;
  /** @type {Native} */
  #native = /** @type {any} */ (undefined);
  #free = () => {};
  /**
   * The name of this store's leases, the same for all its handles: so the store closes what a session's own append has
   * opened.
   */
  lease = randomId();
  /** Whether the store was closed. */
  isClosed = false;
  /** The instance of the core that `#native` belongs to. */
  #instance = -1;
  /** @type {Host} */
  #host;

  /** @param {CoreStoreParts} parts @param {typeof coreModule | typeof agents} [module] the module that has the store */
  constructor({ storage, storageOf, runGit, turn, tell, idleMs, countTokens, ...folders }, module = coreModule) {
    this.#tell = tell;
    this.#module = module;
    this.#countTokens = countTokens;
    const most = Number.MAX_SAFE_INTEGER;
    this.#setup = {
      ...folders,
      normalProject: folders.project.normalize("NFC"),
      user: userFolder(),
      separator: sep,
      idleMs: Math.trunc(Math.min(Math.max(idleMs, -most), most)),
    };
    this.#storage = storage;
    this.#storageOf = storageOf;
    this.#host = {
      module,
      at: (file) => this.locate(file),
      runGit,
      turn,
      lease: this.lease,
      log: () => ({ ...this.locate({ root: "outside", path: "" }), opened: 0 }),
    };
  }

  /**
   * Drives one of its operations.
   * @param {string} name
   * @param {(string | object)[]} asked texts, or values for JSON
   * @returns {Promise<any>} its answer
   */
  run(name, ...asked) {
    return this.runWith({}, name, ...asked);
  }

  /** Drives an operation with the caller's functions. @param {{ stores?: boolean, own?: CallerFunctions, outside?: Storage, lease?: string, onPage?: (page: any) => void }} by `stores`: messages, which are counted; `outside`: what has
   * other agents' files, unless that is what has the store's; `lease`: by what a session is open here that the other
   * module has @param {string} name @param {(string | object)[]} asked
   * @returns {Promise<any>} */
  async runWith({ stores = false, own, outside, lease = this.lease, onPage = () => {} }, name, ...asked) {
    this.#rejectIfClosed();
    await this.#module.ready();
    const [native, words] = [this.#ensureNative(), asked.map((one) => (typeof one === "string" ? one : toJson(one)))];
    const pages = drivePages(
      (operations, now, chance) => {
        const at = offsetMinutes(now);
        if (this.#module === coreModule) return operations.beginAt(native, name, words, now, at, chance);
        return operations.beginBeside(
          /** @type {any} */ (native),
          name,
          words,
          counterBeside(stores),
          this.#countTokens,
          now,
          at,
          chance,
        );
      },
      { ...this.#host, own, lease, at: (file) => this.locate(file, outside) },
    );
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) onPage(fromBytes(next.value));
    return this.#answer(next.value);
  }

  /** @param {Uint8Array | undefined} bytes */
  #answer(bytes) {
    const told = fromBytes(/** @type {Uint8Array} */ (bytes));
    if (this.#module === coreModule) return told;
    if (told.notices.length > 0) this.#tell?.(told.notices);
    return told.answer;
  }

  /**
   * Drives a paged operation of the second module, whose pages are redacted.
   * @param {OutgoingRedactor} leaving
   * @param {string} name
   * @param {(string | object)[]} asked texts, and options as the last
   * @returns {AsyncGenerator<any>} the pages, or their items, one after another, and its answer
   */
  async *pages(leaving, name, ...asked) {
    this.#rejectIfClosed();
    await this.#module.ready();
    await leaving.ready();
    const native = /** @type {any} */ (this.#ensureNative());
    const { embed, ...options } = /** @type {any} */ (asked.pop());
    const words = [...asked.map(String), toJson(embed ? { ...options, embeds: true } : options)];
    const pages = drivePages(
      (operations, now, chance) =>
        operations.passBeside(native, leaving.native, name, words, now, offsetMinutes(now), chance),
      { ...this.#host, own: { embed } },
    );
    try {
      let next = await pages.next();
      for (; !next.done; next = await pages.next()) yield* [fromBytes(next.value)].flat();
      return this.#answer(next.value);
    } finally {
      await pages.return(new Uint8Array()); // Also if the caller stops early.
    }
  }

  /**
   * Takes the notices about sessions that were not opened since; each is given once.
   * @returns {{ path: string, notice: import("../types/index.js").Notice }[]}
   */
  notices() {
    return this.#instance === coreModule.instance ? JSON.parse(callCore(() => this.#native.notices())) : [];
  }

  /** Adds the second module's notices. @param {object[]} notices */
  addNotices(notices) {
    const native = this.#ensureNative();
    callCore(() => native.addNotices(toJson(notices)));
  }

  /** Whether the core has a session open, by this handle. @param {Live} handle */
  isOpen(handle) {
    return callCore(() => this.#native.isOpen(handle));
  }

  /**
   * A session handle for one operation of the second module, which reads the session anew.
   * @param {SessionPlace} place
   * @param {string} id
   * @returns {{ handle: import("../../pkg/agents.js").Live, free: () => void }}
   */
  detachedSession({ path, placement }, id) {
    const native = /** @type {import("../../pkg/agents.js").Store} */ (/** @type {unknown} */ (this.#ensureNative()));
    return agents.createHandle(() => native.unopenedSessionAt(path, placement === "workspace", id));
  }

  /**
   * The core's handle of a session, for as long as it is open.
   * @param {SessionPlace} place
   * @param {string} id where it was opened before
   * @returns {{ handle: Live, free: () => void }}
   */
  sessionHandle({ path, placement }, id) {
    const native = this.#ensureNative();
    const { handle, free } = coreModule.createHandle(() => native.sessionFiles(path, placement === "workspace", id));
    const made = this.#instance;
    const forget = () => {
      if (made === coreModule.instance && made === this.#instance) callCore(() => native.forget(handle));
      free();
    };
    return { handle, free: forget };
  }

  /** Closes the open sessions and writes what was found out, if the store was used at all. */
  async end() {
    if (!this.isClosed && this.#instance >= 0) await this.run("close");
  }

  /** Closes the store and frees what the core holds for it. */
  close() {
    this.isClosed = true;
    this.#free();
    this.#instance = -1;
  }

  #rejectIfClosed() {
    if (this.isClosed) throw new LeftoffError({ code: "storage_closed", message: "the store is closed" });
  }

  #ensureNative() {
    const module = /** @type {typeof coreModule} */ (this.#module);
    if (this.#instance !== module.instance) {
      ({ handle: this.#native, free: this.#free } = module.createHandle(
        ({ Store }) => new Store(toBytes(this.#setup)),
      ));
      this.#instance = module.instance;
    }
    return this.#native;
  }

  /** Resolves a file to its storage and path. @param {CoreFile} file @param {Storage} [outside] */
  locate({ root, path }, outside) {
    if (root === "home") return { storage: this.#storage, path: join(this.#setup.home, path), folder: "" };
    if (root === "outside") return { storage: outside ?? this.#storageOf(), path, folder: "" };
    const folder = root === "project" ? this.#setup.project : root.workspace;
    return { storage: this.#storageOf(folder), path: join(folder, path), folder };
  }
}
