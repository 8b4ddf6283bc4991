// @ts-check
/** Finding sessions by their titles. */

import { agents } from "../wasm/agents.js";
import { toBytes } from "../wasm/core.js";

/** @import { Listed } from "../types/index.js" */

/**
 * Ranks the listed sessions that the words may mean, best first. @internal
 * @param {string} words
 * @param {Listed[]} listed
 */
export function rankByWords(words, listed) {
  const known = listed.map(({ title, summary, name, type }) => [title, summary ?? "", name ?? "", type]);
  const places = agents.call((agents) => agents.rankByWords(words, toBytes(known)));
  return Array.from(places, (place) => /** @type {Listed} */ (listed[place]));
}
