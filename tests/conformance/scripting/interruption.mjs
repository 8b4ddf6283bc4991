// @ts-check
/** What others do while an operation is under way: just before it asks its storage for the n-th time. */

import { NodeStorage } from "../../../js/index.js";

export class Interruption {
  #calls = 0;
  #at = 0;
  /** @type {() => void} */
  #does = () => {};

  /**
   * The next operation begins.
   * @param {number} [at] which of its calls others come before; none unless given
   * @param {() => void} [does]
   */
  arm(at = 0, does = () => {}) {
    this.#calls = 0;
    this.#at = at;
    this.#does = does;
  }

  /** A storage that others come between. */
  storage() {
    const storage = new NodeStorage();
    return /** @type {NodeStorage} */ (
      new Proxy(storage, {
        get: (_, key) => {
          const value = Reflect.get(storage, key, storage);
          if (typeof value !== "function") return value;
          return (/** @type {unknown[]} */ ...given) => {
            this.#calls += 1;
            if (this.#calls === this.#at) this.#does();
            return value.apply(storage, given);
          };
        },
      })
    );
  }
}
