// @ts-check
/** Which module does what needs no store: the large ones, where they are at hand, as in Node; else small parts of them, which a page loads sooner. */

import { parts } from "../host/parts.node.js";
import { agents } from "./agents.js";
import { coreModule } from "./core.js";
import { Module } from "./module.js";

const reader = parts && new Module(parts.reader, "reader.wasm");
const context = parts && new Module(parts.context, "context.wasm");

/** Has transcripts, and texts for people. */
export const readerModule = () => pickModule(agents, reader);

/** Has contexts of messages that are nowhere stored. */
export const contextModule = () => pickModule(agents, context);

/** Counts, and knows models. */
export const counterModule = () => pickModule(coreModule, context);

/** @template {{ isHere: boolean }} T @param {T} large @param {unknown} small which has what is asked of that one here */
function pickModule(large, small) {
  return small && !large.isHere ? /** @type {T} */ (small) : large;
}
