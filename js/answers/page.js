// @ts-check
/** The lines of an answer: as many as it has room for, in a fence that none of them closes. */

import { historyText } from "../index.js";

/** What an answer shows of a message. @typedef {{ role: string, timestamp?: string, content: string }} Line */

/** The most bytes of an answer: a model reads all of it. */
export const MAX_ANSWER_BYTES = 4096;
/** What an answer has room for beside the fence: what it says of its lines, and how to go on. */
const ABOUT_BYTES = 500;
/** The most bytes of one message, as it stands in the fence. */
const MAX_MESSAGE_BYTES = 2500;

/** How many bytes a line takes. @param {Line} line */
const measureLine = (line) => Buffer.byteLength(historyText([line])) - Buffer.byteLength(historyText([]));

/** A title among messages: what the user was about. @param {string} title @returns {Line} */
export const titleLine = (title, before = "") => ({ role: "user", content: `${before}title: ${title}` });

export class Page {
  #title;
  /** @type {Line[]} */
  #lines = [];
  #byteLength;

  /** @param {string} [title] of the session that it shows */
  constructor(title) {
    this.#title = title === undefined ? [] : [titleLine(title)];
    this.#byteLength = ABOUT_BYTES + Buffer.byteLength(historyText(this.#title));
  }

  /** Adds a line, unless there is no room; the first one always has. @param {Line} line */
  add(line) {
    return this.#takes(line) && this.#lines.push(line) > 0;
  }

  /** Adds a line before the others. @param {Line} line */
  addBefore(line) {
    return this.#takes(line) && this.#lines.unshift(line) > 0;
  }

  get isEmpty() {
    return this.#lines.length === 0;
  }

  /** @param {string} about @param {Record<string, string | undefined>} [cursors] where to go on, by what is there */
  render(about, cursors = {}) {
    const more = Object.entries(cursors).map(([what, cursor]) => (cursor ? `\n${what}: cursor "${cursor}".` : ""));
    return `${about}\n${historyText([...this.#title, ...this.#lines])}${more.join("")}`;
  }

  /** @param {Line} line */
  #takes(line) {
    const byteLength = measureLine(line) + 1;
    if (this.#byteLength + byteLength > MAX_ANSWER_BYTES && !this.isEmpty) return false;
    this.#byteLength += byteLength;
    return true;
  }
}

/** The beginning of a text that has room in an answer. @param {string} text */
export function cutToFit(text, maxBytes = MAX_MESSAGE_BYTES) {
  const measure = (/** @type {string} */ content) => measureLine({ role: "user", content });
  const byteLength = measure(text);
  if (byteLength <= maxBytes) return text;
  let kept = Math.floor((text.length * maxBytes) / byteLength);
  // What takes more bytes than the rest may stand at the beginning.
  while (measure(text.slice(0, kept)) > maxBytes) kept = Math.floor(kept * 0.9);
  if (/[\ud800-\udbff]/.test(text.charAt(kept - 1))) kept -= 1;
  return `${text.slice(0, kept)} [… ${text.length - kept} characters more]`;
}
