// @ts-check
/** The sessions that a search over the store found, each with its hits. */

/** @import { Found, Listed, Store } from "../index.js" */

/** @typedef {{ session: Listed, hits: Found[] }} FoundSession */

/** How many sessions are shown. */
const MAX_SESSIONS = 20;

/**
 * Searches all sessions, the best first.
 * @param {Store} store @param {string} words
 * @returns {Promise<FoundSession[]>}
 */
export async function searchSessions(store, words) {
  /** @type {Map<string, FoundSession>} */
  const sessions = new Map();
  for await (const hit of store.search(words, { all: true, limit: MAX_SESSIONS })) {
    const found = sessions.get(hit.session.id) ?? { session: hit.session, hits: [] };
    found.hits.push(hit);
    sessions.set(hit.session.id, found);
  }
  return [...sessions.values()];
}

/**
 * The text to search in the session, which finds texts as they are: the words, where the message has them so, else what
 * it has of them.
 * @param {Found} hit @param {string} words
 */
export function textToFind({ excerpt }, words) {
  const text = excerpt.map((piece) => piece.text).join("");
  if (text.toLowerCase().includes(words.toLowerCase())) return words;
  return excerpt.find(({ isHit }) => isHit)?.text ?? words;
}
