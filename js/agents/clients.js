// @ts-check
/** The core's facts about agents' clients: their commands and servers, and where they keep their files. */

import { agents } from "../wasm/agents.js";
import { bytesOf, fromBytes } from "../wasm/core.js";

const NO_BYTES = new Uint8Array();

/**
 * Asks the core a question. Its arguments were read here and are no caller's values, so JSON can hold them; but a
 * client's text may be malformed: half of a surrogate pair is replaced, as it would be by crossing to the core alone.
 * @param {string} question its name
 * @param {unknown[]} words its arguments
 * @param {Uint8Array} [files] the bytes it is about
 * @returns {any} nothing where the core has no answer
 */
export function queryClients(question, words, files = NO_BYTES) {
  const text = JSON.stringify(words, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));
  return fromBytes(agents.call((core) => core.ofClients(question, bytesOf(text), files))) ?? undefined;
}

/** The agents that sessions can be written for. @returns {string[]} */
export function nativeAgents() {
  return queryClients("client.written", []);
}
