// @ts-check
/**
 * Turns a library's answer, with its getters, promises and streams, into plain values; the core detects which answer it
 * is.
 */

import { LeftoffError } from "../error.js";
import { bytesOf, callCore } from "../wasm/core.js";

/** @import { Format } from "../types/index.js" */

/**
 * Makes the messages to append plain objects, as far as that is possible.
 * @param {unknown} drafts one or many; a library's whole answer counts as one
 * @returns {unknown[]}
 */
export function toPlainDrafts(drafts) {
  return (Array.isArray(drafts) ? drafts : [drafts]).map(toPlain);
}

/**
 * Waits for an AI SDK result that may still be streaming; nothing where the drafts are no such result.
 * @param {unknown} drafts @param {Format} [format]
 * @returns {Promise<object> | undefined}
 */
export function awaitStreamedResult(drafts, format) {
  return isObject(drafts) && "steps" in drafts && "fullStream" in drafts ? readWholeResult(drafts, format) : undefined;
}

/** Detects the drafts' format, unless one is given. @param {string} json @param {Format} [format] @returns {string} */
export function detectFormat(json, format) {
  return callCore((core) => core.answeredFormat(bytesOf(json), format));
}

/** @param {Record<string, any>} result @param {Format} [format] */
async function readWholeResult(result, format) {
  // Checks the format before reading any field: reading would begin the stream.
  detectFormat('{"steps":[],"response":{},"responseMessages":[]}', format);
  return resultOf("responseMessages" in result ? await result.responseMessages : (await result.response).messages);
}

/** @param {unknown} one */
function toPlain(one) {
  if (!isObject(one)) return one;
  if (typeof one.then === "function")
    throw new LeftoffError({ code: "invalid_request", message: "append was given a promise: await it first" });
  return !("role" in one) && "steps" in one && "response" in one
    ? resultOf(one.responseMessages ?? one.response?.messages)
    : one;
}

// The fields by which the core recognizes such a result.
/** @param {unknown} responseMessages */
const resultOf = (responseMessages) => ({ steps: [], response: {}, responseMessages });

/** @param {unknown} value @returns {value is Record<string, any>} */
function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
