// @ts-check
/**
 * What lists show of sessions, from an index, so that none has to be opened. The index is a cache: what it says of a
 * session holds while the session's files are as they were, which is looked at. What is missing or stale is opened, and
 * written down for the next time.
 */

import { isAbsolute, join, relative } from "node:path";

import { joined } from "./bytes.js";
import { bytesOf, called, fromBytes, textOf } from "./core.js";
import { unlessBug } from "./error.js";
import { idOf } from "./live.js";
import { DOCUMENTS, conversationOf } from "./placement.js";

/** @import { FoundPlace, Place } from "./placement.js" */
/** @import { Session } from "./session.js" */
/** @import { Stat, Storage } from "./storage/contract.js" */

/**
 * A line of the index: document 004's `SessionIndexEntry`, and what lists show besides.
 * @typedef {object} Entry
 * @property {string} path
 * @property {"home" | "workspace"} placement
 * @property {Print[]} files what the messages, the events and the document were like
 * @property {string} id
 * @property {string} projectPath
 * @property {string} projectHash
 * @property {string} [remote]
 * @property {string} [firstCommit]
 * @property {string} [folder] where in the repository
 * @property {string} title
 * @property {string} createdAt
 * @property {string} lastAccessedAt
 * @property {number} messageCount
 * @property {number} totalTokens
 * @property {{ type: string, model: string, contextWindow: number, baseUrl?: string }} provider
 * @property {"active" | "archived"} status
 * @property {"active" | "paused" | "completed" | "unreadable"} lifecycle
 * @property {string} type
 * @property {string} [name]
 * @property {string} [summary]
 * @property {string} [archivedAt]
 * @property {{ session: string, callId?: string }} [parent]
 *
 * What a file was like; null where there was none.
 * @typedef {[size: number, ctimeMs: number] | null} Print
 *
 * `isSure`: it was looked whether all of the entry still holds.
 * @typedef {{ entry: Entry, place: FoundPlace, isSure: boolean }} Found
 */

/**
 * What lists show of a session.
 * @typedef {object} Listed
 * @property {string} id
 * @property {string} type
 * @property {string} title
 * @property {"active" | "paused" | "completed" | "unreadable"} status
 * @property {string} lastActive RFC 3339
 * @property {string | null} summary
 * @property {number} messageCount
 * @property {"home" | "workspace"} placement
 * @property {string} path
 * @property {string} [name] in its workspace
 * @property {string} [archivedAt] since when lists hide it
 * @property {string} [project] the folder it belongs to
 * @property {string} projectHash
 * @property {string} createdAt
 * @property {number} totalTokens
 * @property {{ type: string, model: string, contextWindow: number, baseUrl?: string }} provider
 *
 * @typedef {object} ListOptions
 * @property {boolean} [all] of all projects
 * @property {string | null} [type] only those, or null for all; without it all but sub-agents' are listed
 * @property {"active" | "paused" | "completed" | "unreadable" | "archived"} [status] only those
 * @property {boolean | null} [archived] those that are archived; or null for both
 * @property {number} [limit] at most so many
 * @property {boolean} [verify] true unless given; without it what the index says is not looked after
 */

/** How many stale lines the index may have beside as many that are not. */
const SPARE = 1000;

export class Listing {
  #storage;
  #home;
  #path;
  #open;
  /** @type {Map<string, Entry>} by path */
  #entries = new Map();
  #lines = 0;
  /** @type {Uint8Array[]} for the index, not written yet */
  #fresh = [];

  /**
   * @param {{ storage: Storage, home: string, open: (place: Place) => Promise<Session> }} parts `open`: opens a session
   *   to look at it, or gives the one that is open
   */
  constructor({ storage, home, open }) {
    this.#storage = storage;
    this.#home = home;
    this.#path = join(home, "sessions", "index.jsonl");
    this.#open = open;
  }

  /** What the index says, unverified. @returns {Promise<Entry[]>} */
  async known() {
    // One that cannot be read is as good as none.
    const bytes = await this.#storage.read(this.#path).catch(unlessBug);
    const { entries, lines } = bytes ? fromBytes(called((core) => core.readIndex(bytes))) : { entries: [], lines: 0 };
    for (const entry of entries) entry.path = this.#absolute(entry.path);
    this.#entries = new Map(entries.map((/** @type {Entry} */ entry) => [entry.path, entry]));
    this.#lines = lines;
    return entries;
  }

  /**
   * The entries of places: those of the index while the messages are as they were, else the sessions are opened.
   * Of the rest, `verified` makes sure.
   * @param {FoundPlace[]} places
   * @returns {Promise<Found[]>}
   */
  async entries(places) {
    const found = [];
    for (const place of places) {
      const entry = this.#entries.get(place.path);
      if (entry && isSame(entry.files[0], place.log)) found.push({ entry, place, isSure: false });
      else found.push(...(await this.looked(place)));
    }
    return found;
  }

  /** The same, where the events and the document are as they were, too. @param {Found} found @returns {Promise<Found[]>} */
  async verified(found) {
    if (found.isSure) return [found];
    const { entry, place } = found;
    const [, events, document] = entry.files;
    const now = await prints(place);
    if (sameEach([events, document], now.slice(1))) return [{ ...found, isSure: true }];
    return this.looked(place);
  }

  /** What a session says that is opened for it. @param {FoundPlace} place @returns {Promise<Found[]>} */
  async looked(place) {
    const files = await prints(place).catch(unlessBug);
    const session = files && (await this.#open(place).catch(unlessBug));
    // One that cannot be read must not cost the rest of the list.
    if (!files || !session) return [{ entry: unreadable(place), place, isSure: true }];
    // A folder that was made, and nothing in it: whoever made it did not come further than that.
    if (session.isEmpty) return [];
    const line = this.add(session, files);
    return [{ entry: { ...fromBytes(line), path: place.path }, place, isSure: true }];
  }

  /** Takes a session into the index. @param {Session} session @param {Print[]} files */
  add(session, files) {
    const { path, placement } = session;
    const line = session.indexLine({ path: this.#relative(path), placement, files });
    this.#fresh.push(line);
    return line;
  }

  /** Writes down what was found. A listing that cannot is a listing all the same. */
  async save() {
    if (this.#fresh.length === 0) return;
    const bytes = joined(this.#fresh);
    this.#lines += this.#fresh.length;
    this.#fresh = [];
    if (this.#lines > 2 * this.#entries.size + SPARE) return this.#compact(bytes).catch(unlessBug);
    // Whoever died while writing left no line feed.
    await this.#storage.append(this.#path, joined([LINE_FEED, bytes])).catch(unlessBug);
  }

  /** Leaves no line about a session that is gone for good. @param {string} path */
  async forget(path) {
    const bytes = await this.#storage.read(this.#path);
    if (!bytes) return;
    const head = `{"v":1,"path":${JSON.stringify(this.#relative(path))},`;
    const kept = textOf(bytes).split("\n").filter((line) => !line.startsWith(head));
    await this.#storage.replace(this.#path, bytesOf(kept.join("\n")));
    this.#entries.delete(path);
  }

  // Only the newest line of each path. Who appends meanwhile loses a line; the next listing writes it again.
  /** @param {Uint8Array} fresh */
  async #compact(fresh) {
    const bytes = (await this.#storage.read(this.#path)) ?? new Uint8Array();
    await this.#storage.replace(this.#path, called((core) => core.compactIndex(joined([bytes, LINE_FEED, fresh]))));
  }

  // A home that was moved has its index still.
  /** @param {string} path */
  #relative(path) {
    const below = relative(this.#home, path);
    return below.startsWith("..") || isAbsolute(below) ? path : below;
  }

  /** @param {string} path */
  #absolute(path) {
    return isAbsolute(path) ? path : join(this.#home, path);
  }
}

/** @param {Place} place @returns {Entry} */
function unreadable({ path, placement }) {
  const id = placement === "home" ? idOf(path) : conversationOf(path).name;
  const none = { projectPath: "", projectHash: "", title: "", createdAt: "", lastAccessedAt: "", messageCount: 0, totalTokens: 0, provider: { type: "", model: "", contextWindow: 0 } };
  return { path, placement, files: [], id, ...none, status: "active", lifecycle: "unreadable", type: "chat" };
}

const LINE_FEED = new Uint8Array([10]);

/** What the files of a session are like. @param {Place} place @returns {Promise<Print[]>} */
export async function prints({ storage, path, placement }) {
  const files = ["messages.jsonl", "events.jsonl", DOCUMENTS[placement].file];
  return Promise.all(files.map(async (file) => print(await storage.stat(join(path, file)))));
}

/** Whether a list has it. @param {Entry} entry @param {Omit<ListOptions, "limit" | "verify">} wanted */
export function isWanted(entry, { type, status, archived = status === "archived" }) {
  const isArchived = entry.status === "archived";
  if (archived !== null && archived !== isArchived) return false;
  if (status !== undefined && status !== "archived" && status !== entry.lifecycle) return false;
  return type === null || (type ? entry.type === type : entry.type !== "subagent");
}

/** Last active first. @param {Entry} a @param {Entry} b */
export function later(a, b) {
  return a.lastAccessedAt < b.lastAccessedAt ? 1 : a.lastAccessedAt > b.lastAccessedAt ? -1 : a.path < b.path ? -1 : 1;
}

/** @param {Entry} entry @returns {Listed} */
export function shown({ id, type, title, lifecycle, lastAccessedAt, summary, messageCount, placement, path, name, archivedAt, projectPath, projectHash, createdAt, totalTokens, provider }) {
  return {
    id,
    type,
    title,
    status: lifecycle,
    lastActive: lastAccessedAt,
    summary: summary ?? null,
    messageCount,
    placement,
    path,
    projectHash,
    createdAt,
    totalTokens,
    provider,
    ...(name && { name }),
    ...(archivedAt && { archivedAt }),
    ...(projectPath && { project: projectPath }),
  };
}

/** @param {Stat | null} stat @returns {Print} */
function print(stat) {
  return stat && [stat.size, stat.ctimeMs];
}

/** @param {Print | undefined} known @param {Stat | null} now */
function isSame(known, now) {
  return sameEach([known], [print(now)]);
}

/** @param {(Print | undefined)[]} known @param {Print[]} now */
function sameEach(known, now) {
  return now.every((one, at) => one?.[0] === known[at]?.[0] && one?.[1] === known[at]?.[1]);
}
