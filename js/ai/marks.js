// @ts-check
/** The mark of a stream on the message of a screen that it answers, and on its answer: whether it goes on, and where. */

/** @import { Draft, ReadMessage } from "../types/index.js" */

/**
 * @typedef {object} StreamMark
 * @property {string} id the stream's
 * @property {number} [pid] the process that saves it
 * @property {boolean} [isAhead] a run has said more than the screen yet
 * @property {"finish" | "error"} [end] how it ended
 * @property {string} [errorText]
 */

/** The mark of a stream on a screen's message. @param {Pick<ReadMessage, "source">} head @returns {StreamMark | undefined} */
export function streamOf({ source }) {
  return /** @type {any} */ (source)?.stream;
}

/** Marks the drafts of a screen's message. @param {Draft[]} drafts @param {StreamMark | undefined} stream */
export function markStream(drafts, stream) {
  const [head, ...others] = drafts;
  if (!stream || !head?.source) return drafts;
  return [{ ...head, source: { ...head.source, ...{ stream } } }, ...others];
}

/** A draft that keeps the mark that a record has, unless it has one of its own. @param {ReadMessage} record @param {Draft} draft */
export function keepStream(record, draft) {
  const stream = streamOf(record);
  if (!stream || !draft.source || "stream" in draft.source) return draft;
  return { ...draft, source: { ...draft.source, ...{ stream } } };
}
