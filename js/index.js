// @ts-check
/** leftoff: the public surface. */

import { fromBytes, lentBytes, namedCounter } from "./wasm/core.js";
import { toJson } from "./wasm/json.js";
import { LeftoffError } from "./error.js";
import { checkOptions } from "./wasm/options.js";
import { counterModule } from "./wasm/module-choice.js";

export { LeftoffError } from "./error.js";
export { loadWasm } from "./host/load-wasm.js";
export { compareContexts, findStopPhrase, historyText, listText } from "./session/texts.js";
export { Session } from "./session/session.js";
export { openStore } from "./store/open-store.js";
export { Store } from "./store/store.js";
export { ToolOutputs } from "./store/outputs.js";
export { MemoryStorage } from "./storage/memory.js";
export { NodeStorage } from "./storage/node.js";
export { Transcript, readTranscript } from "./session/transcript.js";
export * from "./types/index.js";

/** A limit above any count. */
const NO_LIMIT = 0xffff_ffff;

/**
 * Counts the tokens of a text, or of each of many. Special tokens count as plain text.
 * @template {string | string[]} T
 * @param {T} text
 * @param {{ encoding?: string, model?: string, limit?: number }} [options] `encoding`: `o200k_base` (the default;
 * `o200k_harmony` counts alike), `cl100k_base`, or `estimate-1`; `model`: counts by its encoding; `limit`: counting
 * stops
 *   as soon as a text has more, and answers some number above it
 * @returns {Promise<T extends string ? number : number[]>}
 * @throws {LeftoffError} `invalid_request` for what is no text, a limit that is no number, and an unknown option;
 *   `no_counter` for an unknown model or encoding
 * @example
 * await countTokens("hello world"); // => 2
 * await countTokens(["hello world", "hello"], { encoding: "cl100k_base" }); // => [2, 1]
 */
export async function countTokens(text, options = {}) {
  const { model, encoding, limit = NO_LIMIT } = checkOptions("countTokens", options);
  const texts = Array.isArray(text) ? text : [text];
  const bad = texts.findIndex((one) => typeof one !== "string");
  if (bad >= 0)
    throw requestError("invalid_request", `expected a text to count, but found ${typeof texts[bad]} instead`);
  if (!(limit >= 0))
    throw requestError("invalid_request", `expected a number for "limit", but found ${JSON.stringify(limit)} instead`);
  const module = counterModule();
  const counter = await namedCounter(encoding, model, module);
  const counts = texts.map((one) => module.call(() => counter.count(lentBytes(one), Math.min(limit, NO_LIMIT))));
  return /** @type {any} */ (Array.isArray(text) ? counts : counts[0]);
}

/**
 * Looks up a model by its name, with its provider before it or without: the encoding that counts for it, and its window
 * in
 * tokens.
 * @param {string} name
 * @returns {{ encoding: string, window: number } | undefined} nothing for an unknown model
 * @throws {LeftoffError} `asset_missing` in a page before `loadWasm`
 * @example
 * modelOf("openai/gpt-4o"); // => { encoding: "o200k_base", window: 128_000 }
 * modelOf("nobody-1"); // => undefined
 */
export function modelOf(name) {
  const found = counterModule().call((core) => core.modelOf(String(name)));
  return found && fromBytes(found);
}

/**
 * Looks up what a model's tokens cost, by the list of LiteLLM.
 * @param {string} name with its provider before it or without, with its version behind it or without
 * @returns {import("./types/index.js").Prices | undefined} nothing for a model that is not listed
 * @throws {LeftoffError} `asset_missing` in a page before `loadWasm`
 * @example
 * pricesOf("gpt-4o")?.rates; // => { input: 2.5, output: 10, cacheRead: 1.25 }
 * pricesOf("nobody-1"); // => undefined
 */
export function pricesOf(name) {
  const found = counterModule().call((core) => core.pricesOf(String(name)));
  return found && fromBytes(found);
}

/**
 * Computes what a model call cost, by its provider's counts and the prices that `pricesOf` has.
 * @param {string} model
 * @param {Partial<import("./types/index.js").Usage>} usage as a message has it in `assistant.usage`
 * @returns {number | undefined} US dollars; nothing for a model that is not listed
 * @throws {LeftoffError} `invalid_request` for what is no counts; `asset_missing` in a page before `loadWasm`
 * @example
 * costOf("gpt-4o", { input: 1000, output: 200 }); // => 0.0045
 * costOf("nobody-1", { input: 1000 }); // => undefined
 */
export function costOf(model, usage) {
  const found = counterModule().call((core) => core.costOf(String(model), toJson(usage)));
  return found && fromBytes(found);
}

/** @param {import("./types/index.js").ErrorCode} code @param {string} message */
function requestError(code, message) {
  return new LeftoffError({ code, message });
}
