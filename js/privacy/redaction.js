// @ts-check
/**
 * The one way out of a store: for contexts, exports, sessions for other agents, prompts for summaries, and what the
 * command line prints. Secrets in outgoing text are let through, reported, or replaced by placeholders: by the core's
 * second module, which asks this host where secrets stand in texts.
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

/**
 * The deepest nesting written as JSON: the core shows nothing that is nested as deep, and JSON can surely be written so
 * far.
 */
const MAX_DEPTH = 1000;

/** A folder of a storage. @typedef {{ storage: Storage, folder: string }} StorageFolder */
/**
 * @template T
 * @typedef {{ value: T, secrets: Secret[], changed: [before: string, after: string][] }} RedactedValue `changed`: the
 *   texts that were changed
 */

/**
 * Redacts what leaves one session, or none. It knows the secrets in the session's files, and so finds parts of them in
 * derived text.
 */
export class OutgoingRedactor {
  #door;
  #source;
  /** @type {{ native: Native, free: () => void, instance: number } | undefined} */
  #cachedHandle;

  /** @param {Redaction} door @param {StorageFolder} [from] the session's folder, which may move */
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

  /** Frees what the module holds for it. */
  free() {
    this.#cachedHandle?.free();
    this.#cachedHandle = undefined;
  }

  /** Whether it looks for secrets. */
  get isOn() {
    return this.#door.isOn;
  }

  /** Loads what redaction needs before anything leaves. */
  async ready() {
    if (!this.#door.isOn) return;
    await this.#door.load();
    await this.#runOperation("prepare", new Uint8Array());
  }

  /**
   * `ready`, where nothing is about to leave: a failure is ignored here, and thrown to whoever asks for something that
   * leaves.
   */
  async prepare() {
    await this.ready().catch(unlessBug);
  }

  /**
   * Redacts a value: JSON, or a text. Without secrets, and with `off` and `report`, the same object is returned.
   * @template T
   * @param {T} value
   * @param {{ isWhole?: boolean }} [options] `isWhole`: it may hold parts of anything in the session; true unless given
   * @returns {Promise<RedactedValue<T>>}
   */
  async redact(value, { isWhole = true } = {}) {
    const json = this.#door.isOn ? jsonOf(value) : undefined;
    return json === undefined
      ? unchangedValue(value)
      : parseRedacted(value, await this.#runOperation("out", bytesOf(json), isWhole));
  }

  /** Redacts a value of the core's own, JSON. @param {Uint8Array} json */
  redactBytes(json) {
    return this.#runOperation("out", json);
  }

  /** Redacts a result once it is there, and returns only the value. @template T @param {T | Promise<T>} made */
  async redactResult(made) {
    return (await this.redact(await made)).value;
  }

  /** Redacts a value synchronously, by the secrets known by now. @template T @param {T} value @returns {T} */
  redactNow(value) {
    const json = this.#door.isOn ? jsonOf(value) : undefined;
    if (json === undefined) return value;
    const native = this.native;
    const left = driveNow(
      (operations, now, chance) => operations.beginRedaction(native, "out", bytesOf(json), false, now, chance),
      { module: agents, scan: this.#door.scan },
    );
    return parseRedacted(value, left).value;
  }

  /** Learns the secrets of lines that were just written. @param {Uint8Array} lines */
  async learnSecrets(lines) {
    // The lines are stored already, so a failure to find secrets must not fail the append.
    if (this.#door.isOn) await this.#runOperation("take", lines).catch(unlessBug);
  }

  /** @param {string} name @param {Uint8Array} request @param {boolean} [isWhole] */
  #runOperation(name, request, isWhole = true) {
    const native = this.native;
    return drive(
      (operations, now, chance) =>
        operations.beginRedaction(native, name, request, isWhole && this.#source !== undefined, now, chance),
      hostOf({ home: this.#door.home, session: this.#source }),
    );
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

  /** The finder of secrets, once it is loaded. */
  get scan() {
    return this.#scan;
  }

  /** The secrets found in outgoing text so far, replaced ones included. @returns {Secret[]} */
  get reportedSecrets() {
    return this.isOn ? fromBytes(agents.call(() => this.native.reportedSecrets())) : [];
  }

  /** Loads the finder of secrets. */
  async load() {
    this.#scan = await secretScan();
  }

  /** The redactor of what belongs to no session. */
  get own() {
    return this.#own;
  }

  /** The redactor of the session whose files lie in a folder. @param {StorageFolder} from */
  forSession(from) {
    return new OutgoingRedactor(this, from);
  }

  /**
   * Redacts a value that belongs to no single session.
   * @template T
   * @param {T} value
   * @returns {Promise<RedactedValue<T>>}
   */
  redact(value) {
    return this.#own.redact(value);
  }
}

/**
 * @param {{ home?: StorageFolder, session?: StorageFolder }} folders
 * @returns {any} what these operations need of a host
 */
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

/** A value as JSON; nothing where JSON cannot express it. @param {unknown} value @returns {string | undefined} */
function jsonOf(value) {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return JSON.stringify(cutDepth(value, 0));
    throw new LeftoffError({
      code: "invalid_json",
      message: "expected JSON or a text that is to leave, but found what JSON cannot hold",
      cause: error,
    });
  }
}

/** @param {any} value @param {number} depth @returns {unknown} */
function cutDepth(value, depth) {
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.map((one) => cutDepth(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutDepth(one, depth + 1)]));
}
