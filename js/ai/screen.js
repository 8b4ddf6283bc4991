// @ts-check
/**
 * A screen's message in a session: what of it no stored message has stands beside the first of them, in `source`, and
 * refers to the texts, arguments, results and files that they have.
 */

/** @import { Draft, ReadMessage } from "../types/index.js" */
/** @import { AiUiMessage } from "../types/ai.js" */

/** The agent in the source of a record that belongs to a screen's message. */
const AGENT = "ai-sdk";
/** The key of a reference: its value is what `takeValues` names. */
const REFERENCE = "leftoff:value";

/**
 * Adds to drafts the screen's message that they are.
 * @param {AiUiMessage} message @param {readonly Draft[]} drafts
 * @returns {(Draft & { source: any })[]}
 */
export function withScreen(message, drafts) {
  const values = takeValues(drafts);
  const packed = pack(message, values);
  const kept = isSameValue(unpack(packed, new Map(values)), message) ? packed : { whole: message };
  return drafts.map((draft, place) => ({
    ...draft,
    source: { agent: AGENT, id: message.id, ...(place === 0 && { message: kept }) },
  }));
}

/** The id of the screen's message that a record belongs to. @param {ReadMessage} record */
export const screenIdOf = ({ source }) => (source?.agent === AGENT ? source.id : undefined);

/** Whether a screen's message begins with this record. @param {ReadMessage} record */
export const isHead = ({ source }) => source?.agent === AGENT && "message" in source;

/**
 * The screen's message that stored messages are.
 * @param {readonly ReadMessage[]} records those of one message, the first a head
 * @returns {AiUiMessage}
 */
export function screenOf(records) {
  const packed = /** @type {any} */ (records[0]?.source).message;
  return packed.whole ?? unpack(packed, new Map(takeValues(records)));
}

/**
 * The values in stored messages that a screen's message has too, each with its name.
 * @param {readonly (Draft | ReadMessage)[]} drafts
 * @returns {[name: string, value: unknown][]}
 */
function takeValues(drafts) {
  return drafts.flatMap(({ content = "", assistant, tool, attachments = [] }, place) => {
    /** @type {[string, unknown][]} */
    const values = [[`${place}.content`, tool?.isJson ? parse(content) : content]];
    assistant?.reasoning?.forEach(({ text }, at) => values.push([`${place}.reasoning.${at}`, text]));
    assistant?.toolCalls?.forEach((call, at) => values.push([`${place}.call.${at}`, parse(call.arguments)]));
    attachments.forEach(({ mime, data }, at) => values.push([`${place}.file.${at}`, `data:${mime};base64,${data}`]));
    return values.filter(([, value]) => value !== undefined && value !== "");
  });
}

/** @param {unknown} json */
function parse(json) {
  try {
    return JSON.parse(String(json));
  } catch {
    return undefined;
  }
}

/** A value with references for what has a name. @param {any} value @param {[string, unknown][]} values @returns {any} */
function pack(value, values) {
  const isLong = typeof value === "string" ? value.length > 20 : typeof value === "object" && value !== null;
  const name = isLong && values.find(([, named]) => isSameValue(named, value))?.[0];
  if (name) return { [REFERENCE]: name };
  return mapInside(value, (inner) => pack(inner, values));
}

/** @param {any} packed @param {Map<string, unknown>} values @returns {any} */
function unpack(packed, values) {
  const name = Object(packed)[REFERENCE];
  if (name !== undefined) return values.get(name);
  return mapInside(packed, (inner) => unpack(inner, values));
}

/** @param {any} value @param {(inner: unknown) => unknown} change */
function mapInside(value, change) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(change);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]));
}

/** Whether two values of JSON are equal, whatever the order of their keys. @param {any} one @param {any} other @returns {boolean} */
export function isSameValue(one, other) {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSameValue(one[key], other[key]))
  );
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
  const call = { type: "dynamic-tool", toolName: name, toolCallId: id, input: parse(json) ?? json };
  if (!result) return { ...call, state: "input-available" };
  const { content, tool } = result;
  if (tool?.isError) return { ...call, state: "output-error", errorText: content };
  return { ...call, state: "output-available", output: tool?.isJson ? parse(content) : content };
}
