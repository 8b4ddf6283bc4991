// @ts-check
/**
 * Picks the module for work without a store: a large one where it is at hand, as in Node; else a small part of it,
 * which a page loads sooner.
 */

import { parts } from "../host/parts.node.js";
import { agents } from "./agents.js";
import { coreModule } from "./core.js";
import { Module } from "./module.js";

const reader = parts && new Module(parts.reader, "reader.wasm");
const context = parts && new Module(parts.context, "context.wasm");

/** The module for transcripts, and texts for people. */
export const readerModule = () => pickModule(agents, reader);

/** The module for contexts of messages that are stored nowhere. */
export const contextModule = () => pickModule(agents, context);

/** The module that counts and knows models. */
export const counterModule = () => pickModule(coreModule, context);

/**
 * @template {{ isHere: boolean }} T
 * @param {T} large
 * @param {unknown} small which has the functions of the large one that are used here
 */
function pickModule(large, small) {
  return small && !large.isHere ? /** @type {T} */ (small) : large;
}
