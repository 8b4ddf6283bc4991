// @ts-check
/** Where a session's log of messages lies. */

import { LeftoffError } from "../error.js";

/** @import { Storage } from "../storage/contract.js" */

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

  /** How many bytes the file has. */
  async size() {
    const found = await this.#storage.stat(this.path);
    if (found && found.kind !== "file") {
      throw new LeftoffError({ code: "not_a_file", message: `expected a file at "${this.path}", but found something else instead` });
    }
    return found?.size ?? 0;
  }
}

/** @param {string} folder */
const pathIn = (folder) => `${folder}/messages.jsonl`;

/** What is said where a session does not lie where it lay. @param {string} folder @param {unknown} [cause] */
export function elsewhere(folder, cause) {
  return new LeftoffError({ code: "not_found", message: `expected the session in "${folder}", but found that it was moved or deleted meanwhile`, cause });
}
