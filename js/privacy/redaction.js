// @ts-check
/**
 * The one door for what leaves a store: contexts, exports, sessions for other agents, what a model is told that sums up,
 * what the command line prints. Secrets in it are let through, reported, or replaced by placeholders: by the core's second
 * module, which asks this host where secrets stand in texts.
 */

import { join } from "../host/path.node.js";

import { agents } from "../wasm/agents.js";
import { bytesOf, fromBytes } from "../wasm/core.js";
import { LeftoffError, unlessBug } from "../error.js";
import { secretScan } from "./secrets.js";
import { drive, driveNow } from "../wasm/drive.js";

/** @import { Door, Leaving as Native } from "../../pkg/agents.js" */
/** @import { SecretScan } from "./secrets.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Redact, Secret } from "../types/index.js" */

/** From the laxest to the strictest. */
export const REDACT = /** @type {const} */ (["off", "report", "replace"]);

/** The core shows nothing that is nested as deep; so far JSON can be written whatever is there. */
const DEEPEST = 1000;

/** A folder of a storage. @typedef {{ storage: Storage, folder: string }} StorageFolder */
/** @template T @typedef {{ value: T, secrets: Secret[], changed: [before: string, after: string][] }} RedactedValue `changed`: the texts that are others now */

/** What leaves of one session, or of none: with the secrets of its files parts of them are found in what was made of it. */
export class OutgoingRedactor {
  #door;
  #source;
  /** @type {{ native: Native, free: () => void, instance: number } | undefined} */
  #cachedHandle;

  /** @param {Redaction} door @param {StorageFolder} [from] where its files are, also where that changes */
  constructor(door, from) {
    this.#door = door;
    this.#source = from;
  }

  /** As the second module has it. */
  get native() {
    if (this.#cachedHandle?.instance === agents.instance) return this.#cachedHandle.native;
    this.free();
    const door = this.#door.native;
    const { handle: native, free } = agents.createHandle(({ Leaving: Made }) => new Made(door));
    this.#cachedHandle = { native, free, instance: agents.instance };
    return native;
  }

  /** Gives back what is known of it. */
  free() {
    this.#cachedHandle?.free();
    this.#cachedHandle = undefined;
  }

  /** Whether it looks for secrets. */
  get isOn() {
    return this.#door.isOn;
  }

  /** Loads what has to be known before anything leaves. */
  async ready() {
    if (!this.#door.isOn) return;
    await this.#door.load();
    await this.#runOperation("prepare", new Uint8Array());
  }

  /** The same where nobody asks for something that leaves: who does is told why it does not. */
  async prepare() {
    await this.ready().catch(unlessBug);
  }

  /**
   * A value as it may leave: JSON, or a text. Without secrets, and with `off` and `report`, it is the same object.
   * @template T @param {T} value @param {{ isWhole?: boolean }} [options] `isWhole`: it may have parts of all that the session holds; true unless given
   * @returns {Promise<RedactedValue<T>>}
   */
  async redact(value, { isWhole = true } = {}) {
    const json = this.#door.isOn ? jsonOf(value) : undefined;
    return json === undefined ? unchangedValue(value) : parseRedacted(value, await this.#runOperation("out", bytesOf(json), isWhole));
  }

  /** What the core says of a value of its own, JSON. @param {Uint8Array} json */
  redactBytes(json) {
    return this.#runOperation("out", json);
  }

  /** The value alone, once it is there. @template T @param {T | Promise<T>} made */
  async redactResult(made) {
    return (await this.redact(await made)).value;
  }

  /** The same at once, of what is known by now. @template T @param {T} value @returns {T} */
  redactNow(value) {
    const json = this.#door.isOn ? jsonOf(value) : undefined;
    if (json === undefined) return value;
    const native = this.native;
    const left = driveNow((operations, now, chance) => operations.beginRedaction(native, "out", bytesOf(json), false, now, chance), { module: agents, scan: this.#door.scan });
    return parseRedacted(value, left).value;
  }

  /** Those of lines that were written just now. @param {Uint8Array} lines */
  async learnSecrets(lines) {
    // They are stored already, whatever can be found in them.
    if (this.#door.isOn) await this.#runOperation("take", lines).catch(unlessBug);
  }

  /** @param {string} name @param {Uint8Array} request @param {boolean} [isWhole] */
  #runOperation(name, request, isWhole = true) {
    const native = this.native;
    return drive((operations, now, chance) => operations.beginRedaction(native, name, request, isWhole && this.#source !== undefined, now, chance), hostOf({ home: this.#door.home, session: this.#source }));
  }
}

export class Redaction {
  /** @type {{ native: Door, instance: number } | undefined} */
  #cachedHandle;
  #mode;
  #own = new OutgoingRedactor(this);
  /** @type {SecretScan | undefined} */
  #scan;

  /** Lets everything through. */
  static none = new Redaction("off");

  /** @param {Redact} mode @param {StorageFolder} [home] where the key is that makes placeholders the store's own */
  constructor(mode, home) {
    this.#mode = mode;
    this.home = home;
    if (this.isOn) void this.native;
  }

  /** Whether it looks for secrets. */
  get isOn() {
    return this.#mode !== "off";
  }

  /** As the second module has it. */
  get native() {
    if (this.#cachedHandle?.instance === agents.instance) return this.#cachedHandle.native;
    const native = agents.call(({ Door: Made }) => new Made(JSON.stringify(this.#mode) ?? "nothing"));
    this.#cachedHandle = { native, instance: agents.instance };
    return native;
  }

  /** Who finds secrets, once that is loaded. */
  get scan() {
    return this.#scan;
  }

  /** What was found since in what left, also where it was replaced. @returns {Secret[]} */
  get reportedSecrets() {
    return this.isOn ? fromBytes(agents.call(() => this.native.reportedSecrets())) : [];
  }

  /** Loads who finds secrets. */
  async load() {
    this.#scan = await secretScan();
  }

  /** What leaves of no session. */
  get own() {
    return this.#own;
  }

  /** What leaves of the session whose files are there. @param {StorageFolder} from */
  forSession(from) {
    return new OutgoingRedactor(this, from);
  }

  /** A value that is of no session alone, as it may leave. @template T @param {T} value @returns {Promise<RedactedValue<T>>} */
  redact(value) {
    return this.#own.redact(value);
  }
}

/** @param {{ home?: StorageFolder, session?: StorageFolder }} folders @returns {any} what these operations need of a host */
function hostOf({ home, session }) {
  const at = (/** @type {{ root: "home" | { workspace: string }, path: string }} */ { root, path }) => {
    const { storage, folder } = /** @type {StorageFolder} */ (root === "home" ? home : session);
    return { storage, path: join(folder, path) };
  };
  return { module: agents, at };
}

/** @template T @param {T} value @returns {RedactedValue<T>} */
function unchangedValue(value) {
  return { value, secrets: [], changed: [] };
}

/** @template T @param {T} value @param {Uint8Array} left what the core says of it @returns {RedactedValue<T>} */
function parseRedacted(value, left) {
  return { value, ...fromBytes(left) };
}

/** A value as JSON; nothing where JSON has none for it. @param {unknown} value @returns {string | undefined} */
function jsonOf(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return JSON.stringify(cutDepth(value, 0));
    throw new LeftoffError({ code: "invalid_json", message: "expected JSON or a text that is to leave, but found what JSON cannot hold", cause: error });
  }
}

/** @param {any} value @param {number} depth @returns {unknown} */
function cutDepth(value, depth) {
  if (typeof value !== "object" || value === null) return value;
  if (depth === DEEPEST) return [];
  if (Array.isArray(value)) return value.map((one) => cutDepth(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutDepth(one, depth + 1)]));
}
