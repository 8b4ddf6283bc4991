// @ts-check
/** The turns that are shown as one line. */

/** @import { Row, Turn } from "./conversation.js" */
/** @import { Item } from "./filters.js" */
/** @import { Model } from "./model.js" */

/** Which turns are folded. Filters show what they leave in folded turns, too. */
export class TurnFolds {
  #model;
  /** By the ids of turns: another set after each change. @type {ReadonlySet<string>} */
  folded = new Set();
  /** The turn that the current hit opened. @type {Turn | undefined} */
  #openedByHit;

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
  }

  /** The folded turn that a row is in. @param {Row} row @returns {Turn | undefined} */
  turnAround(row) {
    const turn = this.#model.conversation.turns[row.turn];
    return this.folded.has(turn.id) && !this.#model.filters.isActive ? turn : undefined;
  }

  /** Whether a folded turn hides a row: all but its request, which its line stands for. @param {Row} row */
  hides(row) {
    return !row.isFirstOfTurn && this.turnAround(row) !== undefined;
  }

  /** The rows that the line of a row stands for. @param {Row} row */
  rowsAt(row) {
    const turn = this.turnAround(row);
    return turn ? this.#model.rows.slice(turn.firstRow, turn.lastRow + 1) : [row];
  }

  /** Whether a turn can be folded by its request. @param {Row} row */
  canFold(row) {
    return row.isFirstOfTurn && !this.#model.filters.isActive;
  }

  /** Folds the turn of a request, or opens it. @param {Row} row @param {boolean} [isForAll] all turns, as that one then is */
  toggle(row, isForAll = false) {
    const { turns } = this.#model.conversation;
    const isFolded = this.turnAround(row) !== undefined;
    const changed = isForAll
      ? turns.filter(({ firstRow }) => this.#model.rows[firstRow].isFirstOfTurn)
      : [turns[row.turn]];
    this.#model.change(() => this.#set(changed, !isFolded));
  }

  /** Opens the turns that hide rows. @param {readonly Row[]} rows */
  reveal(rows) {
    const hidden = rows.filter((row) => this.hides(row));
    if (hidden.length > 0)
      this.#set(
        hidden.map(({ turn }) => this.#model.conversation.turns[turn]),
        false,
      );
  }

  /** Opens the turn of a hit, until another hit is the current one. @param {Row} row */
  openForHit(row) {
    const turn = this.turnAround(row);
    if (!turn) return;
    this.#set([turn], false);
    this.#openedByHit = turn;
  }

  /** Folds the turn again that a hit opened. */
  leaveHit() {
    if (this.#openedByHit) this.#set([this.#openedByHit], true);
  }

  /** @param {readonly Turn[]} turns @param {boolean} isFolded */
  #set(turns, isFolded) {
    const folded = new Set(this.folded);
    for (const { id } of turns)
      if (isFolded) folded.add(id);
      else folded.delete(id);
    this.folded = folded;
    this.#openedByHit = undefined;
  }

  /** What the list has of all rows. @returns {Item[]} */
  arrange() {
    return this.#model.conversation.turns.flatMap((turn) => {
      const { id, firstRow, lastRow } = turn;
      if (this.folded.has(id)) return [{ from: firstRow, to: lastRow, hidden: 0, turn }];
      const count = lastRow - firstRow + 1;
      return Array.from({ length: count }, (_, at) => ({ from: firstRow + at, to: firstRow + at, hidden: 0 }));
    });
  }
}
