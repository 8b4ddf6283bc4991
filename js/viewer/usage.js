// @ts-check
/** What the calls of a session's models took: tokens as the providers counted them, and what those cost. */

import { costOf, pricesOf } from "../index.js";
import { countsOf } from "./conversation.js";

/** @import { ReadMessage } from "../index.js" */

/**
 * @typedef {{ model: string, calls: number, sent: number, output: number, cacheRead: number, cacheWrite: number,
 *   cost: number, unpriced: number, listedOn: string | undefined }} ModelUsage
 *   `sent`: all of the input; `unpriced`: calls of a model that has no price
 */

/** @type {WeakMap<ReadMessage, number | undefined>} */
const costs = new WeakMap();

/** US dollars that an answer cost; nothing where no count or no price is known. @param {ReadMessage} message */
export function costOfAnswer(message) {
  const { model, usage } = message.assistant ?? {};
  if (!model || !usage) return undefined;
  if (!costs.has(message)) costs.set(message, costOf(model, usage));
  return costs.get(message);
}

/** The sums of each model, what cost most first. @param {Iterable<ReadMessage>} messages @returns {ModelUsage[]} */
export function sumByModel(messages) {
  /** @type {Map<string, ModelUsage>} */
  const sums = new Map();
  for (const message of messages) {
    const { model = "" } = message.assistant ?? {};
    const { sent, output, cacheRead, cacheWrite } = countsOf(message);
    if (sent + output === 0) continue;
    const sum = sums.get(model) ?? beginSum(model);
    sums.set(model, sum);
    const cost = costOfAnswer(message);
    sum.calls += 1;
    sum.sent += sent;
    sum.output += output;
    sum.cacheRead += cacheRead;
    sum.cacheWrite += cacheWrite;
    sum.cost += cost ?? 0;
    if (cost === undefined) sum.unpriced += 1;
  }
  return [...sums.values()].sort((one, other) => other.cost - one.cost || other.sent - one.sent);
}

/** @param {string} model @returns {ModelUsage} */
function beginSum(model) {
  const counts = { calls: 0, sent: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: 0, unpriced: 0 };
  return { model, ...counts, listedOn: pricesOf(model)?.listedOn };
}
