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

export const agents = new Module(bindings, "agents.wasm", () => {
  counter = undefined;
});

/** Who counts there, and whether that is the vocabulary. @type {{ isExact: boolean, handle: bindings.Counter } | undefined} */
let counter;

/** Who counts there what is stored, as the core counts it: by the estimate where its vocabulary is not loaded. */
export function counterBeside() {
  const isExact = storedIsExact();
  if (counter?.isExact !== isExact) {
    const handle = agents.called(({ Counter }) => (isExact ? Counter.fromPlanes(asset(`${STORED}.planes`)) : Counter.estimate()));
    counter = { isExact, handle };
  }
  return counter.handle;
}
