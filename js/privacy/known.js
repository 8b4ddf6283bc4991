// @ts-check
/** The secrets of whole texts: by them the core finds parts of secrets in what was cut, folded or summed up. */

import { agents } from "../agents.js";
import { fromBytes, toBytes } from "../core.js";

/** @import { Found } from "../secrets.js" */

/** @typedef {{ secret: string, rule: string }} Secret */

export class Known {
  /** The rule of each, by the secret. @type {Map<string, string>} */
  #rules = new Map();
  /** As the core has them. @type {Uint8Array | undefined} */
  #bytes;

  /** None. */
  static none = new Known();

  /** @param {Secret} secret */
  add({ secret, rule }) {
    if (this.#rules.has(secret)) return;
    this.#rules.set(secret, rule);
    this.#bytes = undefined;
  }

  /** As the core reads them. */
  get bytes() {
    this.#bytes ??= toBytes([...this.#rules]);
    return this.#bytes;
  }

  /** Where parts of them stand, in bytes, those that meet as one. @param {string} text @returns {Found[]} */
  find(text) {
    return fromBytes(agents.called(({ knownIn }) => knownIn(text, this.bytes)));
  }
}
