// @ts-check
/** What differs between two contexts, by their reports. */

import { called, fromBytes, toBytes } from "./core.js";

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
  return fromBytes(called((core) => core.compareContexts(reported(before), reported(after))));
}

// Without the messages, which nobody compares.
/** @param {Reported} context */
function reported(context) {
  const { strategy, tokensUsed, tokenBudget, includedMessageCount, report } = context ?? {};
  return toBytes({ strategy, tokensUsed, tokenBudget, includedMessageCount, report });
}
