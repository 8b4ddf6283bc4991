// @ts-check
/** The messages of screens: those that were saved from one, and those that are made of what was saved otherwise. */

import { Originals, parseJson } from "../sdk/originals.js";

/** @import { Session } from "../session/session.js" */
/** @import { ReadMessage } from "../types/index.js" */
/** @import { AiUiMessage } from "../types/ai.js" */

/** Those that were saved. @type {Originals<AiUiMessage>} */
export const screens = new Originals("ai-sdk");

/** The answer with which a screen of this process ends, of each session. @type {WeakMap<Session, string>} */
const shownAnswers = new WeakMap();

/** Notes the last message of a screen that is being saved. @param {Session} session @param {AiUiMessage | undefined} message */
export function noteShown(session, message) {
  if (message?.role === "assistant") shownAnswers.set(session, message.id);
  else shownAnswers.delete(session);
}

/** Whether a record is of the answer that a screen of this process shows. @param {Session} session @param {ReadMessage} record */
export function isShown(session, record) {
  const id = screens.idOf(record);
  return id !== undefined && id === shownAnswers.get(session);
}

/**
 * A screen's message of stored messages that no screen has saved: the user's one, or an answer's steps and results.
 * @param {readonly ReadMessage[]} records
 * @returns {AiUiMessage | undefined} nothing where no role is known
 */
export function makeScreen(records) {
  const [first] = records;
  if (!first?.role) return undefined;
  const results = new Map(records.flatMap((record) => (record.tool ? [[record.tool.callId, record]] : [])));
  const parts = records.flatMap((record) => partsOf(record, results));
  // A part at least, which the SDK's own check wants.
  if (parts.length === 0) parts.push({ type: "text", text: "" });
  return { id: first.id, role: first.role === "tool" ? "assistant" : first.role, parts };
}

/** @param {ReadMessage} record @param {Map<string, ReadMessage>} results @returns {any[]} */
function partsOf({ role, content, assistant, attachments = [] }, results) {
  if (role === "tool") return [];
  const parts = [];
  if (role === "assistant") parts.push({ type: "step-start" });
  for (const { text } of assistant?.reasoning ?? []) if (text) parts.push({ type: "reasoning", text });
  if (content) parts.push({ type: "text", text: content });
  for (const { mime, name, path, data } of attachments) {
    const url = data === undefined ? path : `data:${mime};base64,${data}`;
    if (url) parts.push({ type: "file", mediaType: mime, url, ...(name && { filename: name }) });
  }
  for (const call of assistant?.toolCalls ?? []) parts.push(partOfCall(call, results.get(call.id)));
  return parts;
}

/** @param {{ id: string, name: string, arguments: string }} call @param {ReadMessage} [result] */
function partOfCall({ id, name, arguments: json }, result) {
  const call = { type: "dynamic-tool", toolName: name, toolCallId: id, input: parseJson(json) ?? json };
  if (!result) return { ...call, state: "input-available" };
  const { content, tool } = result;
  if (tool?.isError) return { ...call, state: "output-error", errorText: content };
  return { ...call, state: "output-available", output: tool?.isJson ? parseJson(content) : content };
}
