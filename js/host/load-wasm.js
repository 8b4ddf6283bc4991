// @ts-check
/** Loads the WebAssembly modules ahead of use, or from where the caller says. */

import { LeftoffError } from "../error.js";
import { checkOptions } from "../wasm/options.js";
import { counterModule, readerModule, contextModule } from "../wasm/module-choice.js";
import { loadAsset } from "./assets.js";
import { readUrl } from "./assets.node.js";

/** @import { WasmSources } from "../types/index.js" */

/**
 * Loads modules of WebAssembly, so that `modelOf`, `listText`, `historyText`, `compareContexts` and
 * `findStopPhrase`, which wait for nothing, can be called at once. All else loads what it needs by itself. Given where
 * modules are, it loads only those, from there; `leftoff/slim` brings none and needs that.
 * @param {WasmSources} [sources]
 * @returns {Promise<void>}
 * @throws {LeftoffError} `asset_missing` for one that cannot be loaded; `invalid_request` for an option that is not
 *   known
 * @example
 * await loadWasm();
 * modelOf("gpt-4o")?.window; // => 128_000
 */
export async function loadWasm(sources = {}) {
  const given = Object.entries(checkOptions("loadWasm", sources)).filter(([, source]) => source !== undefined);
  if (given.length === 0)
    await Promise.all([counterModule(), readerModule(), contextModule()].map((module) => module.ready()));
  for (const [name, source] of given) checkSource(name, source);
  await Promise.all(
    given.map(([name, source]) => {
      const file = name.endsWith("_base") ? `${name}.planes` : `${name}.wasm`;
      return loadAsset(file, () => readSource(source));
    }),
  );
}

/** @param {unknown} source */
const isModule = (source) => source instanceof WebAssembly.Module;
/** @param {unknown} source */
const isBytes = (source) => source instanceof ArrayBuffer || source instanceof Uint8Array;

/**
 * Rejects a source that is neither module, bytes nor URL, such as a page's Response or File.
 * @param {string} name
 * @param {any} source
 */
function checkSource(name, source) {
  if (isModule(source) || isBytes(source) || typeof source === "string" || typeof source?.href === "string") return;
  throw new LeftoffError({
    code: "invalid_request",
    message: `expected a URL, bytes or a WebAssembly.Module for "${name}", but found ${Object.prototype.toString.call(source)} instead`,
  });
}

/** @param {any} source @returns {Promise<Uint8Array<ArrayBuffer> | WebAssembly.Module>} */
async function readSource(source) {
  if (isModule(source)) return source;
  return isBytes(source) ? new Uint8Array(source) : readUrl(source);
}
