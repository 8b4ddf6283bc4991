// @ts-check
/**
 * `AutoPersist`: saves and tidies by itself. It belongs to `leftoff/compat`: a message is on disk when `append`
 * resolves, and derived files are made again by whoever reads next. What it saves, debounced, are these derived files.
 * It archives sessions that are old or too many, never deletes them, and closes a session when the process ends, if
 * asked.
 */

import process from "node:process";

import { beforeSignals, cancelBeforeSignals } from "../storage/signals.js";
import { callCore, fromBytes } from "../wasm/core.js";

/** @import { Store } from "../store/store.js" */
/** @import { AutoPersistConfig } from "../types/index.js" */

/** The longest timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/**
 * Saves a session's documents while it changes, and archives old sessions. Times are milliseconds, ages days.
 * @example
 * const saving = new AutoPersist(session, { debounceMs: 50 });
 * saving.scheduleMetadataUpdate();
 * await saving.stop();
 */
export class AutoPersist {
  #session;
  #config;
  #store;
  #onError;
  /** @type {NodeJS.Timeout | undefined} fires when nothing came for long enough */
  #quietTimer;
  /** @type {NodeJS.Timeout | undefined} fires when a save has waited for long enough */
  #dueTimer;
  #isStopped = false;
  #guard = () => this.#close();

  /**
   * @param {{ flush(): Promise<void>, close(): Promise<void> }} session leftoff's, or that of `leftoff/compat`
   * @param {Partial<AutoPersistConfig> & { store?: Pick<Store, "tidy">, onError?: (error: unknown) => void }} [config]
   *   `store`: is tidied once, with the first save; `onError`: receives the error of a save that nobody waits for,
   * which else
   *   is a warning of the process
   * @throws {LeftoffError} `invalid_setting` for a key that is not known, and a value of another kind
   */
  constructor(session, { onError = warn, store, ...config } = {}) {
    this.#session = session;
    this.#config = Object.freeze(parseConfig(config));
    this.#store = store;
    this.#onError = onError;
  }

  /** @type {Readonly<AutoPersistConfig>} */
  get config() {
    return this.#config;
  }

  /** Schedules a save after a change: soon, once for all that comes meanwhile, and at least once an interval. */
  scheduleMetadataUpdate() {
    const { enabled, debounceMs, updateMetadataIntervalMs } = this.#config;
    if (!enabled || this.#isStopped) return;
    clearTimeout(this.#quietTimer);
    this.#quietTimer = this.#scheduleSave(debounceMs);
    this.#dueTimer ??= this.#scheduleSave(updateMetadataIntervalMs);
  }

  /** Schedules a save after a message of the assistant. */
  afterAssistantMessage() {
    if (this.#config.saveAfterAssistantMessage) this.scheduleMetadataUpdate();
  }

  /** Schedules a save after a tool execution. */
  afterToolExecution() {
    if (this.#config.saveAfterToolExecution) this.scheduleMetadataUpdate();
  }

  /** Saves now. @throws {LeftoffError} what `flush` of the session throws */
  async flush() {
    this.#forget();
    await this.#session.flush();
  }

  /**
   * Closes the session when a signal ends the process: nothing is installed unless this is called. Other listeners
   * still run, and where there is one, ending the process is its part. Else the signal has the last word once the
   * session is closed, and the exit status is its own; a second one ends the process at once.
   */
  handleSignals() {
    if (!this.#isStopped) beforeSignals(this.#guard);
  }

  /** Saves what waits, and removes its listeners. @throws {LeftoffError} what `flush` throws */
  async stop() {
    this.#isStopped = true;
    cancelBeforeSignals(this.#guard);
    if (this.#dueTimer) await this.flush();
  }

  /**
   * Archives sessions of the store's project that are too many or inactive for too long. The current session and open
   * ones stay as they are.
   * @param {Pick<Store, "tidy">} store
   * @returns {Promise<string[]>} the ids of the archived sessions
   * @throws {LeftoffError} what `tidy` of the store throws
   */
  async tidy(store) {
    return this.#config.enabled ? store.tidy(this.#config) : [];
  }

  /** @param {number} waitMs */
  #scheduleSave(waitMs) {
    const timer = setTimeout(() => this.#save().catch(this.#onError), Math.min(waitMs, MAX_TIMEOUT_MS));
    // A waiting save must not keep the process alive: whoever ends it closes the session.
    timer.unref?.();
    return timer;
  }

  async #save() {
    await this.flush();
    const store = this.#store;
    this.#store = undefined;
    if (store) await this.tidy(store);
  }

  async #close() {
    this.#forget();
    await this.#session.close().catch(this.#onError);
  }

  #forget() {
    clearTimeout(this.#quietTimer);
    clearTimeout(this.#dueTimer);
    this.#quietTimer = undefined;
    this.#dueTimer = undefined;
  }
}

/**
 * Parses a program's configuration; refuses what could not stand in a settings file.
 * @param {Partial<AutoPersistConfig>} given @returns {AutoPersistConfig}
 */
function parseConfig(given) {
  const asked = JSON.stringify(given, (_, value) => (typeof value === "function" ? null : value));
  return fromBytes(callCore((core) => core.autoPersistSettings(asked)));
}

/** @param {unknown} error */
function warn(error) {
  process.emitWarning(error instanceof Error ? error : String(error));
}
