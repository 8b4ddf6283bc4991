// @ts-check
/**
 * The one door for what leaves a store: contexts, exports, sessions for other agents, what a model is told that sums up,
 * what the command line prints. Secrets in it are let through, reported, or replaced by placeholders.
 */

import { bytesOf } from "./core.js";
import { LeftoffError } from "./error.js";
import { secretScan } from "./secrets.js";

/** @import { Found } from "./secrets.js" */
/** @import { Storage } from "./storage/contract.js" */

/** @typedef {(typeof REDACT)[number]} Redact */
/** @typedef {{ rule: string, placeholder: string, count: number }} Secret what was found; the placeholder names it without telling it */

/** From the laxest to the strictest. */
export const REDACT = /** @type {const} */ (["off", "report", "replace"]);

// Providers check them, and refuse what was changed.
const SIGNATURES = new Set(["signature", "thoughtSignature", "thought_signature", "thinkingSignature", "encrypted_content", "reasoningEncryptedContent", "redactedData"]);
const THINKING = new Set(["thinking", "redacted_thinking", "reasoning"]);
// What a tool is given and gives may have any key.
const OF_TOOLS = new Set(["arguments", "input", "args", "output", "result", "response"]);
const PLACEHOLDER = /^\[redacted:[\w-]+:[0-9a-f]{8}\]$/;
const KEY_BYTES = 32;

/**
 * Sees each text of a value, and gives the one to stand there. `key` is the name that it has.
 * @typedef {(text: string, key: string) => string} Visit
 */

export class Redaction {
  #mode;
  #key;
  /** @type {Promise<CryptoKey> | undefined} */
  #signing;
  /** By its placeholder. @type {Map<string, Secret>} */
  #told = new Map();

  /** Lets everything through. */
  static none = new Redaction("off", () => Promise.reject(new Error("nothing is replaced")));

  /** @param {Redact} mode @param {() => Promise<Uint8Array>} key what makes placeholders the store's own: without it, nobody can try guesses */
  constructor(mode, key) {
    if (!REDACT.includes(mode)) throw new LeftoffError({ code: "invalid_request", message: `expected ${REDACT.join(", ")} for "redact", but found ${JSON.stringify(mode)} instead` });
    this.#mode = mode;
    this.#key = key;
  }

  /** What was found since in what left, also where it was replaced. */
  get told() {
    return [...this.#told.values()];
  }

  /**
   * A value as it may leave: JSON, or a text. Without secrets, and with `off` and `report`, it is the same object.
   * @template T @param {T} value @returns {Promise<{ value: T, secrets: Secret[], changed: [before: string, after: string][] }>}
   *   `changed`: the texts that are others now
   */
  async out(value) {
    if (this.#mode === "off") return { value, secrets: [], changed: [] };
    const leaves = await hits(value);
    /** @type {Map<string, Secret>} */
    const secrets = new Map();
    /** @type {string[]} */
    const texts = [];
    for (const { text, found } of leaves) {
      let [clean, done] = ["", 0];
      for (const { start, end, rule } of found) {
        const placeholder = `[redacted:${rule}:${await this.#named(text.slice(start, end))}]`;
        const count = (secrets.get(placeholder)?.count ?? 0) + 1;
        secrets.set(placeholder, { rule, placeholder, count });
        clean += text.slice(done, start) + placeholder;
        done = end;
      }
      texts.push(clean + text.slice(done));
    }
    for (const [name, one] of secrets) if (one.count > (this.#told.get(name)?.count ?? 0)) this.#told.set(name, one);
    const told = [...secrets.values()];
    if (this.#mode === "report" || told.length === 0) return { value, secrets: told, changed: [] };
    const changed = leaves.flatMap(({ text }, place) => (text === texts[place] ? [] : [/** @type {[string, string]} */ ([text, texts[place]])]));
    let place = 0;
    return { value: mapped(value, () => texts[place++] ?? ""), secrets: told, changed };
  }

  /** @param {string} secret */
  async #named(secret) {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    this.#signing ??= this.#key().then((key) => crypto.subtle.importKey("raw", plain(key), algorithm, false, ["sign"]));
    const hash = new Uint8Array(await crypto.subtle.sign("HMAC", await this.#signing, plain(bytesOf(secret))));
    return Array.from(hash.subarray(0, 4), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
}

/**
 * The rules whose secrets are in a value, a name for each secret.
 * @param {unknown} value @returns {Promise<string[]>}
 */
export async function rulesBroken(value) {
  return (await hits(value)).flatMap(({ found }) => found.map(({ rule }) => rule));
}

/**
 * Each text of a value, in the order in which `mapped` visits them, and where in it secrets are.
 * @param {unknown} value @returns {Promise<{ text: string, found: Found[] }[]>}
 */
async function hits(value) {
  const scan = await secretScan();
  /** @type {{ text: string, head: string, told: string }[]} */
  const leaves = [];
  mapped(value, (text, key) => {
    // `AWS_SECRET_ACCESS_KEY` tells more than what stands there.
    const head = /^\w{1,100}$/.test(key) ? `${key}="` : "";
    leaves.push({ text, head, told: head ? `${head}${text}"` : text });
    return text;
  });
  // Most values have none, and what costs is to begin with a text.
  const isClean = scan(leaves.map(({ told }) => told).join("\n")).length === 0;
  return leaves.map(({ text, head, told }) => {
    const within = (/** @type {number} */ at) => Math.min(Math.max(at - head.length, 0), text.length);
    const found = (isClean ? [] : scan(told)).map(({ start, end, rule }) => ({ start: within(start), end: within(end), rule }));
    return { text, found: found.filter(({ start, end }) => start < end && !PLACEHOLDER.test(text.slice(start, end))) };
  });
}

/**
 * The key of a store, made when it is needed first.
 * @param {Storage} storage @param {string} path
 */
export async function storeKey(storage, path) {
  const known = await storage.read(path);
  if (known?.length === KEY_BYTES) return known;
  await storage.replace(path, crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  // Another process may have made one meanwhile.
  return /** @type {Uint8Array} */ (await storage.read(path));
}

/** @template T @param {T} value @param {Visit} visit @returns {T} the same where each text is */
function mapped(value, visit) {
  return /** @type {T} */ (walked(value, visit, { key: "", isSigned: true }));
}

/** @param {any} value @param {Visit} visit @param {{ key: string, isSigned: boolean }} at `isSigned`: signatures may stand there @returns {any} */
function walked(value, visit, { key, isSigned }) {
  if (typeof value === "string") return key === "arguments" ? jsonText(value, visit) : visit(value, key);
  if (Array.isArray(value)) return same(value, value.map((one) => walked(one, visit, { key, isSigned })));
  if (typeof value !== "object" || value === null) return value;
  const isThinking = THINKING.has(value.type) || key === "reasoning";
  const before = Object.entries(value);
  const after = before.map(([name, one]) => {
    const isKept = isSigned && typeof one === "string" && (SIGNATURES.has(name) || (isThinking && name === "data"));
    return [visit(name, ""), isKept ? one : walked(one, visit, { key: name, isSigned: isSigned && !OF_TOOLS.has(name) })];
  });
  const isSame = before.every(([name, one], place) => after[place]?.[0] === name && after[place]?.[1] === one);
  return isSame ? value : Object.fromEntries(after);
}

/** @param {any[]} before @param {any[]} after */
function same(before, after) {
  return before.every((one, place) => one === after[place]) ? before : after;
}

// JSON stays JSON.
/** @param {string} text @param {Visit} visit */
function jsonText(text, visit) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return visit(text, "arguments");
  }
  const clean = walked(value, visit, { key: "", isSigned: false });
  return clean === value ? text : JSON.stringify(clean);
}

// WebCrypto takes no memory that may be shared.
/** @param {Uint8Array} bytes */
function plain(bytes) {
  return new Uint8Array(bytes);
}
