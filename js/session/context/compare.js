// @ts-check
/** What differs between two contexts, by their reports. */

import { agents } from "../../wasm/agents.js";
import { fromBytes, toBytes } from "../../wasm/core.js";

/** @import { Compared, Reported } from "../../types/index.js" */

/**
 * Says what differs between two contexts of a session.
 * @param {Reported} before
 * @param {Reported} after
 * @returns {Compared}
 * @throws {LeftoffError} `invalid_request` where one is no context
 * @example
 * await session.append({ role: "user", content: "Hello" });
 * const before = await session.context({ window: 8000 });
 * await session.append({ role: "assistant", content: "Hi." });
 * const { messages } = compareContexts(before, await session.context({ window: 8000 }));
 * messages.map((one) => [one.before, one.after]); // => [["unread", "kept"]]
 */
export function compareContexts(before, after) {
  return fromBytes(agents.called((agents) => agents.compareContexts(reported(before), reported(after))));
}

// Without the messages, which nobody compares.
/** @param {Reported} context */
function reported(context) {
  const { strategy, tokensUsed, tokenBudget, includedMessageCount, report } = context ?? {};
  return toBytes({ strategy, tokensUsed, tokenBudget, includedMessageCount, report });
}
