// @ts-check
/** What differs between two contexts, by their reports. */

import { LeftoffError } from "./error.js";

/** @import { ContextBuildResult } from "./context.js" */

/**
 * A context, or what is kept of one.
 * @typedef {Pick<ContextBuildResult, "strategy" | "tokensUsed" | "tokenBudget" | "includedMessageCount" | "report">} Reported
 *
 * @typedef {object} Compared
 * @property {{ before: string, after: string }} strategy
 * @property {{ before: number, after: number }} tokensUsed
 * @property {{ before: number, after: number }} tokenBudget
 * @property {{ before: number, after: number }} includedMessageCount
 * @property {{ id: string, before: string, after: string }[]} messages those to which something else was done: `kept`,
 *   `shortened`, `summarised` or `dropped`; `unread` where a context did not reach as far back, or was built before
 */

/**
 * Says what differs between two contexts of a session.
 * @param {Reported} before
 * @param {Reported} after
 * @returns {Compared}
 */
export function compareContexts(before, after) {
  for (const one of [before, after]) if (!one?.report) throw new LeftoffError({ code: "invalid_request", message: "expected two contexts, or what is kept of them, but found one without a report" });
  const [was, is] = [actionsOf(before), actionsOf(after)];
  const ids = [...new Set([...was.keys(), ...is.keys()])];
  const messages = ids.map((id) => ({ id, before: was.get(id) ?? "unread", after: is.get(id) ?? "unread" }));
  const both = (/** @type {"strategy" | "tokensUsed" | "tokenBudget" | "includedMessageCount"} */ name) => /** @type {any} */ ({ before: before[name], after: after[name] });
  return {
    strategy: both("strategy"),
    tokensUsed: both("tokensUsed"),
    tokenBudget: both("tokenBudget"),
    includedMessageCount: both("includedMessageCount"),
    messages: messages.filter((one) => one.before !== one.after),
  };
}

/** @param {Reported} context @returns {Map<string, string>} */
function actionsOf({ report }) {
  const named = report.messages.filter((/** @type {{ id: string }} */ { id }) => id);
  return new Map(named.map((/** @type {{ id: string, action: string }} */ { id, action }) => [id, action]));
}
