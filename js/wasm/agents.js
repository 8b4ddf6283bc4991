// @ts-check
/** What is needed now and then, loaded by who needs it: other agents' files, finding, lists that a person reads. */

import * as bindings from "../../pkg/agents.js";
import { coreModule } from "./core.js";
import { Module } from "./module.js";

export const agents = new Module(bindings, "agents.wasm");

/**
 * Who counts there what is stored, as the core does.
 * @param {boolean} stores whether anything is: a vocabulary takes longer to be made than most operations
 */
export const counterBeside = (stores) => agents.anyCounter(stores && coreModule.isExact);
