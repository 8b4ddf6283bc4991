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
 * @property {boolean} isAboutStore it may hold a resume block, or commands that are about the store
 * @property {Problem[]} problems
 * @property {Handle} handle its messages
 * @property {() => void} free gives back the messages; for who is done with the handle
 */

export const agents = new Module(bindings, "agents.wasm", () => {
  countsExactly = false;
});

/** It has the vocabulary that the core has. */
let countsExactly = false;

/** From now on what is staged is counted as the core counts what is stored, where its vocabulary is loaded. */
export function countAsStored() {
  if (countsExactly || !storedIsExact()) return;
  agents.called(({ countBy }) => countBy(asset(`${STORED}.planes`)));
  countsExactly = true;
}
