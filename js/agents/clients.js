// @ts-check
/** What the core knows of agents' clients: their commands and servers, and where they keep what. */

import { agents } from "../wasm/agents.js";
import { bytesOf, fromBytes } from "../wasm/core.js";

const NONE = new Uint8Array();

/**
 * Asks the core. It is asked with what was read here, no value of a caller's, so JSON has all of it; but what clients wrote may be no text: half
 * of a letter is replaced, as it would be on its way to the core by itself.
 * @param {string} question its name @param {unknown[]} words what it asks with @param {Uint8Array} [files] that it is about
 * @returns {any} nothing where the core knows of nothing
 */
export function queryClients(question, words, files = NONE) {
  const text = JSON.stringify(words, (_, value) => (typeof value === "string" ? value.toWellFormed() : value));
  return fromBytes(agents.call((core) => core.ofClients(question, bytesOf(text), files))) ?? undefined;
}
