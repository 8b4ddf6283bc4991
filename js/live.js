// @ts-check
/** A session's handle in the core, kept in step with its files: the logs, the document beside them, the checkpoint. */

import { basename, join } from "node:path";

import { joined } from "./bytes.js";
import { bytesOf, called, core, entropy, fromBytes, instance, lent, textOf, toBytes } from "./core.js";
import { unlessBug } from "./error.js";
import { Log } from "./log.js";
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
/** What may name a file in the cache: a uuid, or what a person may give. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/**
 * Where derived things of sessions lie.
 * @typedef {object} Cache
 * @property {Storage} storage
 * @property {string} folder
 */

export class Live {
  #place;
  #cache;
  #document;
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
  /** The newest report that is not kept yet. @type {Uint8Array | undefined} */
  #report;
  /** @type {Promise<void> | undefined} */
  #keeping;
  /** When the events were looked at. */
  #lookedMs = 0;

  /** Blobs that the disk has confirmed to this process. @type {Set<string>} */
  #keptBlobs = new Set();
  /** The log was read from its start: that is worth a checkpoint. */
  wasRead = false;
  /** The document is not there, or not as it should be. */
  isStale = false;
  id = "";

  /** @param {Place & { cache: Cache }} parts */
  constructor({ cache, ...place }) {
    const { storage, path } = place;
    this.#place = place;
    this.#cache = cache;
    this.#document = DOCUMENTS[place.placement];
    this.events = new Log({ storage, folder: path, name: "Events" });
    this.messages = new Log({ storage, folder: path, name: "Messages" });
    this.tools = new Log({ storage, folder: path, name: "Tools" });
  }

  /** A session of which nothing is on disk yet. @param {string} id */
  begin(id) {
    this.#make();
    this.id = id;
  }

  /** Reads what came after the checkpoint, or all. */
  async open() {
    this.#make();
    const document = await this.#found();
    await this.#observe(this.events);
    this.#take(document);
    this.id = await this.#named(document);
    const checkpoint = await this.#believed();
    if (checkpoint) called(() => this.#handle.beginAt(checkpoint));
    await this.#observe(this.messages);
    if (!checkpoint) this.wasRead = (await this.messages.size()) > WORTH_A_CHECKPOINT;
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
    if (!this.isLive) return (await this.#place.storage.stat(this.#place.path)) !== null;
    for (const log of [this.events, this.messages]) if (!(await log.isStill(this.#handle))) return false;
    return (await this.#place.storage.stat(this.#place.path)) !== null;
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
    if (Math.abs(Date.now() - this.#lookedMs) < LOOK_MS) return;
    this.#lookedMs = Date.now();
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

  /** Document 004's `metadata.json`; after a trap, as it was before. */
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
    const bytes = called(() => handle.stageAsked(toBytes(asked), Date.now(), entropy()));
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
    await this.#place.storage.replace(this.#documentPath, called(() => handle.document(this.#document.name())));
    this.isStale = false;
  }

  /**
   * Appends what was staged in another module, and goes on from the checkpoint that it has then.
   * @param {import("./appending.js").Staging} staging
   */
  async appendStaged(staging) {
    for (let bytes; (bytes = staging.next()); ) {
      for (const [id, content] of staging.blobs()) await this.keepBlob(id, content);
      await this.messages.append(staging, bytes, { durable: false });
    }
    const checkpoint = staging.checkpoint();
    const handle = await this.revived();
    if (checkpoint) called((core) => handle.end(core.LogName.Messages) === 0 && handle.beginAt(checkpoint));
    // Where there is none, the log is read as if another process had written it.
    await this.messages.observe(handle);
  }

  /**
   * On the disk before the line that names it. One that another process left is the same, its name is the hash of its
   * bytes; but that process may have died before the disk confirmed it.
   * @param {string} id @param {Uint8Array} content
   */
  async keepBlob(id, content) {
    const { storage, path } = this.#place;
    const blob = `${path}/blobs/${id}`;
    const found = await storage.stat(blob);
    if (found?.size === content.length && this.#keptBlobs.has(id)) return;
    await storage.replace(blob, content);
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
    if (checkpoint) await this.#cache.storage.replace(`${this.cachePath}.json`, checkpoint).catch(unlessBug);
    this.wasRead = false;
  }

  /** Keeps what the last context was made of. Nobody waits for the disk to have it. @param {object} report */
  keepReport(report) {
    this.#report = toBytes(report);
    this.#keeping ??= this.#keepNewest();
  }

  // A report that cannot be kept is no reason to have no context.
  async #keepNewest() {
    for (let bytes; (bytes = this.#report); ) {
      this.#report = undefined;
      await this.#cache.storage.replace(`${this.cachePath}.report`, bytes).catch(unlessBug);
    }
    this.#keeping = undefined;
  }

  /** Waits for a report that is on its way to the disk. */
  async settled() {
    await this.#keeping;
  }

  /** What the last context was made of; nothing where none was kept, or not as it was written. */
  async lastReport() {
    await this.settled();
    const json = await this.#cache.storage.read(`${this.cachePath}.report`);
    try {
      return json ? fromBytes(json) : undefined;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return undefined;
    }
  }

  /** Where derived things of the session lie; endings follow. */
  get cachePath() {
    return join(this.#cache.folder, this.id);
  }

  get #documentPath() {
    return join(this.#place.path, this.#document.file);
  }

  #make() {
    const { handle, free } = lent((core) => new core.Session(this.#place.placement === "home" ? idOf(this.#place.path) : undefined));
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
    return (await this.#place.storage.read(this.#documentPath)) ?? undefined;
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
    const heading = this.#place.placement === "workspace" && (await this.#heading());
    if (heading) called(() => this.#handle.setHeading(heading));
    this.#take(document);
  }

  // The id that its place, an event or the document says; what cannot name a file is as good as none.
  /** @param {Uint8Array | undefined} document */
  async #named(document) {
    const said = called(() => this.#handle.id);
    if (SAFE_ID.test(said) && !said.includes("..")) return said;
    const { path, placement } = this.#place;
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
    const { storage, path } = this.#place;
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
    return !(await this.#cache.storage.stat(path)) || (await this.#believed()) !== undefined;
  }

  // A checkpoint is believed where the last line that it covers is still there.
  async #believed() {
    try {
      const json = await this.#cache.storage.read(`${this.cachePath}.json`);
      if (!json) return undefined;
      const { lastLine } = fromBytes(json);
      const line = await this.messages.range(lastLine.start, lastLine.end);
      return called((core) => core.checkpointMatches(json, line)) ? json : undefined;
    } catch (error) {
      // A cache that cannot be read costs one reading of the log, nothing else.
      if (!(error instanceof SyntaxError || error instanceof TypeError)) unlessBug(error);
      return undefined;
    }
  }
}

/** The id that a session's folder in the home says. @param {string} path */
export function idOf(path) {
  return basename(path).replace(/^session-/, "");
}

