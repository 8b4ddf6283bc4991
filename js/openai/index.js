// @ts-check
/**
 * Sessions of the OpenAI Agents SDK that last: each item is on the disk before a run goes on, several processes may run
 * one conversation, and all else of leftoff reads it: search, recall, contexts that fit, resuming elsewhere.
 */

import { countTokens } from "../index.js";
import { isBeginning, itemsFor, itemsOf } from "./items.js";
import { AgentSession } from "./session.js";

export { AgentSession } from "./session.js";

/**
 * @typedef {import("../types/openai.js").AgentContextRequest} AgentContextRequest
 * @typedef {import("../types/openai.js").AgentItem} AgentItem
 * @typedef {import("../types/openai.js").AgentSessionOptions} AgentSessionOptions
 */
/**
 * @template {object} [Item=AgentItem]
 * @typedef {import("../types/openai.js").HistoryTransaction<Item>} HistoryTransaction
 */

/** What is said anew is given a part of the window, and a further one where it needs more. */
const NEW_ITEM_STEPS = 16;

/**
 * Makes a session for `run`: the same one for the same id, in every process that has the store's home.
 * @template {object} [Item=AgentItem]
 * @param {AgentSessionOptions} options
 * @returns {AgentSession<Item>}
 * @throws {LeftoffError} `invalid_request` for what is no store, or no id
 * @example
 * const memory = session({ store, id: "chat 42" });
 * await memory.addItems([{ role: "user", content: "Rename the parser." }]);
 * (await memory.getItems()).length; // => 1
 */
export function session(options) {
  return new AgentSession(options);
}

/**
 * Makes a `sessionInputCallback` that sends the model what fits its window: what was said last and what matches it
 * whole, long results shortened, and what is older in a summary. Items that are sent whole are the SDK's own.
 * @template {object} [Item=AgentItem]
 * @param {AgentSession<Item>} memory
 * @param {AgentContextRequest} request
 * @returns {(historyItems: Item[], newItems: Item[]) => Promise<Item[]>}
 * @throws {LeftoffError} `budget_too_small`, when it is called, where the newest user message does not fit
 * @example
 * const memory = session({ store, id: "chat 42" });
 * await memory.addItems([{ role: "user", content: "Rename the parser." }]);
 * const fits = contextFor(memory, { window: 32_000 });
 * const items = await fits(await memory.getItems(), [{ role: "user", content: "And its tests." }]);
 * items.map(({ content }) => content); // => ["Rename the parser.", "And its tests."]
 */
export function contextFor(memory, request) {
  const { window, reserve = Math.ceil(window / 4), encoding = "o200k_base" } = request;
  // In steps, so that most calls are the same request, and find what was sent before in the provider's cache.
  const step = Math.ceil(window / NEW_ITEM_STEPS);
  return async (historyItems, newItems) => {
    if (historyItems.length === 0) return newItems;
    const stored = await memory.session();
    const needed = await countTokens(JSON.stringify(newItems), { encoding });
    const kept = reserve + Math.ceil(needed / step) * step;
    const { messages } = await stored.context({ ...request, reserve: kept, format: "leftoff" });
    const whole = new Map();
    for await (const message of stored.messages()) whole.set(message.id, message);
    const items = messages.flatMap((message) => {
      const known = whole.get(message.id);
      // What a compaction retains is in the context by itself.
      if (isBeginning(known)) return [];
      const isWhole = known && known.content === message.content;
      return (isWhole && itemsOf(known)) || itemsFor(message);
    });
    return /** @type {Item[]} */ ([...items, ...newItems]);
  };
}
