// @ts-check
/** Search in the rows of a session as one types, folded parts and sub-agents included. */

import { hasDiff } from "./calls.js";
import { sectionsOf } from "./changes.js";
import { MAX_NESTED, reportedRows } from "./children.js";

/** @import { Call } from "./calls.js" */
/** @import { Child } from "./children.js" */
/** @import { Row } from "./conversation.js" */

/** @typedef {{ row: Row, part: string, call?: Call }} Fold what hides a text: a part of a row, or of a sub-agent's row */
/**
 * @typedef {{ row: number, part: string, owner: Row, call: Call | undefined, folds: Fold[], count: number,
 *   start: number }} HitGroup the hits in a text. `owner`: the row that has it, maybe a sub-agent's; `call`: of the
 *   session's own row; `folds`: from the outermost on; `start`: the place of the first hit among all
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

/**
 * The place of the last one that is so, where those that are so come first; 0 if none is.
 * @template T
 * @param {readonly T[]} list @param {(one: T) => boolean} isSo
 */
export function findLast(list, isSo) {
  let [low, high] = [0, Math.max(list.length - 1, 0)];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (isSo(list[middle])) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Hits in the order of the screen. */
export class Hits {
  /** @type {HitGroup[]} */
  groups = [];
  length = 0;

  /** Takes the hits of a text. @param {Omit<HitGroup, "start">} found */
  add(found) {
    this.groups.push(Object.assign(found, { start: this.length }));
    this.length += found.count;
  }

  /** @param {number} place @returns {Hit | undefined} */
  get(place) {
    if (place < 0 || place >= this.length) return undefined;
    const group = this.groups[findLast(this.groups, ({ start }) => start <= place)];
    return { ...group, nth: place - group.start };
  }

  /** The place of the first hit in a row, or behind it; nothing if there is none. @param {number} row @returns {number | undefined} */
  placeFrom(row) {
    return this.groups.find((group) => group.row >= row)?.start;
  }

  /** How many there are in rows. @param {number} from the first row @param {number} to the last one */
  countIn(from, to) {
    const [start, end] = [from, to + 1].map((row) => this.#startAt(row));
    return end - start;
  }

  /** How many hits stand before a row. @param {number} row */
  #startAt(row) {
    const { groups } = this;
    if (groups.length === 0 || groups[0].row >= row) return 0;
    const { start, count } = groups[findLast(groups, (group) => group.row < row)];
    return start + count;
  }

  /** Those in texts that are so. @param {(group: HitGroup) => boolean} isWanted */
  select(isWanted) {
    const hits = new Hits();
    for (const group of this.groups) if (isWanted(group)) hits.add({ ...group });
    return hits;
  }
}

/**
 * Finds a text in all rows.
 * @param {readonly Row[]} rows @param {ReadonlyMap<string, Child>} children @param {string} query
 */
export function findHits(rows, children, query) {
  const pattern = patternOf(query);
  if (!pattern) return new Hits();
  const search = new Search(pattern, children);
  rows.forEach((row, index) => search.findInRow(row, index));
  return search.hits;
}

/** Goes through the texts of rows in the order of the screen. It makes nothing for a text without a hit. */
class Search {
  hits = new Hits();
  #pattern;
  #children;
  #row = 0;
  /** The call of the session's own row that is gone through. @type {Call | undefined} */
  #call;

  /** @param {RegExp} pattern @param {ReadonlyMap<string, Child>} children */
  constructor(pattern, children) {
    this.#pattern = pattern;
    this.#children = children;
  }

  /** @param {Row} row @param {number} index */
  findInRow(row, index) {
    this.#row = index;
    this.#call = undefined;
    const { assistant, content } = row.message;
    for (const [place, { text }] of assistant?.reasoning?.entries() ?? []) {
      const part = `reasoning-${place}`;
      this.#find(text, part, row, [], { row, part });
    }
    const isOpen = row.kind === "user" || row.kind === "assistant";
    this.#find(content, "content", row, [], isOpen ? undefined : { row, part: "content" });
    for (const call of row.calls) {
      this.#call = call;
      this.#findInCall(row, call, []);
    }
  }

  /** @param {Row} owner @param {Call} call @param {Fold[]} around */
  #findInCall(owner, call, around) {
    const fold = { row: owner, part: call.id, call };
    if (hasDiff(call)) {
      this.#find(call.argument, "path", owner, around, undefined, call);
      const sections = sectionsOf(call.changes).flatMap(({ heading, lines }) => [
        heading ?? "",
        ...lines.map(({ text }) => text),
      ]);
      this.#find(sections.join("\n"), "input", owner, around, fold, call);
    } else this.#find(call.text, "input", owner, around, call.isBrief ? undefined : fold, call);
    const child = this.#children.get(call.id);
    if (child && around.length < MAX_NESTED) {
      const folds = [...around, fold];
      for (const row of reportedRows(child, call)) {
        this.#find(row.message.content, "content", row, folds);
        for (const one of row.calls) this.#findInCall(row, one, folds);
      }
    }
    if (call.result && !hasDiff(call)) this.#find(call.result.content, "output", owner, around, fold, call);
  }

  /**
   * @param {string} text @param {string} part @param {Row} owner @param {Fold[]} around @param {Fold} [fold]
   * @param {Call} [call] whose input or output the text is
   */
  #find(text, part, owner, around, fold, call) {
    const count = countIn(text, this.#pattern, this.hits.length < MAX_HITS);
    if (count === 0) return;
    this.hits.add({
      part: call ? `${part}-${call.id}` : part,
      owner,
      call: this.#call,
      folds: fold ? [...around, fold] : around,
      row: this.#row,
      count,
    });
  }
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
