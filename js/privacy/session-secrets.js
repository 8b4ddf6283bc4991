// @ts-check
/**
 * The secrets in a session's files, read whole: with them parts of secrets are found in what was cut, folded or summed up.
 * Where nothing is looked for, nothing is read.
 */

import { join } from "node:path";

import { batches, below } from "../kept-secrets.js";
import { unlessBug } from "../error.js";
import { secretsStored } from "../redaction.js";
import { Known } from "./known.js";

/** @import { Redaction } from "../redaction.js" */
/** @import { Storage } from "../storage/contract.js" */

/** How far a file was read, and what it was like. @typedef {{ end: number, size: number, mtimeMs: number }} Read */

/** A title is made of what stands there. */
const HEAD = 1 << 20;

export class SessionSecrets {
  #from;
  #redaction;
  #known = new Known();
  /** @type {Map<string, Read>} */
  #read = new Map();
  /** Its files are read by one after the other. @type {Promise<unknown>} */
  #turn = Promise.resolve();

  /** @param {{ storage: Storage, folder: string }} from where its files are, also where that changes @param {Redaction} redaction */
  constructor(from, redaction) {
    this.#from = from;
    this.#redaction = redaction;
  }

  /** Loads what has to be known before anything leaves. */
  async prepare() {
    // Whoever asks for something that leaves is told why it does not.
    if (this.#redaction.isOn) await this.#redaction.ready().then(() => this.head()).catch(unlessBug);
  }

  /** What is made of its texts, as it may leave. @template T @param {T} value */
  async out(value) {
    return this.#redaction.out(value, { known: await this.all() });
  }

  /** The value alone, once it is there. @template T @param {Promise<T>} made */
  async leaving(made) {
    return (await this.out(await made)).value;
  }

  /** The same at once, of what is known by now. @template T @param {T} value */
  outNow(value) {
    return this.#redaction.outNow(value, { known: this.#known }).value;
  }

  /** Those of all files as they are now. */
  async all() {
    return this.#looked(async () => {
      const { storage, folder } = this.#from;
      for await (const file of below(storage, folder, "")) await this.#file(file, Infinity);
    });
  }

  /** Those of the text that a title is made of, and of what was said of the session. */
  async head() {
    return this.#looked(async () => {
      for (const file of ["messages.jsonl", "events.jsonl"]) await this.#file(file, file.startsWith("events") ? Infinity : HEAD);
    });
  }

  /** Those of lines that were written just now. @param {Uint8Array} bytes */
  async take(bytes) {
    // They are stored already, whatever can be found in them.
    if (this.#redaction.isOn) await this.#keep(bytes, { isLog: true }).catch(unlessBug);
  }

  /** @param {() => Promise<void>} work */
  async #looked(work) {
    if (!this.#redaction.isOn) return this.#known;
    const mine = this.#turn.then(work, work);
    this.#turn = mine.catch(() => {});
    await mine;
    return this.#known;
  }

  /** @param {string} file @param {number} most */
  async #file(file, most) {
    const { storage, folder } = this.#from;
    const stat = await storage.stat(join(folder, file));
    if (stat?.kind !== "file") return;
    const isLog = file.endsWith(".jsonl");
    const before = this.#read.get(file);
    const isSame = before?.size === stat.size && before.mtimeMs === stat.mtimeMs;
    // A log grows; whatever else was written is another file.
    const start = before && isLog && (isSame || before.size < stat.size) ? before.end : 0;
    if ((isSame && !isLog) || start >= Math.min(stat.size, most)) return;
    let end = start;
    for await (const { bytes, from } of batches(storage, join(folder, file), start)) {
      await this.#keep(bytes, { isLog });
      // A line that is not whole yet is read again.
      end = from + bytes.lastIndexOf(10) + 1;
      if (end >= most) break;
    }
    this.#read.set(file, { end, size: stat.size, mtimeMs: stat.mtimeMs });
  }

  /** @param {Uint8Array} bytes @param {{ isLog: boolean }} as */
  async #keep(bytes, as) {
    for (const secret of await secretsStored(bytes, as)) this.#known.add(secret);
  }
}
