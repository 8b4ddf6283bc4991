// @ts-check
/**
 * Items of the OpenAI Agents SDK as messages: an answer's items are one message, so are each result and each thing that
 * a user says. A message keeps the items that it was made of, whole, with its source; texts and calls are taken out of
 * them, so that all else of leftoff reads them as any other conversation.
 */

import { packOriginal, unpackOriginal } from "../sdk/originals.js";

/** @import { AgentItem } from "../types/openai.js" */
/** @import { Draft, ReadMessage } from "../types/index.js" */
/** @typedef {Draft & { source: { agent: string, id: string, items: object } }} ItemDraft */

/** The name by which a store knows conversations of this SDK. */
export const AGENT = "openai-agents";

/** The key of bytes, in base64. */
const BYTES = "leftoff:bytes";
const DATA_URL = /^data:([^;,]*)[^,]*;base64,(.*)$/su;
const THINKING = "reasoning";

/** @param {AgentItem[]} items @returns {ItemDraft[]} */
export function draftsOf(items) {
  /** @type {AgentItem[][]} */
  const groups = [];
  let isAnswer = false;
  for (const item of items) {
    const isPart = isOfAnswer(item);
    if (isPart && isAnswer) groups.at(-1)?.push(item);
    else groups.push([item]);
    isAnswer = isPart;
  }
  return groups.map((group) => draftOf(group));
}

/** The message of items that belong together. @param {AgentItem[]} group @returns {ItemDraft} */
export function draftOf(group) {
  /** @type {AgentItem} */
  const first = group[0] ?? {};
  const said = isOfAnswer(first) ? answerOf(group) : isResult(first) ? resultOf(first) : messageOf(first);
  const items = packOriginal(encodeBytes(group), [said]);
  return { ...said, source: { agent: AGENT, id: wordOf(first, "id"), items } };
}

/** A message that says nothing, and keeps items. @param {AgentItem[]} [items] @returns {ItemDraft} */
export function silentDraft(items = []) {
  return { role: "system", content: "", source: { agent: AGENT, id: "", items: packOriginal(encodeBytes(items), []) } };
}

/** The items that a message was made of; undefined for one that was made of none. @param {ReadMessage} message */
export function itemsOf(message) {
  const items = Reflect.get(message.source ?? {}, "items");
  return items === undefined ? undefined : /** @type {AgentItem[]} */ (decodeBytes(unpackOriginal(items, [message])));
}

/** Whether the SDK begins anew with a message: what was before it was compacted. @param {ReadMessage | undefined} message */
export function isBeginning(message) {
  return Reflect.get(message?.source ?? {}, "begins") === true;
}

/**
 * Items that say what a message of a context says.
 * @param {{
 *   role: string,
 *   content: string,
 *   assistant?: { toolCalls?: { id: string, name: string, arguments: string }[] },
 *   tool?: { callId: string, name: string },
 * }} message
 * @returns {AgentItem[]}
 */
export function itemsFor({ role, content, assistant, tool }) {
  if (tool) {
    const { callId, name } = tool;
    return [
      { type: "function_call_result", name, callId, status: "completed", output: { type: "text", text: content } },
    ];
  }
  const calls = (assistant?.toolCalls ?? []).map(({ id: callId, name, arguments: given }) => ({
    type: "function_call",
    callId,
    name,
    arguments: given,
    status: "completed",
  }));
  if (role !== "assistant") return [{ type: "message", role, content }];
  const text = { type: "output_text", text: content };
  const said = content === "" ? [] : [{ type: "message", role, status: "completed", content: [text] }];
  return [...said, ...calls];
}

/** @param {AgentItem} item */
function isResult({ type }) {
  return /_(?:result|output)$/u.test(type ?? "message");
}

/** @param {AgentItem} item */
function isOfAnswer(item) {
  if (isResult(item)) return false;
  return (item.type ?? "message") !== "message" || item.role === "assistant";
}

/** @param {AgentItem} item @returns {Omit<ItemDraft, "source">} */
function messageOf(item) {
  const { texts, attachments } = contentOf(item.content);
  const role = item.role === "system" || item.role === "developer" ? "system" : "user";
  return { role, content: texts.join("\n"), ...(attachments.length > 0 && { attachments }) };
}

/** @param {AgentItem} item @returns {Omit<ItemDraft, "source">} */
function resultOf(item) {
  const { texts, attachments } = contentOf(item.output);
  const tool = { callId: callIdOf(item), name: wordOf(item, "name") || kindOf(item) };
  return { role: "tool", tool, content: texts.join("\n"), ...(attachments.length > 0 && { attachments }) };
}

/** @param {AgentItem[]} group @returns {Omit<ItemDraft, "source">} */
function answerOf(group) {
  /** @type {{ id: string, name: string, arguments: string }[]} */
  const toolCalls = [];
  /** @type {{ text: string }[]} */
  const reasoning = [];
  /** @type {string[]} */
  const texts = [];
  for (const item of group) {
    if (item.type === THINKING) reasoning.push({ text: contentOf(item.content).texts.join("\n\n") });
    else if ((item.type ?? "message") === "message") texts.push(...contentOf(item.content).texts);
    else if (callIdOf(item) !== "") toolCalls.push(callOf(item));
  }
  const thoughts = reasoning.filter(({ text }) => text !== "");
  const assistant = {
    ...(toolCalls.length > 0 && { toolCalls }),
    ...(thoughts.length > 0 && { reasoning: thoughts }),
  };
  return { role: "assistant", content: texts.join("\n\n"), ...(Object.keys(assistant).length > 0 && { assistant }) };
}

/** @param {AgentItem} item */
function callOf(item) {
  const given = item.arguments ?? item.action ?? item.operation ?? item.actions ?? {};
  const name = wordOf(item, "name") || kindOf(item);
  return { id: callIdOf(item), name, arguments: typeof given === "string" ? given : JSON.stringify(given) };
}

/** The texts and files of a content or an output. @param {unknown} content */
function contentOf(content) {
  /** @type {string[]} */
  const texts = [];
  /** @type {{ mime: string, data: string }[]} */
  const attachments = [];
  for (const part of Array.isArray(content) ? content : [content]) {
    if (typeof part === "string") texts.push(part);
    if (Object(part) !== part) continue;
    const { text, refusal, transcript, stdout, stderr, image, file, data } = part;
    for (const one of [text, refusal, transcript, stdout, stderr])
      if (typeof one === "string" && one !== "") texts.push(one);
    for (const one of [image, file, data, image?.data, file?.data]) {
      const [, mime = "", bytes = ""] = (typeof one === "string" && DATA_URL.exec(one)) || [];
      if (mime !== "" && bytes !== "") attachments.push({ mime, data: bytes });
    }
  }
  return { texts, attachments };
}

/** @param {AgentItem} item */
function callIdOf(item) {
  return wordOf(item, "callId") || wordOf(item, "call_id");
}

/** What an item is, as the name of a tool: `computer` for a `computer_call`. @param {AgentItem} item */
function kindOf({ type = "" }) {
  return type.replace(/_call(?:_result|_output)?$/u, "");
}

/** @param {AgentItem} item @param {string} key */
function wordOf(item, key) {
  const value = item[key];
  return typeof value === "string" ? value : "";
}

/** An item as JSON can hold it: bytes in base64. @param {unknown} value @returns {any} */
function encodeBytes(value) {
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return value.map(encodeBytes);
  if (Object(value) !== value) return value;
  return Object.fromEntries(Object.entries(Object(value)).map(([key, one]) => [key, encodeBytes(one)]));
}

/** @param {unknown} value @returns {any} */
function decodeBytes(value) {
  if (Array.isArray(value)) return value.map(decodeBytes);
  if (Object(value) !== value) return value;
  const entries = Object.entries(Object(value));
  if (entries.length === 1 && entries[0]?.[0] === BYTES) return new Uint8Array(Buffer.from(entries[0][1], "base64"));
  return Object.fromEntries(entries.map(([key, one]) => [key, decodeBytes(one)]));
}
