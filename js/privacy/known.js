// @ts-check
/**
 * Parts of secrets that are known from elsewhere: a text that was cut, folded or summed up may hold a piece of a secret that
 * no rule finds in it any more. What is known of whole texts finds each piece of eight letters.
 */

import { PRIVATE_KEY, bodyOf } from "./keys.js";

/** @import { Found } from "../secrets.js" */

/** So many letters of a secret are a part of it. */
const LEAST = 8;
/** Fewer letters than these tell nothing: a row of zeros. */
const LETTERS = 3;
/** Of an address the password is the secret, and the name before it; a part of the rest is nobody's. */
const ADDRESS = /^[\w+.-]*:?\/\/([^\s/?#]*)@/;
/** So much of a part has to be of that. */
const TELLING = 4;
const BITS = 1 << 20;
const FACTOR = 31;
const TOP = FACTOR ** (LEAST - 1) | 0;

/** @typedef {{ secret: string, rule: string }} Secret */

export class Known {
  /** @type {Map<string, Secret>} by each of its parts */
  #parts = new Map();
  #seen = new Set();
  // What is not marked is no part of any.
  #marks = new Uint8Array(BITS / 8);

  get isEmpty() {
    return this.#parts.size === 0;
  }

  /** @param {Secret} secret */
  add(secret) {
    if (this.#seen.has(secret.secret)) return;
    this.#seen.add(secret.secret);
    for (const part of partsOf(secret)) {
      if (new Set(part).size < LETTERS || this.#parts.has(part)) continue;
      this.#parts.set(part, secret);
      const place = hashOf(part, 0) & (BITS - 1);
      this.#marks[place >> 3] = Number(this.#marks[place >> 3]) | (1 << (place & 7));
    }
  }

  /** Where parts of them stand, those that meet as one. @param {string} text @returns {Found[]} */
  find(text) {
    /** @type {Found[]} */
    const found = [];
    if (this.isEmpty || text.length < LEAST) return found;
    let hash = hashOf(text, 0);
    for (let at = 0; ; at += 1) {
      const place = hash & (BITS - 1);
      const secret = Number(this.#marks[place >> 3]) & (1 << (place & 7)) ? this.#parts.get(text.slice(at, at + LEAST)) : undefined;
      const last = found.at(-1);
      if (secret && last && at <= last.end) last.end = at + LEAST;
      else if (secret) found.push({ start: at, end: at + LEAST, ...secret });
      if (at + LEAST >= text.length) return found;
      hash = (Math.imul(hash - Math.imul(text.charCodeAt(at), TOP), FACTOR) + text.charCodeAt(at + LEAST)) | 0;
    }
  }
}

/** @param {Secret} secret @returns {string[]} */
function partsOf({ secret, rule }) {
  const address = ADDRESS.exec(secret);
  if (address) {
    const end = address[0].length - 1;
    const start = end - String(address[1]).length;
    return windows(secret).filter((_, at) => Math.min(at + LEAST, end) - Math.max(at, start) >= TELLING);
  }
  const bodies = rule === PRIVATE_KEY || secret.includes("PRIVATE KEY") ? bodyOf(secret) : secret.split(/\s+/);
  return bodies.flatMap(windows);
}

/** @param {string} text */
function windows(text) {
  return Array.from({ length: Math.max(0, text.length - LEAST + 1) }, (_, at) => text.slice(at, at + LEAST));
}

/** @param {string} text @param {number} start */
function hashOf(text, start) {
  let hash = 0;
  for (let at = start; at < start + LEAST; at += 1) hash = (Math.imul(hash, FACTOR) + text.charCodeAt(at)) | 0;
  return hash;
}
