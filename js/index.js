// @ts-check
// A placeholder.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { initSync, version as coreVersion } from "../pkg/leftoff.js";

/** The module: beside the package's folders; or, in someone's bundle, beside it or in node_modules. */
function find() {
  if (import.meta.url) return fileURLToPath(new URL("../pkg/leftoff.wasm", import.meta.url));
  try {
    const beside = `${__dirname}/leftoff.wasm`;
    readFileSync(beside);
    return beside;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ENOENT") throw error;
    return createRequire(__filename).resolve("leftoff/leftoff.wasm");
  }
}

/** The version of the core. @returns {string} */
export function version() {
  initSync({ module: readFileSync(find()) });
  return coreVersion();
}
