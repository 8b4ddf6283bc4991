// @ts-check
/**
 * What lists show of sessions, from an index, so that none has to be opened. The index is a cache: what it says of a
 * session holds while the session's files are as they were, which is looked at. What is missing or stale is opened, and
 * written down for the next time.
 */

import { Buffer } from "node:buffer";
import { basename, isAbsolute, join, relative } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";

import { LINE_FEED, joined } from "./bytes.js";
import { nowMs } from "./clock.js";
import { bytesOf, called, fromBytes, textOf } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { msOf, readIndex } from "./known.js";
import { idOf } from "./live.js";
import { conversationOf, names, prints } from "./placement.js";

/** @import { Index } from "./known.js" */
/** @import { FoundPlace, Place, Print } from "./placement.js" */
/** @import { Session } from "./session.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { ListOptions, Listed } from "./types/index.js" */

/**
 * A line of the index: what docs/FORMAT.md says, and what lists show besides.
 * @typedef {object} Entry
 * @property {string} path
 * @property {"home" | "workspace"} placement
 * @property {Print[]} files what the messages, the events, the document and, in a workspace, the Markdown were like
 * @property {string} id
 * @property {string} projectPath
 * @property {string} projectHash
 * @property {string} [remote]
 * @property {string} [firstCommit]
 * @property {string} [folder] where in the repository
 * @property {string} title
 * @property {string} agent that it was imported from, else empty
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
 * `isSure`: it was looked whether all of the entry still holds. Without it there may be none.
 * @typedef {{ readonly entry?: Entry, last: string, lastMs: number, path: string, place: FoundPlace, isSure: false } | Sure} Found
 * @typedef {{ readonly entry: Entry, last: string, lastMs: number, path: string, place: FoundPlace, isSure: true }} Sure
 */

/** How many stale lines the index may have beside as many that are not. */
const SPARE = 1000;
/** So many sessions are opened at once: each waits mostly. */
export const AT_ONCE = 8;

export class Listing {
  #storage;
  #home;
  #path;
  #look;
  /** @type {Index} */
  #index = { known: new Map(), lines: 0, damaged: 0 };
  /** @type {Uint8Array[]} for the index, not written yet */
  #fresh = [];
  /** Lines of files that were changed just now: they are looked at again before their lines are written. @type {{ place: Place, files: Print[], line: Uint8Array }[]} */
  #unsettled = [];

  /**
   * @param {{ storage: Storage, home: string, look: <T>(place: Place, work: (session: Session) => T) => Promise<T> }} parts
   *   `look`: opens a session for a look at it, as its files are now
   */
  constructor({ storage, home, look }) {
    this.#storage = storage;
    this.#home = home;
    this.#path = join(home, names().index);
    this.#look = look;
  }

  /** Reads the index; of how many lines it is, and how many are damaged. */
  async read() {
    // One that cannot be read is as good as none.
    const bytes = await this.#storage.read(this.#path).catch(unlessBug);
    this.#index = readIndex(bytes ?? undefined, this.#home);
    const { lines, damaged } = this.#index;
    return { lines, damaged };
  }

  /** What the index says, unverified. @returns {Entry[]} */
  known() {
    const entries = [];
    for (const { entry } of this.#index.known.values()) if (entry) entries.push(entry);
    return entries;
  }

  /**
   * Where the index says that sessions of an id or a name lie. Only its lines that mention it are read: of ten thousand
   * that takes a tenth of the time.
   * @param {string} id @returns {Promise<Entry[]>} unverified
   */
  async mentioned(id) {
    const bytes = await this.#storage.read(this.#path).catch(unlessBug);
    const lines = bytes ? linesWith(bytes, bytesOf(JSON.stringify(id))) : [];
    const { known } = readIndex(lines.length > 0 ? joined(lines) : undefined, this.#home);
    return [...known.values()].flatMap(({ entry }) => (entry && (entry.id === id || entry.name === id) ? [entry] : []));
  }

  /**
   * What is at places: what the index says where the files are as they were, as far as they were looked at; else the
   * sessions are opened. Of what was not looked at, `verified` makes sure.
   * @param {FoundPlace[]} places @param {number} sinceMs when their files were looked at, at the earliest
   * @returns {Promise<Found[]>}
   */
  async found(places, sinceMs) {
    /** @type {Found[]} */
    const found = [];
    /** @type {FoundPlace[]} */
    const others = [];
    for (const place of places) {
      const line = this.#index.known.get(place.path);
      const isWhole = place.files.length > 1;
      // A time that is not that of a message may be another by now, and with it the order.
      if (!line?.isOf(place.files) || !(isWhole || line.isTimed)) {
        others.push(place);
      } else if (!isWhole) {
        found.push({ place, path: place.path, last: line.last, lastMs: line.lastMs, isSure: false });
      } else {
        const { entry } = line;
        if (entry) found.push(sure(entry, place));
        else others.push(place);
      }
    }
    return [...found, ...(await this.#lookedAll(others, sinceMs))];
  }

  /**
   * What sessions say of what never changes, as where they began: the index is believed.
   * @param {FoundPlace[]} places
   * @returns {Promise<Entry[]>}
   */
  async told(places) {
    /** @type {Entry[]} */
    const told = [];
    const others = [];
    for (const place of places) {
      const entry = this.#index.known.get(place.path)?.entry;
      if (entry) told.push(entry);
      else others.push(place);
    }
    return [...told, ...(await this.#lookedAll(others)).map(({ entry }) => entry)];
  }

  /** @param {FoundPlace[]} places @param {number} [sinceMs] as `found` @returns {Promise<Sure[]>} */
  async #lookedAll(places, sinceMs) {
    /** @type {Sure[]} */
    const found = [];
    const looked = async () => {
      for (let place = places.pop(); place; place = places.pop()) {
        found.push(...((await this.#written(place)) ?? (await this.looked(place, sinceMs))));
        // Little of it waits for anything: others shall have their turn.
        await nextTurn();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, looked));
    return found;
  }

  // What the index says, where all of the files are as they were: that of a session whose messages have no times, too.
  /** @param {FoundPlace} place @returns {Promise<Sure[] | undefined>} */
  async #written(place) {
    const line = this.#index.known.get(place.path);
    const files = line && (await prints(place).catch(unlessBug));
    const entry = files && line.isOf(files) ? line.entry : undefined;
    return entry && [sure(entry, place)];
  }

  /** The same, where all of its files are as they were. @param {Found} found @returns {Promise<Sure[]>} */
  async verified(found) {
    if (found.isSure) return [found];
    const { place } = found;
    return (await this.#written(place)) ?? this.looked(place);
  }

  /**
   * What a session says that is opened for it.
   * @param {FoundPlace} place @param {number} [sinceMs] when all of its files were looked at; they are now, unless given
   * @returns {Promise<Sure[]>}
   */
  async looked(place, sinceMs) {
    const known = sinceMs !== undefined && place.files.length > 1 ? place.files.filter((file) => file !== undefined) : [];
    const isKnown = known.length > 0 && known.length === place.files.length;
    const lookedMs = isKnown ? Number(sinceMs) : nowMs();
    // Where they change until they are read, the line is of none that there were, and the next list looks again.
    const files = isKnown ? known : await prints(place).catch(unlessBug);
    const line = files && (await this.#look(place, (session) => this.#lineOf(session, files)).catch(unlessBug));
    // One that cannot be read must not cost the rest of the list.
    if (!line) {
      // A folder that was made, and nothing in it: whoever made it did not come further than that.
      return files?.slice(0, 3).every((file) => !file?.[0]) ? [] : [sure(unreadable(place), place)];
    }
    this.#keep({ place, files, line }, lookedMs);
    return [sure({ ...fromBytes(line), path: place.path }, place)];
  }

  /** The same of one that was opened and changed for the list. @param {Session} session @param {FoundPlace} place @returns {Promise<Sure | undefined>} */
  async changed(session, place) {
    const lookedMs = nowMs();
    const files = await prints(place).catch(unlessBug);
    // What others append is in the line, or makes its files others.
    await session.look();
    const line = files && this.#lineOf(session, files);
    if (!line) return undefined;
    this.#keep({ place, files, line }, lookedMs);
    return sure({ ...fromBytes(line), path: place.path }, place);
  }

  // What was changed just now may be changed again, and look the same.
  /** @param {{ place: Place, files: Print[], line: Uint8Array }} one @param {number} lookedMs when its files were looked at */
  #keep(one, lookedMs) {
    if (isSettled(one.files, lookedMs)) this.#fresh.push(one.line);
    else this.#unsettled.push(one);
  }

  /** Those that are as they were, now that a change would be seen. */
  async #settled() {
    for (const { place, files, line } of this.#unsettled.splice(0)) {
      const lookedMs = nowMs();
      const again = await prints(place).catch(unlessBug);
      if (again && isSettled(again, lookedMs) && JSON.stringify(again) === JSON.stringify(files)) this.#fresh.push(line);
    }
  }

  /** @param {Session} session @param {Print[]} files */
  #lineOf(session, files) {
    const { path, placement, isEmpty } = session;
    return isEmpty ? undefined : session.indexLine({ path: this.#relative(path), placement, files });
  }

  /** Writes down what was found. A listing that cannot is a listing all the same. */
  async save() {
    await this.#settled();
    if (this.#fresh.length === 0) return;
    const bytes = joined(this.#fresh);
    const lines = this.#index.lines + this.#fresh.length;
    this.#index.lines = lines;
    this.#fresh = [];
    if (lines > 2 * this.#index.known.size + SPARE) return this.#compact(bytes).catch(unlessBug);
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
    this.#index.known.delete(path);
    this.discard();
  }

  /** Forgets what was found: it is not to be written down. */
  discard() {
    this.#fresh = [];
    this.#unsettled = [];
  }

  /** Takes away what is no line of the index. */
  async mend() {
    await this.#compact(new Uint8Array());
    await this.read();
  }

  // Only the newest line of each path. Who appends meanwhile loses a line; the next listing writes it again.
  /** @param {Uint8Array} fresh */
  async #compact(fresh) {
    const bytes = (await this.#storage.read(this.#path)) ?? new Uint8Array();
    const newest = called((core) => core.compactIndex(joined([bytes, LINE_FEED, fresh])));
    await this.#storage.replace(this.#path, newest);
    this.#index.lines = this.#index.known.size;
  }

  // A home that was moved has its index still.
  /** @param {string} path */
  #relative(path) {
    const below = relative(this.#home, path);
    return below.startsWith("..") || isAbsolute(below) ? path : below;
  }
}

/** The lines, each with its line feed, that some bytes stand in. @param {Uint8Array} bytes @param {Uint8Array} wanted */
function linesWith(bytes, wanted) {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const lines = [];
  for (let at = all.indexOf(wanted); at >= 0; ) {
    const end = all.indexOf(LINE_FEED, at) + 1 || all.length;
    lines.push(all.subarray(all.lastIndexOf(LINE_FEED, at) + 1, end));
    at = all.indexOf(wanted, end);
  }
  return lines;
}

/** @param {Entry} entry @param {FoundPlace} place @returns {Sure} */
function sure(entry, place) {
  return { entry, place, path: place.path, last: entry.lastAccessedAt, lastMs: msOf(entry.lastAccessedAt), isSure: true };
}

/** @param {Place} place @returns {Entry} */
function unreadable({ path, placement }) {
  const id = placement === "home" ? idOf(path) : conversationOf(path).name;
  const none = { projectPath: "", projectHash: "", title: "", agent: "", createdAt: "", lastAccessedAt: "", messageCount: 0, totalTokens: 0, provider: { type: "", model: "", contextWindow: 0 } };
  return { path, placement, files: [], id, ...none, status: "active", lifecycle: "unreadable", type: "chat" };
}

/** Longer than a filesystem's clock stands still, which is a tick of the system. */
const TICK_MS = 20;
/** The same where only whole seconds are told, as in Deno. */
const SECOND_MS = 1020;

/** Whether a change from now on would be seen. @param {Print[]} files @param {number} lookedMs when they were looked at */
function isSettled(files, lookedMs) {
  return files.every((file) => !file || file[1] < lookedMs - (file[1] % 1000 === 0 ? SECOND_MS : TICK_MS));
}

/** By what a list may be sorted; of what is alike, the last active one comes first. @satisfies {Record<string, (a: Entry, b: Entry) => number>} */
export const SORTS = {
  active: () => 0,
  created: (a, b) => msOf(b.createdAt) - msOf(a.createdAt) || 0,
  title: (a, b) => a.title.localeCompare(b.title, "en", { sensitivity: "base", numeric: true }),
  messages: (a, b) => b.messageCount - a.messageCount,
  agent: (a, b) => a.agent.localeCompare(b.agent, "en"),
  project: (a, b) => projectOf(a).localeCompare(projectOf(b), "en"),
};

/** Last active first, unless sorted otherwise. @param {Entry[]} entries @param {keyof typeof SORTS} [sort] */
export function sorted(entries, sort = "active") {
  const timed = entries.map((entry) => ({ entry, path: entry.path, last: entry.lastAccessedAt, lastMs: msOf(entry.lastAccessedAt) }));
  return timed.sort(later).map((one) => one.entry).sort(SORTS[sort]);
}

/** Whether a list has it. @param {Entry} entry @param {Omit<ListOptions, "limit" | "verify" | "sort">} wanted */
export function isWanted(entry, { type, status, archived = status === "archived", agent, folder, since, until }) {
  const isArchived = entry.status === "archived";
  if (archived !== null && archived !== isArchived) return false;
  if (status !== undefined && status !== "archived" && status !== entry.lifecycle) return false;
  if (agent !== undefined && agent !== entry.agent) return false;
  if (folder !== undefined && folder !== projectOf(entry) && folder !== basename(projectOf(entry))) return false;
  const lastMs = msOf(entry.lastAccessedAt);
  if ((since && !(lastMs >= since.getTime())) || (until && !(lastMs <= until.getTime()))) return false;
  return type === null || (type ? entry.type === type : entry.type !== "subagent");
}

/** The folder it belongs to: of what lies in a workspace, wherever that is checked out. @param {Pick<Entry, "placement" | "path" | "projectPath">} entry */
function projectOf({ placement, path, projectPath }) {
  return placement === "workspace" ? conversationOf(path).workspace : projectPath;
}

/** Last active first. @param {{ last: string, lastMs: number, path: string }} a @param {{ last: string, lastMs: number, path: string }} b */
export function later(a, b) {
  if (a.lastMs !== b.lastMs) return a.lastMs < b.lastMs ? 1 : -1;
  return a.last < b.last ? 1 : a.last > b.last ? -1 : a.path < b.path ? -1 : 1;
}

/** @param {Entry} entry @returns {Listed} */
export function shown(entry) {
  const { id, type, title, lifecycle, lastAccessedAt, summary, messageCount, placement, path, name, agent, archivedAt, projectHash, createdAt, totalTokens, provider } = entry;
  const project = projectOf(entry);
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
    ...(agent && { agent }),
    ...(archivedAt && { archivedAt }),
    ...(project && { project }),
  };
}

/**
 * The one session of an id, a unique beginning of one, or a name.
 * @template {{ id: string, name?: string, title?: string, path: string, placement: "home" | "workspace" }} T
 * @param {string} id @param {T[]} all @returns {T}
 */
export function exactly(id, all) {
  const dated = (/** @type {{ path: string, placement: string, name?: string }} */ one) => one.placement === "workspace" && `${conversationOf(one.path).day}/${one.name}`;
  const named = all.filter((one) => id && (one.id === id || one.name === id || dated(one) === id));
  const found = named.length > 0 ? named : all.filter((one) => id && one.id.startsWith(id));
  const [exact] = found;
  if (exact && found.length === 1) return exact;
  const some = found.length ? `${found.length}:\n${candidates(found, { isPlaced: named.length > 0 })}` : "none";
  throw new LeftoffError({ code: found.length ? "ambiguous" : "not_found", message: `expected one session "${id}", but found ${some}` });
}

/**
 * Between which sessions somebody has to choose, one a line; of many, how many more there are.
 * @param {{ id: string, title?: string, path: string }[]} found
 * @param {{ isPlaced?: boolean }} [options] with where they lie: by that, copies and equal names are told apart
 */
export function candidates(found, { isPlaced = false } = {}) {
  const MOST = 5;
  const lines = found.slice(0, MOST).map(({ id, title = "", path }) => `  ${id}  ${title.replace(/\s+/g, " ")}${isPlaced ? `  ${path}` : ""}`);
  return [...lines, ...(found.length > MOST ? [`  and ${found.length - MOST} more`] : [])].join("\n");
}
