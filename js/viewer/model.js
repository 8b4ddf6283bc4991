// @ts-check
/** What the page has open: the session's rows, the folds, the search, the place. It knows no document. */

import { Branches } from "./branches.js";
import { arrange } from "./conversation.js";
import { Inspector } from "./inspector.js";
import { Selection } from "./selection.js";
import { findHits, foldOf } from "./search.js";

/** @import { Damage } from "./damage.js" */
/** @import { LastRead } from "./last-read.js" */
/** @import { MetadataJson, ReadMessage } from "../types/index.js" */
/** @import { Conversation, Row } from "./conversation.js" */
/** @import { Call } from "./calls.js" */
/** @import { Child } from "./children.js" */
/** @import { Hit } from "./search.js" */

/** How long an edit may be to be open. */
const SHORT_EDIT_LINES = 12;

/** The state of the page. Each change is told to those who listen to `change`. */
export class Model extends EventTarget {
  /** All messages of the session, and which of them are shown. */
  branches = new Branches();
  /** @type {Map<string, boolean>} what a person opened or closed; the rest follows its kind */
  #folds = new Map();
  /** @type {Map<string, number>} */
  #more = new Map();
  /** A fold that the current hit opened, and closes as it is left. @type {string | undefined} */
  #openedByHit;
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
  isWhole = false;
  isLive = false;
  query = "";
  /** @type {Hit[]} */
  hits = [];
  currentHit = -1;
  /** The row that keys act on. */
  cursor = 0;
  /** The rows on screen, the first and the last. */
  view = { first: 0, last: 0 };
  /** How many messages came while the end was not on screen. */
  unseen = 0;
  /** @type {"outline" | "files"} */
  tab = "outline";
  isHelpOpen = false;
  isDamageOpen = false;
  isLeftOpen = false;
  /** What the model saw. */
  inspector = new Inspector(this);
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
      this.cursor = Math.max(Math.min(this.cursor, this.rows.length - 1), 0);
      if (this.query !== "") this.#search();
    });
  }

  /** Shows the path that has a message, if one has it. @param {string} id */
  showPathOf(id) {
    const { path } = this.branches;
    if (this.branches.reveal(id) && this.branches.path !== path) this.changeBranch(() => {});
  }

  /** Whether a part is open. @param {Row} row @param {string} part @param {Call} [call] */
  isOpen(row, part, call) {
    return this.#folds.get(foldOf(row.id, part)) ?? this.#isOpenByKind(call);
  }

  /** Failed calls are open, and short edits. @param {Call | undefined} call */
  #isOpenByKind(call) {
    if (!call) return false;
    if (call.failed) return true;
    return call.change !== undefined && call.change.added.length + call.change.removed.length <= SHORT_EDIT_LINES;
  }

  /** @param {Row} row @param {string} part @param {boolean} isOpen */
  setOpen(row, part, isOpen) {
    this.change(() => {
      this.#openedByHit = undefined;
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

  /** @param {Row} row @param {string} part @param {number} times */
  showMore(row, part, times) {
    this.change(() => this.#more.set(foldOf(row.id, part), this.shownMore(row, part) + times));
  }

  /** Whether the current hit is in this text, which is then shown whole. @param {Row} row @param {string} part */
  isSearched(row, part) {
    const hit = this.hits[this.currentHit];
    return hit !== undefined && hit.part === part && this.rows[hit.row] === row;
  }

  /** @param {string} query */
  search(query) {
    this.change(() => {
      this.#leaveHit();
      this.query = query;
      this.#search();
      const from = this.hits.findIndex(({ row }) => row >= this.view.first);
      this.#goToHit(this.hits.length === 0 ? -1 : Math.max(from, 0));
    });
  }

  #search() {
    this.hits = findHits(this.rows, this.query);
    this.currentHit = Math.min(this.currentHit, this.hits.length - 1);
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

  /** @param {number} place */
  #goToHit(place) {
    this.currentHit = place;
    const hit = this.hits[place];
    if (!hit) return;
    this.cursor = hit.row;
    if (hit.fold === undefined) return;
    const row = this.rows[hit.row];
    const part = hit.fold.slice(row.id.length + 1);
    const call = row.calls.find(({ id }) => id === part);
    if (this.isOpen(row, part, call)) return;
    this.#folds.set(hit.fold, true);
    this.#openedByHit = hit.fold;
  }

  #leaveHit() {
    if (this.#openedByHit) this.#folds.delete(this.#openedByHit);
    this.#openedByHit = undefined;
  }

  /**
   * The next row from the cursor on that is so.
   * @param {1 | -1} by @param {(row: Row) => boolean} isWanted
   * @returns {number | undefined}
   */
  next(by, isWanted) {
    for (let place = this.cursor + by; place >= 0 && place < this.rows.length; place += by)
      if (isWanted(this.rows[place])) return place;
    return undefined;
  }
}

/** What a row folds. @param {Row} row @returns {{ part: string, call?: Call }[]} */
export function foldsOf(row) {
  const reasoning = (row.message.assistant?.reasoning ?? []).map((_, index) => ({ part: `reasoning-${index}` }));
  const content = row.kind === "user" || row.kind === "assistant" ? [] : [{ part: "content" }];
  return [...reasoning, ...content, ...row.calls.map((call) => ({ part: call.id, call }))];
}
