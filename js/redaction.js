// @ts-check
/**
 * The one door for what leaves a store: contexts, exports, sessions for other agents, what a model is told that sums up,
 * what the command line prints. Secrets in it are let through, reported, or replaced by placeholders.
 */

import { agents } from "./agents.js";
import { entropy } from "./clock.js";
import { bytesOf, fromBytes, toBytes } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { Known } from "./privacy/known.js";
import { secretScan } from "./secrets.js";

/** @import { Redaction as Handle } from "../pkg/agents.js" */
/** @import { Scan } from "./secrets.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { Redact, Secret } from "./types/index.js" */

/** From the laxest to the strictest. */
export const REDACT = /** @type {const} */ (["off", "report", "replace"]);

const KEY_BYTES = 32;
/** The core shows nothing that is nested as deep; so far JSON can be written whatever is there. */
const DEEPEST = 1000;

export class Redaction {
  #mode;
  #key;
  /** @type {Promise<Tools> | undefined} */
  #loading;
  /** @type {Tools | undefined} */
  #tools;
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

  /** Whether it looks for secrets. */
  get isOn() {
    return this.#mode !== "off";
  }

  /** What was found since in what left, also where it was replaced. */
  get told() {
    return [...this.#told.values()];
  }

  /** Loads what it needs, so that `outNow` needs not wait for it. */
  async ready() {
    if (!this.isOn) return;
    this.#loading ??= Promise.all([secretScan(), this.#key()]).then(([scan, key]) => ({ scan, key }));
    this.#tools = await this.#loading.catch((error) => {
      this.#loading = undefined;
      throw error;
    });
  }

  /**
   * A value as it may leave: JSON, or a text. Without secrets, and with `off` and `report`, it is the same object.
   * @template T @param {T} value @param {{ known?: Known }} [from] `known`: the secrets of the whole texts that it was made of
   * @returns {Promise<Out<T>>}
   */
  async out(value, from) {
    await this.ready();
    return this.outNow(value, from);
  }

  /** The same at once, where it is ready. @template T @param {T} value @param {{ known?: Known }} [from] @returns {Out<T>} */
  outNow(value, { known = Known.none } = {}) {
    if (!this.isOn) return { value, secrets: [], changed: [] };
    const tools = this.#tools;
    if (!tools) throw new LeftoffError({ code: "missing_dependency", message: "expected what finds secrets to be loaded, but it is not: nothing leaves" });
    const json = jsonOf(value);
    if (json === undefined) return { value, secrets: [], changed: [] };
    const { handle, free } = agents.lent(({ Redaction: Door }) => new Door(bytesOf(json), tools.key, known.bytes));
    try {
      scanned(handle, tools.scan);
      /** @type {Secret[]} */
      const secrets = fromBytes(agents.called(() => handle.secrets()));
      for (const one of secrets) if (one.count > (this.#told.get(one.placeholder)?.count ?? 0)) this.#told.set(one.placeholder, one);
      const clean = this.#mode === "replace" ? agents.called(() => handle.value()) : undefined;
      return clean ? { value: fromBytes(clean), secrets, changed: fromBytes(agents.called(() => handle.changed())) } : { value, secrets, changed: [] };
    } finally {
      free();
    }
  }
}

/** @typedef {{ scan: Scan, key: Uint8Array }} Tools */
/** @template T @typedef {{ value: T, secrets: Secret[], changed: [before: string, after: string][] }} Out `changed`: the texts that are others now */

/**
 * The secrets in a value, each as often as it is there.
 * @param {unknown} value @returns {Promise<{ secret: string, rule: string }[]>}
 */
export async function secretsIn(value) {
  return (await secretsStored(bytesOf(jsonOf(value) ?? "null"), { isLog: false })).map(({ secret, rule }) => ({ secret, rule }));
}

/**
 * The same of bytes as they are stored: `start` and `end` are those of the line that has it, or of all where it is no log.
 * @param {Uint8Array} bytes @param {{ isLog: boolean }} as @returns {Promise<{ secret: string, rule: string, start: number, end: number }[]>}
 */
export async function secretsStored(bytes, { isLog }) {
  const scan = await secretScan();
  const { handle, free } = agents.lent(({ Redaction: Door }) => Door.stored(bytes, isLog));
  try {
    scanned(handle, scan);
    return fromBytes(agents.called(() => handle.all()));
  } finally {
    free();
  }
}

/** Looks at all that it has. @param {Handle} handle @param {Scan} scan */
function scanned(handle, scan) {
  for (let text = agents.called(() => handle.texts()); text !== undefined; text = agents.called(() => handle.texts())) {
    // Most have none, and what costs is to begin with a text.
    if (scan(text).length === 0) agents.called(() => handle.clean());
    else {
      const found = agents.called(() => handle.each()).map((one) => scan(one).map(({ start, end, rule }) => ({ start: bytesTo(one, start), end: bytesTo(one, end), rule })));
      agents.called(() => handle.found(toBytes(found)));
    }
  }
}

/** @param {string} text @param {number} units */
function bytesTo(text, units) {
  return Buffer.byteLength(text.slice(0, units));
}

/** A value as JSON; nothing where JSON has none for it. @param {unknown} value @returns {string | undefined} */
function jsonOf(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return JSON.stringify(cut(value, 0));
    throw new LeftoffError({ code: "invalid_json", message: "expected JSON or a text that is to leave, but found what JSON cannot hold", cause: error });
  }
}

/** @param {any} value @param {number} depth @returns {unknown} */
function cut(value, depth) {
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEEPEST) return [];
  if (Array.isArray(value)) return value.map((one) => cut(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, depth + 1)]));
}

/**
 * The key of a store, made when it is needed first.
 * @param {Storage} storage @param {string} path
 */
export async function storeKey(storage, path) {
  const known = await storage.read(path);
  if (known?.length === KEY_BYTES) return known;
  const made = entropy().slice(0, KEY_BYTES);
  // Where nothing can be written, placeholders are this process's own.
  await storage.replace(path, made).catch(unlessBug);
  // Another process may have made one meanwhile.
  return (await storage.read(path)) ?? made;
}
