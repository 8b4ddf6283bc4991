// @ts-check
/** The history of a session as text. */

import { agents } from "../wasm/agents.js";
import { entropy, nowMs } from "../wasm/clock.js";
import { textOf, toBytes } from "../wasm/core.js";

/**
 * A history in leftoff's shape as text, for an agent that does not take it as turns: in a fence that nothing in it can close,
 * one message a line as JSON, with its time, its calls or the call that it answers, and which files came with it.
 * @param {object[]} messages as `resume` or `context` gives them
 * @returns {string}
 * @throws {LeftoffError} `invalid_request` for what is no message
 * @example
 * const text = historyText([{ role: "user", content: "Hello" }]);
 * /^----- [0-9a-f]{32}$/m.test(text); // => true
 */
export function historyText(messages) {
  return textOf(agents.called((agents) => agents.history(toBytes(messages), nowMs(), entropy())));
}
