// @ts-check
/** Finding sessions by what they are called. */

import { agents } from "../wasm/agents.js";
import { nowMs, offsetMinutes } from "../wasm/clock.js";
import { textOf, toBytes } from "../wasm/core.js";

/** @import { Listed } from "../types/index.js" */

/** Those that the words may mean, the best first. @internal @param {string} words @param {Listed[]} listed */
export function ranked(words, listed) {
  const known = listed.map(({ title, summary, name, type }) => [title, summary ?? "", name ?? "", type]);
  const places = agents.called((agents) => agents.ranked(words, toBytes(known)));
  return Array.from(places, (place) => /** @type {Listed} */ (listed[place]));
}

/**
 * A list as a person reads it, numbered from one.
 * @param {Pick<Listed, "id" | "type" | "title" | "lastActive" | "status" | "summary" | "archivedAt">[]} listed
 * @returns {string}
 * @example
 * await store.create({ title: "The parser" });
 * listText(await store.list()).startsWith("1. [chat] The parser"); // => true
 */
export function listText(listed) {
  return textOf(agents.called((agents) => agents.listing(toBytes(listed), nowMs(), offsetMinutes())));
}
