// @ts-check
/** What a step of a run knows of its answer beside what was said: the model, its token counts and why it stopped. */

/** @import { Draft, ReadMessage } from "../types/index.js" */
/** @import { AiStep } from "../types/ai.js" */
/** @typedef {Pick<NonNullable<Draft["assistant"]>, "model" | "usage" | "finishReason">} AnswerDetails */

/** @param {AiStep} step @returns {AnswerDetails} */
export function readDetails({ response: { modelId: model }, usage, finishReason }) {
  return dropMissing({ model, usage: usage && readUsage(usage), finishReason });
}

/** Token counts: what was read from the cache or written to it is no input beside. @param {NonNullable<AiStep["usage"]>} usage */
function readUsage({ inputTokens, outputTokens, inputTokenDetails = {}, outputTokenDetails = {}, ...old }) {
  const { noCacheTokens, cacheReadTokens: cacheRead = old.cachedInputTokens } = inputTokenDetails;
  const { cacheWriteTokens: cacheWrite } = inputTokenDetails;
  const rest = inputTokens === undefined ? undefined : inputTokens - (cacheRead ?? 0) - (cacheWrite ?? 0);
  const reasoning = outputTokenDetails.reasoningTokens ?? old.reasoningTokens;
  return dropMissing({ input: noCacheTokens ?? rest, output: outputTokens, cacheRead, cacheWrite, reasoning });
}

/** Adds an answer's details to it. @param {Draft[]} drafts those of one message @param {AnswerDetails | undefined} details */
export function addDetails(drafts, details = {}) {
  return drafts.map((draft) => (draft.role === "assistant" ? withDetails(draft, details) : draft));
}

/** A draft that keeps the details that a record has. @param {ReadMessage} record @param {Draft} draft */
export function keepDetails({ assistant: { model, usage, finishReason } = {} }, draft) {
  return draft.role === "assistant" ? withDetails(draft, dropMissing({ model, usage, finishReason })) : draft;
}

/** @param {Draft} draft @param {AnswerDetails} details @returns {Draft} */
function withDetails(draft, details) {
  return Object.keys(details).length === 0 ? draft : { ...draft, assistant: { ...details, ...draft.assistant } };
}

/** @template {object} T @param {T} value @returns {any} */
function dropMissing(value) {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
