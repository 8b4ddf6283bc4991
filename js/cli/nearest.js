// @ts-check
/** Suggestions for mistyped words. */

import { callCore } from "../wasm/core.js";

/**
 * The known words that differ least from what was typed; none where all differ much.
 * @param {string} typed @param {Iterable<string>} known
 */
export function nearestWords(typed, known) {
  return callCore((core) => core.nearestWords(typed, [...known]));
}

/** The "did you mean" of a message; empty without words. @param {string[]} words */
export function didYouMean(words) {
  return words.length > 0 ? ` (did you mean ${words.join(" or ")}?)` : "";
}
