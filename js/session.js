// @ts-check
/** One session: its files, and the handle of the core that knows what is in them. */

import { anyCounter, called, entropy, exactCounter, fromBytes, instance, lentBytes, stamp, toBytes, toJson } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { examine } from "./examine.js";
import { Lease } from "./lease.js";
import { Log } from "./log.js";
import { Appended, appended, blobOf, newestFirst, oldestFirst } from "./messages.js";

/** @import { ContextBuild, Session as Handle } from "../pkg/leftoff.js" */
/** @import { Assistant, Message, MetadataJson, Reasoning, ToolCall } from "./records.js" */
/** @import { Storage } from "./storage/contract.js" */

/**
 * A message as it is read: what lies in blobs is put back.
 * @typedef {Omit<ToolCall, "arguments"> & { arguments: string }} ReadCall
 * @typedef {Omit<Reasoning, "text"> & { text: string }} ReadReasoning
 * @typedef {Omit<Assistant, "toolCalls" | "reasoning"> & { toolCalls?: ReadCall[], reasoning?: ReadReasoning[] }} ReadAssistant
 * @typedef {Omit<Message, "content" | "assistant"> & { content: string, assistant?: ReadAssistant }} ReadMessage
 */

/**
 * A message to append: leftoff's shape, or that of the format given beside it.
 * @typedef {Record<string, unknown> & { role: string }} Draft
 *
 * @typedef {object} ContextRequest
 * @property {number} window the model's limit, in tokens
 * @property {number} [reserve] kept for the answer, in tokens; a quarter of the window unless given
 * @property {string} [system] the system prompt, sent beside the context
 * @property {unknown} [tools] the tool definitions, sent beside the context
 * @property {string} [encoding] `o200k_base` (the default), `estimate-1`, or another one's name with `count`
 * @property {"leftoff" | "ai-sdk"} [format]
 * @property {(texts: string[], encoding: string) => number[] | Promise<number[]>} [count] counts for another encoding
 *
 * @typedef {object} ContextBuildResult
 * @property {any[]} messages
 * @property {string} strategy
 * @property {number} tokensUsed
 * @property {number} tokenBudget
 * @property {number} originalMessageCount
 * @property {number} includedMessageCount
 * @property {number} summarizedMessageCount
 * @property {any} report
 */

/**
 * @typedef {"leftoff" | "ai-sdk"} Format
 * @typedef {object} Waiting an append that waits for its turn
 * @property {string} json the drafts, an array
 * @property {number} count how many they are
 * @property {"durable" | "buffered"} durability
 * @property {Format} format
 * @property {(answer: Appended) => void} resolve
 * @property {(error: unknown) => void} reject
 */

/**
 * @typedef {object} Place
 * @property {Storage} storage
 * @property {string} path the folder of the session
 * @property {boolean} [isCounted] whether appended messages are counted; true unless given
 */

/** A log of fewer bytes is read as fast as a checkpoint. */
const WORTH_A_CHECKPOINT = 64 * 1024;
/** How many appends at most become one batch. */
const MAX_GROUP = 1000;

export class Session {
  #storage;
  #cache;
  #events;
  #messages;
  #lease;
  #isCounted;
  /** @type {Handle} */
  #handle;
  /** The instance of the core that the handle is of. */
  #instance;
  /** @type {MetadataJson} */
  #metadata = Object.create(null);
  /** @type {Promise<unknown>} */
  #queue = Promise.resolve();
  /** @type {Waiting[]} appends whose turn has not come */
  #waiting = [];
  /** Blobs that the disk has confirmed to this process. @type {Set<string>} */
  #keptBlobs = new Set();
  #unsaved = false;
  /** The log was read from its start: that is worth a checkpoint, too. */
  #wasRead = false;

  /**
   * @param {Place & { cache: string }} parts `cache`: a path without its ending
   */
  constructor({ storage, path, cache, isCounted = true }) {
    this.#storage = storage;
    this.#cache = cache;
    this.#events = new Log({ storage, folder: path, name: "Events" });
    this.#messages = new Log({ storage, folder: path, name: "Messages" });
    this.#lease = new Lease({ storage, folder: `${cache}.open` });
    this.#isCounted = isCounted;
    this.#handle = called((core) => new core.Session(idOf(path)));
    this.#instance = instance();
    /** The folder of the session. */
    this.path = path;
  }

  /** The session's uuid. */
  get id() {
    return this.metadata.id;
  }

  /** Document 004's `metadata.json`. */
  get metadata() {
    if (this.#isLive) this.#metadata = fromBytes(called(() => this.#handle.metadata()));
    return this.#metadata;
  }

  /**
   * Begins a session in a folder.
   * @param {Place & { cache: string, created: Record<string, unknown> }} options
   */
  static async begin({ created, ...place }) {
    const session = new Session(place);
    const bytes = called(() => session.#handle.stageCreated(toBytes(created), Date.now(), entropy()));
    await session.#events.append(session.#handle, bytes, { durable: true });
    await session.#saveMetadata();
    return session;
  }

  /**
   * Opens the session of a folder, reading what came after its checkpoint.
   * @param {Place & { cache: (id: string) => string }} options
   */
  static async open({ cache, ...place }) {
    const { path } = place;
    // By its place: the id that an event says may be anything, a path, too.
    const session = new Session({ ...place, cache: cache(idOf(path)) });
    await session.#reopen();
    return session;
  }

  /**
   * Appends one message or many, as one batch. Resolves once they are as safe as `acknowledged` says.
   * @param {Draft | Draft[]} drafts
   * @param {{ durability?: "durable" | "buffered", format?: Format }} [options]
   * @returns {Promise<Appended>}
   */
  append(drafts, { durability = "durable", format = "leftoff" } = {}) {
    const mine = new Promise((resolve, reject) => {
      if (durability !== "durable" && durability !== "buffered") {
        const message = `expected "durable" or "buffered" for "durability", but found ${JSON.stringify(durability)} instead`;
        throw new LeftoffError({ code: "invalid_request", message });
      }
      // As they are now: the caller may change them before their turn comes.
      const all = Array.isArray(drafts) ? drafts : [drafts];
      this.#waiting.push({ json: toJson(all), count: all.length, durability, format, resolve, reject });
    });
    // Whoever is first takes those along that wait behind it: one write and one flush for all of them.
    this.#inTurn(() => this.#appendGroup(taken(this.#waiting)));
    return mine;
  }

  /**
   * What a model call gets.
   * @param {ContextRequest} request
   * @returns {Promise<ContextBuildResult>}
   */
  async context(request = /** @type {any} */ ({})) {
    // What it is built from does not change any more: appends need not wait for it, nor it for a counter that appends.
    const build = await this.#inTurn(() => this.#begun(request));
    return this.#built(build, request);
  }

  /**
   * What hands the session to the next run: the command that began it, the block, and the history that fits.
   * @param {ContextRequest} request
   */
  async resume(request) {
    const metadata = this.metadata;
    const context = await this.context(request);
    const left = context.originalMessageCount - context.includedMessageCount;
    const told = {
      type: metadata.type,
      title: metadata.display.title,
      lastActive: metadata.timestamps.lastMessageAt || undefined,
      messageCount: metadata.stats.messageCount,
      summary: metadata.summary,
      leftOut: left > 0 ? { count: left, command: `leftoff show ${metadata.id}` } : undefined,
    };
    const block = new TextDecoder().decode(called((core) => core.resumeBlock(toBytes(told), stamp())));
    const warnings = (await this.others()).map(({ pid, host, program, since }) => `open in ${program}, process ${pid} on ${host}, since ${since}`);
    if (metadata.lifecycle === "completed") warnings.unshift("this conversation was marked complete");
    return { id: metadata.id, command: metadata.agent.command ?? null, block, history: context.messages, warnings, context };
  }

  /**
   * Every message, each once, as its highest revision; what lies in blobs is put back.
   * @param {{ newestFirst?: boolean }} [options]
   * @returns {AsyncGenerator<ReadMessage>}
   */
  async *messages({ newestFirst: isNewestFirst = false } = {}) {
    const end = await this.#messages.size();
    yield* isNewestFirst ? newestFirst(this.#from(), { end }) : oldestFirst(this.#from(), { start: 0, end });
  }

  /**
   * What is appended from now on, by this process or by others, as it comes; a message that is written again comes
   * again. Ends when `signal` says so.
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {AsyncGenerator<ReadMessage>}
   */
  async *follow({ signal } = {}) {
    yield* appended(this.#from(), { start: await this.#messages.size(), signal });
  }

  /**
   * Who else has the session open for appending. Nothing is lost by that; but two agents at one conversation are
   * seldom meant.
   */
  others() {
    return this.#lease.others();
  }

  /**
   * Reads all of the session and says what is wrong with it. Nothing is mended by this.
   * @returns {Promise<import("./examine.js").Examined>}
   */
  examine() {
    const handle = called((core) => new core.Session(idOf(this.path)));
    return examine(handle, { storage: this.#storage, folder: this.path, events: this.#events, messages: this.#messages });
  }

  /** Writes what is derived, and lets go. */
  async close() {
    await this.#queue.catch(() => {});
    await this.#lease.release();
    if (!this.#unsaved && !this.#wasRead) return;
    // What others appended meanwhile belongs to what is derived, too.
    await this.#messages.observe(await this.#live());
    const handle = await this.#complete();
    if (this.#unsaved) await this.#saveMetadata();
    const checkpoint = called(() => handle.checkpoint());
    // Without it the next opening reads the log: no reason to fail on a full disk, or one that may only be read.
    if (checkpoint) await this.#storage.replace(`${this.#cache}.json`, checkpoint).catch(unlessBug);
    this.#unsaved = false;
    this.#wasRead = false;
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #inTurn(work) {
    const mine = this.#queue.then(work, work);
    this.#queue = mine;
    return mine;
  }

  /** @param {Waiting[]} group alike in durability and format */
  async #appendGroup(group) {
    const [first] = group;
    if (!first) return;
    const { durability, format } = first;
    const durable = durability === "durable";
    let batch;
    try {
      // Without the event that began the session, its messages would be nobody's.
      if (durable) await this.#events.confirm();
      batch = await this.#stage(group.map((one) => one.json), format);
    } catch (error) {
      if (group.length === 1) return first.reject(error);
      // One bad draft must not cost the others.
      for (const one of group) await this.#appendGroup([one]);
      return;
    }
    try {
      await this.#messages.append(batch.handle, batch.bytes, { durable });
      this.#unsaved = true;
      if (this.#needsAll) await this.#complete();
      let from = 0;
      for (const { count, resolve } of group) {
        // A provider's message may become several; it goes alone.
        const to = group.length === 1 ? undefined : from + count;
        resolve(new Appended(batch.bytes, { from, to, acknowledged: acknowledged(this.#storage, durable) }));
        from += count;
      }
    } catch (error) {
      for (const one of group) one.reject(error);
    }
  }

  /** @param {string[]} arrays of drafts, each as JSON @param {Format} format */
  async #stage(arrays, format) {
    // Waiting costs, even for nothing.
    const handle = this.#isLive ? this.#handle : await this.#live();
    if (!this.#lease.isHeld) await this.#lease.hold();
    await this.#messages.observe(handle);
    const bytes = called(() => handle.stageMessages(joined(arrays), format, Date.now(), entropy(), anyCounter(), this.#isCounted));
    try {
      for (const [id, content] of called(() => handle.stagedBlobs()) ?? []) await this.#keepBlob(id, content);
    } catch (error) {
      this.#messages.abort(handle);
      throw error;
    }
    return { handle, bytes };
  }

  // On the disk before the line that names it. One that another process left is the same, its name is the hash of its
  // bytes; but that process may have died before the disk confirmed it.
  /** @param {string} id @param {Uint8Array} content */
  async #keepBlob(id, content) {
    const path = `${this.path}/blobs/${id}`;
    const found = await this.#storage.stat(path);
    if (found?.size === content.length && this.#keptBlobs.has(id)) return;
    await this.#storage.replace(path, content);
    this.#keptBlobs.add(id);
  }

  #from() {
    return { storage: this.#storage, log: this.#messages, folder: this.path };
  }

  /** @param {ContextRequest} request @returns {Promise<ContextBuild>} */
  async #begun({ count, ...request }) {
    // What others appended, and what they pinned or where they went on.
    for (const log of [this.#events, this.#messages]) await log.observe(await this.#live());
    const handle = await this.#complete();
    return called(() => handle.context(toBytes(request)));
  }

  /** @param {ContextBuild} build @param {ContextRequest} request @returns {Promise<ContextBuildResult>} */
  async #built(build, { count }) {
    let counter = anyCounter();
    for (;;) {
      const { ready, needs } = fromBytes(called(() => build.next(counter)));
      if (ready) return ready;
      if (needs.type === "bytes") {
        const { start, end } = needs.range;
        const bytes = await this.#messages.range(start, end);
        called(() => build.bytes(start, bytes));
      } else if (needs.type === "blob") {
        const bytes = await blobOf(this.#from(), needs.id);
        called(() => build.blob(needs.id, bytes));
      } else if (needs.type === "counts" && needs.encoding === "o200k_base") {
        counter = exactCounter();
      } else if (needs.type === "counts" && count) {
        const counts = await count(needs.texts, needs.encoding);
        called(() => build.counts(toBytes(needs.texts.map((/** @type {string} */ text, /** @type {number} */ i) => [text, counts[i]]))));
      } else {
        const message = `expected a counter for "${needs.encoding}", but found none: give "count", or an encoding of o200k_base or estimate-1`;
        throw new LeftoffError({ code: "no_counter", message });
      }
    }
  }

  async #saveMetadata() {
    const handle = await this.#live();
    // What is derived must not outlive what it is derived from.
    await this.#events.confirm();
    await this.#storage.replace(`${this.path}/metadata.json`, called(() => handle.metadata()));
  }

  get #isLive() {
    return this.#instance === instance();
  }

  /** The handle; made anew from the files where the core was. */
  async #live() {
    if (!this.#isLive) await this.#reopen();
    return this.#handle;
  }

  async #reopen() {
    const checkpoint = await believed(this.#storage, this.#messages, `${this.#cache}.json`);
    await this.#observeAll(checkpoint);
    if (checkpoint) await this.#complete();
    else this.#wasRead = (await this.#messages.size()) > WORTH_A_CHECKPOINT;
  }

  /** Whether a checkpoint does not carry as far as what came after it. */
  get #needsAll() {
    return called(() => this.#handle.needsAll);
  }

  /** The handle; where it needs all, all is read. */
  async #complete() {
    if (this.#needsAll) {
      await this.#observeAll(undefined);
      this.#wasRead = true;
    }
    return this.#handle;
  }

  /** @param {Uint8Array | undefined} checkpoint */
  async #observeAll(checkpoint) {
    this.#handle = called((core) => new core.Session(idOf(this.path), checkpoint));
    this.#instance = instance();
    for (const log of [this.#events, this.#messages]) {
      await log.observe(this.#handle);
      log.observeTail(this.#handle);
    }
  }
}

/** One array of all that is in these, for one call of the core. @param {string[]} arrays each as JSON */
function joined(arrays) {
  const [only = "[]", ...others] = arrays;
  if (others.length === 0) return lentBytes(only);
  const inner = arrays.map((array) => array.slice(1, -1)).filter(Boolean);
  return lentBytes(`[${inner.join(",")}]`);
}

// Those at the front that can be one batch. What a provider's message becomes is not known beforehand, so each of
// these goes alone.
/** @param {Waiting[]} waiting */
function taken(waiting) {
  const [first] = waiting;
  if (!first) return [];
  const other = waiting.findIndex((one) => one.durability !== first.durability || one.format !== first.format);
  return waiting.splice(0, first.format === "leftoff" ? (other < 0 ? MAX_GROUP : Math.min(other, MAX_GROUP)) : 1);
}

/** The id that a session's folder says. @param {string} path */
export function idOf(path) {
  return (path.split(/[\\/]/).pop() ?? "").replace(/^session-/, "");
}

/** @param {Storage} storage @param {boolean} durable */
function acknowledged({ capabilities }, durable) {
  if (!capabilities.durable) return "volatile";
  return durable ? "durable" : "buffered";
}

// A checkpoint is believed where the last line that it covers is still there.
/** @param {Storage} storage @param {Log} messages @param {string} place */
async function believed(storage, messages, place) {
  try {
    const json = await storage.read(place);
    if (!json) return undefined;
    const { lastLine } = fromBytes(json);
    const line = await messages.range(lastLine.start, lastLine.end);
    return called((core) => core.checkpointMatches(json, line)) ? json : undefined;
  } catch (error) {
    // A cache that cannot be read costs one reading of the log, nothing else.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) unlessBug(error);
    return undefined;
  }
}
