// @ts-check
/** A session's handle in the core, kept in step with its files: the logs, the document beside them, the checkpoint. */

import { basename, join } from "node:path";

import { joined } from "./bytes.js";
import { isMadeOf } from "./checkpoints.js";
import { entropy, nowMs } from "./clock.js";
import { bytesOf, called, core, fromBytes, instance, lent, textOf, toBytes } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { KeptCheckpoint } from "./kept-checkpoint.js";
import { KeptReport } from "./kept-report.js";
import { Elsewhere, Log, elsewhere } from "./log.js";
import { DOCUMENTS, conversationOf } from "./placement.js";

/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** @import { MetadataJson } from "./records.js" */
/** @import { Place } from "./placement.js" */
/** @import { Storage } from "./storage/contract.js" */

/** A log of fewer bytes is read as fast as a checkpoint. */
const WORTH_A_CHECKPOINT = 64 * 1024;
/** How often, at most, it is looked what others said about a session that messages are appended to. */
const LOOK_MS = 50;
/** A heading that stands farther back is none. */
const HEAD = 64 * 1024;
/** So much of a log is read at once. */
const PIECE = 1024 * 1024;
/** How often, at most, what lies elsewhere is looked for in one go. */
const TRIES = 20;
/** Said by who finds other files than it has read, or none. */
const AMISS = ["not_found", "log_shrunk", "log_replaced"];
/** What may name a file in the cache: a uuid, or what a person may give. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * Where derived things of sessions lie.
 * @typedef {object} Cache
 * @property {Storage} storage
 * @property {string} folder
 */

export class Live {
  #cache;
  #find;
  /** @type {Handle} */
  #handle = /** @type {any} */ (undefined);
  /** What frees it, and those before it. @type {(() => void)[]} */
  #held = [];
  /** The instance of the core that the handle is of. */
  #instance = -1;
  /** @type {MetadataJson} */
  #metadata = Object.create(null);
  /** Something must be said by an event before a message is appended. */
  #isDue = false;
  /** When the events were looked at. */
  #lookedMs = 0;
  #checkpoint;

  /** Blobs that the disk has confirmed to this process. @type {Set<string>} */
  #keptBlobs = new Set();
  /** The log was read from its start: that is worth a checkpoint. */
  wasRead = false;
  /** The document is not there, or not as it should be. */
  isStale = false;
  id = "";

  /** @param {Place & { cache: Cache, find?: (id: string) => Promise<Place | undefined> }} parts `find`: where a session lies now */
  constructor({ cache, find = async () => undefined, ...place }) {
    const { storage, path: folder } = place;
    this.#cache = cache;
    this.#find = find;
    this.place = place;
    this.events = new Log({ storage, folder, name: "Events" });
    this.messages = new Log({ storage, folder, name: "Messages" });
    this.tools = new Log({ storage, folder, name: "Tools" });
    /** What the last context was made of. */
    this.report = new KeptReport(cache.storage, () => `${this.cachePath}.report`);
    this.#checkpoint = new KeptCheckpoint(cache.storage, { path: () => this.cachePath, log: this.messages });
    /** For who reads: where its messages and their blobs are, as long as the session lives. @type {import("./messages.js").From} */
    this.from = { storage, log: this.messages, folder };
  }

  /** A session of which nothing is on disk yet. @param {string} id */
  begin(id) {
    this.#make();
    this.id = id;
  }

  /**
   * Does something with its files. Where they lie elsewhere by now, or others have come into their place, it is done
   * again with those.
   * @template T @param {() => Promise<T>} work @returns {Promise<T>}
   */
  async here(work) {
    for (let triesLeft = TRIES; ; triesLeft -= 1) {
      try {
        return await work();
      } catch (error) {
        if (!isAmiss(error) || triesLeft === 0 || !((await this.#foundAgain(error)) || error instanceof Elsewhere)) throw error;
      }
    }
  }

  /** Goes where the session lies now, if it is not where it was looked for. */
  arrive() {
    return this.here(async () => {
      if (this.isLive) for (const log of [this.events, this.messages]) await log.grownSize(this.#handle);
      if ((await this.place.storage.stat(this.place.path)) === null) throw elsewhere(this.place.path);
    });
  }

  /** Opens it anew, as and where it is now; whether anything has changed. @param {LeftoffError} cause */
  async #foundAgain(cause) {
    if (cause.code !== "log_replaced" && (await this.isThere())) return false;
    const { id, place } = this;
    const found = await this.#find(id);
    // What stands where it lay may be a copy that is not the session yet.
    if (!found && (await place.storage.stat(place.path)) !== null) {
      await this.#openAgain();
      if (this.id === id) return true;
    }
    if (!found) throw elsewhere(place.path, cause);
    this.#goTo(found);
    await this.#openAgain();
    return true;
  }

  // What is read may be moved again meanwhile: whoever works with it notices.
  async #openAgain() {
    try {
      await this.open();
    } catch (error) {
      if (!isAmiss(error)) throw error;
      this.#instance = -1;
    }
  }

  /** @param {Place} place */
  #goTo(place) {
    const { storage, path: folder } = place;
    this.place = place;
    for (const log of [this.events, this.messages, this.tools]) log.goTo({ storage, folder });
    Object.assign(this.from, { storage, folder });
    // Those are files of another folder.
    this.#keptBlobs.clear();
  }

  /** Reads what came after the checkpoint, or all. */
  async open() {
    this.#make();
    const document = await this.#found();
    await this.#observe(this.events);
    this.#take(document);
    this.id = await this.#named(document);
    const { json: checkpoint, wasRead = false } = await this.#checkpoint.believed();
    this.wasRead ||= wasRead && (await this.messages.size()) > WORTH_A_CHECKPOINT;
    if (checkpoint) called(() => this.#handle.beginAt(checkpoint));
    await this.#observe(this.messages);
    if (!checkpoint) this.wasRead = called((core) => this.#handle.end(core.LogName.Messages)) > WORTH_A_CHECKPOINT;
    await this.#finish(document);
    if (!this.needsAll) return;
    // Nobody has it yet.
    this.letGo();
    await this.#openAll();
  }

  // Where a checkpoint does not carry as far as what came after it.
  async #openAll() {
    this.#make();
    called(() => this.#handle.setId(this.id));
    for (const log of [this.events, this.messages]) await this.#observe(log);
    await this.#finish(await this.#found());
    this.wasRead = true;
  }

  /** Gives back what the core knows of it: of many sessions that is much. */
  letGo() {
    for (const free of this.#held.splice(0)) free();
    this.#instance = -1;
  }

  /** The same of one that was used: what was known of it last can still be asked. */
  close() {
    if (this.isLive) this.#metadata = this.metadata;
    this.letGo();
  }

  /** The handle is of the core that is at work. */
  get isLive() {
    return this.#instance === instance();
  }

  /** Whether its files are those that were read: not moved, nor deleted, nor another session's. */
  async isThere() {
    if (!this.isLive) return (await this.place.storage.stat(this.place.path)) !== null;
    for (const log of [this.events, this.messages]) if (!(await log.isStill(this.#handle))) return false;
    return (await this.place.storage.stat(this.place.path)) !== null;
  }

  /** Takes in what others wrote since the last look: messages, events, and what somebody changed in the document. */
  async look() {
    await this.caughtUp();
    await this.#takeAgain();
  }

  /** The handle, once it knows what others appended: messages, and what they said about it. */
  async caughtUp() {
    const handle = await this.revived();
    for (const log of [this.events, this.messages]) await log.observe(handle);
    return this.complete();
  }

  /** Takes in what others said about it, a moment later at most: before each message it would cost. */
  async lookSometimes() {
    if (Math.abs(nowMs() - this.#lookedMs) < LOOK_MS) return;
    this.#lookedMs = nowMs();
    await this.events.observe(this.#handle);
    this.#look();
  }

  /** The handle, where it is live. */
  get handle() {
    return this.#handle;
  }

  /** The handle; made anew from the files where the core was. */
  async revived() {
    if (!this.isLive) await this.open();
    return this.#handle;
  }

  /** A checkpoint does not carry as far as what came after it. */
  get needsAll() {
    return called(() => this.#handle.needsAll);
  }

  /** The handle; where it needs all, all is read. */
  async complete() {
    await this.revived();
    if (this.needsAll) await this.#openAll();
    return this.#handle;
  }

  /** What `metadata.json` says; after a trap, as it was before. */
  get metadata() {
    if (this.isLive) this.#metadata = fromBytes(called(() => this.#handle.metadata()));
    return this.#metadata;
  }

  /** When something happened last, in milliseconds: something was said, or it was taken up; else it began. */
  get activeMs() {
    const { lastMessageAt, createdAt } = this.metadata.timestamps;
    const times = [lastMessageAt || createdAt, called(() => this.#handle.takenUpAt)].map((time) => Date.parse(time ?? ""));
    return Math.max(...times.filter(Number.isFinite));
  }

  /** Nothing happened for that long while it was active. @param {number} idleMs */
  isIdle(idleMs) {
    const { activeMs } = this;
    return this.metadata.lifecycle === "active" && Number.isFinite(activeMs) && nowMs() - activeMs > idleMs;
  }

  /** Nobody said anything of it yet. */
  get isEmpty() {
    const { asOf, stats } = this.metadata;
    return !asOf && stats.messageCount === 0 && !this.#isDue;
  }

  /** Something must be said by an event before a message is appended: what the document says, or that it goes on. */
  get isDue() {
    return this.#isDue;
  }

  /**
   * Appends what is asked for as events, behind what the document says; whether there was anything to say.
   * @param {Record<string, unknown>[]} asked
   */
  async record(asked) {
    const handle = await this.revived();
    await this.events.observe(handle);
    // Whoever changed the document may have taken it back since it was read.
    if (called(() => handle.hasUnsaid)) await this.#takeAgain();
    const bytes = called(() => handle.stageAsked(toBytes(asked), nowMs(), entropy()));
    if (bytes) await this.events.append(handle, bytes, { durable: true });
    this.#look();
    return bytes !== undefined;
  }

  /** Writes the document. What someone changed in it meanwhile becomes an event before. */
  async save() {
    const handle = await this.complete();
    if (called(() => handle.isNewer)) return;
    // What is derived must not outlive what it is derived from.
    await this.events.confirm();
    this.#take(await this.#found());
    await this.record([]);
    await this.place.storage.replace(this.#documentPath, called(() => handle.document(this.#document.name())), { within: this.place.path });
    this.isStale = false;
  }

  /**
   * Appends a batch that was staged; where the session is found elsewhere by then, the same bytes there: readers keep
   * one of two equal records.
   * @param {{ handle: Handle, bytes: Uint8Array, blobs: Iterable<[string, Uint8Array]> }} batch @param {{ durable: boolean }} options
   */
  async append({ handle, bytes, blobs }, { durable }) {
    try {
      return await this.messages.append(handle, bytes, { durable });
    } catch (error) {
      if (!isAmiss(error)) throw error;
      // Also where it is back: nobody knows what was written meanwhile.
      await this.#foundAgain(error);
    }
    return this.here(async () => {
      const found = await this.revived();
      for (const [id, content] of blobs) await this.keepBlob(id, content);
      await this.messages.appendAgain(bytes, { durable });
      await this.messages.observe(found);
    });
  }

  /**
   * Appends what was staged in another module, and goes on from the checkpoint that it has then; how many bytes that was.
   * @param {import("./appending.js").Staging} staging
   */
  async appendStaged(staging) {
    let written = 0;
    for (let bytes; (bytes = staging.next()); ) {
      for (const [id, content] of staging.blobs()) await this.keepBlob(id, content);
      await this.messages.append(staging, bytes, { durable: false });
      written += bytes.length;
    }
    const checkpoint = staging.checkpoint();
    const handle = await this.revived();
    if (checkpoint) called((core) => handle.end(core.LogName.Messages) === 0 && handle.beginAt(checkpoint));
    // Where there is none, the log is read as if another process had written it.
    await this.messages.observe(handle);
    return written;
  }

  /**
   * On the disk before the line that names it. One that another process left is the same, its name is the hash of its
   * bytes; but that process may have died before the disk confirmed it.
   * @param {string} id @param {Uint8Array} content
   */
  async keepBlob(id, content) {
    const { storage, path } = this.place;
    const blob = `${path}/blobs/${id}`;
    const found = await storage.stat(blob);
    if (found?.size === content.length && this.#keptBlobs.has(id)) return;
    await storage.replace(blob, content, { within: path });
    this.#keptBlobs.add(id);
  }

  /** Folds what came since into what the core knows of the conversation. */
  async learn() {
    const handle = await this.revived();
    for (let span; (span = called(() => handle.unlearned())); ) {
      const [start = 0, end = 0] = span;
      const bytes = await this.messages.range(start, Math.min(end, start + PIECE));
      called(() => handle.learn(bytes));
    }
  }

  /** Keeps the checkpoint, where there is one to keep. @param {{ learns?: boolean }} [options] */
  async saveCheckpoint({ learns = true } = {}) {
    // A log with branches is read whole when it is opened, and keeps none.
    if (learns && called(() => this.#handle.keepsCheckpoint)) await this.learn();
    const checkpoint = called(() => this.#handle.checkpoint());
    // Without it the next opening reads the log: no reason to fail on a full disk, or one that may only be read.
    if (checkpoint) await this.#checkpoint.keep(checkpoint).catch(unlessBug);
    this.wasRead = false;
  }

  /** Where derived things of the session lie; endings follow. */
  get cachePath() {
    return join(this.#cache.folder, this.id);
  }

  get #document() {
    return DOCUMENTS[this.place.placement];
  }

  get #documentPath() {
    return join(this.place.path, this.#document.file);
  }

  #make() {
    for (const log of [this.events, this.messages, this.tools]) log.forget();
    const { handle, free } = lent((core) => new core.Session(this.place.placement === "home" ? idOf(this.place.path) : undefined));
    this.#handle = handle;
    // Somebody may be at work with the one before: that is let go of with this one.
    this.#held.push(free);
    this.#instance = instance();
  }

  /** @param {Log} log */
  async #observe(log) {
    await log.observe(this.#handle);
    log.observeTail(this.#handle);
  }

  /** @returns {Promise<Uint8Array | undefined>} */
  async #found() {
    return (await this.place.storage.read(this.#documentPath)) ?? undefined;
  }

  async #takeAgain() {
    const wasStale = this.isStale;
    this.#take(await this.#found());
    this.isStale ||= wasStale;
  }

  /** @param {Uint8Array | undefined} document */
  #take(document) {
    // A conflict, or another thing that is no document: it is written anew.
    const bad = called(() => this.#handle.takeDocument(this.#document.name(), document));
    this.isStale = !document || bad.length > 0;
    this.#look();
  }

  #look() {
    this.#isDue = called(() => this.#handle.hasUnsaid || this.#handle.status === "paused");
  }

  /** @param {Uint8Array | undefined} document */
  async #finish(document) {
    const heading = this.place.placement === "workspace" && (await this.#heading());
    if (heading) called(() => this.#handle.setHeading(heading));
    this.#take(document);
  }

  // The id that its place, an event or the document says; what cannot name a file is as good as none.
  /** @param {Uint8Array | undefined} document */
  async #named(document) {
    const said = called(() => this.#handle.id);
    if (SAFE_ID.test(said) && !said.includes("..")) return said;
    const { path, placement } = this.place;
    const id = placement === "home" ? idOf(path) : await this.#foundId(said, document);
    called(() => this.#handle.setId(id));
    return id;
  }

  /** @param {string} said @param {Uint8Array | undefined} document */
  async #foundId(said, document) {
    const first = said ? bytesOf(said) : ((await this.#firstLine()) ?? document ?? new Uint8Array());
    return called((core) => core.foundId(first));
  }

  /** The id of the first message of the log; empty where it has none. */
  async firstMessageId() {
    const line = await this.#firstLine();
    const { messages } = line ? fromBytes(called((core) => core.scanLog(line))) : { messages: [] };
    return messages[0]?.id ?? "";
  }

  async #firstLine() {
    const size = await this.messages.size();
    const parts = [];
    for await (const bytes of this.messages.pieces(0, size)) {
      const end = bytes.indexOf(10);
      parts.push(bytes.slice(0, end < 0 ? bytes.length : end));
      if (end >= 0) break;
    }
    return parts.length > 0 ? joined(parts) : undefined;
  }

  // That of the conversation's Markdown: the file that has the name of its type, else the first.
  async #heading() {
    const { storage, path } = this.place;
    const { folder } = conversationOf(path);
    const files = ((await storage.list(folder)) ?? []).filter(({ name, kind }) => kind === "file" && name.endsWith(".md"));
    const { type } = this.metadata;
    const file = files.find(({ name }) => basename(name, ".md") === type) ?? files[0];
    const text = file && (await storage.readRange(join(folder, file.name), 0, HEAD));
    return text ? called(() => core().heading(textOf(text))) : undefined;
  }

  /** Whether it is good, if there is one. */
  async hasGoodCheckpoint() {
    const path = `${this.cachePath}.json`;
    if (!(await this.#cache.storage.stat(path))) return true;
    const { json } = await this.#checkpoint.believed();
    return json !== undefined && isMadeOf(this.messages, json, this.id);
  }
}

/** What is said where files are not those that were read, or lie elsewhere. @param {unknown} error @returns {error is LeftoffError} */
export function isAmiss(error) {
  return error instanceof LeftoffError && AMISS.includes(error.code);
}

/** The id that a session's folder in the home says. @param {string} path */
export function idOf(path) {
  return basename(path).replace(/^session-/, "");
}

