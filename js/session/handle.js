// @ts-check
/** A session as the core has it, kept in step with its files by the core's operations. */

import { join, relative, sep } from "../host/path.node.js";

import { agents } from "../wasm/agents.js";
import { anyCounter, bytesOf, callCore, fromBytes, lentBytes, textOf, toBytes, coreModule } from "../wasm/core.js";
import { randomId } from "../wasm/clock.js";
import { toJson } from "../wasm/json.js";
import { ReportWriter } from "../storage/report-writer.js";
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
 * Where derived things of sessions lie.
 * @typedef {object} Cache
 * @property {Storage} storage
 * @property {string} folder in the home
 *
 * What a session is of.
 * @typedef {{ core: CoreStore, agentsStore: CoreStore, placeOf: (found: { path: string, placement: "home" | "workspace" }) => SessionPlace }} StoreLink `agentsStore`: the same store in the second module
 *
 * @typedef {object} SessionParts what a session has of its store, beside its handle
 * @property {boolean} [countTokens] whether appended messages are counted; true unless given
 * @property {(id: string) => unknown} [ended] is told of one that was stopped or completed
 * @property {(id: string, ...asked: any[]) => AsyncGenerator<any>} [search] in one
 * @property {(session: import("./session.js").Session, options: { at?: string }) => Promise<import("./session.js").Session>} [fork] a copy of one
 *
 * @typedef {SessionPlace & { cache: Cache, id?: string, store?: StoreLink, turns?: Turns, redaction?: Redaction }} SessionHandleParts `id`: where it is known; `store`: that has it
 *   open; `turns`: those of its folder; `redaction`: what leaves goes through it
 */

/** What is done one after another. */
export class Turns {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** Does something once its turn has come. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  inTurn(work) {
    const mine = this.#last.then(work, work);
    this.#last = mine;
    return mine;
  }

  /** Resolves to what ends the turn, once it has come. @returns {Promise<() => void>} */
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
  /** How many of these the core has told. */
  #noticeCount = 0;
  /** How often it was opened when its place was asked for last. */
  #openCount = 0;
  /** @type {Native} */
  #native = /** @type {any} */ (undefined);
  /** What frees what the core holds for it. @type {(() => void)[]} */
  #releases = [];
  /** It was opened there, or begun. */
  #isOpen = false;
  /** It was deleted: whoever asks more of it is refused. */
  isDeleted = false;
  /** The instance of the core that those are of. */
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
    /** What the last context was made of. */
    this.report = new ReportWriter();
    const live = this;
    /** For who reads: where its messages and their blobs are, as long as the session lives. @type {{ storage: Storage, folder: string }} */
    this.source = { get storage() { return live.#log().storage; }, get folder() { return live.place.path; } };
    /** What leaves of it. */
    this.redactor = redaction.forSession(this.source);
    this.#host = { lease: store?.core.lease ?? randomId(), at: (file) => this.#locate(file), turn: () => this.turn(), keep: (at, bytes) => this.report.keep(at, bytes), log: () => this.#log(), unsure: () => (this.#messages = undefined) };
  }

  /** Where it lies; elsewhere, once it was found there. @returns {SessionPlace} */
  get place() {
    if (!this.isCurrent) return this.#place;
    const opened = callCore(() => this.#native.openCount);
    if (opened !== this.#openCount) {
      const { shownFolder: path, isInWorkspace } = this.#native;
      if (this.#store && path !== this.#place.path) this.#place = this.#store.placeOf({ path, placement: isInWorkspace ? "workspace" : "home" });
      this.#openCount = opened;
    }
    return this.#place;
  }

  /** What whoever opened it should hear, as far as it is known by now. @returns {Notice[]} */
  get notices() {
    if (!this.isCurrent) return this.#notices;
    /** @type {Notice[]} */
    const all = JSON.parse(callCore(() => this.#native.notices()));
    this.#notices.push(...all.slice(this.#noticeCount));
    this.#noticeCount = all.length;
    return this.#notices;
  }

  /** One that the core has begun says at once who it is. */
  attach() {
    this.#id = callCore(() => this.#ensureNative().id);
    this.#isOpen = true;
    return this;
  }

  /** Does something once its turn has come: the session is its alone until then. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  inTurn(work) { return this.#turns.inTurn(work); }

  /** Resolves to what ends the turn, once it has come. @returns {Promise<() => void>} */
  async turn() {
    const leave = await this.#turns.turn();
    await this.report.flush();
    return leave;
  }

  /** Drives one of the core's operations. @param {string} name @param {string | Uint8Array} [request] @param {{ countTokens?: boolean, own?: CallerFunctions }} [options] `own`: what the caller does for it @returns {Promise<any>} its answer */
  async run(name, request = "", { countTokens = true, own } = {}) {
    const native = this.#ensureNative();
    const bytes = typeof request === "string" ? bytesOf(request) : request;
    return fromBytes(await this.#drive((operations, now, chance) => operations.begin(native, name, bytes, anyCounter(), countTokens, now, chance), own));
  }

  /** Drives one that gives pages of items. @param {string} name @param {object} [request] @param {CallerFunctions} [own] @returns {AsyncGenerator<any>} the items, one after another */
  async *pages(name, request = {}, own) {
    const native = this.#ensureNative();
    const pages = drivePages((operations, now, chance) => operations.begin(native, name, toBytes(request), anyCounter(), true, now, chance), { ...this.#host, own });
    for await (const page of pages) yield* fromBytes(page);
  }

  /** The session as one text. @param {object} request */
  async exportText(request) {
    let text = "";
    for await (const page of this.#pagesInAgents("export", toJson(request))) text += textOf(page);
    return text;
  }

  /** What one of the second module says of it. @param {"examine" | "sentContext"} name @param {string} [request] */
  async runInAgents(name, request = "") {
    const { value } = await this.#pagesInAgents(name, request).next();
    return fromBytes(/** @type {Uint8Array} */ (value));
  }

  /** Drives an operation of the second module, which reads the session anew. @param {string} name @param {string} request */
  async *#pagesInAgents(name, request) {
    this.rejectIfDeleted();
    await agents.ready();
    await this.redactor.ready();
    const { handle, free } = this.#store?.agentsStore.detachedSession(this.place, this.#id) ?? agents.createHandle(({ Live: Made }) => new Made(...this.#nativeArguments(), this.#id));
    try {
      const { native } = this.redactor;
      return yield* drivePages((operations, now, chance) => operations.beginOutgoing(handle, native, name, bytesOf(request), now, chance), { ...this.#host, module: agents, own: { out: (json) => this.redactor.redactBytes(json) } });
    } finally {
      free();
    }
  }

  /**
   * Appends messages as one batch.
   * @param {string} drafts JSON @param {{ format?: string, once?: string, durable: boolean, revives: boolean, countTokens: boolean }} how without a
   *   format they were read from a log, and with an empty one they tell it; `once`: under which conditions they count, JSON
   * @returns {Promise<Uint8Array>} their lines
   */
  append(drafts, { format, once, durable, revives, countTokens }) {
    const native = this.#ensureNative();
    return driveAppend((operations, { opened }, seen, now, chance) => operations.append(native, lentBytes(drafts), format, once, durable, revives, anyCounter(), countTokens, opened, seen, now, chance), this.#host);
  }

  /** Whether the last append came as far as to stage its messages; where nobody can say, it did. */
  get wasStaged() { return !this.isCurrent || callCore(() => this.#native.wasStaged); }

  /** Takes in what others wrote since the last look. */
  async refresh() {
    await this.inTurn(() => this.run("look"));
    await this.redactor.prepare();
  }

  /** Forgets all that is known of it: of many sessions that is much. */
  release() {
    this.#releaseNative();
    this.redactor.free();
  }

  #releaseNative() {
    for (const free of this.#releases.splice(0)) free();
    this.#instance = -1;
    this.#isOpen = false;
  }

  /** The same of one that was used: what was known of it last can still be asked. */
  close() {
    this.#metadata = this.metadata;
    [this.#place, this.#notices] = [this.place, this.notices];
    this.#releaseNative();
  }

  /** It is open no longer, since it was moved, or deleted. @param {boolean} isDeleted */
  retire(isDeleted) {
    this.close();
    this.isDeleted = isDeleted;
  }

  /** The core has it open; or would have it again, where it is gone there. */
  get isOpen() { return !this.isCurrent || (this.#store?.core.isOpen(this.#native) ?? true); }

  /** Its store was closed, and it with that. */
  get isStoreClosed() { return this.#store?.core.isClosed ?? false; }

  /** It is the one that the core has, or has again, where that is gone there. */
  revive() { if (!this.isDeleted) this.#ensureNative(); }

  /** What is known of it is of the core that is at work. */
  get isCurrent() { return this.#instance === coreModule.instance; }

  get #hasOpened() {
    if (!this.isCurrent) return false;
    this.#isOpen ||= callCore(() => this.#native.openCount) > 0;
    return this.#isOpen;
  }

  /** Begins it, of which nothing is on disk yet. @param {Record<string, unknown> & { id: string }} created */
  async begin(created) {
    await this.run("begin", toJson(created));
    this.#id = created.id;
    this.#isOpen = true;
  }

  /** Reads what came after its checkpoint, or all. */
  async open() {
    this.#id = await this.run("open");
    this.#isOpen = true;
  }

  /** Its id; empty until it was opened or begun. Also while the core is gone. */
  get id() { return this.#id; }

  /** `metadata.json`; of one that was let go, as it was before. @returns {MetadataJson} */
  get metadata() {
    if (this.#hasOpened) this.#metadata = fromBytes(callCore(() => this.#native.metadata()));
    return this.#metadata;
  }

  /** Nobody said anything of it yet. */
  get isEmpty() { return callCore(() => this.#ensureNative().isEmpty); }

  rejectIfDeleted() { if (this.isDeleted) throw movedError(this.place.path); }

  /** Where it lies, unless it was deleted: what lies there by now may be another one. @returns {[path: string, placement: "home" | "workspace", id: string]} */
  get location() {
    this.rejectIfDeleted();
    const { path, placement } = this.place;
    return [path, placement, this.#id];
  }

  #ensureNative() {
    this.rejectIfDeleted();
    if (this.isCurrent) return this.#native;
    this.#releaseNative();
    const { handle, free } = this.#store?.core.sessionHandle(this.#place, this.#id) ?? coreModule.createHandle((core) => new core.Live(...this.#nativeArguments(), this.#id));
    this.#releases.push(free);
    this.#native = handle;
    this.#instance = coreModule.instance;
    this.#openCount = this.#noticeCount = 0;
    this.#messages = undefined;
    return handle;
  }

  /** @param {BeginOperation} begin @param {CallerFunctions} [own] */
  #drive(begin, own) { return drive(begin, own ? { ...this.#host, own } : this.#host); }

  get #home() { return join(this.#cache.folder, ".."); }

  /** Where its messages are: asked for again once they were not as the core knew them. */
  #log() {
    if (this.#messages) return this.#messages;
    const { storage, path: folder } = this.place;
    // One text of a path, however often it is appended to: the system's calls take a new one longer.
    return (this.#messages = { storage, folder, path: `${folder}/messages.jsonl`, opened: this.#openCount });
  }

  /** @param {CoreFile} file */
  #locate({ root, path }) {
    if (this.#store) return this.#store.core.locate({ root, path });
    if (typeof root === "object") return { storage: this.place.storage, path: join(root.workspace, path) };
    return { storage: this.#cache.storage, path: join(this.#home, path) };
  }

  /** Where it lies, as the core calls it, and where derived things do. @returns {[workspace: string | undefined, path: string, shown: string, cache: string]} */
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

/** What is said where a session does not lie where it lay. @param {string} folder @param {unknown} [cause] */
export function movedError(folder, cause) {
  return new LeftoffError({ code: "not_found", message: `the session in "${folder}" was moved or deleted meanwhile`, cause });
}
