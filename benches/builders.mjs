// @ts-check
/**
 * How others make a context from a log that keeps its messages as lines. None of them reads a part of it, or leaves a
 * summary; what each does with calls and results is said beside it. They count as leftoff does: the texts, calls, a
 * frame.
 */

import { readFileSync } from "node:fs";
import { AIMessage, HumanMessage, ToolMessage, trimMessages } from "@langchain/core/messages";
import { pruneMessages } from "ai-current";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";

/** What surrounds each message, as leftoff charges it. */
const FRAME = 4;
const disallowedSpecial = new Set();

/** @typedef {any} StoredLine a line of `messages.jsonl` */
/** @typedef {(message: StoredLine) => number} Cost */

/** @param {string} path @returns {StoredLine[]} */
export function parseLog(path) {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.flatMap((line) => (line ? [JSON.parse(line)] : []));
}

/** What a message costs. @type {Record<"stored" | "counted", Cost>} */
export const costs = {
  stored: ({ tokens }) => tokens.count,
  counted: ({ content, assistant }) => {
    const calls = (assistant?.toolCalls ?? []).flatMap((/** @type {any} */ call) => [
      call.id,
      call.name,
      call.arguments,
    ]);
    return [content, ...calls].reduce((sum, text) => sum + countTokens(text, { disallowedSpecial }), FRAME);
  },
};

/**
 * Counts all, keeps the newest that fit: also a result without its call.
 * @param {StoredLine[]} messages
 * @param {number} budget
 * @param {Cost} cost
 */
export function countAll(messages, budget, cost) {
  const all = messages.map(cost);
  let from = all.length;
  for (let used = 0; from > 0 && (used += all[from - 1] ?? 0) <= budget;) from -= 1;
  return messages.slice(from);
}

/**
 * LangChain's: counts the whole list again for each message that it leaves out; begins with a person's message.
 * @param {StoredLine[]} messages
 * @param {number} budget
 * @param {Cost} cost
 */
export function langChain(messages, budget, cost) {
  const known = new Map(messages.map((message) => [message.id, message]));
  const tokenCounter = (/** @type {{ id?: string }[]} */ list) =>
    list.reduce((sum, { id }) => sum + cost(known.get(id)), 0);
  return trimMessages(messages.map(ofLangChain), {
    maxTokens: budget,
    tokenCounter,
    strategy: "last",
    startOn: "human",
  });
}

/** @param {StoredLine} message */
function ofLangChain({ id, role, content, assistant, tool }) {
  if (role === "user") return new HumanMessage({ id, content });
  if (role === "tool") return new ToolMessage({ id, content, tool_call_id: tool.callId, name: tool.name });
  const calls = (assistant?.toolCalls ?? []).map((/** @type {any} */ call) => ({
    id: call.id,
    name: call.name,
    args: JSON.parse(call.arguments),
  }));
  return new AIMessage({ id, content, tool_calls: calls });
}

/**
 * The AI SDK's: leaves out older calls with their results, whatever they cost; what fits is found by counting all.
 * @param {StoredLine[]} messages
 * @param {number} budget
 * @param {Cost} cost
 */
export function aiSdk(messages, budget, cost) {
  const known = new Map();
  const models = messages.map((message) => {
    const model = ofAiSdk(message);
    known.set(model.content[0], { message, parts: model.content.length });
    return model;
  });
  const kept = pruneMessages({ messages: models, toolCalls: "before-last-20-messages", emptyMessages: "remove" });
  // What has lost a part has no count: all that is left of it is its text.
  const costOf = (/** @type {any} */ { content }) => {
    const { message, parts } = known.get(content[0]);
    return content.length === parts ? cost(message) : costs.counted({ content: message.content });
  };
  return countAll(kept, budget, costOf);
}

/** @param {StoredLine} message @returns {any} */
function ofAiSdk({ role, content, assistant, tool }) {
  if (role === "user") return { role, content: [{ type: "text", text: content }] };
  if (role === "tool")
    return {
      role,
      content: [
        { type: "tool-result", toolCallId: tool.callId, toolName: tool.name, output: { type: "text", value: content } },
      ],
    };
  const calls = (assistant?.toolCalls ?? []).map((/** @type {any} */ call) => ({
    type: "tool-call",
    toolCallId: call.id,
    toolName: call.name,
    input: JSON.parse(call.arguments),
  }));
  return { role, content: [{ type: "text", text: content }, ...calls] };
}
