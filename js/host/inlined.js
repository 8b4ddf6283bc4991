// @ts-check
/** The files of pkg/ as text, deflated and in base64: every bundler takes along what is imported so, and nothing has to be served. */

/** @type {Record<string, () => Promise<{ default: string }>>} */
const TEXTS = {
  "leftoff.wasm": () => import("../../pkg/inline/leftoff.js"),
  "agents.wasm": () => import("../../pkg/inline/agents.js"),
  "context.wasm": () => import("../../pkg/inline/context.js"),
  "reader.wasm": () => import("../../pkg/inline/reader.js"),
  "o200k_base.planes": () => import("../../pkg/inline/o200k_base.js"),
  "cl100k_base.planes": () => import("../../pkg/inline/cl100k_base.js"),
};

/** @param {string} name */
export async function inlined(name) {
  const text = await TEXTS[name]?.();
  return text?.default ?? "";
}
