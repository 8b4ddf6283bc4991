// @ts-check
/** The result of an append. */

import { textOf } from "../wasm/core.js";

/** @import { Acknowledged, Message } from "../types/index.js" */

/**
 * The result of an append: the stored messages, and how safe they are.
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
   * @param {{ from: number, to?: number, acknowledged: Acknowledged }} options `from`, `to`: this append's lines among
   *   the batch's
   */
  constructor(batch, { from, to, acknowledged }) {
    this.#batch = batch;
    this.#from = from;
    this.#to = to;
    /** How safe the messages are. @type {Acknowledged} */
    this.acknowledged = acknowledged;
  }

  /** The messages as stored. Parsed from their lines on first use: most are never asked for. @returns {Message[]} */
  get records() {
    const lines = textOf(this.#batch).split("\n").filter(Boolean).slice(this.#from, this.#to);
    return lines.map((line) => {
      const { v, crc, ...message } = JSON.parse(line);
      return message;
    });
  }
}
