// @ts-check
/** Whether somebody says that they want to stop the conversation for now. */

import { agents } from "../wasm/agents.js";

/**
 * What in a user's message says that the conversation is to stop for now: "let's stop", "that's enough for today", "I need to
 * go". In English; nothing for what only resembles it, "stop the server". A session may be paused then; ask for what cannot be undone.
 * @param {string} text
 * @returns {string | undefined} the clause that says so
 * @example
 * findStopPhrase("Thanks, let's stop here."); // => "let's stop here"
 * findStopPhrase("stop the server"); // => undefined
 */
export function findStopPhrase(text) {
  return agents.called((module) => module.findStopPhrase(String(text)));
}
