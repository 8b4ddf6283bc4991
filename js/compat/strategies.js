// @ts-check
/**
 * The four strategies by the names of the API, the state that the last one sends, and a summary by the caller's model.
 */

import { agents } from "../wasm/agents.js";
import { bytesOf, fromBytes } from "../wasm/core.js";
import { LeftoffError } from "../error.js";
import { asMessage, toDraft, requestError } from "./shapes.js";

/** @import { Session } from "./index.js" */
/**
 * @import { ContextStrategy, Counter, LLMClient, OwnStrategy, SessionState, StoredMessage } from "../types/compat.js"
 */

/** The encoding's name for counts by the caller's tokenizer. */
const ENCODING = "tokenizer";
/** The largest window: with everything sent, counting is left to the caller. */
const NO_LIMIT = 2 ** 32 - 1;

/**
 * All messages, whatever they cost.
 * @type {OwnStrategy}
 * @example
 * const tokenizer = { count: (text) => Math.ceil(text.length / 4) };
 * await session.appendMessage({ role: "user", content: "Hello" });
 * (await fullHistoryStrategy.build(session, 100, tokenizer)).includedCount; // => 1
 */
export const fullHistoryStrategy = defineStrategy("full-history", 1, 0);

/**
 * All messages, older results of tools shortened. @type {OwnStrategy}
 * @example prunedToolsStrategy.minTokens; // => 2000
 */
export const prunedToolsStrategy = defineStrategy("pruned-tools", 2, 2000);

/**
 * The newest messages behind a summary of the others. @type {OwnStrategy}
 * @example recentPlusSummaryStrategy.priority; // => 3
 */
export const recentPlusSummaryStrategy = defineStrategy("recent-plus-summary", 3, 1500);

/**
 * The newest user message behind what the conversation has come to. @type {OwnStrategy}
 * @example minimalStateStrategy.name; // => "minimal-state"
 */
export const minimalStateStrategy = defineStrategy("minimal-state", 4, 400);

/** @internal Those of leftoff's own. @type {readonly ContextStrategy[]} */
export const OWN_STRATEGIES = Object.freeze([
  fullHistoryStrategy,
  prunedToolsStrategy,
  recentPlusSummaryStrategy,
  minimalStateStrategy,
]);

/** @param {string} name @param {number} priority @param {number} minTokens @returns {OwnStrategy} */
function defineStrategy(name, priority, minTokens) {
  return Object.freeze({
    name,
    priority,
    minTokens,
    /** @param {Session} session @param {number} budgetTokens @param {Counter} tokenizer */
    async build(session, budgetTokens, tokenizer) {
      if (budgetTokens < minTokens) throw tooSmallError(name, budgetTokens);
      /** @param {number} window */
      const built = async (window) => {
        const given = await session
          .context({ window, frame: false, only: [name], ...countingOptions(tokenizer) })
          .catch((error) => {
            if (error.code !== "budget_too_small") throw error;
          });
        if (given?.strategy !== name) return undefined;
        return {
          messages: given.messages.map(asMessage),
          includedCount: given.includedMessageCount,
          summarizedCount: given.summarizedMessageCount,
        };
      };
      let window = priority === 1 ? NO_LIMIT : budgetTokens;
      let best = await built(window);
      // Only the tokenizer knows what messages cost together.
      for (let next = best; next && priority > 1 && tokenizer.countMessages; next = await built(window)) {
        best = next;
        const over = (await tokenizer.countMessages(next.messages)) - budgetTokens;
        if (over <= 0) break;
        window -= Math.max(Math.ceil(over), Math.ceil(window / 50));
        if (window <= 0) break;
      }
      // A builder counts what a strategy gives and tries the next one: so what exceeds the budget is given, not
      // refused.
      for (window = budgetTokens; !best && window < NO_LIMIT; best = await built(window))
        window = Math.min(window * 2, NO_LIMIT);
      if (!best) throw tooSmallError(name, budgetTokens);
      return best;
    },
  });
}

/** @param {string} name @param {number} tokens */
function tooSmallError(name, tokens) {
  return new LeftoffError({
    code: "budget_too_small",
    message: `expected a budget that "${name}" can keep to, but found ${tokens} tokens instead`,
  });
}

/**
 * @internal The options of a context that the caller's tokenizer counts, with the whole window for messages.
 * @param {Counter} tokenizer
 */
export function countingOptions(tokenizer) {
  const count = (/** @type {string[]} */ texts) =>
    Promise.all(texts.map(async (text) => Math.ceil(await tokenizer.count(text))));
  return { reserve: 0, encoding: ENCODING, count };
}

/**
 * Returns the session state. No model is asked.
 * @param {Session} session
 * @returns {Promise<SessionState>}
 * @throws {LeftoffError} what `state` of the session throws
 * @example
 * await session.appendMessage({ role: "user", content: "Rename the parser's entry point." });
 * (await extractSessionState(session)).originalTask; // => "Rename the parser's entry point."
 */
export async function extractSessionState(session) {
  const { projectPath, originalTask, modifiedFiles, currentStatus, blockers, keyDecisions } = await session.state();
  return { projectPath, originalTask, modifiedFiles, currentStatus, blockers, keyDecisions };
}

/**
 * Summarizes messages by the caller's model.
 * @param {StoredMessage[]} messages
 * @param {number} targetTokens about so long; the model may take a hundred more
 * @param {LLMClient} summarizer
 * @returns {Promise<string>}
 * @throws {LeftoffError} `invalid_request` where the model answers no text, and for a number of tokens that is none
 * @example
 * await session.appendMessage({ role: "user", content: "Rename the parser." });
 * const model = { complete: async ({ messages }) => ({ content: `${messages[1].content.length > 20}` }) };
 * await generateSummary(await session.getMessages(), 200, model); // => "true"
 */
export async function generateSummary(messages, targetTokens, summarizer) {
  if (!Number.isInteger(targetTokens) || targetTokens < 1)
    throw requestError(`expected a whole number of tokens, but found ${JSON.stringify(targetTokens)} instead`);
  const json = JSON.stringify(messages.map(toDraft));
  const [system, user] = fromBytes(agents.call((module) => module.summaryPrompt(bytesOf(json), targetTokens)));
  const answer = await summarizer.complete({
    messages: [
      { role: "system", content: system },
      { role: "user", content: user },
    ],
    maxTokens: targetTokens + 100,
  });
  if (typeof answer?.content !== "string")
    throw requestError(
      `expected "content", a text, of the model's answer, but found ${JSON.stringify(answer?.content)} instead`,
    );
  return answer.content;
}
