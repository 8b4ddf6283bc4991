// @ts-check
/**
 * The files of pkg/: where they are is a host's own matter, `assets.node.js` and its likes. Whoever may wait asks `ready`
 * first; who may not finds what is loaded.
 */

import { LeftoffError } from "../error.js";
import { isHere as isAtHand, load, loadNow } from "./assets.node.js";

/** @typedef {Uint8Array<ArrayBuffer> | WebAssembly.Module} Asset */

/** @type {Map<string, Asset>} */
const known = new Map();
/** @type {Map<string, Promise<void>>} */
const coming = new Map();

/** One that is here, or was loaded. @param {string} name @returns {any} */
export function asset(name) {
  const found = known.get(name) ?? loadNow(name);
  if (found) return found;
  throw new LeftoffError({ code: "asset_missing", message: `${name} is not loaded: await loadWasm() first` });
}

/** Whether one is here, or was loaded. @param {string} name */
export function isHere(name) {
  return known.has(name) || isAtHand(name);
}

/** Loads one, unless it is here. @param {string} name @returns {Promise<void> | undefined} nothing where there is nothing to wait for */
export function ready(name) {
  if (isHere(name)) return undefined;
  const loading = coming.get(name) ?? loadAsset(name, () => load(name));
  coming.set(name, loading);
  return loading;
}

/** Loads it from there. @param {string} name @param {() => Promise<Asset>} read */
export async function loadAsset(name, read) {
  /** @type {Asset | undefined} */
  let found;
  try {
    found = await read();
    // A page may not compile it later, at once.
    known.set(name, name.endsWith(".wasm") && found instanceof Uint8Array ? await WebAssembly.compile(found) : found);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const policy = cause instanceof WebAssembly.CompileError && beginsAsModule(found) ? "; a page's Content-Security-Policy needs 'wasm-unsafe-eval' in script-src" : "";
    throw new LeftoffError({ code: "asset_missing", message: `${name} could not be loaded: ${why}${policy}`, cause });
  } finally {
    // What failed may be tried again.
    coming.delete(name);
  }
}

/** Whether bytes begin as those of a module do. @param {unknown} found */
function beginsAsModule(found) {
  return found instanceof Uint8Array && String.fromCharCode(...found.subarray(0, 4)) === "\0asm";
}
