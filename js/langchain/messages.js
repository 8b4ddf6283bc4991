// @ts-check
/** Writes LangChain's messages as OpenAI has them, which the core reads. */

/** @import { StoredMessage } from "@langchain/core/messages" */
/** @import { Draft } from "../types/index.js" */

/** The roles of LangChain's kinds of messages. @type {Record<string, string>} */
const ROLES = { human: "user", ai: "assistant", system: "system", tool: "tool", function: "function" };
/** Parts of a content that say again what the calls say. */
const CALL_PARTS = new Set(["tool_use", "tool_call", "tool_call_chunk", "input_json_delta", "function_call"]);

/**
 * @param {StoredMessage} message
 * @returns {{ provider: object, assistant?: Draft["assistant"], isError: boolean }} `assistant`: what an answer says of
 *   itself
 */
export function toProviderMessage({ type, data }) {
  const { content, name, tool_call_id, tool_calls = [], status } = /** @type {any} */ (data);
  const role = ROLES[type] ?? (data.role === "assistant" || data.role === "system" ? data.role : "user");
  const calls = tool_calls.map((/** @type {any} */ call, /** @type {number} */ place) => ({
    id: call.id ?? `call_${place}`,
    type: "function",
    function: { name: call.name, arguments: JSON.stringify(call.args ?? {}) },
  }));
  const parts = Array.isArray(content) && calls.length > 0 ? content.filter(isNoCall) : content;
  return {
    provider: {
      role,
      content: parts,
      ...(role === "assistant" && calls.length > 0 && { tool_calls: calls }),
      ...(role === "tool" && { tool_call_id, name: name ?? "tool" }),
      ...(role === "function" && { name }),
    },
    assistant: role === "assistant" ? describeAnswer(data) : undefined,
    isError: status === "error",
  };
}

/** @param {{ type?: string }} part */
const isNoCall = ({ type = "" }) => !CALL_PARTS.has(type);

/** The model and the tokens of an answer, as far as it says them. @param {any} data @returns {Draft["assistant"]} */
function describeAnswer({ response_metadata: about, usage_metadata: usage }) {
  const model = [about?.model_name, about?.model].find((name) => typeof name === "string");
  const counts = Object.entries({ input: usage?.input_tokens, output: usage?.output_tokens }).filter(([, count]) =>
    Number.isSafeInteger(count),
  );
  if (!model && counts.length === 0) return undefined;
  return { ...(model && { model }), ...(counts.length > 0 && { usage: Object.fromEntries(counts) }) };
}
