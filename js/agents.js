// @ts-check
/** What reads other agents' files: only an import loads it. */

import * as bindings from "../pkg/agents.js";
import { Module } from "./module.js";

export const agents = new Module(bindings, "agents.wasm");
