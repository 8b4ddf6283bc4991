// @ts-check
/**
 * The one door for what leaves a store: contexts, exports, sessions for other agents, what a model is told that sums up,
 * what the command line prints. Secrets in it are let through, reported, or replaced by placeholders.
 */

import { createHmac } from "node:crypto";

import { entropy } from "./clock.js";
import { LeftoffError, unlessBug } from "./error.js";
import { planned, rendered } from "./privacy/plan.js";
import { secretScan } from "./secrets.js";

/** @import { Known } from "./privacy/known.js" */
/** @import { Plan } from "./privacy/plan.js" */
/** @import { Scan } from "./secrets.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { Redact, Secret } from "./types/index.js" */

/** From the laxest to the strictest. */
export const REDACT = /** @type {const} */ (["off", "report", "replace"]);

// Providers check them, and refuse what was changed.
const SIGNATURES = new Set(["signature", "thoughtSignature", "thought_signature", "thinkingSignature", "encrypted_content", "reasoningEncryptedContent", "redactedData"]);
const THINKING = new Set(["thinking", "redacted_thinking", "reasoning"]);
// What a tool is given and gives may have any key.
const OF_TOOLS = new Set(["arguments", "input", "args", "output", "result", "response"]);
/** No value of a message is nested so deep; of what is, nobody could go through the door. */
const DEEPEST = 500;
const TOO_DEEP = `[not shown: nested deeper than ${DEEPEST}]`;
const KEY_BYTES = 32;

/**
 * Sees each text of a value, and gives the one to stand there. `key` is the name that it has.
 * @typedef {(text: string, key: string) => string} Visit
 */

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
  outNow(value, { known } = {}) {
    if (!this.isOn) return { value, secrets: [], changed: [] };
    const tools = this.#tools;
    if (!tools) throw new LeftoffError({ code: "missing_dependency", message: "expected what finds secrets to be loaded, but it is not: nothing leaves" });
    const plans = plansOf(value, tools.scan, known);
    /** @type {Map<string, Secret>} */
    const secrets = new Map();
    const texts = plans.map((plan) =>
      rendered(plan, ({ secret, rule }) => {
        const placeholder = `[redacted:${rule}:${named(secret, tools.key)}]`;
        secrets.set(placeholder, { rule, placeholder, count: (secrets.get(placeholder)?.count ?? 0) + 1 });
        return placeholder;
      }),
    );
    for (const [name, one] of secrets) if (one.count > (this.#told.get(name)?.count ?? 0)) this.#told.set(name, one);
    const told = [...secrets.values()];
    if (this.#mode === "report") return { value, secrets: told, changed: [] };
    const changed = plans.flatMap(({ text }, place) => (text === texts[place] ? [] : [/** @type {[string, string]} */ ([text, texts[place]])]));
    let place = 0;
    return { value: mapped(value, () => texts[place++] ?? ""), secrets: told, changed };
  }
}

/** @typedef {{ scan: Scan, key: Uint8Array }} Tools */
/** @template T @typedef {{ value: T, secrets: Secret[], changed: [before: string, after: string][] }} Out `changed`: the texts that are others now */

/**
 * The secrets in a value, each as often as it is there.
 * @param {unknown} value @returns {Promise<{ secret: string, rule: string }[]>}
 */
export async function secretsIn(value) {
  /** @type {{ secret: string, rule: string }[]} */
  const all = [];
  const note = (/** @type {{ secret: string, rule: string }} */ { secret, rule }) => {
    all.push({ secret, rule });
    return "";
  };
  for (const plan of plansOf(value, await secretScan())) rendered(plan, note);
  return all;
}

/**
 * Each text of a value, in the order in which `mapped` visits them, and where in it secrets are.
 * @param {unknown} value @param {Scan} scan @param {Known} [known] @returns {Plan[]}
 */
function plansOf(value, scan, known) {
  /** @type {{ text: string, key: string }[]} */
  const leaves = [];
  mapped(value, (text, key) => {
    leaves.push({ text, key });
    return text;
  });
  return planned(leaves, scan, known);
}

/** @param {string} secret @param {Uint8Array} key */
function named(secret, key) {
  return createHmac("sha256", key).update(secret).digest("hex").slice(0, 8);
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

/** @template T @param {T} value @param {Visit} visit @returns {T} the same where each text is */
function mapped(value, visit) {
  return /** @type {T} */ (walked(value, visit, { key: "", isSigned: true, depth: 0 }));
}

/** @param {any} value @param {Visit} visit @param {{ key: string, isSigned: boolean, depth: number }} at `isSigned`: signatures may stand there @returns {any} */
function walked(value, visit, { key, isSigned, depth }) {
  if (typeof value === "string") return visit(value, key);
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEEPEST) return TOO_DEEP;
  if (Array.isArray(value)) return same(value, value.map((one) => walked(one, visit, { key, isSigned, depth: depth + 1 })));
  const isThinking = THINKING.has(value.type) || key === "reasoning";
  const before = Object.entries(value);
  const after = before.map(([name, one]) => {
    const isKept = isSigned && typeof one === "string" && (SIGNATURES.has(name) || (isThinking && name === "data"));
    return [visit(name, ""), isKept ? one : walked(one, visit, { key: name, isSigned: isSigned && !OF_TOOLS.has(name), depth: depth + 1 })];
  });
  const isSame = before.every(([name, one], place) => after[place]?.[0] === name && after[place]?.[1] === one);
  return isSame ? value : Object.fromEntries(after);
}

/** @param {any[]} before @param {any[]} after */
function same(before, after) {
  return before.every((one, place) => one === after[place]) ? before : after;
}
