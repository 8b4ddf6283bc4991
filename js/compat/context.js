// @ts-check
/** The `ContextBuilder`, over `session.context`. */

import { asMessage, toDraft, requestError } from "./shapes.js";
import { OWN_STRATEGIES, countingOptions } from "./strategies.js";
import { LeftoffError } from "../error.js";

/** @import { Session } from "./index.js" */
/** @import { ContextBudget, ContextBuildResult, ContextStrategy, Counter, Tokenizer } from "../types/compat.js" */
/** @import { Summarize } from "../types/index.js" */

/** The part of the window reserved for the answer. */
const RESERVE_SHARE = 0.25;
const FALLBACK_NAME = "fallback";

/**
 * Divides a context window.
 * @param {number} modelContextWindow
 * @param {string} systemPrompt
 * @param {string} toolDefinitions
 * @param {{ count: (text: string) => number }} tokenizer
 * @returns {ContextBudget} in tokens; a quarter of the window is kept for the answer
 * @throws {LeftoffError} `invalid_request` for a window that is no whole number, and where the tokenizer answers no
 *   number
 * @example
 * const tokenizer = { count: (text) => Math.ceil(text.length / 4) };
 * calculateBudget(8000, "Be brief.", "", tokenizer).availableTokens; // => 5997
 */
export function calculateBudget(modelContextWindow, systemPrompt, toolDefinitions, tokenizer) {
  if (!Number.isInteger(modelContextWindow) || modelContextWindow < 0)
    throw requestError(
      `expected a whole number of tokens for the window, but found ${JSON.stringify(modelContextWindow)} instead`,
    );
  const [systemPromptTokens, toolDefinitionTokens] = [
    countText(tokenizer, systemPrompt),
    countText(tokenizer, toolDefinitions),
  ];
  const reserveForResponse = Math.floor(modelContextWindow * RESERVE_SHARE);
  const availableTokens = Math.max(
    0,
    modelContextWindow - systemPromptTokens - toolDefinitionTokens - reserveForResponse,
  );
  return {
    modelContextWindow,
    systemPromptTokens,
    toolDefinitionTokens,
    reserveForResponse,
    availableTokens,
    currentConversationTokens: 0,
    utilizationPercent: 0,
  };
}

/**
 * Builds contexts by leftoff's strategies and those that are registered, or by a chosen few; a fallback is always the
 * last.
 * @example
 * const tokenizer = { count: (text) => Math.ceil(text.length / 4) };
 * const builder = new ContextBuilder(tokenizer);
 * await session.appendMessage({ role: "user", content: "Hello" });
 * const { messages, strategy } = await builder.buildContext(session, calculateBudget(8000, "", "", tokenizer));
 * [messages.length, strategy]; // => [1, "full-history"]
 */
export class ContextBuilder {
  #tokenizer;
  #summarize;
  /** @type {ContextStrategy[]} */
  #strategies = [];

  /**
   * @param {Counter} tokenizer passed to your own strategies, too, with a `countMessages` that adds up contents if it
   *   has none
   * @param {{ summarize?: Summarize, strategies?: readonly ContextStrategy[] }} [options] `summarize`: your model, for
   *   summaries;
   *   `strategies`: the ones to try, leftoff's four unless given
   * @throws {LeftoffError} `invalid_request` for what is no tokenizer, and what is no strategy
   */
  constructor(tokenizer, { summarize, strategies = OWN_STRATEGIES } = {}) {
    if (typeof tokenizer?.count !== "function") throw requestError('expected a tokenizer with "count", but found none');
    this.#tokenizer = tokenizer;
    this.#summarize = summarize;
    if (!Array.isArray(strategies))
      throw requestError(`expected an array for "strategies", but found ${JSON.stringify(strategies)} instead`);
    for (const strategy of strategies) this.registerStrategy(strategy);
  }

  /**
   * Adds a strategy, or replaces the one of its name.
   * @param {ContextStrategy} strategy
   * @throws {LeftoffError} `invalid_request` for what is no strategy, and for the fallback's name
   */
  registerStrategy(strategy) {
    const { name, priority, build } = strategy ?? {};
    if (typeof name !== "string" || name === "" || typeof build !== "function")
      throw requestError('expected a strategy with "name" and "build", but found none');
    if (!Number.isInteger(priority))
      throw requestError(
        `expected a whole number for the priority of "${name}", but found ${JSON.stringify(priority)} instead`,
      );
    if (name === FALLBACK_NAME)
      throw requestError(
        `expected another name for a strategy, but found "${name}", which is tried last whatever else there is`,
      );
    this.#strategies = [...this.#strategies.filter((one) => one.name !== name), strategy];
  }

  /**
   * Builds a context of the messages that fit. Afterwards the budget says how long the whole conversation is, and how
   * much of the available tokens it would take.
   * @param {Session} session @param {ContextBudget} budget in tokens
   * @returns {Promise<ContextBuildResult>}
   * @throws {LeftoffError} `budget_too_small` where the newest user message does not fit, not even shortened
   */
  async buildContext(session, budget) {
    const { availableTokens } = budget;
    // Only the tokenizer knows what messages cost together: an excess is taken off the next try.
    if (!Number.isInteger(availableTokens) || availableTokens < 0)
      throw requestError(
        `expected a whole number of tokens for "availableTokens", but found ${availableTokens} instead`,
      );
    budget.currentConversationTokens = await session.getTotalTokens();
    budget.utilizationPercent =
      availableTokens > 0 ? Math.round((budget.currentConversationTokens / availableTokens) * 100) : 0;
    for (let window = availableTokens; ;) {
      const {
        report: _,
        messages: sent,
        orphanedResults: __,
        summaryRefused: ___,
        ...result
      } = await session.context(this.#request(session, window));
      const messages = sent.map(asMessage);
      const tokensUsed = this.#tokenizer.countMessages
        ? await this.#tokenizer.countMessages(messages)
        : result.tokensUsed;
      if (!Number.isFinite(tokensUsed))
        throw requestError(`expected a number from "countMessages", but found ${tokensUsed} instead`);
      if (tokensUsed <= availableTokens) return { ...result, messages, tokensUsed, tokenBudget: availableTokens };
      window -= Math.max(Math.ceil(tokensUsed - availableTokens), Math.ceil(window / 50));
      if (window <= 0)
        throw new LeftoffError({
          code: "budget_too_small",
          message: `expected a budget that holds the newest message, but found ${availableTokens} tokens, of which the tokenizer's frame alone takes ${tokensUsed}`,
        });
    }
  }

  /** @param {Session} session @param {number} window */
  #request(session, window) {
    const tokenizer = this.#tokenizer;
    /** @type {Tokenizer} */
    const whole = /** @type {any} */ ({
      count: (/** @type {string} */ text) => tokenizer.count(text),
      countMessages:
        tokenizer.countMessages?.bind(tokenizer) ??
        ((/** @type {{ content?: string | null }[]} */ messages) =>
          sumCounts(messages.map(({ content }) => tokenizer.count(content ?? "")))),
    });
    const strategies = this.#strategies
      .filter((strategy) => !OWN_STRATEGIES.includes(strategy))
      .map((strategy) => ({
        name: strategy.name,
        priority: strategy.priority,
        minTokens: strategy.minTokens,
        build: async (/** @type {unknown} */ _, /** @type {number} */ budget) => {
          const { messages, ...counts } = await strategy.build(session, budget, whole);
          return { ...counts, messages: messages.map((message) => ({ ...toDraft(message), id: message.id })) };
        },
      }));
    return {
      window,
      frame: false,
      only: this.#strategies.map(({ name }) => name),
      ...countingOptions(tokenizer),
      strategies,
      summarize: this.#summarize,
    };
  }
}

/**
 * Adds counts; a promise if one comes later.
 * @param {(number | Promise<number>)[]} counts
 * @returns {number | Promise<number>}
 */
function sumCounts(counts) {
  const sum = (/** @type {number[]} */ all) => all.reduce((before, count) => before + count, 0);
  return counts.some((count) => typeof count !== "number")
    ? Promise.all(counts).then(sum)
    : sum(/** @type {number[]} */ (counts));
}

/** @param {{ count: (text: string) => number }} tokenizer @param {string} text */
function countText(tokenizer, text) {
  const tokens = tokenizer.count(text);
  if (Number.isFinite(tokens)) return Math.ceil(tokens);
  throw requestError(`expected a number from the tokenizer, but found ${JSON.stringify(tokens)} instead`);
}
