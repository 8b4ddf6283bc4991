// @ts-check
/** What is shown of a session: filters by role, tool, file and errors, which are words of what is searched. */

import { parseQuery, writeQuery } from "./query.js";
import { findLast } from "./search.js";

/** @import { Call } from "./calls.js" */
/** @import { Row, Turn } from "./conversation.js" */
/** @import { Model } from "./model.js" */
/** @import { Filter, FilterKind, Query } from "./query.js" */

/**
 * @typedef {{ from: number, to: number, hidden: number, turn?: Turn }} Item a row that is shown, a run of hidden ones and
 *   how many messages it has, or a turn that is folded; `from`, `to`: the first row and the last
 */
/**
 * @typedef {{ all: number, errors: number, roles: Map<string, number>, tools: Map<string, number>,
 *   files: Map<string, number> }} Counts of messages and calls, or of hits where a text is searched
 */

/** What else a role may be called. @type {Record<string, Row["kind"]>} */
const ROLE_ALIASES = { you: "user", system: "note", compaction: "summary" };

/** The filters in force, and what they leave. */
export class Filters {
  #model;
  /** @type {Query} */
  #query = { text: "", filters: [] };
  /** The rows that a person asked to see although they are hidden, by their ids. @type {Set<string>} */
  #revealed = new Set();
  /** @type {{ rows: readonly Row[], folded: ReadonlySet<string>, items: Item[] } | undefined} */
  #known;
  /** @type {{ rows: readonly Row[], hits: unknown, counts: Counts } | undefined} */
  #counted;

  /** @param {Model} model */
  constructor(model) {
    this.#model = model;
  }

  /** The text to find. */
  get text() {
    return this.#query.text;
  }

  get inForce() {
    return this.#query.filters;
  }

  get isActive() {
    return this.#query.filters.length > 0;
  }

  /** Takes what was typed. @param {string} typed @returns {boolean} whether the filters are others now */
  take(typed) {
    const before = writeQuery({ ...this.#query, text: "" });
    this.#query = parseQuery(typed);
    this.#counted = undefined;
    if (writeQuery({ ...this.#query, text: "" }) === before) return false;
    this.#known = undefined;
    this.#revealed.clear();
    return true;
  }

  /** What is typed once a filter is the only one of its kind, or none of it if it is that already. @param {Filter} filter */
  queryToggling(filter) {
    const others = this.#query.filters.filter(({ kind }) => kind !== filter.kind);
    const added = this.has(filter) ? [] : [filter];
    return writeQuery({ text: this.text, filters: [...others, ...added] });
  }

  /** What is typed without the filters of a kind. @param {FilterKind} [kind] all of them if it is not given */
  queryWithout(kind) {
    const filters = this.#query.filters.filter((filter) => kind !== undefined && filter.kind !== kind);
    return writeQuery({ text: this.text, filters });
  }

  /** @param {Filter} filter */
  has({ kind, value }) {
    return this.#query.filters.some((filter) => filter.kind === kind && filter.value === value);
  }

  /**
   * Whether a message or one of its calls passes, without the filters of one kind if it is said.
   * @param {Row} row @param {Call} [call] @param {FilterKind} [but]
   */
  passes(row, call, but) {
    const { filters } = this.#query;
    return filters.every(
      ({ kind }) =>
        kind === but || filters.some((filter) => filter.kind === kind && isOf(filter, row, call, this.#model)),
    );
  }

  /** Whether a row is shown. @param {Row} row */
  isShown(row) {
    return !this.isActive || this.#revealed.has(row.id) || this.#isWanted(row);
  }

  /** @param {Row} row */
  #isWanted(row) {
    return this.passes(row) || row.calls.some((call) => this.passes(row, call));
  }

  /** Shows rows that are hidden. @param {readonly Row[]} rows */
  reveal(rows) {
    const hidden = rows.filter((row) => !this.isShown(row));
    if (hidden.length === 0) return;
    for (const { id } of hidden) this.#revealed.add(id);
    this.#known = undefined;
  }

  /** What the list has, where something is hidden or folded. @returns {readonly Item[] | undefined} */
  get items() {
    const { rows, turnFolds } = this.#model;
    const { folded } = turnFolds;
    if (!this.isActive && folded.size === 0) return undefined;
    if (this.#known?.rows !== rows || this.#known.folded !== folded)
      this.#known = { rows, folded, items: this.isActive ? this.#arrange(rows) : turnFolds.arrange() };
    return this.#known.items;
  }

  /** What the list has at a place. @param {number} place @returns {Item} */
  itemAt(place) {
    return this.items?.[place] ?? { from: place, to: place, hidden: 0 };
  }

  /** The place of a row in the list, or of what it is hidden in. @param {number} row */
  placeOf(row) {
    const { items } = this;
    return items ? findLast(items, ({ from }) => from <= row) : row;
  }

  /** @param {readonly Row[]} rows */
  #arrange(rows) {
    /** @type {Item[]} */
    const items = [];
    rows.forEach((row, place) => {
      const last = items.at(-1);
      if (this.isShown(row)) items.push({ from: place, to: place, hidden: 0 });
      else if (last && last.hidden > 0) {
        last.to = place;
        last.hidden += row.messageCount;
      } else items.push({ from: place, to: place, hidden: row.messageCount });
    });
    return items;
  }

  /** How many there are of each kind, as the filters of the other kinds leave them. @returns {Counts} */
  get counts() {
    const { rows, allHits } = this.#model;
    if (this.#counted?.rows !== rows || this.#counted.hits !== allHits)
      this.#counted = { rows, hits: allHits, counts: this.#count() };
    return this.#counted.counts;
  }

  #count() {
    const { rows, allHits } = this.#model;
    /** @type {Counts} */
    const counts = { all: 0, errors: 0, roles: new Map(), tools: new Map(), files: new Map() };
    if (this.text !== "")
      for (const { row, call, count } of allHits.groups) this.#countOne(counts, rows[row], call, count);
    else
      for (const row of rows) {
        this.#countOne(counts, row, undefined, 1);
        for (const call of row.calls) this.#countOne(counts, row, call, 1);
      }
    return counts;
  }

  /** @param {Counts} counts @param {Row} row @param {Call | undefined} call @param {number} count */
  #countOne(counts, row, call, count) {
    const add = (/** @type {Map<string, number>} */ map, /** @type {string} */ name) =>
      map.set(name, (map.get(name) ?? 0) + count);
    counts.all += count;
    if (this.passes(row, call, "role")) add(counts.roles, roleOf(row, call));
    if (call && this.passes(row, call, "tool")) add(counts.tools, call.name);
    if (call && this.passes(row, call, "file")) for (const path of call.files) add(counts.files, path);
    if (hasFailed(row, call) && this.passes(row, call, "is")) counts.errors += count;
  }
}

/** @param {Row} row @param {Call} [call] */
const roleOf = (row, call) => (call ? "tool" : row.kind);

/** @param {Row} row @param {Call} [call] */
const hasFailed = (row, call) => (call ? call.failed : row.failed && row.calls.length === 0);

/** @param {Filter} filter @param {Row} row @param {Call | undefined} call @param {Model} model */
function isOf({ kind, value }, row, call, { metadata }) {
  const wanted = value.toLowerCase();
  if (kind === "role") return (ROLE_ALIASES[wanted] ?? wanted) === roleOf(row, call);
  if (kind === "tool") return (call?.name ?? row.message.tool?.name)?.toLowerCase() === wanted;
  if (kind === "is") return wanted === "error" && hasFailed(row, call);
  return (call?.files ?? []).some((path) => {
    const lower = path.toLowerCase();
    return (
      lower === wanted || lower.endsWith(`/${wanted}`) || lower === `${metadata.project?.path}/${wanted}`.toLowerCase()
    );
  });
}
