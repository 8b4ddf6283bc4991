// @ts-check
/** What is loaded beside the bundles, by the names that `loadWasm` has. */
export const WASM_FILES = { leftoff: "leftoff.wasm", agents: "agents.wasm", o200k_base: "o200k_base.planes" };
