// @ts-check
/** One of a session's logs: its file, and what the core knows of it. */

import { called, core } from "./core.js";
import { LeftoffError } from "./error.js";

/** @typedef {{ code: string, start: number, end: number, message: string }} Problem */
/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** What stages the batches of a log: a session's handle, or who stages in its stead. @typedef {Pick<Handle, "observe" | "end" | "commit" | "abort" | "unknown">} Stages */
/** @import { Stat, Storage } from "./storage/contract.js" */

/** What is waited, in milliseconds, before a batch is appended again of which nobody can say how much was written. */
const WAITS_MS = [5, 20, 80];
/** Enough of a log to tell it from another: the id of its first line. */
const HEAD = 128;
/** What is read at once. */
const CHUNK = 256 * 1024;

export class Log {
  #storage;
  #path;
  #name;
  #isConfirmed = false;
  /** How it begins, where that was seen. */
  #head = new Uint8Array();

  /**
   * @param {{ storage: Storage, folder: string, name: "Events" | "Messages" | "Tools" }} parts
   */
  constructor({ storage, folder, name }) {
    this.#storage = storage;
    this.#path = `${folder}/${name.toLowerCase()}.jsonl`;
    this.#name = core().LogName[name];
  }

  /**
   * Feeds what the file gained since the last look, by us or by others; gives the problems.
   * @param {Stages} handle
   * @returns {Promise<Problem[]>}
   */
  async observe(handle) {
    /** @type {Problem[]} */
    const problems = [];
    const size = await this.grownSize(handle);
    const end = this.#end(handle);
    if (size === end) return problems;
    for await (const bytes of this.pieces(end, size)) {
      if (this.#end(handle) === 0) this.#head = bytes.slice(0, HEAD);
      problems.push(...called(() => handle.observe(this.#name, bytes, this.#end(handle))));
    }
    return problems;
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
    const size = await this.size();
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
    return this.#sizeOf(await this.#storage.stat(this.#path));
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
      if (!bytes?.length) return;
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
   * @param {{ durable: boolean }} options
   */
  async append(handle, bytes, { durable }) {
    const name = this.#name;
    const start = this.#end(handle);
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { end } = await this.#storage.append(this.#path, bytes, { durable });
        this.#isConfirmed ||= durable;
        const isAlone = attempt === 0 && end === start + bytes.length;
        if (isAlone && start === 0) this.#head = bytes.slice(0, HEAD);
        if (!isAlone) await this.observe(handle);
        called(() => handle.commit(name, isAlone ? start : 0));
        return;
      } catch (error) {
        // After a trap the handle is gone; whoever opens the log again finds what was written.
        if (!(error instanceof LeftoffError) || error.code === "internal") throw error;
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
   * Makes the disk confirm what was there before this process came: who wrote it may have died before the disk did.
   * @param {{ again?: boolean }} [options] `again`: also what this process appended since
   */
  async confirm({ again = false } = {}) {
    if ((this.#isConfirmed && !again) || (await this.size()) === 0) return;
    await this.#storage.append(this.#path, new Uint8Array(), { durable: true });
    this.#isConfirmed = true;
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
