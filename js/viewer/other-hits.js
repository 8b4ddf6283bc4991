// @ts-check
/** What a search finds on branches that are not shown. */

import { arrange } from "./conversation.js";
import { Hits, findHits } from "./search.js";

/** @import { Row } from "./conversation.js" */
/** @import { Model } from "./model.js" */

/** The hits on other branches. */
export class OtherHits {
  #model;
  /** The rows of the other branches, and the path beside which they are that. @type {{ path: unknown, rows: Row[] }} */
  #other = { path: undefined, rows: [] };
  #hits = new Hits();

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
  }

  /** How many there are. */
  get length() {
    return this.#hits.length;
  }

  /** Finds the text of the search, as far as the filters leave it. */
  search() {
    const { branches, children, filters } = this.#model;
    const rows = branches.isForked ? this.#rowsBeside(branches.path) : [];
    const found = findHits(rows, children, filters.text);
    this.#hits = filters.isActive ? found.select(({ row, call }) => filters.passes(rows[row], call)) : found;
  }

  /** @param {readonly { id: string }[]} path */
  #rowsBeside(path) {
    if (this.#other.path === path) return this.#other.rows;
    const shown = new Set(path);
    const { rows } = arrange(this.#model.branches.all.filter((message) => !shown.has(message)));
    this.#other = { path, rows };
    return rows;
  }

  /** Shows the branch of the next hit behind the current row, around the end of the log. */
  goToNext() {
    const { branches, rows, cursor } = this.#model;
    const places = new Map(branches.all.map(({ id }, place) => [id, place]));
    const placeOf = (/** @type {Row} */ { id }) => places.get(id) ?? 0;
    const from = rows[cursor] ? placeOf(rows[cursor]) : 0;
    const found = this.#hits.groups.map((group) => this.#other.rows[group.row]);
    const next = found.find((row) => placeOf(row) > from) ?? found[0];
    if (!next) return;
    this.#model.showPathOf(next.id);
    this.#model.goToHitIn(next.id);
  }
}
