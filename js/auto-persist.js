// @ts-check
/**
 * Document 004's `AutoPersist`. Messages are on disk when they are appended; what it saves, debounced, is what is derived
 * from them. It archives what is old or too much, never deletes it, and closes a session when the process ends, if asked.
 */

import process from "node:process";

import { DEFAULTS } from "./settings.js";

/** @import { AutoPersistConfig } from "./settings.js" */
/** @import { Session } from "./session.js" */
/** @import { Store } from "./store.js" */

const DAY_MS = 24 * 60 * 60_000;
const SIGNALS = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

export class AutoPersist {
  #session;
  #config;
  #onError;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #lastMs = -Infinity;
  /** @type {(() => void)[]} */
  #undo = [];

  /**
   * @param {Pick<Session, "flush" | "close">} session
   * @param {Partial<AutoPersistConfig> & { onError?: (error: unknown) => void }} [config] `onError`: hears why a save
   *   that nobody waits for failed; else it is a warning of the process
   */
  constructor(session, { onError = warn, ...config } = {}) {
    this.#session = session;
    this.#config = { ...DEFAULTS.autoPersist, ...config };
    this.#onError = onError;
  }

  /** @type {Readonly<AutoPersistConfig>} */
  get config() {
    return this.#config;
  }

  /** Something changed: saves soon, once for all that comes meanwhile, and at least once an interval. */
  scheduleMetadataUpdate() {
    const { enabled, debounceMs, updateMetadataIntervalMs } = this.#config;
    if (!enabled) return;
    const now = performance.now();
    if (!this.#timer) this.#lastMs = now;
    const waitMs = Math.max(0, Math.min(debounceMs, this.#lastMs + updateMetadataIntervalMs - now));
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush().catch(this.#onError), waitMs);
    // A save that waits must not keep the process: whoever ends it closes the session.
    this.#timer.unref?.();
  }

  /** A message of the assistant was appended. */
  afterAssistantMessage() {
    if (this.#config.saveAfterAssistantMessage) this.scheduleMetadataUpdate();
  }

  /** A tool execution was appended. */
  afterToolExecution() {
    if (this.#config.saveAfterToolExecution) this.scheduleMetadataUpdate();
  }

  /** Saves now. */
  async flush() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#session.flush();
  }

  /**
   * Closes the session when a signal ends the process. Other listeners still run; the exit status stays that of the
   * signal. Nothing is installed unless this is called.
   */
  handleSignals() {
    for (const signal of SIGNALS) {
      const listener = () => this.#end(signal);
      process.on(signal, listener);
      this.#undo.push(() => process.removeListener(signal, listener));
    }
  }

  /** Saves, and takes its listeners away. */
  async stop() {
    this.#letGo();
    if (this.#timer) await this.flush();
  }

  /**
   * Archives sessions of the project that are too many or inactive for too long.
   * @param {Store} store
   * @returns {Promise<string[]>} the ids of those that were archived
   */
  async tidy(store) {
    const { enabled, maxSessionsPerProject, autoArchiveAfterDays } = this.#config;
    if (!enabled) return [];
    const listed = (await store.list({ type: null })).filter(({ status }) => status !== "unreadable");
    const oldest = Date.now() - autoArchiveAfterDays * DAY_MS;
    const old = listed.filter((one, place) => place >= maxSessionsPerProject || Date.parse(one.lastActive) < oldest);
    for (const { id } of old) {
      const session = await store.session(id);
      if ((await session.others()).length === 0) await session.archive();
    }
    return old.map(({ id }) => id);
  }

  /** @param {NodeJS.Signals} signal */
  async #end(signal) {
    this.#letGo();
    await this.#session.close().catch(this.#onError);
    // Another listener may have its own way to end the process. Without one, the signal has the last word.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  }

  #letGo() {
    for (const undo of this.#undo.splice(0)) undo();
  }
}

/** @param {unknown} error */
function warn(error) {
  process.emitWarning(error instanceof Error ? error : String(error));
}
