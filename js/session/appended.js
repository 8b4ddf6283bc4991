// @ts-check
/** What an append resolves to. */

import { textOf } from "../wasm/core.js";

/** @import { Acknowledged, Message } from "../types/index.js" */

/**
 * What an append resolves to.
 * @example
 * const { records, acknowledged } = await session.append({ role: "user", content: "Hello" });
 * [records[0].content, acknowledged]; // => ["Hello", "durable"]
 */
export class Appended {
  #batch;
  #from;
  #to;

  /**
   * @param {Uint8Array} batch the lines that were written
   * @param {{ from: number, to?: number, acknowledged: Acknowledged }} options which of its lines
   */
  constructor(batch, { from, to, acknowledged }) {
    this.#batch = batch;
    this.#from = from;
    this.#to = to;
    /** How safe the messages are. @type {Acknowledged} */
    this.acknowledged = acknowledged;
  }

  /** The messages as they are stored. They are read from their lines when they are asked for: most never are. @returns {Message[]} */
  get records() {
    const lines = textOf(this.#batch).split("\n").filter(Boolean).slice(this.#from, this.#to);
    return lines.map((line) => {
      const { v, crc, ...message } = JSON.parse(line);
      return message;
    });
  }
}
