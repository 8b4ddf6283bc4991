// @ts-check
/** Search in the rows of a session as one types, folded parts and sub-agents included. */

import { reportedRows } from "./children.js";

/** @import { Call } from "./calls.js" */
/** @import { Child } from "./children.js" */
/** @import { Row } from "./conversation.js" */

/** @typedef {{ row: Row, part: string, call?: Call }} Fold what hides a text: a part of a row, or of a sub-agent's row */
/**
 * @typedef {{ text: string, part: string, owner: Row, call: Call | undefined, folds: Fold[] }} Text
 *   `owner`: the row that has it, maybe a sub-agent's; `call`: of the session's own row; `folds`: from the outermost on
 */
/**
 * @typedef {Omit<Text, "text"> & { row: number, count: number, start: number }} HitGroup the hits in a text; `start`: the
 *   place of the first among all
 */
/** @typedef {HitGroup & { nth: number }} Hit `nth`: in its text */

/** From this many hits on, each text counts as one. */
export const MAX_HITS = 100_000;

/** The name of a fold: of a part of a row. @param {string} row @param {string} part */
export const foldOf = (row, part) => `${row}/${part}`;

/** A pattern that finds a text as it is, in any case; nothing for no text. @param {string} query @returns {RegExp | undefined} */
export function patternOf(query) {
  const text = query.trim();
  return text === "" ? undefined : new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
}

/** Hits in the order of the screen. */
export class Hits {
  /** @type {HitGroup[]} */
  groups = [];
  length = 0;

  /** Takes the hits of a text. @param {Omit<HitGroup, "start">} found */
  add(found) {
    this.groups.push({ ...found, start: this.length });
    this.length += found.count;
  }

  /** @param {number} place @returns {Hit | undefined} */
  get(place) {
    if (place < 0 || place >= this.length) return undefined;
    let [low, high] = [0, this.groups.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.groups[middle].start <= place) low = middle;
      else high = middle - 1;
    }
    const group = this.groups[low];
    return { ...group, nth: place - group.start };
  }

  /** The place of the first hit in a row, or behind it; nothing if there is none. @param {number} row @returns {number | undefined} */
  placeFrom(row) {
    return this.groups.find((group) => group.row >= row)?.start;
  }

  /** Those in texts that are so. @param {(group: HitGroup) => boolean} isWanted */
  select(isWanted) {
    const hits = new Hits();
    for (const group of this.groups) if (isWanted(group)) hits.add(group);
    return hits;
  }
}

/**
 * Finds a text in all rows.
 * @param {readonly Row[]} rows @param {ReadonlyMap<string, Child>} children @param {string} query
 */
export function findHits(rows, children, query) {
  const hits = new Hits();
  const pattern = patternOf(query);
  if (!pattern) return hits;
  rows.forEach((row, index) => {
    for (const { text, ...where } of textsOf(row, children)) {
      const count = countIn(text, pattern, hits.length < MAX_HITS);
      if (count > 0) hits.add({ ...where, row: index, count });
    }
  });
  return hits;
}

/** @param {string} text @param {RegExp} pattern @param {boolean} countsAll */
function countIn(text, pattern, countsAll) {
  pattern.lastIndex = 0;
  let count = 0;
  while (pattern.test(text)) {
    count += 1;
    if (!countsAll) break;
  }
  return count;
}

/**
 * The texts of a row in the order of the screen, with those of the sub-agents that it called.
 * @param {Row} row @param {ReadonlyMap<string, Child>} children
 * @returns {Generator<Text>}
 */
function* textsOf(row, children) {
  yield* ownTexts(row, row.kind === "user" || row.kind === "assistant");
  for (const call of row.calls) yield* callTexts(row, call, call, children, []);
}

/** @param {Row} row @param {boolean} isContentOpen @returns {Generator<Text>} */
function* ownTexts(row, isContentOpen) {
  const reasoning = row.message.assistant?.reasoning ?? [];
  for (const [index, { text }] of reasoning.entries()) {
    const part = `reasoning-${index}`;
    yield { text, part, owner: row, call: undefined, folds: [{ row, part }] };
  }
  const folds = isContentOpen ? [] : [{ row, part: "content" }];
  yield { text: row.message.content, part: "content", owner: row, call: undefined, folds };
}

/**
 * @param {Row} owner @param {Call} call @param {Call} outermost of the session's own row
 * @param {ReadonlyMap<string, Child>} children @param {Fold[]} around
 * @returns {Generator<Text>}
 */
function* callTexts(owner, call, outermost, children, around) {
  const folds = [...around, { row: owner, part: call.id, call }];
  const found = (/** @type {string} */ part, /** @type {string} */ text, isFolded = true) => ({
    ...{ text, part: `${part}-${call.id}`, owner, call: outermost },
    folds: isFolded ? folds : around,
  });
  yield found("input", call.text, !call.isBrief);
  const child = children.get(call.id);
  for (const row of child ? reportedRows(child, call) : []) {
    if (row.message.content !== "") yield { ...found("", row.message.content), part: "content", owner: row };
    for (const one of row.calls) yield* callTexts(row, one, outermost, children, folds);
  }
  if (call.result) yield found("output", call.result.content);
}
