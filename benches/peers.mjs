// @ts-check
/**
 * How others prune a conversation before each model call: LangChain's and the AI SDK's libraries themselves, and
 * stand-ins for OpenCode and Claude Code. Those follow their rules in short, without a model: the summary says nothing,
 * and the call that would write it costs nothing.
 */

import { AIMessage, HumanMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { pruneMessages } from "ai-current";
import { countItems } from "./billing.mjs";
import { budgetOf } from "./replay.mjs";

const SUMMARY_TOKENS = 4000;
const SUMMARY = JSON.stringify({ role: "user", content: " summary".repeat(SUMMARY_TOKENS) });
const CLEARED = "[Old tool result content cleared]";

/**
 * OpenCode: `session/compaction.ts` and `session/overflow.ts`. At the end of a turn, where its setting `prune` is on,
 * results before the newest 40,000 tokens of results are cleared, if that saves 20,000; those of the last two turns
 * stay. Where only the answer's room and a buffer are left, a summary replaces all but the newest messages, a quarter
 * of what is usable, at most 15,000 tokens.
 */
const OPENCODE = {
  output: 32_000,
  buffer: 20_000,
  protectedTokens: 40_000,
  leastSaved: 20_000,
  tail: { share: 0.25, most: 15_000 },
};

/**
 * Claude Code, as descriptions of its source give it: a summary replaces all where 13,000 tokens are left beside the
 * 20,000 that are kept for writing it. It clears older results only where its cache is cold, or by the provider's
 * editing of caches.
 */
const CLAUDE_CODE = { output: 20_000, buffer: 13_000 };

/** @typedef {import("./replay.mjs").Step} Step */
/** @typedef {{ text: string, tokens: number, message: any }} Item a message in the AI SDK's shape */
/** @typedef {(steps: Step[]) => Promise<string[]>} Rule */

/** @type {Record<string, (window: number) => Rule>} */
export const PEERS = {
  "LangChain's trimMessages": makeLangChain,
  "AI SDK's pruneMessages": makeAiSdk,
  "OpenCode's rules": makeOpenCode,
  "Claude Code's rules": makeClaudeCode,
};

/** @param {number} window @returns {Rule} */
function makeLangChain(window) {
  return async (steps) => {
    const items = await readItems(steps);
    const tokenCounter = (/** @type {{ id?: string }[]} */ list) => sumTokens(list.map(({ id }) => items[Number(id)]));
    const kept = await trimMessages(items.map(ofLangChain), {
      maxTokens: budgetOf(window),
      tokenCounter,
      strategy: "last",
      startOn: "human",
    });
    return kept.map(({ id }) => items[Number(id)]?.text ?? "");
  };
}

/** @param {Item} item @param {number} place */
function ofLangChain({ message: { role, content } }, place) {
  const [id, text] = [`${place}`, JSON.stringify(content)];
  if (role === "user") return new HumanMessage({ id, content: text });
  if (role === "tool") return new ToolMessage({ id, content: text, tool_call_id: content[0].toolCallId });
  return new AIMessage({ id, content: text });
}

/** It has no budget: of what it leaves, the newest that fit. @param {number} window @returns {Rule} */
function makeAiSdk(window) {
  return async (steps) => {
    const messages = (await readItems(steps)).map(({ message }) => message);
    const kept = pruneMessages({ messages, toolCalls: "before-last-20-messages", emptyMessages: "remove" });
    const texts = kept.map((message) => JSON.stringify(message));
    const tokens = await Promise.all(texts.map((text) => countItems([text])));
    return texts.slice(firstThatFits(tokens, budgetOf(window)));
  };
}

/** @param {number} window @returns {Rule} */
function makeOpenCode(window) {
  const usable = window - OPENCODE.output - OPENCODE.buffer;
  const tail = Math.min(OPENCODE.tail.most, Math.floor(usable * OPENCODE.tail.share));
  const cleared = new Set();
  let first = 0;
  return async (steps) => {
    const items = await readItems(steps);
    if (items.at(-1)?.message.role === "user")
      for (const place of findOldResults(items, first, cleared)) cleared.add(place);
    const shown = await Promise.all(items.map((item, place) => (cleared.has(place) ? clearResult(item) : item)));
    const build = () => [...(first > 0 ? [SUMMARY] : []), ...shown.slice(first).map(({ text }) => text)];
    if ((await countItems(build())) > usable) {
      first = firstThatFits(
        shown.map(({ tokens }) => tokens),
        tail,
      );
      while (items[first]?.message.role === "tool") first += 1;
    }
    return build();
  };
}

/**
 * @param {Item[]} items
 * @param {number} first
 * @param {Set<unknown>} cleared
 */
function findOldResults(items, first, cleared) {
  const old = [];
  let [turns, total, saved] = [0, 0, 0];
  for (let place = items.length - 1; place >= first && !cleared.has(place); place -= 1) {
    const { message, tokens } = /** @type {Item} */ (items[place]);
    if (message.role === "user") turns += 1;
    if (turns < 2 || message.role !== "tool") continue;
    total += tokens;
    if (total <= OPENCODE.protectedTokens) continue;
    saved += tokens;
    old.push(place);
  }
  return saved > OPENCODE.leastSaved ? old : [];
}

/** @param {Item} item */
async function clearResult({ message }) {
  const content = message.content.map((/** @type {any} */ part) => ({
    ...part,
    output: { type: "text", value: CLEARED },
  }));
  const text = JSON.stringify({ ...message, content });
  return { text, tokens: await countItems([text]), message };
}

/** @param {number} window @returns {Rule} */
function makeClaudeCode(window) {
  const threshold = window - CLAUDE_CODE.output - CLAUDE_CODE.buffer;
  let first = 0;
  return async (steps) => {
    const items = await readItems(steps);
    const build = () => [...(first > 0 ? [SUMMARY] : []), ...items.slice(first).map(({ text }) => text)];
    if ((await countItems(build())) >= threshold) first = items.length;
    return build();
  };
}

/** @type {Map<string, Item>} */
const read = new Map();

/** @param {Step[]} steps @returns {Promise<Item[]>} */
async function readItems(steps) {
  const texts = steps.flatMap(({ items }) => items);
  for (const text of texts)
    if (!read.has(text)) read.set(text, { text, tokens: await countItems([text]), message: JSON.parse(text) });
  return texts.flatMap((text) => read.get(text) ?? []);
}

/** @param {(Item | undefined)[]} items */
const sumTokens = (items) => items.reduce((sum, item) => sum + (item?.tokens ?? 0), 0);

/** The first of the newest that fit. @param {number[]} tokens @param {number} budget */
function firstThatFits(tokens, budget) {
  let first = tokens.length;
  for (let used = 0; first > 0 && (used += tokens[first - 1] ?? 0) <= budget;) first -= 1;
  return first;
}
