// @ts-check
/** Summaries that a model wrote: kept beside the session, taken where they reach far enough, else extended. */

import { nowText } from "./clock.js";
import { compactionOf } from "./compaction.js";
import { asCovers, coversOf, holds } from "./covers.js";
import { called, fromBytes, newId, toBytes } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { newestFirst, oldestFirst } from "./messages.js";

/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** @import { Covers } from "./covers.js" */
/** @import { From } from "./messages.js" */
/** @import { SummaryRange, SummaryText } from "./records.js" */
/** @import { ReadMessage, Summarize, SummaryRequest } from "./types/index.js" */

/**
 * A summary as it is kept in `summaries/`.
 * @typedef {object} CachedSummary
 * @property {string} id
 * @property {string} createdAt
 * @property {SummaryRange} range
 * @property {SummaryText} summary
 * @property {number} originalTokens what the messages cost
 * @property {number} compressionRatio what the summary costs, to that
 * @property {Covers} [covers] the bytes of the log that it was made from, and all before them
 *
 * What is wanted: a summary of at most `tokens` that stands for all before the byte `least`; a new one for the range.
 * @typedef {object} Wanted
 * @property {{ start: number, end: number }} range
 * @property {number} least
 * @property {number} tokens
 */

/** A text of more letters than these has more tokens, in about any language. */
const LETTERS_A_TOKEN = 4;

/** Messages as a model is told of them. @typedef {object} Piece
 * @property {string} told
 * @property {Pick<SummaryRange, "startMessageId" | "startSeq">} [first]
 * @property {Pick<SummaryRange, "endMessageId" | "endSeq"> & Partial<SummaryRange>} last
 * @property {number} count
 * @property {number} cost in tokens
 */

/** @type {Piece} */
const NOTHING = { told: "", last: { endMessageId: "" }, count: 0, cost: 0 };
/** So many messages cross at once. */
const SOME = 256;
/** Most lines are shorter: it is read to see one message. */
const LINE = 4096;
/** An answer may be so much longer than was asked for. */
const BUFFER = 100;
/** A model reads at most so many tokens at once, unless its window is known. */
const PIECE = 50_000;

export class Summaries {
  #from;
  #count;
  /** Those whose messages were seen to be as they were: nothing but what is appended changes while a session is open. @type {Set<string>} */
  #seen = new Set();

  /**
   * @param {From} from the session's log
   * @param {(text: string) => number} count what a text costs
   */
  constructor(from, count) {
    this.#from = from;
    this.#count = count;
  }

  get #folder() {
    return `${this.#from.folder}/summaries`;
  }

  /**
   * The summary that reaches farthest, where it reaches far enough; else a new one, where somebody writes one.
   * @param {Handle} handle
   * @param {Wanted} wanted
   * @param {{ summarize?: Summarize, window?: number }} [by]
   * @returns {Promise<{ cached?: CachedSummary, refused?: string }>} `refused`: why there is no new one
   */
  async get(handle, wanted, { summarize, window } = {}) {
    const all = await this.#kept(handle);
    const known = all.find(({ range, summary }) => Number(range.endByte) >= wanted.least && summary.tokens <= wanted.tokens + BUFFER);
    if (known || !summarize) return { cached: known };
    const previous = all.find(({ range }) => Number(range.endByte) <= wanted.range.end);
    try {
      return { cached: await this.#extended(handle, wanted, { previous, summarize, limit: Math.floor((window ?? 2 * PIECE) / 2) }) };
    } catch (error) {
      // A context does without it; what is no refusal is a bug.
      unlessBug(error);
      return { refused: error instanceof Error ? error.message : String(error) };
    }
  }

  /**
   * The one of just these messages, if it is kept.
   * @param {Handle} handle
   * @param {{ startMessageId: string, endMessageId: string }} range
   */
  async exactly(handle, { startMessageId, endMessageId }) {
    const all = await this.#kept(handle);
    return all.find(({ range }) => range.startMessageId === startMessageId && range.endMessageId === endMessageId);
  }

  /**
   * The messages from one to another.
   * @param {Handle} handle
   * @param {{ startMessageId: string, endMessageId: string }} range
   */
  async messages(handle, { startMessageId, endMessageId }) {
    /** @type {ReadMessage[]} */
    const found = [];
    for await (const messages of this.#onPath(handle, { start: 0, end: await this.#from.log.size() })) {
      for (const message of messages) {
        if (found.length > 0 || message.id === startMessageId) found.push(message);
        if (found.length > 0 && message.id === endMessageId) return found;
      }
    }
    const missing = found.length > 0 ? endMessageId : startMessageId;
    throw new LeftoffError({ code: "not_found", message: `expected a message "${missing}" in this session, but found none` });
  }

  /** Keeps one; the one that it extends is needed no longer. @param {CachedSummary} cached @param {CachedSummary} [extended] */
  async #keep(cached, extended) {
    const { storage, folder } = this.#from;
    // Somebody may have deleted it while the model was at work.
    if (!(await storage.stat(folder))) throw refused(`expected the session in ${folder}, but found none: its summary is not kept`);
    cached.covers = await coversOf(this.#from.log, Number(cached.range.endByte), extended?.covers);
    this.#seen.add(cached.id);
    await storage.replace(this.#path(cached), toBytes(cached), { within: folder });
    if (extended && this.#path(extended) !== this.#path(cached)) await storage.remove(this.#path(extended));
  }

  /** Those of the current path whose last message is where they say, the one that reaches farthest first. @param {Handle} handle */
  async #kept(handle) {
    const { storage } = this.#from;
    const files = (await storage.list(this.#folder).catch(unlessBug)) ?? [];
    const read = await Promise.all(files.map(({ name }) => storage.read(`${this.#folder}/${name}`).then(parsed).catch(unlessBug)));
    const all = /** @type {CachedSummary[]} */ ([...read, compacted(handle)].filter(Boolean));
    all.sort((a, b) => Number(b.range.endByte) - Number(a.range.endByte));
    const kept = [];
    for (const one of all) if (called(() => handle.areOnPath([one.range.endMessageId]))[0] && (await this.#endsThere(one.range)) && (await this.#isAsItWas(one))) kept.push(one);
    return kept;
  }

  // What an event says is no cache.
  /** @param {CachedSummary} cached */
  async #isAsItWas({ id, covers }) {
    if (id === "" || this.#seen.has(id)) return true;
    const known = asCovers(covers);
    const isSame = known !== undefined && (await holds(this.#from.log, known)).isSame;
    if (isSame) this.#seen.add(id);
    return isSame;
  }

  /** @param {SummaryRange} range */
  async #endsThere({ endByte, endMessageId }) {
    if (!(Number(endByte) > 0 && Number(endByte) <= (await this.#from.log.size()))) return false;
    for await (const { id } of newestFirst(this.#from, { end: Number(endByte), piece: LINE })) return id === endMessageId;
    return false;
  }

  /**
   * Piece by piece, each extending the one before; the last one is kept.
   * @param {Handle} handle
   * @param {Wanted} wanted
   * @param {{ previous?: CachedSummary, summarize: Summarize, limit: number }} by
   */
  async #extended(handle, { range, tokens }, { previous, summarize, limit }) {
    let known = previous;
    const start = Number(previous?.range.endByte ?? range.start);
    for await (const piece of this.#pieces(handle, { start, end: range.end }, limit)) known = await this.#written(piece, { previous: known, summarize, tokens });
    // It reaches far enough, and is too long.
    if (known === previous && previous) known = await this.#written({ ...NOTHING, last: previous.range }, { previous, summarize, tokens });
    else if (known) known.range.endByte = range.end;
    if (known) await this.#keep(known, previous?.id ? previous : undefined);
    return known;
  }

  /**
   * @param {Piece} piece
   * @param {{ previous?: CachedSummary, summarize: Summarize, tokens: number }} by
   * @returns {Promise<CachedSummary>}
   */
  async #written({ told, first, last, count, cost }, { previous, summarize, tokens }) {
    const begins = previous ? { startMessageId: previous.range.startMessageId, startSeq: previous.range.startSeq } : first;
    const range = { startMessageId: "", ...begins, ...last, messageCount: (previous?.range.messageCount ?? 0) + count };
    const [system = "", user = ""] = called((core) => core.prompt(told, previous?.summary.content, tokens));
    const { content, model = "" } = await answered(summarize, {
      messages: [{ role: "system", content: system }, { role: "user", content: user }],
      maxTokens: tokens + BUFFER,
      range: { startMessageId: range.startMessageId, endMessageId: range.endMessageId, messageCount: range.messageCount },
      previous: previous?.summary.content,
    });
    if (typeof content !== "string" || content.trim() === "") throw refused(`expected a summary as text, but found ${String(content)} instead`);
    const found = this.#count(content);
    const originalTokens = (previous?.originalTokens ?? 0) + cost;
    const most = Math.min(tokens + BUFFER, originalTokens - 1);
    if (found > most) throw refused(`expected a summary of at most ${most} tokens, for ${originalTokens} that it replaces, but found ${found} instead`);
    return {
      id: newId(), createdAt: nowText(), range, originalTokens,
      summary: { content: content.trim(), tokens: found, model },
      compressionRatio: Math.round((found / originalTokens) * 1000) / 1000,
    };
  }

  /**
   * The messages of a range, as a model is told of them, in pieces that it can read at once.
   * @param {Handle} handle
   * @param {{ start: number, end: number }} range
   * @param {number} limit in tokens
   * @returns {AsyncGenerator<Piece>}
   */
  async *#pieces(handle, range, limit) {
    let piece = { ...NOTHING };
    let size = 0;
    for await (const messages of this.#onPath(handle, range)) {
      const told = called((core) => core.told(toBytes(messages)));
      for (const [place, { id, seq, tokens }] of messages.entries()) {
        // A model cannot read more of a message than fits at once.
        const text = (told[place] ?? "").slice(0, limit * LETTERS_A_TOKEN);
        const cost = this.#count(text);
        if (piece.count > 0 && size + cost > limit) {
          yield piece;
          [piece, size] = [{ ...NOTHING }, 0];
        }
        size += cost;
        piece = {
          told: piece.told ? `${piece.told}\n\n${text}` : text,
          first: piece.first ?? { startMessageId: id, startSeq: seq },
          last: { endMessageId: id, endSeq: seq },
          count: piece.count + 1,
          cost: piece.cost + (tokens?.count ?? cost),
        };
      }
    }
    if (piece.count > 0) yield piece;
  }

  /** Some at a time. @param {Handle} handle @param {{ start: number, end: number }} range */
  async *#onPath(handle, range) {
    /** @type {ReadMessage[]} */
    let some = [];
    const those = () => {
      const isOn = called(() => handle.areOnPath(some.map(({ id }) => id)));
      const kept = some.filter((_, place) => isOn[place]);
      some = [];
      return kept;
    };
    for await (const message of oldestFirst(this.#from, range)) if (some.push(message) === SOME) yield those();
    yield those();
  }

  /** @param {CachedSummary} cached */
  #path({ range }) {
    return `${this.#folder}/${called((core) => core.foundId(toBytes([range.startMessageId, range.endMessageId])))}.json`;
  }
}

/** What was read as a summary, where it is one. @param {Uint8Array | null} bytes @returns {CachedSummary | undefined} */
function parsed(bytes) {
  try {
    const { range, summary, ...rest } = fromBytes(bytes ?? new Uint8Array());
    const isOne = typeof range?.endMessageId === "string" && Number.isInteger(range.endByte) && typeof summary?.content === "string" && Number.isInteger(summary.tokens);
    return isOne ? { ...rest, range, summary } : undefined;
  } catch (error) {
    // A cache that cannot be read costs one summary.
    if (!(error instanceof SyntaxError || error instanceof TypeError)) throw error;
    return undefined;
  }
}

/** The compaction in force, where somebody wrote its summary. @param {Handle} handle @returns {CachedSummary | undefined} */
function compacted(handle) {
  const { range, summary, originalTokens = 0 } = compactionOf(handle);
  return range?.endByte === undefined || !summary ? undefined : { id: "", createdAt: "", range, summary, originalTokens, compressionRatio: 0 };
}

/**
 * What the caller's model answers, whatever that is.
 * @param {Summarize} summarize
 * @param {SummaryRequest} request
 * @returns {Promise<{ content?: unknown, model?: string }>}
 */
async function answered(summarize, request) {
  try {
    const answer = await summarize(request);
    return typeof answer === "string" ? { content: answer } : (answer ?? {});
  } catch (cause) {
    throw refused(`expected a summary, but the model failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  }
}

/** @param {string} message @param {unknown} [cause] */
function refused(message, cause) {
  return new LeftoffError({ code: "invalid_summary", message, cause });
}
