// @ts-check
/** Sessions between which a person chooses at a terminal. */

import { basename } from "node:path";

import { LeftoffError } from "../index.js";
import { unlessBug } from "../error.js";
import { rankByWords } from "../store/search.js";
import { formatCount } from "./print.js";
import { formatLocalTime } from "./times.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../types/index.js").Listed} ListedSession */
/** @typedef {import("../store/store.js").Store} Store */

/** So many of the last messages show where a conversation stopped. */
const LAST = 3;
/** Of an agent's work most messages are calls and results; farther back nobody looks for words. */
const FAR = 60;
/** Who types on searches again at each pause: of those that say it, no more are looked up than anybody would go through. */
const SAID = 24;

/**
 * One of some sessions. Nothing of them is changed by that.
 * @param {Args} args @param {Store} store @param {ListedSession[]} listed
 * @param {{ message: string, canBegin?: boolean }} options `canBegin`: also a new one can be chosen
 * @returns {Promise<ListedSession | undefined>} nothing for a new one
 */
export async function chooseSession(args, store, listed, { message, canBegin = false }) {
  const { pickSession } = await import("./prompts.js");
  const { value: shown } = await store.redacted(listed);
  const rank = (/** @type {string} */ words) => {
    // An id is not looked for by words.
    const begun = shown.filter(({ id }) => id.startsWith(words.trim()));
    return [...new Set([...begun, ...rankByWords(words, shown)])].map((one) => shown.indexOf(one));
  };
  const said = async (/** @type {string} */ words) => {
    const hits = await findMessageHits(store, args, words);
    return hits.map((hit) => ({ ...hit, place: listed.findIndex((one) => one.path === hit.path) })).filter(({ place }) => place >= 0);
  };
  const preview = async (/** @type {number} */ place) => {
    return [...describeSession(/** @type {ListedSession} */ (shown[place])), ...(await readLastMessages(store, /** @type {ListedSession} */ (listed[place])))];
  };
  const place = await pickSession(args, { message, items: shown, rank, searchMessages: said, preview, canBegin });
  if (place === undefined) throw new LeftoffError({ code: "cancelled", message: "nothing chosen; nothing was changed" });
  return place === "new" ? undefined : listed[place];
}

// The title stands above.
/** @param {ListedSession} one */
function describeSession({ type, agent, project, messageCount, status, archivedAt, lastActive, summary }) {
  const state = archivedAt ? "archived" : status;
  const line = [type, agent, project && basename(project), formatCount(messageCount, "message"), state, `last active ${formatLocalTime(lastActive)}`];
  return [line.filter(Boolean).join(" · "), ...(summary ? [`Summary: ${summary}`] : [])];
}

/**
 * As "leftoff resume WORDS" finds them: of the best sessions in which one message has all words, the best message.
 * @param {Store} store @param {Args} args @param {string} words
 */
async function findMessageHits(store, args, words) {
  const { since: _, until: __, ...filters } = args.filters ?? {};
  /** @type {Map<string, { path: string, role: string, excerpt: { text: string, isHit: boolean }[] }>} */
  const hits = new Map();
  for await (const { session, found, role = "message", excerpt } of store.search(words, { all: args.all, limit: SAID, ...filters })) {
    const { path } = session;
    if ((found === "all" || found === "exact") && !hits.has(path)) hits.set(path, { path, role, excerpt });
  }
  return [...hits.values()];
}

/** What was said last, oldest first; only the end of the log is read for it. @param {Store} store @param {ListedSession} one */
async function readLastMessages(store, one) {
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
