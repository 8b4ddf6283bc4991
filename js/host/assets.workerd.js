// @ts-check
/** The files of `pkg/` in workerd, which compiles modules only when a worker is deployed. */

import agents from "../../pkg/agents.wasm";
import leftoff from "../../pkg/leftoff.wasm";
import { inflateBase64 } from "./inflate.js";
import { VOCABULARIES } from "./inlined-assets.js";

/** @type {Record<string, WebAssembly.Module>} */
const MODULES = { "leftoff.wasm": leftoff, "agents.wasm": agents };

/** @param {string} name */
export const isHere = (name) => name in MODULES;

/** @param {string} name */
export const loadNow = (name) => MODULES[name];

/** @param {string} name */
export const load = async (name) => inflateBase64((await VOCABULARIES[name]?.())?.default ?? "");

export { fetchBytes as readUrl } from "./fetch-bytes.js";
