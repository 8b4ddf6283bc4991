// @ts-check
/** One of a session's logs: its file, and what the core knows of it. */

import { Buffer } from "node:buffer";

import { LINE_FEED, joined } from "./bytes.js";
import { called, core } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";

/** @typedef {{ code: string, start: number, end: number, message: string }} Problem */
/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** What stages the batches of a log: a session's handle, or who stages in its stead. @typedef {Pick<Handle, "observe" | "end" | "commit" | "abort" | "unknown">} Stages */
/** @import { Stat, Storage } from "./storage/contract.js" */

/** What is waited, in milliseconds, before a batch is appended again of which nobody can say how much was written. */
const WAITS_MS = [5, 20, 80];
/** Enough of a log to tell it from another: the id of its first line. */
const HEAD = 128;
/** Enough of its end to tell what was observed from what came into its place. */
const TAIL = 256;
/** So far back, at least, it is looked whether a batch is there already. */
const BACK = 64 * 1024;
/** What is read at once. */
const CHUNK = 256 * 1024;

export class Log {
  #storage;
  #folder;
  #path;
  #name;
  #isConfirmed = false;
  /** How it begins, where that was seen. */
  #head = new Uint8Array();
  /** How that ends which was observed. */
  #tail = new Uint8Array();
  /** What the file was like when it was observed to its end. @type {Stat | undefined} */
  #seen;

  /**
   * @param {{ storage: Storage, folder: string, name: "Events" | "Messages" | "Tools" }} parts
   */
  constructor({ storage, folder, name }) {
    this.#storage = storage;
    this.#folder = folder;
    this.#path = `${folder}/${name.toLowerCase()}.jsonl`;
    this.#name = core().LogName[name];
  }

  /** It lies in another folder by now. @param {{ storage: Storage, folder: string }} place */
  goTo({ storage, folder }) {
    this.#path = `${folder}/${this.file}`;
    this.#storage = storage;
    this.#folder = folder;
    this.#isConfirmed = false;
    this.forget();
  }

  /** Nothing is known of it any more: it is to be observed from the beginning. */
  forget() {
    this.#head = this.#tail = new Uint8Array();
    this.#seen = undefined;
  }

  /**
   * Feeds what the file gained since the last look, by us or by others; gives the problems. What is derived from bytes
   * that are there no longer, as after a checkout by git, is refused as `log_replaced`.
   * @param {Stages} handle
   * @returns {Promise<Problem[]>}
   */
  async observe(handle) {
    /** @type {Problem[]} */
    const problems = [];
    const end = this.#end(handle);
    const found = await this.#storage.stat(this.#path);
    const size = this.#grown(this.#sizeOf(found), end);
    if (end > 0 && this.#isOther(found, end)) throw this.#replaced();
    if (size > end) {
      const known = end > 0 ? this.#tail.length : 0;
      for await (const piece of this.pieces(end - known, size)) {
        const at = this.#end(handle);
        const isFirst = at === end && known > 0;
        if (isFirst && !isEqual(piece.subarray(0, known), this.#tail)) throw this.#replaced();
        const bytes = isFirst ? piece.subarray(known) : piece;
        if (at === 0) this.#head = bytes.slice(0, HEAD);
        this.#tail = (bytes.length < TAIL ? joined([this.#tail, bytes]) : bytes).slice(-TAIL);
        problems.push(...called(() => handle.observe(this.#name, bytes, at)));
      }
    }
    // What a checkpoint covers was not read.
    else if (end > 0 && this.#tail.length === 0) this.#tail = (await this.range(Math.max(0, end - TAIL), end)).slice();
    this.#seen = found ?? undefined;
    return problems;
  }

  /** Whether another file stands there than was observed, or it was changed otherwise than at its end. @param {Stat | null} found @param {number} end */
  #isOther(found, end) {
    const seen = this.#seen;
    if (!seen || !found) return false;
    // Where the system does not know when a file was made, it tells its last change.
    const isTold = (/** @type {Stat} */ { file, ctimeMs }) => file !== undefined && file.madeMs !== ctimeMs;
    const isMade = (isTold(seen) || isTold(found)) && seen.file?.madeMs !== found.file?.madeMs;
    return seen.file?.number !== found.file?.number || isMade || (found.size === end && found.ctimeMs !== seen.ctimeMs);
  }

  #replaced() {
    return new LeftoffError({ code: "log_replaced", message: `expected in "${this.#path}" what was read before, but found something else instead` });
  }

  /**
   * The file is read to its end: a last line without a line feed counts if it is whole. Gives the problems.
   * @param {Handle} handle
   * @returns {Problem[]}
   */
  observeTail(handle) {
    return called(() => handle.observeTail(this.#name));
  }

  /** The file's name. */
  get file() {
    return this.#path.slice(this.#path.lastIndexOf("/") + 1);
  }

  /** How many bytes the file has: not fewer than were observed, as where it was moved away. @param {Stages} handle */
  async grownSize(handle) {
    // As it is now: it may grow while the system is asked.
    const end = this.#end(handle);
    return this.#grown(await this.size(), end);
  }

  /** @param {number} size @param {number} end */
  #grown(size, end) {
    if (size >= end) return size;
    const message = `expected "${this.#path}" to have at least ${end} bytes, but found ${size} instead`;
    throw new LeftoffError({ code: "log_shrunk", message });
  }

  /** Whether it is the file that was observed, and no other one that lies in its place now. @param {Stages} handle */
  async isStill(handle) {
    const end = this.#end(handle);
    if ((await this.size()) < end) return false;
    const head = await this.range(0, this.#head.length);
    return head.every((byte, at) => byte === this.#head[at]);
  }

  /** How many bytes the file has. */
  async size() {
    return this.#sizeOf(await this.stat());
  }

  /** What the file is like. */
  stat() {
    return this.#storage.stat(this.#path);
  }

  /** @param {Stat | null} found */
  #sizeOf(found) {
    if (found && found.kind !== "file") {
      throw new LeftoffError({ code: "not_a_file", message: `expected a file at "${this.#path}", but found something else instead` });
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
      const bytes = await this.#storage.readRange(this.#path, at, Math.min(end, at + CHUNK), { into });
      // What is not read must not look as if it had never been said.
      if (!bytes?.length) throw new LeftoffError({ code: "log_shrunk", message: `expected ${end} bytes in "${this.#path}", but found ${at} instead` });
      yield bytes;
      at += bytes.length;
    }
  }

  /** @param {number} start @param {number} end */
  async range(start, end) {
    return (await this.#storage.readRange(this.#path, start, end)) ?? new Uint8Array();
  }

  /**
   * Appends the batch that was staged. Where it fails before the first byte, the batch never was; else the same
   * records are appended again, and readers keep one of two equal ones.
   * @param {Stages} handle
   * @param {Uint8Array} bytes
   * @param {{ durable: boolean, begins?: boolean }} options `begins`: its folder is made where it is missing
   */
  async append(handle, bytes, { durable, begins = false }) {
    const name = this.#name;
    const start = this.#end(handle);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { end } = await this.#storage.append(this.#path, bytes, { durable, within: begins ? undefined : this.#folder });
        this.#isConfirmed ||= durable;
        const isAlone = attempt === 0 && end === start + bytes.length;
        if (isAlone) await this.#note(bytes, { start, end });
        else await this.observe(handle);
        called(() => handle.commit(name, isAlone ? start : 0));
        return;
      } catch (error) {
        // After a trap the handle is gone; whoever opens the log again finds what was written.
        if (!(error instanceof LeftoffError) || error.code === "internal") throw error;
        if (await this.#isElsewhere(handle, error)) {
          // It may be back in a moment: then the next batch must find none under way.
          this.abort(handle);
          throw error.code === "log_replaced" ? error : elsewhere(this.#folder, error);
        }
        const neverWas = attempt === 0 && error.written === 0;
        if (!neverWas) bytes = called(() => handle.unknown(name));
        if (neverWas || attempt === WAITS_MS.length) {
          this.abort(handle);
          throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, WAITS_MS[attempt]));
      }
    }
  }

  /**
   * Appends lines that were staged where the session lay before, unless somebody carried them over already.
   * @param {Uint8Array} bytes @param {{ durable: boolean }} options
   */
  async appendAgain(bytes, { durable }) {
    await this.#again(async () => {
      const size = await this.size();
      const { buffer, byteOffset, length } = await this.range(Math.max(0, size - BACK - 2 * bytes.length), size);
      const isThere = Buffer.from(buffer, byteOffset, length).includes(bytes);
      const missing = isThere ? new Uint8Array() : joined([LINE_FEED, bytes]);
      await this.#storage.append(this.#path, missing, { durable, within: this.#folder });
    });
    this.#isConfirmed ||= durable;
  }

  /**
   * Appends what may be appended again: its file may have been moved away just then, and be back. What the disk did not
   * confirm is not tried again.
   * @param {() => Promise<unknown>} work
   */
  async #again(work) {
    for (let attempt = 0; ; attempt += 1) {
      try {
        await work();
        return;
      } catch (error) {
        if (!(error instanceof LeftoffError)) throw error;
        if (error.code === "not_found") throw elsewhere(this.#folder, error);
        const mayPass = error.code === "storage_failed" && error.durable === undefined;
        if (!mayPass || attempt === WAITS_MS.length) throw error;
        await new Promise((resolve) => setTimeout(resolve, WAITS_MS[attempt]));
      }
    }
  }

  /** What was appended by us alone is as good as observed. @param {Uint8Array} bytes @param {{ start: number, end: number }} range */
  async #note(bytes, { start, end }) {
    if (start === 0) this.#head = bytes.slice(0, HEAD);
    this.#tail = (bytes.length < TAIL ? joined([this.#tail, bytes]) : bytes).slice(-TAIL);
    const found = await this.#storage.stat(this.#path);
    this.#seen = found?.size === end ? found : undefined;
  }

  /** Whether the session lies somewhere else by now. @param {Stages} handle @param {LeftoffError} error of an append */
  async #isElsewhere(handle, { code, written }) {
    if (code === "not_found" || code === "log_replaced" || code === "log_shrunk") return true;
    if (code !== "storage_failed" || !written) return false;
    try {
      return (await this.#storage.stat(this.#folder)) === null || !(await this.isStill(handle));
    } catch (error) {
      unlessBug(error); // Nobody can say where it lies: what failed is told.
      return false;
    }
  }

  /**
   * Makes the disk confirm what was there before this process came: who wrote it may have died before the disk did.
   * @param {{ again?: boolean }} [options] `again`: also what this process appended since
   */
  async confirm({ again = false } = {}) {
    if ((this.#isConfirmed && !again) || (await this.size()) === 0) return;
    await this.#again(() => this.#storage.append(this.#path, new Uint8Array(), { durable: true, within: this.#folder }));
    this.#isConfirmed = true;
    const found = await this.#storage.stat(this.#path);
    if (found && found.size === this.#seen?.size) this.#seen = found;
  }

  /** Gives up what was staged. @param {Stages} handle */
  abort(handle) {
    called(() => handle.abort(this.#name));
  }

  /** How far the core has observed it. @param {Stages} handle */
  #end(handle) {
    return called(() => handle.end(this.#name));
  }
}

/** A session does not lie where it lay. */
export class Elsewhere extends LeftoffError {}

/** What is said where a session does not lie where it lay. @param {string} folder @param {unknown} [cause] */
export function elsewhere(folder, cause) {
  return new Elsewhere({ code: "not_found", message: `expected the session in "${folder}", but found that it was moved or deleted meanwhile`, cause });
}

/** @param {Uint8Array} one @param {Uint8Array} other */
function isEqual(one, other) {
  return one.length === other.length && one.every((byte, at) => byte === other[at]);
}
