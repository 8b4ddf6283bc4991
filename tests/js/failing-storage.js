// @ts-check
/** A storage in memory that counts what is read, and fails when it is told to. */

import { MemoryStorage } from "../../js/index.js";
import { storageError } from "../../js/storage/contract.js";

/** @import { Code, Verb } from "../../js/storage/contract.js" */

/**
 * @typedef {{ code?: Code, written?: number, durable?: boolean }} Failure `written`: how many bytes of an append get in
 *   before it fails; Infinity for all
 */

export class FailingStorage extends MemoryStorage {
  /** Bytes handed out by `read` and `readRange`. */
  bytesRead = 0;

  /** @type {Map<Verb, Failure[]>} */
  #failures = new Map();

  /**
   * The next call of a verb fails; called several times, as many calls fail.
   * @param {Verb} verb
   * @param {Failure} [failure]
   */
  failNext(verb, failure = {}) {
    this.#failures.set(verb, [...(this.#failures.get(verb) ?? []), failure]);
  }

  /** @param {string} path */
  async read(path) {
    return this.#countBytes(await this.#unlessFailed("read", path, () => super.read(path)));
  }

  /** @param {string} path @param {number} start @param {number} end */
  async readRange(path, start, end) {
    return this.#countBytes(await this.#unlessFailed("readRange", path, () => super.readRange(path, start, end)));
  }

  /** @param {string} path @param {Uint8Array} bytes @param {{ within?: string }} [options] */
  async append(path, bytes, options) {
    const failure = this.#failures.get("append")?.shift();
    if (!failure) return super.append(path, bytes, options);
    const written = Math.min(failure.written ?? 0, bytes.length);
    if (written > 0) await super.append(path, bytes.subarray(0, written), options);
    throw injectedError("append", path, { ...failure, written });
  }

  /** @param {string} path @param {Uint8Array} bytes @param {{ within?: string }} [options] */
  replace(path, bytes, options) {
    return this.#unlessFailed("replace", path, () => super.replace(path, bytes, options));
  }

  /** @param {string} path */
  link(path) {
    return this.#unlessFailed("link", path, () => super.link(path));
  }

  /** @param {string} from @param {string} to */
  move(from, to) {
    return this.#unlessFailed("move", from, () => super.move(from, to));
  }

  /** @param {string} path @param {{ files?: string[] }} [options] */
  list(path, options) {
    return this.#unlessFailed("list", path, () => super.list(path, options));
  }

  /** @param {string} path */
  remove(path) {
    return this.#unlessFailed("remove", path, () => super.remove(path));
  }

  /** @param {string} path */
  stat(path) {
    return this.#unlessFailed("stat", path, () => super.stat(path));
  }

  /** @template T @param {Verb} verb @param {string} path @param {() => Promise<T>} work */
  async #unlessFailed(verb, path, work) {
    const failure = this.#failures.get(verb)?.shift();
    if (failure) throw injectedError(verb, path, failure);
    return work();
  }

  /** @template {Uint8Array | null} T @param {T} bytes */
  #countBytes(bytes) {
    this.bytesRead += bytes?.length ?? 0;
    return bytes;
  }
}

/** @param {Verb} verb @param {string} path @param {Failure} failure */
function injectedError(verb, path, { code = "storage_failed", ...extra }) {
  return storageError(verb, path, { code, detail: "as asked by failNext", ...extra });
}
