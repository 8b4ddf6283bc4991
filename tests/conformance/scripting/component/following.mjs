// @ts-check
/** What comes to who follows a session, a turn at a time: others have theirs in between. */

import { bytesOf } from "../../../component/host.mjs";

/** @import { ScriptedHost } from "./host.mjs" */

export class Following {
  /** @type {any[]} */
  all = [];
  #operation;
  #host;
  #waits = () => {};
  #goOn = () => {};
  /** @type {Promise<unknown>} */
  #ends = Promise.resolve();

  /** @param {ScriptedHost} host @param {any} operation */
  constructor(host, operation) {
    this.#host = host;
    this.#operation = operation;
  }

  /** Until it would wait. */
  async begin() {
    const page = (/** @type {any} */ content) =>
      void this.all.push(...linesIn(Buffer.from(bytesOf(content)).toString()));
    const wait = () =>
      new Promise((/** @type {(answer: void) => void} */ resolve) => {
        this.#goOn = resolve;
        this.#waits();
      });
    await this.#waitAfter(() => (this.#ends = this.#host.run(this.#operation, { page, wait })));
  }

  /** What came since. */
  look() {
    return this.#waitAfter(() => this.#goOn());
  }

  /** @param {() => unknown} work */
  async #waitAfter(work) {
    const waits = new Promise((/** @type {(answer: void) => void} */ resolve) => (this.#waits = resolve));
    work();
    await Promise.race([waits, this.#ends.then(() => waits)]);
  }
}

/** A page is a JSON array, or lines. @param {string} page @returns {any[]} */
function linesIn(page) {
  return page.startsWith("[")
    ? JSON.parse(page)
    : page
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
}
