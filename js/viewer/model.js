// @ts-check
/** What the page has open: the session's rows, the folds, the search, the place. It knows no document. */

import { Branches } from "./branches.js";
import { isOpenAtFirst } from "./calls.js";
import { arrange } from "./conversation.js";
import { Filters } from "./filters.js";
import { Inspector } from "./inspector.js";
import { Hits, findHits, foldOf } from "./search.js";
import { OtherHits } from "./other-hits.js";
import { Selection } from "./selection.js";
import { TurnFolds } from "./turn-folds.js";

/** @import { Damage } from "./damage.js" */
/** @import { LastRead } from "./last-read.js" */
/** @import { MetadataJson, ReadMessage } from "../types/index.js" */
/** @import { Conversation, Row } from "./conversation.js" */
/** @import { Call } from "./calls.js" */
/** @import { Child } from "./children.js" */
/** @import { Hit, HitGroup } from "./search.js" */

/** The state of the page. Each change is told to those who listen to `change`. */
export class Model extends EventTarget {
  /** All messages of the session, and which of them are shown. */
  branches = new Branches();
  /** @type {Map<string, boolean>} what a person opened or closed; the rest follows its kind */
  #folds = new Map();
  /** @type {Map<string, number>} */
  #more = new Map();
  /** The folds that the current hit opened, and what they were before. @type {Map<string, boolean | undefined>} */
  #openedByHit = new Map();
  /** @type {Conversation} */
  conversation = arrange([]);
  /** @type {MetadataJson} */
  metadata;
  /** The sub-agents' sessions, by the calls that began them. @type {Map<string, Child>} */
  children = new Map();
  /** What could not be read of the session's files. @type {Damage[]} */
  damage = [];
  /** Why reading ended, where it failed. */
  trouble = "";
  /** Where the header's bookmark leads. @type {string | undefined} */
  listAddress;
  /**
   * How the session is kept beyond the page, where that is offered.
   * @type {{ state: "offered" | "running" | "done", run: () => Promise<void> } | undefined}
   */
  keeping;
  isWhole = false;
  isLive = false;
  query = "";
  /** All hits of the text that is searched, and those that the filters leave. */
  allHits = new Hits();
  hits = new Hits();
  currentHit = -1;
  /** How many hits each fold hides, by rows and parts. @type {Map<Row, Map<string, number>>} */
  #hiddenHits = new Map();
  /** The row that keys act on. */
  cursor = 0;
  /** The rows on screen, the first and the last. */
  view = { first: 0, last: 0 };
  /** How many messages came while the end was not on screen. */
  unseen = 0;
  /** @type {"outline" | "files" | "usage"} */
  tab = "outline";
  isHelpOpen = false;
  isDamageOpen = false;
  isLeftOpen = false;
  /** What the model saw. */
  inspector = new Inspector(this);
  /** What is hidden. */
  filters = new Filters(this);
  turnFolds = new TurnFolds(this);
  otherHits = new OtherHits(this);
  selection = new Selection(this);
  /** Where the reader was the last time. @type {LastRead | undefined} */
  lastRead;

  /** @param {MetadataJson} metadata */
  constructor(metadata) {
    super();
    this.metadata = metadata;
  }

  /** The messages that are shown, in order: another array after each change. */
  get messages() {
    return this.branches.path;
  }

  get rows() {
    return this.conversation.rows;
  }

  /** @param {() => void} work */
  change(work) {
    work();
    this.dispatchEvent(new Event("change"));
  }

  /**
   * Takes messages: new ones behind the others, one that is known at its place.
   * @param {readonly ReadMessage[]} messages
   */
  add(messages) {
    this.changeBranch(() => this.branches.add(messages));
  }

  /** Changes which messages there are, or which are shown. @param {() => void} work */
  changeBranch(work) {
    this.change(() => {
      work();
      this.conversation = arrange(this.messages);
      this.cursor = this.#nearestShown(this.cursor);
      if (this.query !== "") this.#search();
    });
  }

  /** Shows the path that has a message, if one has it. @param {string} id */
  showPathOf(id) {
    const { path } = this.branches;
    if (this.branches.reveal(id) && this.branches.path !== path) this.changeBranch(() => {});
  }

  /** Takes a sub-agent's session. @param {string} callId @param {Child} child */
  addChild(callId, child) {
    this.change(() => {
      this.children.set(callId, child);
      if (this.query !== "") this.#search();
    });
  }

  /** Whether a part is open. @param {Row} row @param {string} part @param {Call} [call] */
  isOpen(row, part, call) {
    return this.#folds.get(foldOf(row.id, part)) ?? (call !== undefined && isOpenAtFirst(call));
  }

  /** @param {Row} row @param {string} part @param {boolean} isOpen */
  setOpen(row, part, isOpen) {
    this.change(() => {
      this.#openedByHit.delete(foldOf(row.id, part));
      this.#folds.set(foldOf(row.id, part), isOpen);
    });
  }

  /** Opens all that a row folds, or closes it if all is open. @param {Row} row */
  toggleRow(row) {
    const folds = foldsOf(row);
    if (folds.length === 0) return;
    const isAllOpen = folds.every(({ part, call }) => this.isOpen(row, part, call));
    this.change(() => folds.forEach(({ part }) => this.#folds.set(foldOf(row.id, part), !isAllOpen)));
  }

  /** Does what nobody waits for; where it fails, the page says why. @param {() => Promise<void> | undefined} work */
  async attempt(work) {
    try {
      await work();
    } catch (error) {
      this.change(() => (this.trouble = error instanceof Error ? error.message : String(error)));
    }
  }

  /** Keeps the session beyond the page. */
  async keep() {
    const { keeping } = this;
    if (!keeping) return;
    this.change(() => ([keeping.state, this.trouble] = ["running", ""]));
    await this.attempt(keeping.run);
    this.change(() => (keeping.state = this.trouble ? "offered" : "done"));
  }

  /** Opens or closes all calls of the tools that a row calls. @param {Row} row */
  toggleKind(row) {
    const names = new Set(row.calls.map(({ name }) => name));
    const [first] = row.calls;
    if (!first) return this.toggleRow(row);
    const isOpen = !this.isOpen(row, first.id, first);
    this.change(() => {
      for (const one of this.rows)
        for (const { id, name } of one.calls) if (names.has(name)) this.#folds.set(foldOf(one.id, id), isOpen);
    });
  }

  /** How many times more of a long text was asked for. @param {Row} row @param {string} part */
  shownMore(row, part) {
    return this.#more.get(foldOf(row.id, part)) ?? 0;
  }

  /** @param {Row} row @param {string} part @param {number} times below 0 for as little as at first */
  showMore(row, part, times) {
    this.change(() => this.#more.set(foldOf(row.id, part), Math.max(this.shownMore(row, part) + times, 0)));
  }

  /** The current hit. @returns {Hit | undefined} */
  get hit() {
    return this.hits.get(this.currentHit);
  }

  /** Whether the current hit is in this text, which is then shown whole. @param {Row} row @param {string} part */
  isSearched(row, part) {
    return this.hit?.part === part && this.hit.owner === row;
  }

  /** How many hits a fold hides. @param {Row} row @param {string} part */
  hitsIn(row, part) {
    return this.#hiddenHits.get(row)?.get(part) ?? 0;
  }

  /** Searches for what is typed: a text, filters, or both. @param {string} query */
  search(query) {
    this.change(() => {
      this.#leaveHit();
      this.query = query;
      if (this.filters.take(query)) this.cursor = this.#nearestShown(this.cursor);
      this.#search();
      this.#goToHit(this.hits.length === 0 ? -1 : (this.hits.placeFrom(this.view.first) ?? 0));
    });
  }

  #search() {
    const { filters, rows } = this;
    this.allHits = findHits(rows, this.children, filters.text);
    const isWanted = (/** @type {HitGroup} */ { row, call }) => filters.passes(rows[row], call);
    this.hits = filters.isActive ? this.allHits.select(isWanted) : this.allHits;
    this.otherHits.search();
    this.currentHit = Math.min(this.currentHit, this.hits.length - 1);
    this.#hiddenHits.clear();
    for (const { folds, count } of this.hits.groups)
      for (const { row, part } of folds) {
        const parts = this.#hiddenHits.get(row) ?? new Map();
        if (parts.size === 0) this.#hiddenHits.set(row, parts);
        parts.set(part, (parts.get(part) ?? 0) + count);
      }
  }

  /** Shows rows although a filter or a folded turn hides them. @param {number} from @param {number} [to] */
  reveal(from, to = from) {
    const rows = this.rows.slice(from, to + 1);
    this.change(() => {
      this.filters.reveal(rows);
      this.turnFolds.reveal(rows);
    });
  }

  /** Whether a row has a line in the list of its own. @param {Row} row */
  isListed(row) {
    return this.filters.isShown(row) && !this.turnFolds.hides(row);
  }

  /** The first row that is listed, or the last. @param {1 | -1} side @returns {number | undefined} */
  end(side) {
    const isShown = (/** @type {Row} */ row) => this.isListed(row);
    const place = side < 0 ? this.rows.findIndex(isShown) : this.rows.findLastIndex(isShown);
    return place < 0 ? undefined : place;
  }

  /** The row that is listed at a place, or behind it, or before. @param {number} place */
  #nearestShown(place) {
    const isShown = (/** @type {Row} */ row) => this.isListed(row);
    const next = this.rows.findIndex((row, at) => at >= place && isShown(row));
    if (next >= 0) return next;
    return Math.max(this.rows.slice(0, place).findLastIndex(isShown), 0);
  }

  /** Goes to another hit, around the ends. @param {number} by */
  moveHit(by) {
    const count = this.hits.length;
    if (count === 0) return;
    this.change(() => {
      this.#leaveHit();
      this.#goToHit((this.currentHit + by + count) % count);
    });
  }

  /** Goes to the first hit in a message. @param {string} id @returns {boolean} whether it has one */
  goToHitIn(id) {
    const row = this.conversation.rowOf.get(id);
    const place = this.hits.groups.find((group) => group.row === row)?.start;
    if (place !== undefined) this.moveHit(place - this.currentHit);
    return place !== undefined;
  }

  /** @param {number} place */
  #goToHit(place) {
    this.currentHit = place;
    const { hit } = this;
    if (!hit) return;
    this.cursor = hit.row;
    this.turnFolds.openForHit(this.rows[hit.row]);
    for (const { row, part, call } of hit.folds) {
      if (this.isOpen(row, part, call)) continue;
      const name = foldOf(row.id, part);
      this.#openedByHit.set(name, this.#folds.get(name));
      this.#folds.set(name, true);
    }
  }

  #leaveHit() {
    for (const [name, before] of this.#openedByHit)
      if (before === undefined) this.#folds.delete(name);
      else this.#folds.set(name, before);
    this.#openedByHit.clear();
    this.turnFolds.leaveHit();
    const turn = this.rows[this.cursor] && this.turnFolds.turnAround(this.rows[this.cursor]);
    if (turn) this.cursor = turn.firstRow;
  }

  /**
   * The next row from the cursor on that is shown and so.
   * @param {1 | -1} by @param {(row: Row) => boolean} isWanted
   * @returns {number | undefined}
   */
  next(by, isWanted) {
    for (let place = this.cursor + by; place >= 0 && place < this.rows.length; place += by)
      if (this.filters.isShown(this.rows[place]) && isWanted(this.rows[place])) return place;
    return undefined;
  }
}

/** What a row folds. @param {Row} row @returns {{ part: string, call?: Call }[]} */
export function foldsOf(row) {
  const reasoning = (row.message.assistant?.reasoning ?? []).map((_, index) => ({ part: `reasoning-${index}` }));
  const content = row.kind === "user" || row.kind === "assistant" ? [] : [{ part: "content" }];
  return [...reasoning, ...content, ...row.calls.map((call) => ({ part: call.id, call }))];
}
