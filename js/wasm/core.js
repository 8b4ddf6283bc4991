// @ts-check
/** The core, who counts with it, and how values cross. */

import * as bindings from "../../pkg/leftoff.js";
import { toJson } from "./json.js";
import { Module } from "./module.js";

/** @typedef {typeof bindings} Core */

export const coreModule = new Module(bindings, "leftoff.wasm");

/** The core, ready to be called. @returns {Core} */
export function core() { return coreModule.loadBindings(); }

/** Calls the core. @template T @param {(core: Core) => T} call @returns {T} */
export function callCore(call) { return coreModule.call(call); }

/**
 * Who counts by the encoding of this name, or by that of a model; by the estimate where that is it.
 * @param {string} [encoding] @param {string} [model] @param {typeof coreModule} [module] which counts
 */
export async function namedCounter(encoding, model, module = coreModule) {
  await module.ready();
  const [named, of] = [encoding, model].map((name) => (name === undefined ? undefined : String(name)));
  return module.loadCounter(module.call(({ Counter }) => Counter.encodingOf(named, of)));
}

/** Who counts what is stored: by the estimate where no vocabulary is loaded. */
export function anyCounter() { return coreModule.anyCounter(); }

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A value as the bytes that the core reads. @param {unknown} value */
export function toBytes(value) {
  return bytesOf(toJson(value));
}

/** A text as the bytes that the core reads. @param {string} text */
export function bytesOf(text) {
  return encoder.encode(text);
}

const desk = new Uint8Array(64 * 1024);

/** A text as the bytes that the core reads, for one call: the next text lies in the same memory. @param {string} text */
export function lentBytes(text) {
  // No letter takes more than three bytes.
  if (text.length * 3 > desk.length) return encoder.encode(text);
  return desk.subarray(0, encoder.encodeInto(text, desk).written);
}

/** What the core wrote, as a value. @param {Uint8Array} bytes */
export function fromBytes(bytes) {
  return JSON.parse(textOf(bytes));
}

/** What the core wrote, as text. @param {Uint8Array} bytes */
export function textOf(bytes) {
  return decoder.decode(bytes);
}
