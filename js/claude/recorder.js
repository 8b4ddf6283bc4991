// @ts-check
/**
 * Records transcripts into the store in the background, so that nobody who appends waits for it. A recording reads its
 * whole transcript: the longer one takes, the longer the next one waits, and what comes meanwhile is recorded with it.
 */

import { setTimeout as wait } from "node:timers/promises";

import { ticksMs } from "../wasm/clock.js";

/** @import { Store } from "../store/store.js" */
/** @import { ClaudeSessionKey } from "../types/claude.js" */

/** How long a recording waits for more to come, at least. */
const MIN_WAIT_MS = 200;
/** How many times as long as it takes a recording waits. */
const WAIT_FACTOR = 10;
/** What an import says of a transcript in which nothing was said, or which was deleted meanwhile. */
const NOTHING_SAID = new Set(["empty_file", "unknown_format", "not_found"]);

export class Recorder {
  #store;
  #report;
  /** The transcripts that have changed since they were recorded, by their paths. @type {Map<string, ClaudeSessionKey>} */
  #changed = new Map();
  /** What goes on, or waits. @type {Promise<void> | undefined} */
  #running;
  #hurry = new AbortController();
  #lastMs = 0;
  /** @type {unknown[]} */
  #failures = [];

  /** @param {Store} store @param {(error: unknown, key: ClaudeSessionKey) => unknown} [report] */
  constructor(store, report) {
    this.#store = store;
    this.#report = report;
  }

  /** Notes that a transcript has changed. @param {string} path @param {ClaudeSessionKey} key */
  note(path, key) {
    this.#changed.set(path, key);
    this.#running ??= this.#recordAll();
  }

  /** Records at once what has changed, and throws the first failure since this was called last. */
  async flush() {
    while (this.#running) {
      this.#hurry.abort();
      await this.#running;
    }
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
  }

  async #recordAll() {
    while (this.#changed.size > 0) {
      await wait(Math.max(MIN_WAIT_MS, this.#lastMs * WAIT_FACTOR), undefined, this.#hurry).catch(() => {});
      const start = ticksMs();
      const keys = [...this.#changed];
      this.#changed.clear();
      for (const [path, key] of keys) await this.#record(path, key);
      this.#lastMs = ticksMs() - start;
    }
    this.#hurry = new AbortController();
    this.#running = undefined;
  }

  /** @param {string} path @param {ClaudeSessionKey} key */
  async #record(path, key) {
    try {
      await this.#store.record({ agent: "claude-code", path });
    } catch (error) {
      if (NOTHING_SAID.has(Object(error).code)) return;
      if (this.#report) await this.#report(error, key);
      else this.#failures.push(error);
    }
  }
}
