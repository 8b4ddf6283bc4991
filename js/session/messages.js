// @ts-check
/** What is read of a session that is not opened by that. */

import { Live } from "./handle.js";

/** @import { Place } from "../placement/placement.js" */
/** @import { Redaction } from "../privacy/redaction.js" */
/** @import { Hit, ReadMessage } from "../types/index.js" */

/** The messages of its log, newest first. @param {Place} place @returns {AsyncGenerator<ReadMessage>} */
export function newestFirst(place) {
  return unopened(place).pages("newest");
}

/** Its messages that have all words, the newest first. @internal @param {string} words @param {Place} place @param {Redaction} redaction @returns {AsyncGenerator<Hit>} */
export function searched(words, place, redaction) {
  return unopened(place).found(words, redaction.own);
}

/** @param {Place} place */
function unopened(place) {
  return new Live({ ...place, cache: { storage: place.storage, folder: place.path } });
}
