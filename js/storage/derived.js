// @ts-check
/** Documents that can be made again from the logs: one that cannot be read is as good as none. */

import { fromBytes } from "../wasm/core.js";
import { unlessBug } from "../error.js";

/** @import { Storage } from "./contract.js" */

/** @param {Storage} storage @param {string} path @returns {Promise<any>} what it holds, if that is JSON */
export async function derived(storage, path) {
  try {
    const bytes = await storage.read(path);
    return bytes ? fromBytes(bytes) : undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError)) unlessBug(error);
  }
}
