// @ts-check
/** Has a person choose a session at a terminal. */

import { basename } from "node:path";

import { LeftoffError } from "../index.js";
import { unlessBug } from "../error.js";
import { rankByWords } from "../store/search.js";
import { formatCount } from "./print.js";
import { formatLocalTime } from "./times.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../types/index.js").Listed} ListedSession */
/** @typedef {import("../store/store.js").Store} Store */

/** How many of the last messages a preview shows. */
const PREVIEW_MESSAGES = 3;
/** How many messages back a preview looks for text: most of an agent's messages are calls and results. */
const MAX_MESSAGES_BACK = 60;
/** How many sessions a search while typing looks up, at each pause: no more than anybody would go through. */
const MAX_SEARCHED_SESSIONS = 24;

/**
 * Asks for one of some sessions, and changes nothing of them.
 * @param {Args} args @param {Store} store @param {ListedSession[]} listed
 * @param {{ message: string, canBegin?: boolean }} options `canBegin`: also a new one can be chosen
 * @returns {Promise<ListedSession | undefined>} nothing for a new one
 */
export async function chooseSession(args, store, listed, { message, canBegin = false }) {
  const { pickSession } = await import("./prompts.js");
  const { value: shown } = await store.redacted(listed);
  const rank = (/** @type {string} */ words) => {
    // The beginning of an id is not searched for as words.
    const begun = shown.filter(({ id }) => id.startsWith(words.trim()));
    return [...new Set([...begun, ...rankByWords(words, shown)])].map((one) => shown.indexOf(one));
  };
  const said = async (/** @type {string} */ words) => {
    const hits = await findMessageHits(store, args, words);
    return hits
      .map((hit) => ({ ...hit, place: listed.findIndex((one) => one.path === hit.path) }))
      .filter(({ place }) => place >= 0);
  };
  const preview = async (/** @type {number} */ place) => {
    return [
      ...describeSession(/** @type {ListedSession} */ (shown[place])),
      ...(await readLastMessages(store, /** @type {ListedSession} */ (listed[place]))),
    ];
  };
  const place = await pickSession(args, { message, items: shown, rank, searchMessages: said, preview, canBegin });
  if (place === undefined)
    throw new LeftoffError({ code: "cancelled", message: "nothing chosen; nothing was changed" });
  return place === "new" ? undefined : listed[place];
}

// Describes a session without its title, which is shown above.
/** @param {ListedSession} one */
function describeSession({ type, agent, project, messageCount, status, archivedAt, lastActive, summary }) {
  const state = archivedAt ? "archived" : status;
  const line = [
    type,
    agent,
    project && basename(project),
    formatCount(messageCount, "message"),
    state,
    `last active ${formatLocalTime(lastActive)}`,
  ];
  return [line.filter(Boolean).join(" · "), ...(summary ? [`Summary: ${summary}`] : [])];
}

/**
 * Finds, as "leftoff resume WORDS" does, the best sessions in which one message has all words, and their best messages.
 * @param {Store} store @param {Args} args @param {string} words
 */
async function findMessageHits(store, args, words) {
  const { since: _, until: __, ...filters } = args.filters ?? {};
  /** @type {Map<string, { path: string, role: string, excerpt: { text: string, isHit: boolean }[] }>} */
  const hits = new Map();
  for await (const { session, found, role = "message", excerpt } of store.search(words, {
    all: args.all,
    limit: MAX_SEARCHED_SESSIONS,
    ...filters,
  })) {
    const { path } = session;
    if ((found === "all" || found === "exact") && !hits.has(path)) hits.set(path, { path, role, excerpt });
  }
  return [...hits.values()];
}

/**
 * Reads the last messages, oldest first, from the end of the log alone.
 * @param {Store} store
 * @param {ListedSession} one
 */
async function readLastMessages(store, one) {
  /** @type {string[]} */
  const said = [];
  try {
    let count = 0;
    for await (const { role, content } of store.newestMessages(one)) {
      if (role !== "tool" && content.trim()) said.unshift(`${role ?? "message"}: ${content}`);
      if (said.length === PREVIEW_MESSAGES || (count += 1) === MAX_MESSAGES_BACK) break;
    }
  } catch (error) {
    unlessBug(error);
  }
  return said;
}
