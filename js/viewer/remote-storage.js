// @ts-check
/** The page's view of the store that `leftoff view` serves: reads over HTTP, and writes nothing. */

import { LeftoffError } from "../error.js";
import { checkRange, convertStats, storageError } from "../storage/contract.js";
import { RefusedVerbs } from "../storage/read-only.js";
import { ticksMs } from "../wasm/clock.js";

/** @import { Capabilities, Stat, Storage, Verb } from "../storage/contract.js" */

/** How much is read at once of a file that is read piece by piece: each request takes some milliseconds. */
const AHEAD_BYTES = 4 << 20;
/** How long it is used: what stands there by then may be newer. */
const AHEAD_MS = 500;

/** @implements {Storage} */
export class RemoteStorage extends RefusedVerbs {
  /** @type {Capabilities} */
  capabilities = Object.freeze({ append: "none", range: true, durable: false, watch: false });

  #address;
  /** The range that was asked for last. */
  #last = { path: "", end: -1 };
  /**
   * What was read of a file that is read from one end to the other.
   * @type {{ path: string, start: number, bytes: Uint8Array, since: number } | undefined}
   */
  #ahead;
  /** The connections that are open or to be opened. */
  #ending = new AbortController();

  /** @param {URL} address of the server's storage */
  constructor(address) {
    super();
    this.#address = address;
  }

  /** @param {string} path */
  read(path) {
    return this.#readBytes("read", path, {});
  }

  /** @param {string} path @param {number} start @param {number} end */
  async readRange(path, start, end) {
    checkRange(path, start, end);
    const known = this.#readAhead(path, start, end);
    if (known) return known;
    const isNext = this.#last.path === path && this.#last.end === start && end !== Infinity;
    this.#last = { path, end };
    const until = isNext ? Math.max(end, start + AHEAD_BYTES) : end;
    const bytes = await this.#readBytes("readRange", path, { start: String(start), end: String(until) });
    if (isNext && bytes) this.#ahead = { path, start, bytes, since: ticksMs() };
    return bytes && bytes.subarray(0, end - start);
  }

  /** What was read beyond the last range, a moment ago. @param {string} path @param {number} start @param {number} end */
  #readAhead(path, start, end) {
    const ahead = this.#ahead;
    if (!ahead || ahead.path !== path || ticksMs() - ahead.since > AHEAD_MS) return undefined;
    const from = start - ahead.start;
    if (from < 0 || end - ahead.start > ahead.bytes.length) return undefined;
    this.#last = { path, end };
    return ahead.bytes.slice(from, end - ahead.start);
  }

  /** @param {string} path @param {{ files?: string[], as?: (stats: (Stat | null)[]) => number[] }} [options] */
  async list(path, { files, as } = {}) {
    const response = await this.#ask("list", path, { files: JSON.stringify(files ?? null) });
    return convertStats(await response.json(), as);
  }

  /** @param {string} path @returns {Promise<Stat | null>} */
  async stat(path) {
    return (await this.#ask("stat", path)).json();
  }

  async close() {
    this.#ending.abort();
  }

  /** @param {Verb} verb @param {string} path @param {Record<string, string>} range */
  async #readBytes(verb, path, range) {
    const response = await this.#ask(verb, path, range);
    return response.status === 204 ? null : new Uint8Array(await response.arrayBuffer());
  }

  /** @param {Verb} verb @param {string} path @param {Record<string, string>} [more] */
  async #ask(verb, path, more = {}) {
    if (this.#ending.signal.aborted) throw storageError(verb, path, { code: "storage_closed" });
    const url = new URL(this.#address);
    url.search = new URLSearchParams({ verb, path, ...more }).toString();
    const response = await fetch(url, { signal: this.#ending.signal, cache: "no-store" }).catch((cause) => {
      throw storageError(verb, path, { code: "storage_failed", detail: "'leftoff view' does not answer", cause });
    });
    if (response.ok) return response;
    throw new LeftoffError(await response.json());
  }
}
