// @ts-check
/** A session as the core has it, kept in step with its files by the core's operations. */

import { join, relative, sep } from "../host/path.node.js";

import { agents } from "../wasm/agents.js";
import { anyCounter, bytesOf, called, fromBytes, lentBytes, textOf, toBytes, whole } from "../wasm/core.js";
import { randomId } from "../wasm/clock.js";
import { toJson } from "../wasm/json.js";
import { KeptReport } from "../storage/kept-report.js";
import { LeftoffError } from "../error.js";
import { conversationOf } from "../placement/placement.js";
import { drive, driveAppend, drivePages } from "../wasm/drive.js";

/** @import { Live as Native } from "../../pkg/leftoff.js" */
/** @import { MetadataJson } from "../records.js" */
/** @import { Place } from "../placement/placement.js" */
/** @import { Leaving } from "../privacy/redaction.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Begin, CoreFile, Host, Own } from "../wasm/drive.js" */

/**
 * Where derived things of sessions lie.
 * @typedef {object} Cache
 * @property {Storage} storage
 * @property {string} folder in the home
 *
 * @typedef {(place: Place, id: string) => { handle: Native, free: () => void }} Lend
 */

export class Live {
  #cache;
  #find;
  #lend;
  /** @type {Native} */
  #native = /** @type {any} */ (undefined);
  /** What frees what the core holds for it. @type {(() => void)[]} */
  #held = [];
  /** It was opened there, or begun. */
  #isOpen = false;
  /** It was deleted: whoever asks more of it is refused. */
  isDeleted = false;
  /** The instance of the core that those are of. */
  #instance = -1;
  /** @type {MetadataJson} */
  #metadata = Object.create(null);
  #id = "";
  /** @type {Promise<unknown>} */
  #queue = Promise.resolve();
  /** @type {Host} */
  #host;

  /**
   * @param {Place & { cache: Cache, id?: string, find?: (id: string) => Promise<Place | undefined>, lend?: Lend }} parts `id`: where it is known; `find`:
   *   where a session lies now; `lend`: where a store has it open, the core's own of it
   */
  constructor({ cache, id = "", find = async () => undefined, lend, ...place }) {
    const { storage, path: folder } = place;
    this.#cache = cache;
    this.#id = id;
    this.#find = find;
    this.#lend = lend;
    this.place = place;
    /** What the last context was made of. */
    this.report = new KeptReport();
    /** For who reads: where its messages and their blobs are, as long as the session lives. `path`: of the messages, one text however often they are appended to. @type {{ storage: Storage, folder: string, path: string }} */
    this.from = { storage, folder, path: `${folder}/messages.jsonl` };
    this.#host = { lease: randomId(), at: (file) => this.#at(file), find: (id) => this.#found(id), turn: () => this.turn(), keep: (at, bytes) => this.report.keep(at, bytes), log: () => this.from };
  }

  /** One that the core has begun says at once who it is. */
  begun() {
    this.#id = called(() => this.#made().id);
    this.#isOpen = true;
    return this;
  }

  /** Does something once its turn has come: the session is its alone until then. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  inTurn(work) {
    const mine = this.#queue.then(work, work);
    this.#queue = mine;
    return mine;
  }

  /** Resolves to what ends the turn, once it has come. @returns {Promise<() => void>} */
  turn() {
    return new Promise((resolve) => {
      this.inTurn(async () => {
        await this.report.settled();
        await new Promise((leave) => resolve(() => leave(undefined)));
      });
    });
  }

  /** Drives one of the core's operations. @param {string} name @param {string | Uint8Array} [request] @param {{ countTokens?: boolean, own?: Own }} [options] `own`: what the caller does for it @returns {Promise<any>} its answer */
  async run(name, request = "", { countTokens = true, own } = {}) {
    const native = this.#made();
    const bytes = typeof request === "string" ? bytesOf(request) : request;
    return fromBytes(await this.#driven((operations, now, chance) => operations.begin(native, name, bytes, anyCounter(), countTokens, now, chance), own));
  }

  /** Drives one that gives pages of items. @param {string} name @param {object} [request] @param {Own} [own] @returns {AsyncGenerator<any>} the items, one after another */
  async *pages(name, request = {}, own) {
    const native = this.#made();
    const pages = drivePages((operations, now, chance) => operations.begin(native, name, toBytes(request), anyCounter(), true, now, chance), { ...this.#host, own });
    for await (const page of pages) yield* fromBytes(page);
  }

  /** The session as one text. @param {object} request @param {Leaving} leaving */
  async exported(request, leaving) {
    let text = "";
    for await (const page of this.#passed("export", toJson(request), leaving)) text += textOf(page);
    return text;
  }

  /** What is wrong with it. @param {Leaving} leaving */
  async examined(leaving) {
    return this.#told("examine", "", leaving);
  }

  /** What the last context was made of, and its messages, built again. @param {Leaving} leaving */
  sentContext(leaving) {
    return this.#told("sentContext", String(leaving.isOn), leaving);
  }

  /** Drives one that gives no pages. @param {string} name @param {string} request @param {Leaving} leaving */
  async #told(name, request, leaving) {
    const { value } = await this.#passed(name, request, leaving).next();
    return fromBytes(/** @type {Uint8Array} */ (value));
  }

  /** Drives an operation of the second module, which reads the session anew. @param {string} name @param {string} request @param {Leaving} leaving */
  async *#passed(name, request, leaving) {
    this.refuseIfDeleted();
    await agents.ready();
    await leaving.ready();
    const { workspace, path, shown } = foundAt(this.place, this.#home);
    const { handle, free } = agents.lent(({ Live: Made }) => new Made(workspace, path, shown, below(this.#home, this.#cache.folder), this.#id));
    try {
      const native = leaving.native;
      return yield* drivePages((operations, now, chance) => operations.pass(handle, native, name, bytesOf(request), now, chance), { ...this.#host, module: agents, own: { out: (json) => leaving.outBytes(json) } });
    } finally {
      free();
    }
  }

  /**
   * Appends messages as one batch.
   * @param {string} drafts JSON @param {{ format?: string, once?: string, durable: boolean, revives: boolean, countTokens: boolean }} how without a
   *   format they were read from a log; `once`: under which conditions they count, JSON
   * @returns {Promise<Uint8Array>} their lines
   */
  append(drafts, { format, once, durable, revives, countTokens }) {
    const native = this.#made();
    return driveAppend((operations, seen, now, chance) => operations.append(native, lentBytes(drafts), format, once, durable, revives, anyCounter(), countTokens, seen, now, chance), this.#host);
  }

  /** Whether the last append came as far as to stage its messages; where nobody can say, it did. */
  get wasStaged() { return !this.isLive || called(() => this.#native.wasStaged); }

  /** Gives back what the core knows of it: of many sessions that is much. */
  letGo() {
    for (const free of this.#held.splice(0)) free();
    this.#instance = -1;
    this.#isOpen = false;
  }

  /** The same of one that was used: what was known of it last can still be asked. */
  close() {
    this.#metadata = this.metadata;
    this.letGo();
  }

  /** What is known of it is of the core that is at work. */
  get isLive() { return this.#instance === whole.instance; }

  get #isKnown() {
    if (!this.isLive) return false;
    this.#isOpen ||= called(() => this.#native.opened) > 0;
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
    if (this.#isKnown) this.#metadata = fromBytes(called(() => this.#native.metadata()));
    return this.#metadata;
  }

  /** Nobody said anything of it yet. */
  get isEmpty() { return called(() => this.#made().isEmpty); }

  refuseIfDeleted() {
    if (this.isDeleted) throw elsewhere(this.place.path);
  }

  #made() {
    this.refuseIfDeleted();
    if (this.isLive) return this.#native;
    this.letGo();
    const { workspace, path, shown } = foundAt(this.place, this.#home);
    const cache = below(this.#home, this.#cache.folder);
    const { handle, free } = this.#lend?.(this.place, this.#id) ?? whole.lent((core) => new core.Live(workspace, path, shown, cache, this.#id));
    this.#held.push(free);
    this.#native = handle;
    this.#instance = whole.instance;
    return handle;
  }

  /** @param {Begin} begin @param {Own} [own] */
  #driven(begin, own) { return drive(begin, own ? { ...this.#host, own } : this.#host); }

  get #home() { return join(this.#cache.folder, ".."); }

  /** @param {CoreFile} file */
  #at({ root, path }) {
    if (typeof root === "object") return { storage: this.place.storage, path: join(root.workspace, path) };
    return { storage: this.#cache.storage, path: join(this.#home, path) };
  }

  /** @param {string} id */
  async #found(id) {
    const found = await this.#find(id);
    if (!found) return undefined;
    this.place = found;
    const { storage, path: folder } = found;
    Object.assign(this.from, { storage, folder, path: `${folder}/messages.jsonl` });
    return foundAt(found, this.#home);
  }
}

/** Where a session lies, as the core calls it. @param {Place} place @param {string} home */
export function foundAt({ path, placement }, home) {
  if (placement === "home") return { path: below(home, path), shown: path };
  const { workspace } = conversationOf(path);
  return { workspace, path: below(workspace, path), shown: path };
}

/** @param {string} folder @param {string} path */
function below(folder, path) {
  return relative(folder, path).split(sep).join("/");
}

/** What is said where a session does not lie where it lay. @param {string} folder @param {unknown} [cause] */
export function elsewhere(folder, cause) {
  return new LeftoffError({ code: "not_found", message: `expected the session in "${folder}", but found that it was moved or deleted meanwhile`, cause });
}
