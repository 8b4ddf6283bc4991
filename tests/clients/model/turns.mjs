// @ts-check
/** A request's conversation as a plain list, the same for every API: what a test compares. */

import { own } from "./reminders.mjs";

/** @import { Call } from "./script.mjs" */

/**
 * @typedef {{ id: string, text: string, isError?: boolean }} Result
 *
 * One thing that was said: by the user, by the assistant with the calls that it makes, or by tools.
 * @typedef {object} Turn
 * @property {"user" | "assistant"} role
 * @property {string} [text]
 * @property {Call[]} [calls]
 * @property {Result[]} [results]
 */

/**
 * Gathers what stands in a request, in its order. An API that makes an item of each call and of each result has them
 * beside each other; so they belong to what was said just before. Texts are never joined: what stands twice is seen
 * twice.
 */
export class Turns {
  /** @type {Turn[]} */
  list = [];

  /** @param {string} text */
  user(text) {
    const said = own(text);
    if (said !== "") this.list.push({ role: "user", text: said });
  }

  /** @param {string} text */
  assistant(text) {
    if (text.trim() !== "") this.list.push({ role: "assistant", text });
  }

  /** @param {Call} call */
  call(call) {
    const last = this.list.at(-1);
    if (last?.role === "assistant") last.calls = [...(last.calls ?? []), call];
    else this.list.push({ role: "assistant", calls: [call] });
  }

  /** @param {Result} result */
  result(result) {
    const last = this.list.at(-1);
    if (last?.results) last.results.push(result);
    else this.list.push({ role: "user", results: [result] });
  }
}

/** A content's text, whether it is one or a list of parts. @param {any} content @returns {string} */
export function textOf(content) {
  if (content === null || content === undefined) return "";
  return typeof content === "string" ? content : texts(content).join("\n");
}

/** The texts of a content's parts, each by itself. @param {any} content @returns {string[]} */
export function texts(content) {
  const parts = typeof content === "string" ? [content] : (content ?? []);
  return parts
    .map((/** @type {any} */ part) => (typeof part === "string" ? part : part.text))
    .filter((/** @type {unknown} */ text) => typeof text === "string");
}

/** Arguments as an object, also where they are its JSON. @param {any} written @returns {Record<string, any>} */
export function inputOf(written) {
  return typeof written === "string" ? JSON.parse(written || "{}") : (written ?? {});
}
