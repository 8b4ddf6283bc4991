// @ts-check
/**
 * The chunks of a UI message stream that make one state of an answer of the one before: its parts are built by their
 * chunks, and of those only what is new is said.
 */

import { isSameValue } from "../sdk/originals.js";

/** @import { AiUiChunk, AiUiMessage } from "../types/ai.js" */

/**
 * @param {AiUiMessage | undefined} shown the state before; none at the beginning
 * @param {AiUiMessage} answer
 * @returns {AiUiChunk[]}
 */
export function chunksBetween(shown, answer) {
  const before = shown?.parts ?? [];
  const start = shown ? [] : [drop({ type: "start", messageId: answer.id, messageMetadata: answer.metadata })];
  const hasMetadata = shown && !isSameValue(shown.metadata, answer.metadata);
  return [
    ...start,
    ...(hasMetadata ? [{ type: "message-metadata", messageMetadata: answer.metadata }] : []),
    ...partChunks(before, answer.parts),
  ];
}

/** @param {any[]} before @param {any[]} parts @returns {AiUiChunk[]} */
function partChunks(before, parts) {
  const chunks = parts.map((part, place) => growth(before[place], part, place));
  if (before.length <= parts.length && !chunks.includes(undefined)) return chunks.flatMap((some) => some ?? []);
  // What was said of the step is taken back, as where a model is asked again after a failure.
  const kept = before.findLastIndex(({ type }) => type === "step-start") + 1;
  const hasStepsBefore = isSameValue(before.slice(0, kept), parts.slice(0, kept));
  if (kept === 0 || !hasStepsBefore) return [{ type: "error", errorText: "The answer was begun anew: load the chat." }];
  const again = parts.slice(kept).flatMap((part, place) => chunksOf(part, kept + place));
  return [{ type: "reset-step" }, ...again];
}

/**
 * The chunks that a part has beyond those of its state before; none at all where it does not go on with it.
 * @param {any} before @param {any} part @param {number} place @returns {AiUiChunk[] | undefined}
 */
function growth(before, part, place) {
  if (before === undefined) return chunksOf(part, place);
  if (isSameValue(before, part)) return [];
  if (before.type !== part.type || before.toolCallId !== part.toolCallId) return undefined;
  const said = chunksOf(before, place);
  const chunks = chunksOf(part, place);
  if (part.toolCallId !== undefined) return toolGrowth(said, chunks);
  if (part.type.startsWith("data-")) return part.id !== undefined && part.id === before.id ? chunks : undefined;
  if (part.type !== "text" && part.type !== "reasoning") return undefined;
  const isOpen = before.state === "streaming" && part.text.startsWith(before.text);
  return isOpen ? chunks.slice(1).flatMap((chunk) => restOf(chunk, said)) : undefined;
}

/** What a text's chunk says that was not said. @param {AiUiChunk} chunk @param {AiUiChunk[]} said */
function restOf(chunk, said) {
  const before = said.find(({ type }) => type === chunk.type);
  if (isSameValue(before, chunk)) return [];
  return before ? [{ ...chunk, delta: chunk.delta?.slice(before.delta?.length) }] : [chunk];
}

/** @param {AiUiChunk[]} said @param {AiUiChunk[]} chunks */
function toolGrowth(said, chunks) {
  const [delta, before] = [chunks, said].map((all) => all.find(({ type }) => type === "tool-input-delta"));
  const isLonger = delta && before && isSameValue(said[0], chunks[0]);
  if (isLonger && delta.inputTextDelta?.startsWith(before.inputTextDelta ?? ""))
    return [{ ...delta, inputTextDelta: delta.inputTextDelta.slice(before.inputTextDelta?.length) }];
  // The beginning said again clears an input whose text is not known.
  if (isLonger) return chunks;
  return chunks.filter((chunk) => !said.some((one) => isSameValue(one, chunk)));
}

/** The chunks that a part is built by. @param {any} part @param {number} place @returns {AiUiChunk[]} */
function chunksOf(part, place) {
  const { type, state } = part;
  if (type === "step-start") return [{ type: "start-step" }];
  if (part.toolCallId !== undefined) return chunksOfTool(part);
  if (type !== "text" && type !== "reasoning") return [part];
  const { text, providerMetadata, citations } = part;
  const id = part.id ?? `${type}-${place}`;
  return [
    { type: `${type}-start`, id },
    ...(text || providerMetadata ? [drop({ type: `${type}-delta`, id, delta: text, providerMetadata })] : []),
    ...(state === "streaming" ? [] : [drop({ type: `${type}-end`, id, citations })]),
  ];
}

/** @param {any} part @returns {AiUiChunk[]} */
function chunksOfTool(part) {
  const { type, toolCallId, state, input, rawInput, approval, providerExecuted, title, toolMetadata } = part;
  const isDynamic = type === "dynamic-tool";
  const toolName = isDynamic ? part.toolName : type.slice("tool-".length);
  const call = { toolCallId, toolName, ...(isDynamic && { dynamic: true }), providerExecuted, title, toolMetadata };
  const said = { ...call, providerMetadata: part.callProviderMetadata };
  const { preliminary, errorText, resultProviderMetadata: providerMetadata } = part;
  if (state === "input-streaming") {
    const inputTextDelta = rawInput ?? (input === undefined ? "" : JSON.stringify(input));
    const start = drop({ type: "tool-input-start", ...said, inputEncoding: part.inputEncoding });
    return [start, ...(inputTextDelta ? [{ type: "tool-input-delta", toolCallId, inputTextDelta }] : [])];
  }
  if (state === "output-error" && input === undefined)
    return [drop({ type: "tool-input-error", ...call, input: rawInput, errorText, providerMetadata })];
  const result = { toolCallId, providerExecuted, toolMetadata, providerMetadata };
  return [
    drop({ type: "tool-input-available", ...said, input }),
    ...(approval ? approvalChunks(toolCallId, approval) : []),
    ...(state === "output-available"
      ? [drop({ type: "tool-output-available", ...result, output: part.output, preliminary })]
      : []),
    ...(state === "output-error" ? [drop({ type: "tool-output-error", ...result, errorText })] : []),
    ...(state === "output-denied" ? [{ type: "tool-output-denied", toolCallId }] : []),
  ];
}

/** @param {string} toolCallId @param {any} approval @returns {AiUiChunk[]} */
function approvalChunks(toolCallId, { id, approved, reason, descriptor, requestReason, ...others }) {
  const asked = { approvalId: id, toolCallId, approvalDescriptor: descriptor, reason: requestReason, ...others };
  const answered = { approvalId: id, approved, reason };
  return [
    drop({ type: "tool-approval-request", ...asked }),
    ...(approved === undefined ? [] : [drop({ type: "tool-approval-response", ...answered })]),
  ];
}

/** A chunk without what it does not say. @param {AiUiChunk} chunk @returns {AiUiChunk} */
function drop(chunk) {
  return /** @type {AiUiChunk} */ (
    Object.fromEntries(Object.entries(chunk).filter(([, value]) => value !== undefined))
  );
}
