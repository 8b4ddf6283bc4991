// @ts-check
/** The messages of a session, read in pages. */

import { LeftoffError } from "./error.js";
import { Live } from "./live.js";

/** @import { Place } from "./placement.js" */
/** @import { Storage } from "./storage/contract.js" */
/** @import { ReadMessage } from "./types/index.js" */

/**
 * Those of the log of a session that is not opened by that, newest first.
 * @param {Place} place
 * @returns {AsyncGenerator<ReadMessage>}
 */
export function newestFirst(place) {
  return new Live({ ...place, cache: { storage: place.storage, folder: place.path } }).pages("newest");
}

/**
 * The bytes of a blob; nothing where it is not there, or something else stands in its place.
 * @param {{ storage: Storage, folder: string }} from
 * @param {string} id
 */
export async function blobOf({ storage, folder }, id) {
  try {
    return (await storage.read(`${folder}/blobs/${id}`)) ?? undefined;
  } catch (error) {
    if (!(error instanceof LeftoffError && ["not_a_file", "outside_store"].includes(error.code))) throw error;
    return undefined;
  }
}
