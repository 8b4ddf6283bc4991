// @ts-check
/** The tools that the model is offered in OpenCode, of either version. */

import { answerCall, answerRecall, answerSearch } from "../answers/answers.js";
import { findSession } from "../sdk/sessions.js";

/** @import { Store } from "../store/store.js" */
/** @import { OpenCodeHooks } from "../types/opencode.js" */

/** The most tokens of what a compaction is told. */
export const BRIEF_TOKENS = 1500;

/**
 * What the model is offered. OpenCode takes all arguments as required, so that one that is not given is empty.
 * @param {() => Promise<{ store: Store }>} open @returns {OpenCodeHooks["tool"]}
 */
export function createTools(open) {
  /** @param {string} id the agent's of the session @param {(store: Store, own: string | undefined) => Promise<string>} work */
  const answer = async (id, work) => {
    const { store } = await open();
    const { text } = await answerCall(store, async () => work(store, (await findOwnSession(store, id))?.id));
    return text;
  };
  return {
    leftoff_search: {
      description:
        "Searches earlier conversations in this project, of all agents, for words. " +
        "Answers with the places found: session, who said it, when, and the words around.",
      args: {
        words: { type: "string", description: "Words to look for; those in double quotes must occur so" },
        cursor: { type: "string", description: "Where an earlier answer went on; empty at first" },
      },
      execute: ({ words, cursor }, { sessionID }) =>
        answer(sessionID, (store, own) => answerSearch(store, { words, cursor: cursor || undefined }, { own })),
    },
    leftoff_recall: {
      description:
        "Recalls what earlier conversations in this project say on a question, as quotes with their sources.",
      args: { question: { type: "string", description: "The question, in a sentence" } },
      execute: ({ question }, { sessionID }) =>
        answer(sessionID, (store, own) => answerRecall(store, question, { own })),
    },
  };
}

/** The session that a session of OpenCode is recorded into. @param {Store} store @param {string} id */
export function findOwnSession(store, id) {
  return findSession(store, { agent: "opencode", id });
}
