// @ts-check
/** What tools did: the result is a message, how it went stands beside it in `tools.jsonl`; both are joined by the call. */

import { called, entropy, fromBytes, toBytes } from "./core.js";
import { LeftoffError } from "./error.js";

/** @import { Live } from "./live.js" */
/** @import { Session } from "./session.js" */
/** @import { ToolExecution } from "./records.js" */

/**
 * What a tool did.
 * @typedef {object} Execution
 * @property {{ id: string, name: string, arguments?: Record<string, unknown> }} call
 * @property {{ content: string, success?: boolean, error?: string, exitCode?: number }} result `success`: true unless
 *   given
 * @property {number} [durationMs]
 * @property {string} [messageId] the assistant's message with the call; found, unless given
 */

/** How far back a call may lie that is answered. */
const FAR = 2000;

/**
 * @param {Session} session @param {Live} live @param {Execution} execution
 * @returns {Promise<{ isNew: boolean }>} `isNew`: false where that call was on record
 */
export async function appendTool(session, live, { call, result, durationMs, messageId }) {
  if (typeof call?.id !== "string" || !call.id || typeof call.name !== "string" || typeof result?.content !== "string") {
    throw new LeftoffError({ code: "invalid_request", message: 'expected "call" with an id and a name, and "result" with a content, but found less' });
  }
  const { success = result.error === undefined } = result;
  await live.tools.observe(await live.revived());
  if (hasExecuted(live, call.id)) return { isNew: false };
  const known = await callOf(session, call.id);
  // Whoever wrote the result may have died before it came to write down the rest.
  const answer = known.answer ?? (await appendResult(session, call, { content: result.content, isError: !success }));
  const { error, exitCode } = result;
  const said = {
    toolCallId: call.id,
    tool: call.name,
    arguments: call.arguments ?? {},
    messageId: messageId ?? known.messageId,
    result: { success, error, exitCode },
    tokens: answer?.tokens?.count,
    durationMs,
  };
  const handle = await live.revived();
  await live.tools.observe(handle);
  if (hasExecuted(live, call.id)) return { isNew: false };
  const bytes = called(() => handle.stageExecution(toBytes(said), Date.now(), entropy()));
  await live.tools.append(handle, bytes, { durable: true });
  return { isNew: true };
}

/** @param {Session} session @param {Execution["call"]} call @param {{ content: string, isError: boolean }} result */
async function appendResult(session, call, { content, isError }) {
  const tool = { callId: call.id, name: call.name, isError: isError || undefined };
  const [message] = (await session.append({ role: "tool", content, tool })).records;
  return message;
}

/** @param {Live} live @param {string} call */
function hasExecuted(live, call) {
  return called(() => live.handle.hasExecuted(call));
}

/**
 * @param {Session} session @param {Live} live
 * @returns {Promise<(ToolExecution & { result: { content?: string } })[]>}
 */
export async function toolExecutions(session, live) {
  const size = await live.tools.size();
  if (size === 0) return [];
  const bytes = await live.tools.range(0, size);
  /** @type {ToolExecution[]} */
  const executions = fromBytes(called((core) => core.toolExecutions(bytes)));
  const contents = new Map();
  for await (const { tool, content } of session.messages()) if (tool) contents.set(tool.callId, content);
  return executions.map((one) => ({ ...one, result: { ...one.result, content: contents.get(one.toolCallId) } }));
}

// The message with the call, and its result where that is there.
/** @param {Session} session @param {string} id */
async function callOf(session, id) {
  let answer;
  let far = 0;
  for await (const message of session.messages({ newestFirst: true })) {
    if (message.role === "tool" && message.tool?.callId === id) answer = message;
    if (message.assistant?.toolCalls?.some((call) => call.id === id)) return { answer, messageId: message.id };
    far += 1;
    if (far === FAR) break;
  }
  return { answer, messageId: undefined };
}
