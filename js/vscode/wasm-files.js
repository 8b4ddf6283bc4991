// @ts-check
/** What lies beside the bundles, each file compressed by zstd, by the names that `loadWasm` has. */

import { loadWasm } from "../index.js";
import { decompress } from "fzstd";

export const WASM_FILES = {
  leftoff: "leftoff.wasm.zst",
  agents: "agents.wasm.zst",
  o200k_base: "o200k_base.planes.zst",
};

/** Loads them all. @param {(name: keyof typeof WASM_FILES) => Promise<Uint8Array>} read */
export async function loadFiles(read) {
  const names = /** @type {(keyof typeof WASM_FILES)[]} */ (Object.keys(WASM_FILES));
  const files = names.map(async (name) => [name, decompress(await read(name))]);
  await loadWasm(Object.fromEntries(await Promise.all(files)));
}
