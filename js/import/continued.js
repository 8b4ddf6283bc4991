// @ts-check
/**
 * Agents' sessions in which one of the store was resumed: what is said there goes on with that one. Where it was resumed as
 * text, the fence around its history is the mark; where it was written as the agent's own, that one's name is. Who it was is
 * kept in a pointer. Where that is lost, the agent's session is one of its own.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";

import { agents } from "../wasm/agents.js";
import { fromBytes, toBytes } from "../wasm/core.js";
import { derived } from "../storage/derived.js";
import { isOwn } from "../init/names.js";

/** @import { Transcript } from "../../pkg/agents.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { ReadSession } from "../session/transcript.js" */

/**
 * @typedef {object} Part of an agent's session
 * @property {number} at its place in the handle
 * @property {number} count how many messages it has
 * @property {Session} [session] the one that it goes on with; else it is the agent's own
 *
 * A session that is still there.
 * @typedef {(id: string) => Promise<Session | undefined>} Find
 */

const PIECE = 256;
const FENCE = /----- ([0-9a-f]{32})/g;

export class Continued {
  #storage;
  #folder;

  /** @param {Storage} storage @param {string} home */
  constructor(storage, home) {
    this.#storage = storage;
    this.#folder = join(home, "continued");
  }

  /** Whoever is given this text goes on with the session. @param {string} text with the fence @param {string} session */
  async note(text, session) {
    const [, mark] = text.matchAll(FENCE).next().value ?? [];
    if (mark) await this.#storage.replace(this.#path(mark), toBytes({ version: 1, session }));
  }

  /**
   * What is said in this one of an agent's goes on with the session that it was written from.
   * @param {ReadSession} written as it is read back @param {{ session: string, last: string }} of `last`: the last message of that
   */
  async noteWritten(written, { session, last }) {
    await this.#storage.replace(this.#path(nameOf(written)), toBytes({ version: 1, session, last }));
  }

  /**
   * The parts of an agent's session: what goes on with another one, and what is its own.
   * @param {Transcript} handle
   * @param {{ at: number, one: ReadSession, isOn: boolean, isAboutStore: boolean, find: Find }} of `isOn`: it goes on there;
   *   `isAboutStore`: something of the store may be in it
   * @returns {Promise<Part[]>}
   */
  async parts(handle, { at, one, isOn, isAboutStore, find }) {
    const count = one.messageCount;
    const pointed = await this.#pointed(nameOf(one));
    const session = pointed && (await find(pointed.id));
    const end = pointed && session ? placeOf(handle, { at, count, id: pointed.last }) : -1;
    if (end >= 0) return [{ at: agents.called(() => handle.divide(at, end + 1)), count: count - end - 1, session }];
    if (isAboutStore) return this.#divided(handle, { at, count, find });
    // Before that the file has the client's own words alone, and nobody can tell what began it.
    return !isOn || isBegun(handle, { at, count }) ? [{ at, count }] : [];
  }

  /**
   * What was said before a session was resumed is the agent's own, what comes behind goes on with that one. What was typed and
   * answered to resume it is in neither.
   * @param {Transcript} handle @param {{ at: number, count: number, find: Find }} whole
   */
  async #divided(handle, { at, count, find }) {
    const { marks, ends, asked } = await this.#looked(handle, { at, count, find });
    // Who only looks for a session has said nothing yet.
    const hasTalk = (/** @type {number} */ upTo) => asked.some((place) => place < upTo);
    if (marks.length === 0) return hasTalk(count) ? [{ at, count }] : [];
    /** @type {Part[]} */
    const parts = [];
    let end = count;
    for (const { session, place } of marks.reverse()) {
      const left = Math.max(0, end - place - 1);
      const tail = agents.called(() => handle.divide(at, place + 1));
      agents.called(() => handle.divide(tail, left));
      parts.unshift({ at: tail, count: left, session });
      // The last turn before it that was answered.
      end = (ends.findLast((one) => one < place) ?? -1) + 1;
      agents.called(() => handle.divide(at, end));
    }
    return [{ at, count: hasTalk(end) ? end : 0 }, ...parts].filter((part) => part.count > 0);
  }

  // Where each mark stands last, in this order; where turns end; and where the user says something that is not about the store.
  /** @param {Transcript} handle @param {{ at: number, count: number, find: Find }} whole */
  async #looked(handle, { at, count, find }) {
    /** @type {Map<string, number>} */
    const places = new Map();
    /** @type {number[]} */
    const ends = [];
    /** @type {number[]} */
    const asked = [];
    for (const [place, message, next] of messages(handle, { at, count })) {
      // The first is the outermost: in the history there may be others.
      const [, mark] = JSON.stringify(message).matchAll(FENCE).next().value ?? [];
      if (mark) places.set(mark, place);
      if (isTalk(message, next)) asked.push(place);
      if (message.role === "assistant" && !message.assistant?.toolCalls?.length) ends.push(place);
    }
    const marks = [];
    for (const [mark, place] of places) {
      const { id } = (await this.#pointed(mark)) ?? {};
      const session = id && (await find(id));
      if (session) marks.push({ session, place });
    }
    return { marks: marks.sort((a, b) => a.place - b.place), ends, asked };
  }

  /** @param {string} mark @returns {Promise<{ id: string, last: string } | undefined>} */
  async #pointed(mark) {
    const { session: id, last } = (await derived(this.#storage, this.#path(mark))) ?? {};
    return typeof id === "string" ? { id, last: String(last) } : undefined;
  }

  /** @param {string} mark */
  #path(mark) {
    return join(this.#folder, `${mark}.json`);
  }
}

/** Each message with its place, and the one behind it. @param {Transcript} handle @param {{ at: number, count: number }} whole @returns {Generator<[place: number, message: any, next?: any]>} */
function* messages(handle, { at, count }) {
  /** @type {[number, any] | undefined} */
  let last;
  for (let from = 0; from < count; from += PIECE) {
    for (const [offset, message] of fromBytes(agents.called(() => handle.messages(at, from, from + PIECE))).entries()) {
      if (last) yield [...last, message];
      last = [from + offset, message];
    }
  }
  if (last) yield last;
}

/** Whether the user has said something. @param {Transcript} handle @param {{ at: number, count: number }} whole */
function isBegun(handle, whole) {
  for (const [, message, next] of messages(handle, whole)) if (isTalk(message, next)) return true;
  return false;
}

/** Where a message stands. @param {Transcript} handle @param {{ at: number, count: number, id: string }} of */
function placeOf(handle, { id, ...whole }) {
  for (const [place, message] of messages(handle, whole)) if (message.id === id) return place;
  return -1;
}

/** What a pointer for an agent's session is called: no name of an agent's stands in a path. @param {ReadSession} one */
function nameOf({ agent, sourceId }) {
  return createHash("sha256").update(`${agent}/${sourceId}`).digest("hex").slice(0, 32);
}

const OF_CLIENT = /^\s*<(?:session_context|environment_context|user_instructions|skill|system-reminder|local-command-\w+)[\s>]/;

/**
 * Whether the user says something in a message: not the client, and not by a command of `leftoff init`.
 * @param {{ role: string, content: unknown }} message @param {{ content: unknown }} [next] the one behind it
 */
export function isTalk({ role, content }, next) {
  const text = String(content);
  return role === "user" && !OF_CLIENT.test(text) && !isOwn(text, next && String(next.content));
}
