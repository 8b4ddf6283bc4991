// @ts-check
/** Search in the rows of a session as one types, folded parts included. */

/** @import { Row } from "./conversation.js" */

/** @typedef {{ part: string, text: string, fold: string | undefined }} Part a text of a row, and the fold that hides it */
/** @typedef {{ row: number, part: string, nth: number, fold: string | undefined }} Hit `nth`: in its part */

/**
 * The texts of a row in the order of the screen.
 * @param {Row} row
 * @returns {Part[]}
 */
export function partsOf(row) {
  const { id, message, calls } = row;
  /** @type {Part[]} */
  const parts = (message.assistant?.reasoning ?? []).map(({ text }, index) => ({
    part: `reasoning-${index}`,
    text,
    fold: foldOf(id, `reasoning-${index}`),
  }));
  const isFolded = row.kind !== "user" && row.kind !== "assistant";
  parts.push({ part: "content", text: message.content, fold: isFolded ? foldOf(id, "content") : undefined });
  for (const call of calls) {
    parts.push({ part: `input-${call.id}`, text: call.text, fold: call.isBrief ? undefined : foldOf(id, call.id) });
    if (call.result) parts.push({ part: `output-${call.id}`, text: call.result.content, fold: foldOf(id, call.id) });
  }
  return parts;
}

/** The name of a fold: of a part of a row. @param {string} row @param {string} part */
export const foldOf = (row, part) => `${row}/${part}`;

/** A pattern that finds a text as it is, in any case; nothing for no text. @param {string} query @returns {RegExp | undefined} */
export function patternOf(query) {
  const text = query.trim();
  return text === "" ? undefined : new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
}

/**
 * Finds a text in all rows.
 * @param {readonly Row[]} rows @param {string} query
 * @returns {Hit[]}
 */
export function findHits(rows, query) {
  const pattern = patternOf(query);
  if (!pattern) return [];
  /** @type {Hit[]} */
  const hits = [];
  rows.forEach((row, index) => {
    for (const { part, text, fold } of partsOf(row)) {
      pattern.lastIndex = 0;
      for (let nth = 0; pattern.test(text); nth += 1) hits.push({ row: index, part, nth, fold });
    }
  });
  return hits;
}
