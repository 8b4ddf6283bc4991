// @ts-check
/** A session's log of messages, for who reads it. */

import { LeftoffError } from "../error.js";

/** @typedef {{ code: string, start: number, end: number, message: string }} Problem */
/** @import { Storage } from "../storage/contract.js" */

/** What is read at once. */
const CHUNK = 256 * 1024;

export class Log {
  #storage;

  /** @param {{ storage: Storage, folder: string }} place */
  constructor({ storage, folder }) {
    this.#storage = storage;
    this.path = pathIn(folder);
  }

  /** It lies in another folder by now. @param {{ storage: Storage, folder: string }} place */
  goTo({ storage, folder }) {
    this.#storage = storage;
    this.path = pathIn(folder);
  }

  /** What the file is like. */
  stat() {
    return this.#storage.stat(this.path);
  }

  /** How many bytes the file has. */
  async size() {
    const found = await this.stat();
    if (found && found.kind !== "file") {
      throw new LeftoffError({ code: "not_a_file", message: `expected a file at "${this.path}", but found something else instead` });
    }
    return found?.size ?? 0;
  }

  /**
   * The bytes from `start` up to `end`, one piece after another. A piece is good until the next one is asked for: all
   * lie in the same memory.
   * @param {number} start
   * @param {number} end
   * @returns {AsyncGenerator<Uint8Array>}
   */
  async *pieces(start, end) {
    const into = new Uint8Array(Math.min(CHUNK, end - start));
    for (let at = start; at < end; ) {
      const bytes = await this.#storage.readRange(this.path, at, Math.min(end, at + CHUNK), { into });
      // What is not read must not look as if it had never been said.
      if (!bytes?.length) throw new LeftoffError({ code: "log_shrunk", message: `expected ${end} bytes in "${this.path}", but found ${at} instead` });
      yield bytes;
      at += bytes.length;
    }
  }
}

/** @param {string} folder */
const pathIn = (folder) => `${folder}/messages.jsonl`;

/** What is said where a session does not lie where it lay. @param {string} folder @param {unknown} [cause] */
export function elsewhere(folder, cause) {
  return new LeftoffError({ code: "not_found", message: `expected the session in "${folder}", but found that it was moved or deleted meanwhile`, cause });
}
