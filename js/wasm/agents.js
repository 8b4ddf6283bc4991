// @ts-check
/** What is needed now and then, loaded by who needs it: other agents' files, finding, lists that a person reads. */

import * as bindings from "../../pkg/agents.js";
import { STORED, storedIsExact } from "./core.js";
import { asset } from "./asset.node.js";
import { Module } from "./module.js";

/** @import { Transcript as Handle } from "../../pkg/agents.js" */
/** @import { Problem } from "../records.js" */

/**
 * What a file of an agent's holds.
 * @typedef {object} Parsed
 * @property {import("../session/transcript.js").ReadSession[]} sessions
 * @property {Problem[]} problems
 * @property {Handle} handle its messages
 * @property {() => void} free gives back the messages; for who is done with the handle
 */

/** Who counts there: the vocabulary, or the estimate. @type {Map<boolean, bindings.Counter>} by whether it is the vocabulary */
const counters = new Map();

export const agents = new Module(bindings, "agents.wasm", () => counters.clear());

/**
 * Who counts there what is stored, as the core counts it: by the estimate where its vocabulary is not loaded.
 * @param {boolean} stores whether anything is: a vocabulary takes longer to be made than most operations
 */
export function counterBeside(stores) {
  const isExact = stores && storedIsExact();
  const known = counters.get(isExact);
  if (known) return known;
  const counter = agents.called(({ Counter }) => (isExact ? Counter.fromPlanes(asset(`${STORED}.planes`)) : Counter.estimate()));
  counters.set(isExact, counter);
  return counter;
}
