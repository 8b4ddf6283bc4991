// @ts-check
/** Sessions between which a person chooses at a terminal. */

import { LeftoffError, listText } from "../index.js";
import { unlessBug } from "../error.js";
import { ranked } from "../store/search.js";
import { thatSay } from "./store.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../types/index.js").Listed} Listed */
/** @typedef {import("../store/store.js").Store} Store */

/** So many of the last messages show where a conversation stopped. */
const LAST = 3;
/** Of an agent's work most messages are calls and results; farther back nobody looks for words. */
const FAR = 60;
/** Who types on searches again at each pause: of those that say it, no more are looked up than anybody would go through. */
const SAID = 24;

/**
 * One of some sessions. Nothing of them is changed by that.
 * @param {Args} args @param {Store} store @param {Listed[]} listed
 * @param {{ message: string, canBegin?: boolean }} options `canBegin`: also a new one can be chosen
 * @returns {Promise<Listed | undefined>} nothing for a new one
 */
export async function choose(args, store, listed, { message, canBegin = false }) {
  const { picked } = await import("./prompts.js");
  const { value: shown } = await store.redacted(listed);
  const rank = (/** @type {string} */ words) => {
    // An id is not looked for by words.
    const begun = shown.filter(({ id }) => id.startsWith(words.trim()));
    return [...new Set([...begun, ...ranked(words, shown)])].map((one) => shown.indexOf(one));
  };
  // As "leftoff resume WORDS" finds them, the best.
  const said = async (/** @type {string} */ words) => {
    const found = await thatSay(store, args, words, SAID);
    return found.map(({ path }) => listed.findIndex((one) => one.path === path)).filter((place) => place >= 0);
  };
  const preview = async (/** @type {number} */ place) => {
    return [...about(/** @type {Listed} */ (shown[place])), ...(await lastSaid(store, /** @type {Listed} */ (listed[place])))];
  };
  const place = await picked(args, { message, items: shown, rank, said, preview, canBegin });
  if (place === undefined) throw new LeftoffError({ code: "cancelled", message: "nothing was chosen, and nothing was changed" });
  return place === "new" ? undefined : listed[place];
}

// As lists have it, without its number: the title stands above.
/** @param {Listed} one */
function about(one) {
  const [head = "", ...rest] = listText([one]).split("\n");
  return [head.replace(/^1\. /, ""), ...rest.map((line) => line.trim())].filter(Boolean);
}

/** What was said last, oldest first; only the end of the log is read for it. @param {Store} store @param {Listed} one */
async function lastSaid(store, one) {
  /** @type {string[]} */
  const said = [];
  try {
    let count = 0;
    for await (const { role, content } of store.newestMessages(one)) {
      if (role !== "tool" && content.trim()) said.unshift(`${role ?? "message"}: ${content}`);
      if (said.length === LAST || (count += 1) === FAR) break;
    }
  } catch (error) {
    unlessBug(error);
  }
  return said;
}
