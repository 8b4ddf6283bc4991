// @ts-check
/** What is needed now and then, loaded by who needs it: other agents' files, finding, lists that a person reads. */

import * as bindings from "../../pkg/agents.js";
import { STORED, storedIsExact } from "./core.js";
import { asset } from "../host/assets.js";
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

/** Who counts there, by the name of the encoding. @type {Map<string, bindings.Counter>} */
const counters = new Map();

export const agents = new Module(bindings, "agents.wasm", () => counters.clear());

/**
 * Who counts there what is stored, as the core counts it: by the estimate where its vocabulary is not loaded.
 * @param {boolean} stores whether anything is: a vocabulary takes longer to be made than most operations
 */
export function counterBeside(stores) {
  return namedBeside(stores && storedIsExact() ? STORED : "estimate-1");
}

/** Who counts there by the encoding of this name. @param {string} encoding */
export function namedBeside(encoding) {
  const known = counters.get(encoding);
  if (known) return known;
  const counter = agents.called(({ Counter }) => (encoding === "estimate-1" ? Counter.estimate() : Counter.fromPlanes(asset(`${encoding}.planes`))));
  counters.set(encoding, counter);
  return counter;
}
