// @ts-check
/** The files of pkg/ in workerd, which compiles modules when a worker is deployed and at no other time. */

import agents from "../../pkg/agents.wasm";
import leftoff from "../../pkg/leftoff.wasm";
import { inflated } from "./inflated.js";
import { VOCABULARIES } from "./inlined.js";

/** @type {Record<string, WebAssembly.Module>} */
const MODULES = { "leftoff.wasm": leftoff, "agents.wasm": agents };

/** @param {string} name */
export const isHere = (name) => name in MODULES;

/** @param {string} name */
export const loadNow = (name) => MODULES[name];

/** @param {string} name */
export const load = async (name) => inflated((await VOCABULARIES[name]?.())?.default ?? "");

export { fetched as readUrl } from "./fetched.js";
