// @ts-check
/** What is known of a log up to a byte, kept in the cache: believed where all of those bytes are what it was made from. */

import { isOfLog } from "./checkpoints.js";
import { asCovers, coversOf, holds } from "./covers.js";
import { fromBytes, toBytes } from "./core.js";
import { derived } from "./derived.js";
import { unlessBug } from "./error.js";

/** @import { Covers } from "./covers.js" */
/** @import { Log } from "./log.js" */
/** @import { Storage } from "./storage/contract.js" */

export class KeptCheckpoint {
  #storage;
  #path;
  #log;
  /** @type {Covers | undefined} */
  #covers;

  /** @param {Storage} storage @param {{ path: () => string, log: Log }} of `path`: endings follow */
  constructor(storage, { path, log }) {
    this.#storage = storage;
    this.#path = path;
    this.#log = log;
  }

  /** @param {Uint8Array} json as the core wrote it */
  async keep(json) {
    this.#covers = await coversOf(this.#log, fromBytes(json).bytes, this.#covers);
    await this.#storage.replace(`${this.#path()}.covers`, toBytes(this.#covers));
    await this.#storage.replace(`${this.#path()}.json`, json);
  }

  /** The one that is kept, where it is good; `wasRead`: the log had to be read for that, which is worth keeping it again. */
  async believed() {
    try {
      const json = await this.#storage.read(`${this.#path()}.json`);
      const covers = asCovers(await derived(this.#storage, `${this.#path()}.covers`));
      if (!json || !covers) return {};
      if (covers.bytes !== fromBytes(json).bytes || !(await isOfLog(this.#log, json))) return {};
      const { isSame, wasRead } = await holds(this.#log, covers);
      if (!isSame) return {};
      this.#covers = covers;
      return { json, wasRead };
    } catch (error) {
      // A cache that cannot be read costs one reading of the log, nothing else.
      if (!(error instanceof SyntaxError || error instanceof TypeError)) unlessBug(error);
      return {};
    }
  }
}
