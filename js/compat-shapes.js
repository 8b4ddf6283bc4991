// @ts-check
/** Messages and tool executions as document 004 has them. */

import { toJson } from "./json.js";

/**
 * @typedef {object} StoredMessage
 * @property {string} id
 * @property {string | null} parentId
 * @property {string} timestamp
 * @property {"user" | "assistant" | "system" | "tool"} role
 * @property {string} content
 * @property {number} tokenCount
 * @property {number} cumulativeTokens
 * @property {string} [toolCallId]
 * @property {string} [toolName]
 * @property {{ id: string, name: string, arguments: Record<string, unknown> }[]} [toolCalls]
 *
 * @typedef {object} StoredToolExecution
 * @property {string} id
 * @property {string} timestamp
 * @property {string} messageId
 * @property {string} tool
 * @property {Record<string, unknown>} args
 * @property {{ success: boolean, content: string, error?: string, exitCode?: number }} result
 * @property {number} resultTokens
 * @property {number} durationMs
 *
 * A message as a chat handler has it: document 004's names, or those of OpenAI's shape.
 * @typedef {object} Message
 * @property {"user" | "assistant" | "system" | "tool"} role
 * @property {string | null} [content]
 * @property {string} [toolCallId]
 * @property {string} [toolName]
 * @property {Call[]} [toolCalls]
 * @property {string} [tool_call_id]
 * @property {string} [name]
 * @property {Call[]} [tool_calls]
 *
 * @typedef {{ id: string, name?: string, arguments?: Record<string, unknown> | string, function?: { name: string, arguments?: Record<string, unknown> | string } }} Call
 *
 * What a tool answered; a text alone is its content.
 * @typedef {string | { content?: unknown, success?: boolean, error?: unknown, exitCode?: number | null, durationMs?: number }} ToolResult
 */

/** As a log has it. @param {Message} message */
export function draft({ role, content, toolCallId, toolName, toolCalls, tool_call_id = toolCallId, name = toolName, tool_calls = toolCalls }) {
  // Word for word, where the model's own words are given, also where they are no JSON.
  const calls = tool_calls?.map((call) => {
    const { id, name, args } = called(call);
    return { id, name, arguments: typeof args === "string" ? args : toJson(args) };
  });
  return {
    role,
    // An answer of calls alone has none.
    content: content ?? "",
    ...(calls?.length && { assistant: { toolCalls: calls } }),
    ...(role === "tool" && { tool: { callId: tool_call_id ?? "", name: name ?? "" } }),
  };
}

/** @param {Call} call @returns {{ id: string, name: string, args: Record<string, unknown> | string }} */
export function called({ id, function: inner, name = inner?.name ?? "", arguments: args = inner?.arguments }) {
  return { id, name, args: args ?? {} };
}

/** @param {ToolResult} result @returns {{ content: string, success?: boolean, error?: string, exitCode?: number, durationMs?: number }} */
export function answered(result) {
  const given = typeof result === "object" && result !== null && !Array.isArray(result) ? result : { content: result };
  const error = given.error === undefined || given.error === null ? undefined : asText(given.error);
  const { durationMs } = given;
  return {
    content: asText(given.content ?? error),
    error,
    success: given.success ?? error === undefined,
    // Of a command that a signal ended there is none.
    exitCode: given.exitCode ?? undefined,
    durationMs: Number.isFinite(durationMs) ? Math.max(0, Number(durationMs)) : undefined,
  };
}

/** @param {unknown} value */
function asText(value) {
  if (value === undefined || value === null) return "";
  if (value instanceof Error) return value.message;
  return typeof value === "string" ? value : toJson(value);
}

/** @param {import("./tools.js").ReadExecution} execution @returns {StoredToolExecution & { toolCallId: string }} */
export function storedExecution({ id, timestamp = "", messageId = "", toolCallId, tool, arguments: args, result, tokens = 0, durationMs = 0 }) {
  const { success, content = "", error, exitCode } = result;
  return {
    id,
    timestamp,
    messageId,
    toolCallId,
    tool,
    args,
    result: { success, content, ...(error !== undefined && { error }), ...(exitCode !== undefined && { exitCode }) },
    resultTokens: tokens,
    durationMs,
  };
}

/** @param {any} message @returns {StoredMessage} */
export function stored({ id, parentId = null, timestamp = "", role, content, tokens, tool, assistant }) {
  const toolCalls = assistant?.toolCalls?.map((/** @type {any} */ call) => ({ id: call.id, name: call.name, arguments: asObject(call.arguments) }));
  return {
    id,
    parentId,
    timestamp,
    role,
    content,
    tokenCount: tokens?.count ?? 0,
    cumulativeTokens: tokens?.cumulative ?? 0,
    ...(tool && { toolCallId: tool.callId, toolName: tool.name }),
    ...(toolCalls && { toolCalls }),
  };
}

// What a model wrote as arguments may be no JSON, or no object: it is kept in one piece then.
/** @param {unknown} args @returns {Record<string, unknown>} */
export function asObject(args) {
  if (typeof args === "object" && args !== null && !Array.isArray(args)) return /** @type {Record<string, unknown>} */ (args);
  if (typeof args !== "string") return { value: args };
  try {
    const value = JSON.parse(args || "{}");
    return typeof value === "string" ? { value } : asObject(value);
  } catch {
    return { text: args };
  }
}
