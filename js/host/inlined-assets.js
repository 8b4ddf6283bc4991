// @ts-check
/**
 * The files of `pkg/` as text, deflated and in base64: every bundler takes along such an import, so nothing has to be
 * served.
 */

/** @typedef {Record<string, () => Promise<{ default: string }>>} Texts */

/** The vocabularies, by which tokens are counted exactly. @type {Texts} */
export const VOCABULARIES = {
  "o200k_base.planes": () => import("../../pkg/inline/o200k_base.js"),
  "cl100k_base.planes": () => import("../../pkg/inline/cl100k_base.js"),
};
/** @type {Texts} */
const MODULES = {
  "leftoff.wasm": () => import("../../pkg/inline/leftoff.js"),
  "agents.wasm": () => import("../../pkg/inline/agents.js"),
  "context.wasm": () => import("../../pkg/inline/context.js"),
  "reader.wasm": () => import("../../pkg/inline/reader.js"),
};

/** @param {string} name */
export async function importInlined(name) {
  const text = await (MODULES[name] ?? VOCABULARIES[name])?.();
  return text?.default ?? "";
}
