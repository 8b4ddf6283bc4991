// @ts-check
/** What the providers' libraries answer, as what is appended of it: of a whole result its messages, and none of them lost. */

import { LeftoffError } from "../error.js";

/** @import { Format } from "../types/index.js" */

const AI_SDK = "ai-sdk";
// What each calls a whole answer.
const NAMES = { "ai-sdk": "a result of the AI SDK", "openai-chat": "a chat completion of OpenAI's", "openai-responses": "a response of OpenAI's", anthropic: "a message of Anthropic's", gemini: "a response of Gemini's" };

/** @typedef {keyof typeof NAMES} Answered */

/**
 * The messages to append, and their shape: what a whole answer is tells its shape, where the caller does not say it.
 * @param {unknown} drafts one or many; a library's whole answer counts as one
 * @param {Format} [format]
 * @returns {{ all: unknown[], format: Format }}
 */
export function given(drafts, format) {
  const all = Array.isArray(drafts) ? drafts : [drafts];
  const known = all.map(answered);
  const [first] = known;
  const is = format ?? (first !== undefined && known.every((one) => one === first) ? first : "leftoff");
  const other = known.find((one) => one !== undefined && one !== is);
  if (other !== undefined) throw refused(`expected messages of the format "${is}", but found ${NAMES[other]} instead: pass { format: "${other}" }`);
  return { all: is === AI_SDK ? all.flatMap((one, place) => (known[place] ? messagesIn(one) : one)) : all, format: is };
}

/**
 * The messages of a result of the AI SDK that may still be streamed, once it is whole; nothing where it is none.
 * @param {unknown} drafts @param {Format} [format]
 * @returns {Promise<unknown[]> | undefined}
 */
export function streamed(drafts, format = AI_SDK) {
  if (!isObject(drafts) || !("steps" in drafts && "fullStream" in drafts)) return undefined;
  if (format !== AI_SDK) return Promise.reject(refused(`expected messages of the format "${format}", but found ${NAMES[AI_SDK]} instead: pass { format: "${AI_SDK}" }`));
  return "responseMessages" in drafts ? Promise.resolve(drafts.responseMessages) : Promise.resolve(drafts.response).then(({ messages }) => messages);
}

/** Which answer it is, by what only that has. Nothing is read of it that would begin a stream. @param {unknown} one @returns {Answered | undefined} */
function answered(one) {
  if (!isObject(one)) return undefined;
  if (typeof one.then === "function") throw refused("expected messages, but found a promise instead: await it first");
  if ("role" in one) return one.type === "message" && "stop_reason" in one && one.role === "assistant" ? "anthropic" : undefined;
  if ("steps" in one && "response" in one) return AI_SDK;
  refuseIfPart(one);
  if (one.object === "chat.completion" && Array.isArray(one.choices)) return "openai-chat";
  if (one.object === "response" && Array.isArray(one.output)) return "openai-responses";
  return Array.isArray(one.candidates) ? "gemini" : undefined;
}

// Of version 7 a result has the messages of all steps beside its last response, of version 6 in it.
/** @param {any} result @returns {unknown[]} */
function messagesIn(result) {
  const messages = "responseMessages" in result ? result.responseMessages : result.response?.messages;
  if (Array.isArray(messages)) return messages;
  throw refused(`expected ${NAMES[AI_SDK]} with its messages, but found one without them: pass "answer.responseMessages", of version 6 "answer.response.messages"`);
}

// What is said of one step alone: the calls of those before it would be lost.
/** @param {any} one */
function refuseIfPart(one) {
  const isStep = "stepNumber" in one && "finishReason" in one;
  if (!isStep && !(Array.isArray(one.messages) && "modelId" in one)) return;
  throw refused(`expected messages, but found ${isStep ? "one step" : "the response"} of ${NAMES[AI_SDK]} instead, which may lack those of other steps: pass the result itself, or its "responseMessages"`);
}

/** @param {string} message */
function refused(message) {
  return new LeftoffError({ code: "invalid_request", message });
}

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
