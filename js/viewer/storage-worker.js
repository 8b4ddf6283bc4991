// @ts-check
/** The worker of a page that keeps sessions: does in the origin's private files what the page asks for, in its order. */

import { OpfsStorage } from "../storage/opfs.js";

/** @import { StorageRequest, StorageResult } from "./worker-storage.js" */

/** @type {OpfsStorage | undefined} */
let storage;

/** @param {StorageRequest} request @returns {Promise<StorageResult>} */
async function runVerb({ verb, given }) {
  try {
    storage ??= new OpfsStorage();
    return { value: await /** @type {any} */ (storage)[verb](...given) };
  } catch (error) {
    const { code = "internal", message, written, durable } = /** @type {any} */ (error);
    return { error: { code, message, written, durable } };
  }
}

addEventListener("message", async ({ data }) => postMessage({ id: data.id, result: await runVerb(data) }));
