// @ts-check
/** Where a reader was in a session the last time, kept by the browser where it keeps anything. */

/** @import { Model } from "./model.js" */

/** The place of one session. */
export class LastRead {
  #key;
  #hasMoved = false;
  /** What was on screen last: the last message, and how many there were. @type {{ message: string, count: number } | undefined} */
  before;
  /** Whether that place was on screen again. */
  isReached = false;

  /** @param {string} session its id */
  constructor(session) {
    this.#key = `leftoff read ${session}`;
    this.before = parse(withStorage((storage) => storage.getItem(this.#key)));
  }

  /** The row where the reader was, if it is shown, and something follows it. @param {Model} model @returns {number | undefined} */
  placeIn({ conversation, rows }) {
    const place = this.before && conversation.rowOf.get(this.before.message);
    return place === undefined || place === rows.length - 1 ? undefined : place;
  }

  /** How many messages are new since. @param {Model} model */
  countNew({ branches }) {
    return this.before ? Math.max(branches.all.length - this.before.count, 0) : 0;
  }

  /** Notes what is on screen, once the reader has moved. @param {Model} model */
  note(model) {
    const { view, rows, branches, isWhole } = model;
    if (!isWhole || rows.length === 0) return;
    const place = this.placeIn(model);
    if (place !== undefined && view.first <= place && place <= view.last) this.isReached = true;
    this.#hasMoved ||= view.first > 0 || view.last === rows.length - 1;
    if (!this.#hasMoved) return;
    const noted = { message: rows[view.last].id, count: branches.all.length };
    withStorage((storage) => storage.setItem(this.#key, JSON.stringify(noted)));
  }
}

/** @param {string | null | undefined} text @returns {LastRead["before"]} */
function parse(text) {
  try {
    const { message, count } = JSON.parse(text ?? "{}");
    return typeof message === "string" && typeof count === "number" ? { message, count } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * A browser may refuse its storage, or be out of room: then nothing is kept.
 * @template T
 * @param {(storage: Storage) => T} work
 * @returns {T | undefined}
 */
function withStorage(work) {
  try {
    return work(localStorage);
  } catch {
    return undefined;
  }
}
