// @ts-check
/**
 * A transcript: a file with an entry on each line, as Claude Code writes its own.
 *
 * Several processes may append to it. A batch is one write, and begins with a line feed of its own: behind a line that a
 * killed process did not finish, it still has lines of its own. Of two entries with one uuid the first counts.
 */

import { toJsonFast } from "../wasm/json.js";

/** @import { Storage } from "../storage/contract.js" */
/** @import { ClaudeSessionEntry } from "../types/claude.js" */
/** @typedef {{ uuid: string | undefined, line: string }} Line an entry as it is written */
/** @typedef {{ end: number, tail: Uint8Array }} ReadPart the whole lines that were read, and their last bytes */

const LINE_FEED = 10;
/** How many bytes tell that a file goes on from where it was read to, and is not another one. */
const TAIL_BYTES = 64;
const NOTHING = new Uint8Array();
/** @type {ReadPart} */
export const START = { end: 0, tail: NOTHING };
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export class Transcript {
  #storage;
  #path;
  /** What was begun last. @type {Promise<unknown>} */
  #last = Promise.resolve();
  #waiting = 0;
  #read = START;
  /** @type {Set<string>} those that were read */
  #uuids = new Set();
  /** A batch that failed, and its lines without a uuid that are in the file. @type {{ text: string, written: Set<number> } | undefined} */
  #refused;

  /** @param {Storage} storage @param {string} path */
  constructor(storage, path) {
    this.#storage = storage;
    this.#path = path;
  }

  /**
   * Does work on the file once all that was begun before is done.
   * @template T @param {() => Promise<T>} work @returns {Promise<T>}
   */
  async inTurn(work) {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    this.#waiting += 1;
    try {
      return await done;
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Whether work is under way. */
  get isBusy() {
    return this.#waiting > 0;
  }

  /** Adds the entries that it does not have, durably. @param {Line[]} batch */
  append(batch) {
    return this.inTurn(() => this.#appendNow(batch));
  }

  /** All entries; null where there is none. @returns {Promise<ClaudeSessionEntry[] | null>} */
  async load() {
    const bytes = await this.#storage.read(this.#path);
    const entries = bytes ? uniqueEntries(bytes) : [];
    return entries.length > 0 ? entries : null;
  }

  /** @param {Line[]} batch */
  async #appendNow(batch) {
    await this.#readOn();
    const text = batch.map(({ line }) => line).join("\n");
    const written = this.#refused?.text === text ? this.#refused.written : new Set();
    /** @type {Set<string>} */
    const own = new Set();
    const isNew = (/** @type {Line} */ { uuid }, /** @type {number} */ place) => {
      if (uuid === undefined) return !written.has(place);
      return !this.#uuids.has(uuid) && !own.has(uuid) && own.add(uuid) !== undefined;
    };
    const fresh = batch.filter(isNew);
    const bytes = fresh.length === 0 ? NOTHING : encoder.encode(`\n${fresh.map(({ line }) => line).join("\n")}\n`);
    try {
      // Also where there is nothing to add: whoever added it may have died before the disk had it.
      const { end } = await this.#storage.append(this.#path, bytes, { durable: true });
      this.#refused = undefined;
      if (end === this.#read.end + bytes.length) this.#advance(bytes, own);
    } catch (error) {
      const count = Object(error).written ?? 0;
      this.#refused = { text, written: new Set([...written, ...placesWritten(batch, fresh, count)]) };
      throw error;
    }
  }

  // Reads what others have appended, or all of a file that is another one by now.
  async #readOn() {
    const size = (await this.#storage.stat(this.#path))?.size ?? 0;
    if (size === this.#read.end) return;
    const { isOther, added } = await readOn(this.#storage, this.#path, this.#read);
    if (isOther) {
      this.#read = START;
      this.#uuids.clear();
    }
    this.#advance(added, Array.from(parseEntries(added), uuidOf));
  }

  /** Notes that the file was read further. @param {Uint8Array} bytes @param {Iterable<string | undefined>} uuids */
  #advance(bytes, uuids) {
    this.#read = advance(this.#read, bytes);
    for (const uuid of uuids) if (uuid !== undefined) this.#uuids.add(uuid);
  }
}

/** Entries as they are written. @param {ClaudeSessionEntry[]} entries @returns {Line[]} */
export function linesOf(entries) {
  return Array.from(entries, (entry, place) => ({
    uuid: uuidOf(entry),
    line: toJsonFast(entry, { about: `entry ${place}` }),
  }));
}

/** @param {ReadPart} read @param {Uint8Array} added @returns {ReadPart} */
function advance({ end, tail }, added) {
  return { end: end + added.length, tail: added.length > 0 ? added.slice(-TAIL_BYTES) : tail };
}

/**
 * Reads the whole lines behind a part of a transcript; all of them where it is another file by now.
 * @param {Storage} storage @param {string} path @param {ReadPart} read
 * @returns {Promise<{ isOther: boolean, added: Uint8Array, read: ReadPart }>} `read`: the part that is read by now
 */
export async function readOn(storage, path, read) {
  const bytes = await storage.readRange(path, read.end - read.tail.length, Infinity);
  if (read.end > 0 && !(bytes && isSame(bytes.subarray(0, read.tail.length), read.tail)))
    return { ...(await readOn(storage, path, START)), isOther: true };
  const added = bytes?.subarray(read.tail.length, bytes.lastIndexOf(LINE_FEED) + 1) ?? NOTHING;
  return { isOther: false, added, read: advance(read, added) };
}

/**
 * The entries of a transcript, of those with one uuid the first.
 * @param {Uint8Array} bytes
 * @returns {ClaudeSessionEntry[]}
 */
function uniqueEntries(bytes) {
  /** @type {Set<string>} */
  const met = new Set();
  return Array.from(parseEntries(bytes)).filter((entry) => {
    const uuid = uuidOf(entry);
    return uuid === undefined || (!met.has(uuid) && met.add(uuid) !== undefined);
  });
}

/**
 * The entries on these lines. What is no JSON was never acknowledged: whoever wrote it was killed, or had no more space.
 * @param {Uint8Array} bytes
 * @returns {Generator<ClaudeSessionEntry>}
 */
export function* parseEntries(bytes) {
  for (let start = 0; start < bytes.length;) {
    const found = bytes.indexOf(LINE_FEED, start);
    const end = found < 0 ? bytes.length : found;
    const entry = end > start ? parseLine(decoder.decode(bytes.subarray(start, end))) : undefined;
    if (entry) yield entry;
    start = end + 1;
  }
}

/** @param {string} line @returns {ClaudeSessionEntry | undefined} */
function parseLine(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** @param {ClaudeSessionEntry} entry */
function uuidOf(entry) {
  const uuid = /** @type {any} */ (entry)?.uuid;
  return typeof uuid === "string" ? uuid : undefined;
}

/**
 * The places in a batch of the lines without a uuid that are whole among the bytes that were written.
 * @param {Line[]} batch @param {Line[]} fresh those that were to be written @param {number} written
 */
function placesWritten(batch, fresh, written) {
  // Each batch begins with a line feed.
  let end = 1;
  const whole = fresh.filter(({ line }) => (end += encoder.encode(line).length + 1) <= written + 1);
  return whole.filter(({ uuid }) => uuid === undefined).map((line) => batch.indexOf(line));
}

/** @param {Uint8Array} one @param {Uint8Array} other */
function isSame(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
