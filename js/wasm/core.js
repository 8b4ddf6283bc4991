// @ts-check
/** The core module, its counters, and how values cross. */

import * as bindings from "../../pkg/leftoff.js";
import { toJson } from "./json.js";
import { Module } from "./module.js";

/** @typedef {typeof bindings} Core */

export const coreModule = new Module(bindings, "leftoff.wasm");

/** The core, ready to be called. @returns {Core} */
export function core() {
  return coreModule.loadBindings();
}

/** Calls the core. @template T @param {(core: Core) => T} call @returns {T} */
export function callCore(call) {
  return coreModule.call(call);
}

/**
 * The counter of a named encoding, or of a model's; the estimate where that is it.
 * @param {string} [encoding] @param {string} [model] @param {typeof coreModule} [module] the module that counts
 */
export async function namedCounter(encoding, model, module = coreModule) {
  await module.ready();
  const [named, of] = [encoding, model].map((name) => (name === undefined ? undefined : String(name)));
  return module.loadCounter(module.call(({ Counter }) => Counter.encodingOf(named, of)));
}

/** The counter of stored messages: the estimate where no vocabulary is loaded. */
export function anyCounter() {
  return coreModule.anyCounter();
}

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

/** A text as the bytes that the core reads, for one call: the next text reuses the memory. @param {string} text */
export function lentBytes(text) {
  // No UTF-16 code unit takes more than three bytes.
  if (text.length * 3 > desk.length) return encoder.encode(text);
  return desk.subarray(0, encoder.encodeInto(text, desk).written);
}

/** Parses JSON bytes from the core. @param {Uint8Array} bytes */
export function fromBytes(bytes) {
  return JSON.parse(textOf(bytes));
}

/** Decodes bytes from the core as text. @param {Uint8Array} bytes */
export function textOf(bytes) {
  return decoder.decode(bytes);
}
