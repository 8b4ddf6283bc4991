// @ts-check
/**
 * The files of `pkg/`. Each host knows where they are (`assets.node.js` and its like). Callers that may wait call
 * `ready` first; others get only what is loaded already.
 */

import { LeftoffError } from "../error.js";
import { isHere as isAtHand, load, loadNow } from "./assets.node.js";

/** @typedef {Uint8Array<ArrayBuffer> | WebAssembly.Module} Asset */

/** @type {Map<string, Asset>} */
const known = new Map();
/** @type {Map<string, Promise<void>>} */
const coming = new Map();

/** A file that is at hand or was loaded. @param {string} name @returns {any} */
export function asset(name) {
  const found = known.get(name) ?? loadNow(name);
  if (found) return found;
  throw new LeftoffError({ code: "asset_missing", message: `${name} is not loaded: await loadWasm() first` });
}

/** Whether a file is at hand or was loaded. @param {string} name */
export function isHere(name) {
  return known.has(name) || isAtHand(name);
}

/**
 * Loads a file unless it is at hand.
 * @param {string} name
 * @returns {Promise<void> | undefined} nothing if there is nothing to wait for
 */
export function ready(name) {
  if (isHere(name)) return undefined;
  const loading = coming.get(name) ?? loadAsset(name, () => load(name));
  coming.set(name, loading);
  return loading;
}

/** Loads a file by `read`. @param {string} name @param {() => Promise<Asset>} read */
export async function loadAsset(name, read) {
  /** @type {Asset | undefined} */
  let found;
  try {
    found = await read();
    // Compiled now: a page may not compile large modules synchronously later.
    known.set(name, name.endsWith(".wasm") && found instanceof Uint8Array ? await WebAssembly.compile(found) : found);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const policy =
      cause instanceof WebAssembly.CompileError && beginsAsModule(found)
        ? "; a page's Content-Security-Policy needs 'wasm-unsafe-eval' in script-src"
        : "";
    throw new LeftoffError({ code: "asset_missing", message: `${name} could not be loaded: ${why}${policy}`, cause });
  } finally {
    // A failed load may be tried again.
    coming.delete(name);
  }
}

/** Whether bytes begin with a WebAssembly module's magic number. @param {unknown} found */
function beginsAsModule(found) {
  return found instanceof Uint8Array && String.fromCharCode(...found.subarray(0, 4)) === "\0asm";
}
