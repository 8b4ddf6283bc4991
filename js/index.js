// @ts-check
/** leftoff: the public surface. */

import { called, exactCounter } from "./core.js";
import { LeftoffError } from "./error.js";

export { LeftoffError } from "./error.js";
export { Session } from "./session.js";
export { openStore } from "./open-store.js";
export { Store } from "./store.js";
export { MemoryStorage } from "./storage/memory.js";
export { NodeStorage } from "./storage/node.js";
export { Transcript, readTranscript } from "./transcript.js";

/**
 * Counts the tokens of a text.
 * @param {string} text
 * @param {{ encoding?: string }} [options] `o200k_base` (the default) or `estimate-1`
 * @returns {Promise<number>}
 */
export async function countTokens(text, { encoding = "o200k_base" } = {}) {
  if (typeof text !== "string") {
    throw new LeftoffError({ code: "invalid_request", message: `expected a text to count, but found ${typeof text} instead` });
  }
  if (encoding === "o200k_base") return called(() => exactCounter().count(text));
  if (encoding === "estimate-1") return called((core) => core.Counter.estimate().count(text));
  const message = `expected the encoding "o200k_base" or "estimate-1", but found "${encoding}" instead`;
  throw new LeftoffError({ code: "no_counter", message });
}
