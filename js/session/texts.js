// @ts-check
/** Synchronous functions: messages and lists as text, stop phrases, and the comparison of two contexts. */

import { entropy, nowMs, offsetMinutes } from "../wasm/clock.js";
import { fromBytes, textOf, toBytes } from "../wasm/core.js";
import { readerModule, contextModule } from "../wasm/module-choice.js";

/** @import { Compared, Listed, Reported } from "../types/index.js" */

/**
 * Renders a history in leftoff's shape as text, for an agent that does not take it as turns: in a fence that nothing in
 * it can
 * close, one message a line as JSON, with its time, its calls or the call it answers, and its attached files.
 * @param {object[]} messages as `resume` or `context` gives them
 * @returns {string}
 * @throws {LeftoffError} `invalid_request` for what is no message; `asset_missing` in a page before `loadWasm`
 * @example
 * const text = historyText([{ role: "user", content: "Hello" }]);
 * /^----- [0-9a-f]{32}$/m.test(text); // => true
 */
export function historyText(messages) {
  return textOf(readerModule().call((module) => module.history(toBytes(messages), nowMs(), entropy())));
}

/**
 * Renders a list of sessions for people, numbered from one.
 * @param {Pick<Listed, "id" | "type" | "title" | "lastActive" | "status" | "summary" | "archivedAt">[]} listed
 * @returns {string}
 * @throws {LeftoffError} `invalid_json` for what is no list; `invalid_request` for what JSON cannot hold;
 *   `asset_missing` in a page before `loadWasm`
 * @example
 * await store.create({ title: "The parser" });
 * listText(await store.list()).startsWith("1. [chat] The parser"); // => true
 */
export function listText(listed) {
  return textOf(readerModule().call((module) => module.listing(toBytes(listed), nowMs(), offsetMinutes())));
}

/**
 * Finds the clause of a user's message that asks to stop for now: "let's stop", "that's enough for today", "I need to
 * go".
 * English only; nothing for look-alikes such as "stop the server". Good enough to pause a session; ask before what
 * cannot be undone.
 * @param {string} text
 * @returns {string | undefined} the clause that says so
 * @throws {LeftoffError} `asset_missing` in a page before `loadWasm`
 * @example
 * findStopPhrase("Thanks, let's stop here."); // => "let's stop here"
 * findStopPhrase("stop the server"); // => undefined
 */
export function findStopPhrase(text) {
  return readerModule().call((module) => module.findStopPhrase(String(text)));
}

/**
 * Compares two contexts of a session.
 * @param {Reported} before
 * @param {Reported} after
 * @returns {Compared}
 * @throws {LeftoffError} `invalid_request` where one is no context; `asset_missing` in a page before `loadWasm`
 * @example
 * await session.append({ role: "user", content: "Hello" });
 * const before = await session.context({ window: 8000 });
 * await session.append({ role: "assistant", content: "Hi." });
 * const { messages } = compareContexts(before, await session.context({ window: 8000 }));
 * messages.map((one) => [one.before, one.after]); // => [["unread", "kept"]]
 */
export function compareContexts(before, after) {
  return fromBytes(
    contextModule().call((module) => module.compareContexts(toReportBytes(before), toReportBytes(after))),
  );
}

// Leaves out the messages, which are not compared.
/** @param {Reported} context */
function toReportBytes(context) {
  const { strategy, tokensUsed, tokenBudget, includedMessageCount, report } = context ?? {};
  return toBytes({ strategy, tokensUsed, tokenBudget, includedMessageCount, report });
}
