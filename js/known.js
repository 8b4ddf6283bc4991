// @ts-check
/**
 * What an index says. Of ten thousand lines a list of twenty needs twenty whole; of the others where they lie, what their
 * files were like, and when they were last active. So the core cuts those out, and the rest is read when it is asked for.
 */

import { isAbsolute, sep } from "node:path";

import { called, textOf } from "./core.js";

/** @import { Entry } from "./listing.js" */
/** @import { Print } from "./placement.js" */

/** What ends a line, as a byte. */
const END = 10;
const TEXTS = ["id", "projectPath", "projectHash", "title", "agent", "createdAt", "lastAccessedAt", "type", "status"];
const STATUSES = ["active", "paused", "completed", "unreadable"];

/** @typedef {{ known: Map<string, Line>, lines: number, damaged: number }} Index `known`: by path; `damaged`: lines that are none */

/** @param {Uint8Array | undefined} bytes @param {string} home @returns {Index} */
export function readIndex(bytes, home) {
  /** @type {Map<string, Line>} */
  const known = new Map();
  if (!bytes?.length) return { known, lines: 0, damaged: 0 };
  const [head = "", ...rows] = textOf(called((core) => core.readIndex(bytes))).split("\n");
  for (const row of rows) {
    const line = row && lineOf(row, { bytes, home });
    if (line) known.set(line.path, line);
  }
  return { known, ...JSON.parse(head) };
}

/** A line of an index. Its checksum is right, which says that somebody wrote it so. */
export class Line {
  #index;
  #start;
  #files;

  /**
   * @param {Uint8Array} index
   * @param {{ start: number, path: string, files: string, last: string, lastMs: number, isTimed: boolean }} row
   */
  constructor(index, { start, path, files, last, lastMs, isTimed }) {
    this.#index = index;
    this.#start = start;
    this.#files = files;
    this.path = path;
    this.last = last;
    this.lastMs = lastMs;
    /** When it was last active is told by its messages, not by what else may have changed. */
    this.isTimed = isTimed;
  }

  /** Whether it was written of files like these. @param {(Print | undefined)[]} files all of them, or the first */
  isOf(files) {
    let wanted = "[";
    for (const file of files) {
      if (file === undefined) return false;
      wanted += file === null ? "null," : `[${file[0]},${file[1]}],`;
    }
    return files.length > 1 ? this.#files === `${wanted.slice(0, -1)}]` : this.#files.startsWith(wanted);
  }

  /** All of it; nothing where it is no entry. @returns {Entry | undefined} */
  get entry() {
    const end = this.#index.indexOf(END, this.#start);
    try {
      const entry = JSON.parse(textOf(this.#index.subarray(this.#start, end < 0 ? undefined : end)));
      if (!isEntry(entry)) return undefined;
      entry.path = this.path;
      return entry;
    } catch {
      return undefined;
    }
  }
}

/** A time as a number, which is compared faster; what is none was long ago. @param {string} time */
export function msOf(time) {
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? -Infinity : ms;
}

/** @param {string} row @param {{ bytes: Uint8Array, home: string }} index */
function lineOf(row, { bytes, home }) {
  const [start, isTimed, last = "", files = "", raw = ""] = row.split("\t");
  const path = raw.includes("\\") ? unescaped(raw) : raw;
  if (path === undefined) return undefined;
  return new Line(bytes, {
    start: Number(start),
    // A home that was moved has its index still.
    path: isAbsolute(path) ? path : home + sep + path,
    files,
    last,
    lastMs: msOf(last),
    isTimed: isTimed === "1",
  });
}

/** @param {string} raw */
function unescaped(raw) {
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return undefined;
  }
}

/** @param {any} entry */
function isEntry(entry) {
  return TEXTS.every((name) => typeof entry[name] === "string") && STATUSES.includes(entry.lifecycle) && typeof entry.provider === "object";
}
