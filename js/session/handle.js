// @ts-check
/** The JavaScript side of a session that the core holds; the core's operations keep it in step with its files. */

import { join, relative, sep } from "../host/path.node.js";

import { agents } from "../wasm/agents.js";
import { anyCounter, bytesOf, callCore, fromBytes, lentBytes, textOf, toBytes, coreModule } from "../wasm/core.js";
import { randomId } from "../wasm/clock.js";
import { toJson } from "../wasm/json.js";
import { LazyWriter } from "../storage/lazy-writer.js";
import { LeftoffError } from "../error.js";
import { conversationOf } from "../placement/placement.js";
import { Redaction } from "../privacy/redaction.js";
import { drive, driveAppend, drivePages } from "../wasm/drive.js";

/** @import { Live as Native } from "../../pkg/leftoff.js" */
/** @import { MetadataJson } from "../records.js" */
/** @import { SessionPlace } from "../placement/placement.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Notice } from "../types/index.js" */
/** @import { CoreStore } from "../wasm/store.js" */
/** @import { BeginOperation, CoreFile, Host, CallerFunctions } from "../wasm/drive.js" */

/**
 * Where derived files of sessions lie.
 * @typedef {object} Cache
 * @property {Storage} storage
 * @property {string} folder in the home
 *
 * The store that a session belongs to.
 * @typedef {{ core: CoreStore, agentsStore: CoreStore, placeOf: (found: { path: string, placement: "home" | "workspace" }) => SessionPlace }} StoreLink `agentsStore`: the same store in the second module
 *
 * @typedef {object} SessionParts what a session gets from its store, beside its handle
 * @property {boolean} [countTokens] whether appended messages are counted; true unless given
 * @property {(id: string) => unknown} [ended] is called when a session was stopped or completed
 * @property {(id: string, ...asked: any[]) => AsyncGenerator<any>} [search] searches one session
 * @property {(session: import("./session.js").Session, options: { at?: string }) => Promise<import("./session.js").Session>} [fork] makes a copy of a session
 *
 * @typedef {SessionPlace & { cache: Cache, id?: string, store?: StoreLink, turns?: Turns, redaction?: Redaction }}
 *   SessionHandleParts `id`: where it is known; `store`: the one
 *   that has it open; `turns`: those of its folder; `redaction`: redacts what leaves the session
 */

/** A queue of work on one folder, done one after another. */
export class Turns {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** Runs work once its turn has come. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  inTurn(work) {
    const mine = this.#last.then(work, work);
    this.#last = mine;
    return mine;
  }

  /** Waits for a turn; resolves to the function that ends it. @returns {Promise<() => void>} */
  turn() {
    return new Promise((resolve) => {
      this.inTurn(() => new Promise((leave) => resolve(() => leave(undefined))));
    });
  }
}

export class SessionHandle {
  #cache;
  #store;
  #place;
  #turns;
  /** @type {Notice[]} */
  #notices = [];
  /** How many of the core's notices were taken over. */
  #noticeCount = 0;
  /** The core's open count when the session's place was last asked for. */
  #openCount = 0;
  /** @type {Native} */
  #native = /** @type {any} */ (undefined);
  /** Functions that free what the core holds for this session. @type {(() => void)[]} */
  #releases = [];
  /** Whether the second module has it open. */
  #isRecorded = false;
  /** Whether the core has opened or begun the session. */
  #isOpen = false;
  /** Whether the session was deleted; any further call is refused. */
  isDeleted = false;
  /** The instance of the core that `#native` belongs to. */
  #instance = -1;
  /** @type {MetadataJson} */
  #metadata = Object.create(null);
  #id = "";
  /** @type {Host} */
  #host;
  /** @type {ReturnType<Host["log"]> | undefined} */
  #messages;

  /** @param {SessionHandleParts} parts */
  constructor({ cache, id = "", store, turns = new Turns(), redaction = Redaction.none, storage, path, placement }) {
    this.#cache = cache;
    this.#id = id;
    this.#store = store;
    this.#turns = turns;
    /** @type {SessionPlace} */
    this.#place = { storage, path, placement };
    /** Writes what is derived from contexts: the report of the last one, and frames. */
    this.lazyWriter = new LazyWriter();
    const live = this;
    /**
     * Where messages and blobs lie, for readers; follows the session when it is moved.
     * @type {{ storage: Storage, folder: string }}
     */
    this.source = {
      get storage() {
        return live.#log().storage;
      },
      get folder() {
        return live.place.path;
      },
    };
    /** Redacts what leaves the session. */
    this.redactor = redaction.forSession(this.source);
    this.#host = {
      lease: store?.core.lease ?? randomId(),
      at: (file) => this.#locate(file),
      turn: () => this.turn(),
      keep: (at, bytes) => this.lazyWriter.replace(at, bytes),
      log: () => this.#log(),
      unsure: () => (this.#messages = undefined),
    };
  }

  /** Where the session lies; another place once the core found it moved. @returns {SessionPlace} */
  get place() {
    if (!this.isCurrent) return this.#place;
    const opened = callCore(() => this.#native.openCount);
    if (opened !== this.#openCount) {
      const { shownFolder: path, isInWorkspace } = this.#native;
      if (this.#store && path !== this.#place.path)
        this.#place = this.#store.placeOf({ path, placement: isInWorkspace ? "workspace" : "home" });
      this.#openCount = opened;
    }
    return this.#place;
  }

  /** Notices for whoever opened the session, as far as they are known by now. @returns {Notice[]} */
  get notices() {
    if (!this.isCurrent) return this.#notices;
    /** @type {Notice[]} */
    const all = JSON.parse(callCore(() => this.#native.notices()));
    this.#notices.push(...all.slice(this.#noticeCount));
    this.#noticeCount = all.length;
    return this.#notices;
  }

  /** Takes over the id of a session that the core has begun. */
  attach() {
    this.#id = callCore(() => this.#ensureNative().id);
    this.#isOpen = true;
    return this;
  }

  /**
   * Runs work once its turn has come; until it ends no other work has the session.
   * @template T
   * @param {() => Promise<T>} work
   * @returns {Promise<T>}
   */
  inTurn(work) {
    return this.#turns.inTurn(work);
  }

  /** Waits for the session's turn; resolves to the function that ends it. @returns {Promise<() => void>} */
  async turn() {
    const leave = await this.#turns.turn();
    await this.lazyWriter.flush();
    return leave;
  }

  /**
   * Drives one of the core's operations.
   * @param {string} name
   * @param {string | Uint8Array} [request]
   * @param {{ countTokens?: boolean, own?: CallerFunctions }} [options] `own`: the caller's functions
   * @returns {Promise<any>} its answer
   */
  async run(name, request = "", { countTokens = true, own } = {}) {
    const native = this.#ensureNative();
    const bytes = typeof request === "string" ? bytesOf(request) : request;
    return fromBytes(
      await this.#drive(
        (operations, now, chance) => operations.begin(native, name, bytes, anyCounter(), countTokens, now, chance),
        own,
      ),
    );
  }

  /**
   * Drives an operation that gives pages of items.
   * @param {string} name
   * @param {object} [request]
   * @param {CallerFunctions} [own]
   * @returns {AsyncGenerator<any>} the items, one after another
   */
  async *pages(name, request = {}, own) {
    const native = this.#ensureNative();
    const pages = drivePages(
      (operations, now, chance) => operations.begin(native, name, toBytes(request), anyCounter(), true, now, chance),
      { ...this.#host, own },
    );
    for await (const page of pages) yield* fromBytes(page);
  }

  /** The session as one text. @param {object} request */
  async exportText(request) {
    let text = "";
    for await (const page of this.#pagesInAgents("export", toJson(request))) text += textOf(page);
    return text;
  }

  /**
   * Runs an operation of the second module that answers at once.
   * @param {"examine" | "sentContext"} name
   * @param {string} [request]
   */
  async runInAgents(name, request = "") {
    const { value } = await this.#pagesInAgents(name, request).next();
    return fromBytes(/** @type {Uint8Array} */ (value));
  }

  /**
   * Drives an operation of the second module, which reads the session anew.
   * @param {string} name
   * @param {string} request
   */
  async *#pagesInAgents(name, request) {
    this.rejectIfDeleted();
    await agents.ready();
    await this.redactor.ready();
    const { handle, free } =
      this.#store?.agentsStore.detachedSession(this.place, this.#id) ??
      agents.createHandle(({ Live: Made }) => new Made(...this.#nativeArguments(), this.#id));
    try {
      const { native } = this.redactor;
      return yield* drivePages(
        (operations, now, chance) => operations.beginOutgoing(handle, native, name, bytesOf(request), now, chance),
        { ...this.#host, module: agents, own: { out: (json) => this.redactor.redactBytes(json) } },
      );
    } finally {
      free();
    }
  }

  /**
   * Records a message in the second module, as in another process.
   * @param {{ from: string, message: object }} asked
   * @returns {Promise<number>}
   */
  recordMessage(asked) {
    this.rejectIfDeleted();
    const store = this.#store;
    if (!store)
      throw new LeftoffError({ code: "invalid_request", message: "expected a session of a store to record in" });
    this.#isRecorded = true;
    return this.inTurn(() =>
      store.agentsStore.runWith({ stores: true, lease: store.core.lease }, "recordMessage", this.#id, asked),
    );
  }

  /** Closes the session in the second module, if messages were recorded there. */
  async closeRecording() {
    const store = this.#store;
    if (!store || !this.#isRecorded) return;
    this.#isRecorded = false;
    await store.agentsStore.runWith({ lease: store.core.lease }, "closeRecording", this.#id);
  }

  /**
   * Appends messages as one batch.
   * @param {string} drafts JSON
   * @param {{ format?: string, once?: string, durable: boolean, revives: boolean, countTokens: boolean }} how no
   *   `format`: the drafts were read from a log; an empty one: it is detected; `once`: the append conditions, JSON
   * @returns {Promise<Uint8Array>} their lines
   */
  append(drafts, { format, once, durable, revives, countTokens }) {
    const native = this.#ensureNative();
    return driveAppend(
      (operations, { opened }, seen, now, chance) =>
        operations.append(
          native,
          lentBytes(drafts),
          format,
          once,
          durable,
          revives,
          anyCounter(),
          countTokens,
          opened,
          seen,
          now,
          chance,
        ),
      this.#host,
    );
  }

  /** Whether the last append got as far as staging its messages; true where the core is gone and nobody can say. */
  get wasStaged() {
    return !this.isCurrent || callCore(() => this.#native.wasStaged);
  }

  /** Reads what others wrote since the last look. */
  async refresh() {
    await this.inTurn(() => this.run("look"));
    await this.redactor.prepare();
  }

  /** Frees all that is held for the session: for many sessions that is much memory. */
  release() {
    this.#releaseNative();
    this.redactor.free();
  }

  #releaseNative() {
    for (const free of this.#releases.splice(0)) free();
    this.#instance = -1;
    this.#isOpen = false;
  }

  /** Frees the core's part, and keeps metadata, place and notices as they were last: they can still be asked for. */
  close() {
    this.#metadata = this.metadata;
    [this.#place, this.#notices] = [this.place, this.notices];
    this.#releaseNative();
  }

  /** Closes the handle of a session that was moved or deleted. @param {boolean} isDeleted */
  retire(isDeleted) {
    this.close();
    this.isDeleted = isDeleted;
  }

  /** Whether the core has the session open, or would reopen it after a trap. */
  get isOpen() {
    return !this.isCurrent || (this.#store?.core.isOpen(this.#native) ?? true);
  }

  /** Whether its store was closed, and the session with it. */
  get isStoreClosed() {
    return this.#store?.core.isClosed ?? false;
  }

  /** Makes the core's part anew after a trap. */
  revive() {
    if (!this.isDeleted) this.#ensureNative();
  }

  /** Whether `#native` belongs to the running instance of the core. */
  get isCurrent() {
    return this.#instance === coreModule.instance;
  }

  get #hasOpened() {
    if (!this.isCurrent) return false;
    this.#isOpen ||= callCore(() => this.#native.openCount) > 0;
    return this.#isOpen;
  }

  /** Begins a session of which nothing is on disk yet. @param {Record<string, unknown> & { id: string }} created */
  async begin(created) {
    await this.run("begin", toJson(created));
    this.#id = created.id;
    this.#isOpen = true;
  }

  /** Opens the session: reads what came after its checkpoint, or all. */
  async open() {
    this.#id = await this.run("open");
    this.#isOpen = true;
  }

  /** The session's id; empty until it was opened or begun. Known also while the core is gone. */
  get id() {
    return this.#id;
  }

  /** `metadata.json`; after `close`, as it was then. @returns {MetadataJson} */
  get metadata() {
    if (this.#hasOpened) this.#metadata = fromBytes(callCore(() => this.#native.metadata()));
    return this.#metadata;
  }

  /** Whether nothing was recorded in the session yet. */
  get isEmpty() {
    return callCore(() => this.#ensureNative().isEmpty);
  }

  rejectIfDeleted() {
    if (this.isDeleted) throw movedError(this.place.path);
  }

  /**
   * The arguments that name the session; refused after deletion, since another session may lie there by now.
   * @returns {[path: string, placement: "home" | "workspace", id: string]}
   */
  get location() {
    this.rejectIfDeleted();
    const { path, placement } = this.place;
    return [path, placement, this.#id];
  }

  #ensureNative() {
    this.rejectIfDeleted();
    if (this.isCurrent) return this.#native;
    this.#releaseNative();
    const { handle, free } =
      this.#store?.core.sessionHandle(this.#place, this.#id) ??
      coreModule.createHandle((core) => new core.Live(...this.#nativeArguments(), this.#id));
    this.#releases.push(free);
    this.#native = handle;
    this.#instance = coreModule.instance;
    this.#openCount = this.#noticeCount = 0;
    this.#messages = undefined;
    return handle;
  }

  /** @param {BeginOperation} begin @param {CallerFunctions} [own] */
  #drive(begin, own) {
    return drive(begin, own ? { ...this.#host, own } : this.#host);
  }

  get #home() {
    return join(this.#cache.folder, "..");
  }

  /** Where its messages lie; looked up again once the log was not as the core knew it. */
  #log() {
    if (this.#messages) return this.#messages;
    const { storage, path: folder } = this.place;
    // One string for all appends to a path: with a new one each time the system's calls take longer.
    return (this.#messages = { storage, folder, path: `${folder}/messages.jsonl`, opened: this.#openCount });
  }

  /** @param {CoreFile} file */
  #locate({ root, path }) {
    if (this.#store) return this.#store.core.locate({ root, path });
    if (typeof root === "object") return { storage: this.place.storage, path: join(root.workspace, path) };
    return { storage: this.#cache.storage, path: join(this.#home, path) };
  }

  /**
   * The session's folder as the core names it, and the cache folder.
   * @returns {[workspace: string | undefined, path: string, shown: string, cache: string]}
   */
  #nativeArguments() {
    const { path, placement } = this.#place;
    const workspace = placement === "home" ? undefined : conversationOf(path).workspace;
    return [workspace, pathBelow(workspace ?? this.#home, path), path, pathBelow(this.#home, this.#cache.folder)];
  }
}

/** @param {string} folder @param {string} path */
function pathBelow(folder, path) {
  return relative(folder, path).split(sep).join("/");
}

/** The error for a session that no longer lies where it lay. @param {string} folder @param {unknown} [cause] */
export function movedError(folder, cause) {
  return new LeftoffError({
    code: "not_found",
    message: `the session in "${folder}" was moved or deleted meanwhile`,
    cause,
  });
}
