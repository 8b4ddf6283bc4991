// @ts-check
/** By what messages are known again: those of a run, of a screen, and those that are stored. */

/** @import { Draft, ReadMessage } from "../types/index.js" */
/** @import { AiMessage } from "../types/ai.js" */
/** @typedef {Pick<Draft, "role" | "content" | "assistant" | "tool"> | ReadMessage} MessageParts */

/**
 * By what a stored message is known again: who said it, its text, its calls.
 * @param {Pick<ReadMessage, "role" | "content" | "assistant" | "tool" | "attachments">} message
 */
export function keyOf({ role, content, assistant, tool, attachments }) {
  if (role === "tool") return `tool ${tool?.callId}`;
  const calls = (assistant?.toolCalls ?? []).map(({ id }) => id);
  return JSON.stringify([role, content, calls, attachments?.length ?? 0]);
}

/** The keys of the stored messages that a message becomes. @param {AiMessage} message */
export function keysOf({ role, content }) {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const texts = parts.filter(({ type, text }) => type === "text" && text !== "").map(({ text }) => text);
  const calls = parts.filter(({ type }) => type === "tool-call").map(({ toolCallId }) => toolCallId);
  const files = parts.filter(({ type }) => type === "file" || type === "image" || type === "reasoning-file").length;
  const results = parts.filter(({ type }) => type === "tool-result").map(({ toolCallId }) => `tool ${toolCallId}`);
  if (role === "tool") return results;
  return [JSON.stringify([role, texts.join("\n\n"), calls, files]), ...results];
}

/** Whether a message goes on with what another one says, or says the same. @param {MessageParts} message @param {MessageParts} next */
export function goesOn(message, next) {
  if (message.role !== next.role) return false;
  if (message.role === "tool") return message.tool?.callId === next.tool?.callId;
  const [before = "", content = ""] = [message.content, next.content];
  if (message.role !== "assistant") return before === content;
  const calls = next.assistant?.toolCalls ?? [];
  return content.startsWith(before) && (message.assistant?.toolCalls ?? []).every(({ id }, at) => calls[at]?.id === id);
}
