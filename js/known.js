// @ts-check
/**
 * What an index says. Of ten thousand lines a list of twenty needs twenty whole; of the others where they lie, what their
 * files were like, and when they were last active. So those are cut out of the line, and the rest is read when it is asked for.
 */

import { isAbsolute, sep } from "node:path";

import { called, textOf } from "./core.js";

/** @import { Entry } from "./listing.js" */
/** @import { Print } from "./placement.js" */

// The core writes these in this order. Inside a string a quote is escaped, so none of them can be part of one.
const PATH = '{"v":1,"path":"';
const PLACEMENT = '","placement":"';
const FILES = '"files":';
const CREATED = ',"createdAt":"';
const LAST = ',"lastAccessedAt":"';

const TEXTS = ["id", "projectPath", "projectHash", "title", "createdAt", "lastAccessedAt", "type", "status"];
const STATUSES = ["active", "paused", "completed", "unreadable"];

/** @typedef {{ known: Map<string, Line>, lines: number, damaged: number }} Index `known`: by path; `damaged`: lines that are none */

/** @param {Uint8Array | undefined} bytes @param {string} home @returns {Index} */
export function readIndex(bytes, home) {
  /** @type {Map<string, Line>} */
  const known = new Map();
  if (!bytes?.length) return { known, lines: 0, damaged: 0 };
  const [head = "", ...lines] = textOf(called((core) => core.readIndex(bytes))).split("\n");
  const counts = JSON.parse(head);
  for (const text of lines) {
    const line = text && lineOf(text, home);
    if (line) known.set(line.path, line);
  }
  return { known, ...counts };
}

/** A line of an index. Its checksum is right, which says that somebody wrote it so. */
export class Line {
  #text;
  #files;
  #created;

  /** @param {string} text @param {string} path @param {number} end where the path does */
  constructor(text, path, end) {
    this.#text = text;
    this.path = path;
    this.#files = text.indexOf(FILES, end) + FILES.length;
    const created = text.indexOf(CREATED, this.#files) + CREATED.length;
    const last = text.indexOf(LAST, created) + LAST.length;
    this.last = text.slice(last, text.indexOf('"', last));
    this.lastMs = msOf(this.last);
    this.#created = text.slice(created, last - LAST.length - 1);
  }

  /** Whether it was written of files like these. @param {(Print | undefined)[]} files all of them, or the first */
  isOf(files) {
    let wanted = "[";
    for (const file of files) {
      if (file === undefined) return false;
      wanted += file === null ? "null," : `[${file[0]},${file[1]}],`;
    }
    return this.#text.startsWith(files.length > 1 ? `${wanted.slice(0, -1)}]` : wanted, this.#files);
  }

  /** When it was last active is told by its messages, not by what else may have changed. */
  get isTimed() {
    // As it was given, and as the core writes it.
    return this.#created !== this.last && (this.#created.length === this.last.length || Date.parse(this.#created) !== Date.parse(this.last));
  }

  /** All of it; nothing where it is no entry. @returns {Entry | undefined} */
  get entry() {
    try {
      const entry = JSON.parse(this.#text);
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

/** @param {string} text @param {string} home */
function lineOf(text, home) {
  const end = text.indexOf(PLACEMENT);
  if (end < 0 || !text.startsWith(PATH)) return undefined;
  const raw = text.slice(PATH.length, end);
  const path = raw.includes("\\") ? unescaped(raw) : raw;
  // A home that was moved has its index still.
  return path === undefined ? undefined : new Line(text, isAbsolute(path) ? path : home + sep + path, end);
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
