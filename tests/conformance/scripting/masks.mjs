// @ts-check
/** What differs from run to run and from host to host is masked: paths, ids, and what is made from either. */

import { createHash } from "node:crypto";
import { join } from "node:path";

/** @import { Stamps } from "./stamps.mjs" */

/** The folders that scripts have. */
export const FOLDERS = ["home", "user", "outside", "workspace", "project", "project2", "project3", "project4"];
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-([78])[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;
/**
 * What is made by chance, or by a hash of what is: a commit, the mark of a fence, a secret's placeholder; and which
 * process is at it.
 */
const CHANCE = [
  { what: "output", found: /(?<=-)[0-9a-f]{24}(?=\.json)/g },
  { what: "commit", found: /(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])/g },
  { what: "mark", found: /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g },
  // A file of Gemini CLI's has the beginning of its id in its name; pi's ids are as short.
  { what: "short", found: /(?<=session-\d{4}-\d\d-\d\dT\d\d-\d\d-|")[0-9a-f]{8}(?=["\\.])/g },
  {
    what: "holder",
    found:
      /(?<= )[^\s"]+, process \d+ on [^\s,"]+|(?<="message":")[^\s"]+ has the session open: process \d+ on [^\s,"]+/g,
  },
  { what: "secret", found: /(?<=\[redacted:[a-z0-9-]+:)[0-9a-f]+(?=\])/g },
];
/** A longer answer is kept as what it hashes to. */
const LONGEST = 6000;

export class Masks {
  #root;
  #stamps;
  #joined;
  /** What stands for what, by kind. @type {Map<string, Map<string, string>>} */
  #known = new Map();

  /** @param {string} root @param {Stamps} stamps @param {string[]} joined texts that are not to be recorded */
  constructor(root, stamps, joined) {
    this.#joined = joined;
    this.#root = root;
    this.#stamps = stamps;
  }

  /**
   * A text without what differs.
   * @param {string} text
   * @param {{ isLook?: boolean }} [options] `isLook`: what is new gets no number yet
   */
  text(text, { isLook = false } = {}) {
    const mask = (/** @type {string} */ what, /** @type {string} */ found) =>
      isLook ? (this.#known.get(what)?.get(found) ?? `<${what}>`) : this.#of(what, found);
    const plain = this.#joined.reduce((left, one, place) => left.replaceAll(one, `<joined ${place + 1}>`), text);
    let masked = this.#paths(plain).replace(UUID, (id, version) =>
      version === "8" || this.#isOfScript(id) ? mask("id", id) : id,
    );
    for (const { what, found } of CHANCE) masked = masked.replace(found, (one) => mask(what, one));
    return masked;
  }

  /** The same of each text in a value. @template T @param {T} value @returns {T} */
  value(value) {
    return JSON.parse(this.text(JSON.stringify(value ?? null)));
  }

  /** @param {string} text */
  #paths(text) {
    for (const name of FOLDERS) {
      const path = join(this.#root, name);
      const hash = sha256(path.normalize("NFC"));
      // A project is known by the first digits; some agents call it by all of them, or by its path with dashes.
      text = text
        .replaceAll(hash, `<whole hash of ${name}>`)
        .replaceAll(hash.slice(0, 16), `<hash of ${name}>`)
        .replaceAll(new RegExp(`${literal(path)}(?![\\w-])`, "g"), `<${name}>`);
    }
    return text
      .replaceAll(this.#root, "<root>")
      .replaceAll(this.#root.replace(/[^A-Za-z0-9]/g, "-").slice(1), "<root with dashes>");
  }

  // The first digits of a v7 are its time. What was imported has that of its source, and its id is the same everywhere.
  /** @param {string} id */
  #isOfScript(id) {
    const ms = Number.parseInt(id.replaceAll("-", "").slice(0, 12), 16);
    return ms >= this.#stamps.startMs && ms <= this.#stamps.ms;
  }

  /** @param {string} what @param {string} found */
  #of(what, found) {
    const known = this.#known.get(what) ?? new Map();
    this.#known.set(what, known);
    if (!known.has(found)) known.set(found, `<${what} ${known.size + 1}>`);
    return String(known.get(found));
  }
}

/** Leaves everything as it is. @type {Pick<Masks, "text" | "value">} */
export const NO_MASKS = { text: (text) => text, value: (value) => JSON.parse(JSON.stringify(value ?? null)) };

/** @param {string} text */
function literal(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** An answer as it is recorded: a long one as the hashes of what it consists of. @param {any} value */
export function digestOf(value) {
  const text = JSON.stringify(value);
  if (text.length <= LONGEST) return value;
  const isObject = value !== null && typeof value === "object";
  const parts = isObject
    ? Object.fromEntries(
        Object.entries(value)
          .slice(0, 40)
          .map(([key, part]) => [key, shortOf(JSON.stringify(part))]),
      )
    : {};
  return { length: text.length, sha256: sha256(text), parts };
}

/** @param {string} text */
export function shortOf(text) {
  return sha256(text).slice(0, 8);
}

/** @param {string | Uint8Array} bytes */
export function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}
