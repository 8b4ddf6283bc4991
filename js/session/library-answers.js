// @ts-check
/** What a library's answer has behind getters, promises and streams, as what the core reads of it: which answer it is, that one tells. */

import { LeftoffError } from "../error.js";
import { bytesOf, callCore } from "../wasm/core.js";

/** @import { Format } from "../types/index.js" */

/**
 * The messages to append, each as plain as it can be.
 * @param {unknown} drafts one or many; a library's whole answer counts as one
 * @returns {unknown[]}
 */
export function toPlainDrafts(drafts) {
  return (Array.isArray(drafts) ? drafts : [drafts]).map(toPlain);
}

/**
 * A result of the AI SDK that may still be streamed, once it is whole; nothing where it is none.
 * @param {unknown} drafts @param {Format} [format]
 * @returns {Promise<object> | undefined}
 */
export function awaitStreamedResult(drafts, format) {
  return isObject(drafts) && "steps" in drafts && "fullStream" in drafts ? readWholeResult(drafts, format) : undefined;
}

/** The shape that these tell, JSON, where nobody says another one. @param {string} json @param {Format} [format] @returns {string} */
export function detectFormat(json, format) {
  return callCore((core) => core.answeredFormat(bytesOf(json), format));
}

/** @param {Record<string, any>} result @param {Format} [format] */
async function readWholeResult(result, format) {
  // Refused before anything is read of it: that would begin the stream.
  detectFormat('{"steps":[],"response":{},"responseMessages":[]}', format);
  return resultOf("responseMessages" in result ? await result.responseMessages : (await result.response).messages);
}

/** @param {unknown} one */
function toPlain(one) {
  if (!isObject(one)) return one;
  if (typeof one.then === "function") throw new LeftoffError({ code: "invalid_request", message: "append was given a promise: await it first" });
  return !("role" in one) && "steps" in one && "response" in one ? resultOf(one.responseMessages ?? one.response?.messages) : one;
}

// What the core knows one by.
/** @param {unknown} responseMessages */
const resultOf = (responseMessages) => ({ steps: [], response: {}, responseMessages });

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
