// @ts-check
/**
 * Which transcripts wait to be recorded, noted in a file before they change: what a killed process has not recorded, the
 * next one does. The file is the process's own, begins with its name, and is gone once nothing waits.
 */

import { join } from "node:path";

import { randomId } from "../wasm/clock.js";
import { isGone, thisProcess } from "../storage/process.js";
import { parseEntries } from "./transcript.js";

/** @import { ProcessName } from "../storage/process.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { ClaudeSessionKey } from "../types/claude.js" */

const encoder = new TextEncoder();

export class Marks {
  #storage;
  #folder;
  #path;
  /** The transcripts that the file names, by their paths. @type {Set<string>} */
  #marked = new Set();
  /** What was begun last. @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** @param {Storage} storage @param {string} folder */
  constructor(storage, folder) {
    this.#storage = storage;
    this.#folder = folder;
    this.#path = join(folder, randomId());
  }

  /** Notes that a transcript will change. @param {string} path @param {ClaudeSessionKey} key */
  add(path, key) {
    return this.#inTurn(async () => {
      if (this.#marked.has(path)) return;
      const first = this.#marked.size === 0 ? `${JSON.stringify(thisProcess())}\n` : "";
      const bytes = encoder.encode(`${first}${JSON.stringify(key)}\n`);
      await this.#storage.append(this.#path, bytes);
      this.#marked.add(path);
    });
  }

  /** Notes that nothing waits, unless something came meanwhile. @param {() => boolean} isDone */
  clear(isDone) {
    return this.#inTurn(async () => {
      if (this.#marked.size === 0 || !isDone()) return;
      this.#marked.clear();
      await this.#storage.remove(this.#path);
    });
  }

  /**
   * Does work with what processes that are gone have left.
   * @param {(keys: ClaudeSessionKey[]) => Promise<boolean>} work answers whether it is done with them
   */
  async takeOver(work) {
    for (const { name } of (await this.#storage.list(this.#folder)) ?? []) {
      const path = join(this.#folder, name);
      const bytes = path === this.#path ? null : await this.#storage.read(path);
      // A line that was cut off is of a transcript that had not changed yet.
      const [owner, ...keys] = /** @type {any[]} */ (bytes ? Array.from(parseEntries(bytes)) : []);
      if (!owner || !isGone(/** @type {ProcessName} */ (owner))) continue;
      if (await work(keys)) await this.#storage.remove(path);
    }
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #inTurn(work) {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
