// @ts-check
/**
 * Records transcripts into the store in the background, so that nobody who appends waits for it. A recording reads its
 * whole transcript: the longer one takes, the longer the next one waits, and what comes meanwhile is recorded with it.
 */

import { setTimeout as wait } from "node:timers/promises";

import { ticksMs } from "../wasm/clock.js";

/** @import { Store } from "../store/store.js" */
/** @import { ClaudeSessionKey } from "../types/claude.js" */
/** @import { Marks } from "./marks.js" */
/** @typedef {(error: unknown, key: ClaudeSessionKey) => unknown} Report is told why something was not recorded */

/** How long a recording waits for more to come, at least. */
const MIN_WAIT_MS = 200;
/** How many times as long as it takes a recording waits. */
const WAIT_FACTOR = 10;
/** What an import says of a transcript in which nothing was said, or which was deleted meanwhile. */
const NOTHING_SAID = new Set(["empty_file", "unknown_format", "not_found"]);

export class Recorder {
  #store;
  #marks;
  #pathOf;
  #report;
  /** The transcripts that have changed since they were recorded, by their paths. @type {Map<string, ClaudeSessionKey>} */
  #changed = new Map();
  /** How many transcripts are being changed. */
  #changing = 0;
  /** What goes on, or waits. @type {Promise<void> | undefined} */
  #running;
  #hurry = new AbortController();
  #lastMs = 0;
  #hasTakenOver = false;
  /** The transcripts whose last recording failed: they stay marked, for the next process. @type {Set<string>} */
  #failed = new Set();
  /** @type {unknown[]} */
  #failures = [];

  /**
   * @param {Store} store
   * @param {{ marks: Marks, pathOf: (key: ClaudeSessionKey) => string, report?: Report | undefined }} parts
   */
  constructor(store, { marks, pathOf, report }) {
    this.#store = store;
    this.#marks = marks;
    this.#pathOf = pathOf;
    this.#report = report;
  }

  /**
   * Does work that changes a transcript, which is recorded some time afterwards.
   * @param {ClaudeSessionKey} key @param {() => Promise<void>} work
   */
  async afterChange(key, work) {
    const path = this.#pathOf(key);
    this.#changing += 1;
    try {
      await this.#marks.add(path, key);
      await work();
      this.#changed.set(path, key);
    } finally {
      this.#changing -= 1;
      // Also after a failure: a part may be there, and the mark is to be taken away.
      this.#running ??= this.#recordAll();
    }
  }

  /** Records at once what waits, and throws the first failure since this was called last. */
  async flush() {
    this.#hurry.abort();
    await (this.#running ??= this.#recordAll());
    const [failure] = this.#failures.splice(0);
    if (failure !== undefined) throw failure;
  }

  async #recordAll() {
    try {
      do {
        const { signal } = this.#hurry;
        await wait(Math.max(MIN_WAIT_MS, this.#lastMs * WAIT_FACTOR), undefined, { signal }).catch(() => {});
        const start = ticksMs();
        await this.#takeOver();
        const changed = [...this.#changed];
        this.#changed.clear();
        for (const [path, key] of changed) {
          if (await this.#record(key)) this.#failed.delete(path);
          else this.#failed.add(path);
        }
        this.#lastMs = ticksMs() - start;
        await this.#marks.clear(() => this.#changed.size + this.#changing + this.#failed.size === 0);
      } while (this.#changed.size > 0);
    } catch (error) {
      this.#failures.push(error);
    } finally {
      this.#hurry = new AbortController();
      this.#running = undefined;
    }
  }

  // Records what processes that were killed had not recorded.
  async #takeOver() {
    if (this.#hasTakenOver) return;
    this.#hasTakenOver = true;
    await this.#marks.takeOver(async (keys) => {
      let isDone = true;
      for (const key of keys) isDone = (await this.#record(key)) && isDone;
      return isDone;
    });
  }

  /** @param {ClaudeSessionKey} key @returns {Promise<boolean>} whether it need not be tried again */
  async #record(key) {
    try {
      await this.#store.record({ agent: "claude-code", path: this.#pathOf(key) });
    } catch (error) {
      if (NOTHING_SAID.has(Object(error).code)) return true;
      await this.#reportFailure(error, key).catch((own) => this.#failures.push(own));
      return false;
    }
    return true;
  }

  /** @param {unknown} error @param {ClaudeSessionKey} key */
  async #reportFailure(error, key) {
    if (!this.#report) throw error;
    await this.#report(error, key);
  }
}
