// @ts-check
/** What may have been meant by a word that nobody knows. */

import { callCore } from "../wasm/core.js";

/**
 * Those that differ least from what was typed; none where all differ much.
 * @param {string} typed @param {Iterable<string>} known
 */
export function nearestWords(typed, known) {
  return callCore((core) => core.nearestWords(typed, [...known]));
}

/** For a message: what may have been meant, or nothing. @param {string[]} words */
export function didYouMean(words) {
  return words.length > 0 ? ` (did you mean ${words.join(" or ")}?)` : "";
}
