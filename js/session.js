// @ts-check
/** One session: its files, and the handle of the core that knows what is in them. */

import { anyCounter, called, exactCounter, fromBytes, stamp, toBytes } from "./core.js";
import { LeftoffError } from "./error.js";

/** @import { Storage } from "./storage/contract.js" */

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

const TRIES = 4;

export class Session {
  #storage;
  #handle;
  #cache;
  /** @type {Promise<unknown>} */
  #queue = Promise.resolve();
  #unsaved = false;

  /** @param {{ storage: Storage, path: string, cache: string, handle: any }} parts */
  constructor({ storage, path, cache, handle }) {
    this.#storage = storage;
    this.#handle = handle;
    this.#cache = cache;
    /** The folder of the session. */
    this.path = path;
  }

  /** The session's uuid. */
  get id() {
    return this.metadata.id;
  }

  /** Document 004's `metadata.json`. @returns {any} */
  get metadata() {
    return fromBytes(called(() => this.#handle.metadata()));
  }

  /**
   * Begins a session in a folder.
   * @param {{ storage: Storage, path: string, cache: string, created: Record<string, unknown> }} options
   */
  static async begin({ storage, path, cache, created }) {
    const handle = called((core) => new core.Session(undefined));
    const session = new Session({ storage, path, cache, handle });
    const bytes = called(() => handle.stageCreated(toBytes(created), stamp()));
    try {
      await storage.append(`${path}/events.jsonl`, bytes, { durable: true });
    } catch (error) {
      handle.abortEvents();
      throw error;
    }
    called(() => handle.commitEvents(0));
    await session.#saveMetadata();
    return session;
  }

  /**
   * Opens the session of a folder, reading what came after its checkpoint.
   * @param {{ storage: Storage, path: string, cache: (id: string) => string }} options
   */
  static async open({ storage, path, cache }) {
    const events = (await storage.read(`${path}/events.jsonl`)) ?? new Uint8Array();
    const first = called((core) => new core.Session(undefined));
    called(() => first.observeEvents(events, 0));
    const place = cache(fromBytes(first.metadata()).id || path.slice(path.lastIndexOf("/") + 1));
    const handle = await observed(storage, path, events, await believed(storage, path, place));
    if (!handle.needsAll) return new Session({ storage, path, cache: place, handle });
    return new Session({ storage, path, cache: place, handle: await observed(storage, path, events, undefined) });
  }

  /**
   * Appends one message or many, as one batch. Resolves once they are as safe as `acknowledged` says.
   * @param {Draft | Draft[]} drafts
   * @param {{ durability?: "durable" | "buffered", format?: "leftoff" | "ai-sdk" }} [options]
   * @returns {Promise<{ records: any[], acknowledged: "durable" | "buffered" | "volatile" }>}
   */
  append(drafts, options = {}) {
    return this.#inTurn(() => this.#append(drafts, options));
  }

  /**
   * What a model call gets.
   * @param {ContextRequest} request
   * @returns {Promise<ContextBuildResult>}
   */
  context(request) {
    return this.#inTurn(() => this.#context(request));
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
      summary: metadata.display.description,
      leftOut: left > 0 ? { count: left, command: `leftoff show ${metadata.id}` } : undefined,
    };
    const block = new TextDecoder().decode(called((core) => core.resumeBlock(toBytes(told), stamp())));
    const warnings = metadata.lifecycle === "completed" ? ["this conversation was marked complete"] : [];
    return { id: metadata.id, command: metadata.agent.command ?? null, block, history: context.messages, warnings, context };
  }

  /** Every message of the log, oldest first. @returns {AsyncGenerator<any>} */
  async *messages() {
    const log = (await this.#storage.read(`${this.path}/messages.jsonl`)) ?? new Uint8Array();
    yield* fromBytes(called((core) => core.scanLog(log))).messages;
  }

  /** Writes what is derived, and lets go. */
  async close() {
    await this.#queue.catch(() => {});
    if (!this.#unsaved) return;
    await this.#saveMetadata();
    const checkpoint = called(() => this.#handle.checkpoint());
    if (checkpoint) await this.#storage.replace(this.#cache, checkpoint);
    this.#unsaved = false;
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #inTurn(work) {
    const mine = this.#queue.catch(() => {}).then(work);
    this.#queue = mine;
    return mine;
  }

  /**
   * @param {Draft | Draft[]} drafts
   * @param {{ durability?: "durable" | "buffered", format?: "leftoff" | "ai-sdk" }} options
   */
  async #append(drafts, { durability = "durable", format = "leftoff" }) {
    const handle = this.#handle;
    await this.#observeGap();
    const staged = called(() => handle.stageMessages(toBytes(drafts), format, stamp(), anyCounter()));
    const durable = durability === "durable";
    await this.#write(staged.bytes, durable);
    this.#unsaved = true;
    const isDurable = durable && this.#storage.capabilities.durable;
    const kept = this.#storage.capabilities.durable ? "buffered" : "volatile";
    return { records: fromBytes(staged.records), acknowledged: isDurable ? /** @type {const} */ ("durable") : /** @type {"buffered" | "volatile"} */ (kept) };
  }

  // One write. Where it fails before the first byte the batch never was; else the same records are appended again,
  // and readers keep one of two equal ones.
  /** @param {Uint8Array} bytes @param {boolean} durable */
  async #write(bytes, durable) {
    const handle = this.#handle;
    const path = `${this.path}/messages.jsonl`;
    for (let attempt = 1; ; attempt += 1) {
      const start = handle.messagesEnd;
      try {
        const { end } = await this.#storage.append(path, bytes, { durable });
        if (attempt === 1 && end === start + bytes.length) {
          called(() => handle.commitMessages(start));
        } else {
          await this.#observeGap();
          called(() => handle.commitMessages(0));
        }
        return;
      } catch (error) {
        const written = error instanceof LeftoffError ? error.written : undefined;
        if (attempt === 1 && written === 0) {
          handle.abortMessages();
          throw error;
        }
        bytes = called(() => handle.unknownMessages());
        if (attempt < TRIES) continue;
        handle.abortMessages();
        throw error;
      }
    }
  }

  // What others appended since the last look.
  async #observeGap() {
    const handle = this.#handle;
    const path = `${this.path}/messages.jsonl`;
    const size = (await this.#storage.stat(path))?.size ?? 0;
    const start = handle.messagesEnd;
    if (size < start) {
      throw new LeftoffError({ code: "log_shrunk", message: `expected "${path}" to have at least ${start} bytes, but found ${size}` });
    }
    const gap = size > start ? await this.#storage.readRange(path, start, size) : new Uint8Array();
    called(() => handle.observeMessages(gap ?? new Uint8Array(), start));
  }

  /** @param {ContextRequest} request */
  async #context({ count, ...request }) {
    await this.#observeGap();
    const build = called(() => this.#handle.context(toBytes(request)));
    let counter = anyCounter();
    for (;;) {
      const { ready, needs } = fromBytes(called(() => build.next(counter)));
      if (ready) return ready;
      if (needs.type === "bytes") {
        const { start, end } = needs.range;
        const bytes = await this.#storage.readRange(`${this.path}/messages.jsonl`, start, end);
        called(() => build.bytes(start, bytes ?? new Uint8Array()));
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
    await this.#storage.replace(`${this.path}/metadata.json`, called(() => this.#handle.metadata()));
  }
}

// A checkpoint is believed where the last line that it covers is still there.
/** @param {Storage} storage @param {string} path @param {string} place */
async function believed(storage, path, place) {
  const json = await storage.read(place);
  if (!json) return undefined;
  try {
    const { lastLine } = fromBytes(json);
    const line = await storage.readRange(`${path}/messages.jsonl`, lastLine.start, lastLine.end);
    return line && called((core) => core.checkpointMatches(json, line)) ? json : undefined;
  } catch (error) {
    // A cache that cannot be read costs one reading of the log, nothing else.
    if (error instanceof LeftoffError && error.code !== "invalid_json" && error.code !== "invalid_range") throw error;
    return undefined;
  }
}

/** @param {Storage} storage @param {string} path @param {Uint8Array} events @param {Uint8Array | undefined} checkpoint */
async function observed(storage, path, events, checkpoint) {
  const handle = called((core) => new core.Session(checkpoint));
  called(() => handle.observeEvents(events, 0));
  const log = `${path}/messages.jsonl`;
  const size = (await storage.stat(log))?.size ?? 0;
  for (let start = handle.messagesEnd; start < size; start = handle.messagesEnd) {
    const chunk = await storage.readRange(log, start, Math.min(size, start + 1024 * 1024));
    if (!chunk?.length) break;
    called(() => handle.observeMessages(chunk, start));
  }
  called(() => handle.observeTails());
  return handle;
}
