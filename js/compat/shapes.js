// @ts-check
/** Messages and tool executions in the shapes of `SessionManager`'s API. */

import { isDeepStrictEqual } from "node:util";

import { LeftoffError } from "../error.js";
import { findParseLoss } from "./json-text.js";
import { toJson } from "../wasm/json.js";

/** @import { Call, Message, StoredMessage, StoredToolExecution, ToolResult } from "../types/compat.js" */

/**
 * Keys that only leftoff's own shape has, or where they mean something else: accepted here, they would not be
 * given back.
 */
const OWN_FIELDS = [
  "v",
  "crc",
  "seq",
  "tokens",
  "rev",
  "partial",
  "branch",
  "source",
  "attachments",
  "assistant",
  "tool",
  "onPath",
  "participant",
];

/**
 * @internal
 * Turns a caller's message into what `append` takes, with each key, so that `append` keeps or refuses it by its name.
 * Each value is read once.
 * @param {unknown} message @returns {Record<string, any> & { role: import("../types/index.js").Draft["role"] }}
 */
export function toAppendable(message) {
  const given = JSON.parse(toJson(message, { about: "message" }));
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw requestError(
      `expected a message, an object, but found ${Array.isArray(given) ? "an array" : JSON.stringify(given).slice(0, 40)} instead`,
    );
  }
  const own = OWN_FIELDS.find((key) => Object.hasOwn(given, key));
  if (own)
    throw requestError(
      `expected the keys of a SessionManager's message, or of OpenAI's, but found "${own}", which leftoff's own messages have: a session of \`openStore\` takes them`,
    );
  const isResult = given.role === "tool";
  const calls = takeEither(given, "toolCalls", "tool_calls");
  if (calls !== undefined && !Array.isArray(calls))
    throw requestError(`expected an array for "toolCalls", but found ${JSON.stringify(calls).slice(0, 40)} instead`);
  // Those of no result are no result's: under their own names they are refused. Only a speaker has a name.
  const tool = isResult
    ? {
        callId: takeEither(given, "toolCallId", "tool_call_id") ?? "",
        name: takeEither(given, "toolName", "name") ?? "",
      }
    : undefined;
  const participant = isResult ? undefined : takeEither(given, "name");
  // Fields that leftoff adds to the messages it gives are made anew; null is OpenAI's word for none.
  const { tokenCount, cumulativeTokens, parentId, function_call: old, ...rest } = given;
  if (rest.content === null && rest.role === "assistant") rest.content = "";
  return {
    ...rest,
    ...(parentId !== null && { parentId }),
    ...(old !== null && { function_call: old }),
    ...(participant !== undefined && { participant }),
    ...(calls?.length && { assistant: { toolCalls: calls.map(asCall) } }),
    ...(tool && { tool }),
  };
}

/**
 * Takes the value under one of several names for the same.
 * @param {Record<string, any>} given
 * @param {string[]} names
 */
function takeEither(given, ...names) {
  const [value, other] = names.map((name) => given[name]).filter((one) => one !== undefined && one !== null);
  if (other !== undefined && !isDeepStrictEqual(value, other))
    throw requestError(`expected ${names.map((name) => `"${name}"`).join(" or ")}, but found both, which differ`);
  for (const name of names) delete given[name];
  return value;
}

// The arguments word for word, where the model's own text is given, even if it is no JSON. Further keys go along, and
// are refused where calls are checked.
/** @param {any} call */
function asCall(call) {
  if (typeof call !== "object" || call === null || Array.isArray(call)) return call;
  const { id, name, args, more } = normalizeCall(call);
  return { ...more, id, name, arguments: typeof args === "string" ? args : toJson(args) };
}

/** @internal A context's message as a draft. @param {Message} message */
export function toDraft({
  role,
  content,
  toolCallId,
  toolName,
  toolCalls,
  tool_call_id = toolCallId,
  name = toolName,
  tool_calls = toolCalls,
}) {
  const calls = tool_calls?.map(asCall);
  return {
    role,
    // An answer of calls alone has none.
    content: content ?? "",
    ...(calls?.length && { assistant: { toolCalls: calls } }),
    ...(role === "tool" && { tool: { callId: tool_call_id ?? "", name: name ?? "" } }),
  };
}

/**
 * @internal A call in either shape, with what else it has.
 * @param {Call & { type?: string }} call
 * @returns {{ id: string, name: string, args: Record<string, unknown> | string, more: object }}
 */
export function normalizeCall(call) {
  const { id, type, function: inner, name, arguments: args, ...rest } = call;
  const isOpened =
    typeof inner === "object" &&
    inner !== null &&
    name === undefined &&
    args === undefined &&
    !Object.hasOwn(inner, "id");
  const { name: innerName, arguments: innerArgs, ...others } = isOpened ? inner : {};
  // Duplicates and values of another kind are refused where calls are checked.
  const odd = {
    ...(inner !== undefined && !isOpened && { function: inner }),
    ...(type !== undefined && type !== "function" && { type }),
  };
  return {
    id,
    name: name ?? innerName ?? "",
    args: (isOpened ? innerArgs : args) ?? {},
    more: { ...others, ...rest, ...odd },
  };
}

/**
 * @internal A tool's result in one shape. Further keys go along, and are refused where executions are checked.
 * @param {ToolResult} result
 * @param {{ id: string, name: string }} call
 * @returns {{ content: string, success: boolean, error?: string, exitCode?: number, durationMs?: number }}
 */
export function normalizeResult(result, { id, name }) {
  const { content, error: failure, success, exitCode, durationMs, ...rest } = asResult(result);
  // A chat handler's own tool message repeats what it answers.
  /** @type {Record<string, unknown>} */
  const known = { role: "tool", tool_call_id: id, toolCallId: id, name, toolName: name };
  const more = Object.entries(rest).filter(([key, value]) => !Object.hasOwn(known, key) || known[key] !== value);
  const error = failure === undefined || failure === null ? undefined : asText(failure);
  return {
    ...Object.fromEntries(more),
    content: asText(content ?? error),
    error,
    success: success === undefined ? error === undefined : success,
    // A command that a signal ended has no exit code.
    exitCode: exitCode ?? undefined,
    // A clock may be set back meanwhile.
    durationMs: typeof durationMs === "number" && durationMs < 0 ? 0 : durationMs,
  };
}

/** @param {ToolResult} result @returns {Exclude<ToolResult, string>} */
function asResult(result) {
  if (result instanceof Error) return { error: result };
  // A Map, a date or bytes have no fields that hold the result.
  return Object.prototype.toString.call(result) === "[object Object]"
    ? /** @type {Exclude<ToolResult, string>} */ (result)
    : { content: result };
}

/** @param {unknown} value */
function asText(value) {
  if (value === undefined || value === null) return "";
  if (value instanceof Error) return value.message;
  return typeof value === "string" ? value : toJson(value);
}

/**
 * @internal
 * @param {import("../types/index.js").ReadExecution} execution
 * @returns {StoredToolExecution & { toolCallId: string }}
 */
export function toStoredExecution({
  id,
  timestamp = "",
  messageId = "",
  toolCallId,
  tool,
  arguments: args,
  result,
  tokens = 0,
  durationMs = 0,
}) {
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

/** @internal With what its caller said besides. @param {any} message @returns {StoredMessage} */
export function toStoredMessage({
  id,
  parentId = null,
  timestamp = "",
  role,
  content,
  tokens,
  tool,
  assistant,
  participant,
  ...others
}) {
  const toolCalls = assistant?.toolCalls?.map((/** @type {any} */ call) => ({
    id: call.id,
    name: call.name,
    arguments: asObject(call.arguments),
  }));
  return {
    ...Object.fromEntries(Object.entries(others).filter(([key]) => !OWN_FIELDS.includes(key))),
    ...(participant !== undefined && { name: participant }),
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

// Arguments as an object. A model's text may be no JSON, no object, or hold what no value can: it is kept in one piece
// then.
/** @internal @param {unknown} args @returns {Record<string, unknown>} */
export function asObject(args) {
  if (typeof args === "object" && args !== null && !Array.isArray(args))
    return /** @type {Record<string, unknown>} */ (args);
  if (typeof args !== "string") return { value: args };
  try {
    const value = JSON.parse(args || "{}");
    if (findParseLoss(args)) return { text: args };
    return typeof value === "string" ? { value } : asObject(value);
  } catch {
    return { text: args };
  }
}

/** @internal @param {string} message */
export function requestError(message) {
  return new LeftoffError({ code: "invalid_request", message });
}

/** @internal A message without the fields that only storage needs. @param {any} message @returns {Message} */
export function asMessage(message) {
  const { role, content, toolCallId, toolName, toolCalls } = toStoredMessage(message);
  return { role, content, ...(toolCallId !== undefined && { toolCallId, toolName }), ...(toolCalls && { toolCalls }) };
}
