// @ts-check
/** The conversation: rows in a list of which only what is near the screen is mounted. */

import {
  Virtualizer,
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
} from "@tanstack/virtual-core";
import { LitElement, html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { formatCount, formatDay, formatMany } from "../format.js";
import { highlightCode } from "../highlight.js";
import { markHits } from "../marks.js";
import { bandsAfter, bandsBefore } from "./bands.js";
import { hiddenOf, nothingOf } from "./filters.js";
import { LongScroll } from "./long-scroll.js";
import { chooserOf, messageOf, nameOf } from "./message.js";
import { foldedNameOf, foldedOf } from "./turn.js";

/** @import { Range } from "@tanstack/virtual-core" */
/** @import { Item } from "../filters.js" */
/** @import { Model } from "../model.js" */
/** @import { Row } from "../conversation.js" */

/** How many rows beyond the screen are mounted, at least. */
const OVERSCAN = 8;
/** What the bar above covers, in pixels. */
const BAR = 36;
/** What a run of hidden messages is high. */
const HIDDEN_PIXELS = 60;
/** What the line of a folded turn is high. */
const FOLDED_PIXELS = 40;
/** Nearer than this the end is on screen. */
const END_PIXELS = 40;

/** The list. Its model is given once, before it is connected. */
export class Conversation extends LitElement {
  /** @type {Model} */
  model = /** @type {any} */ (undefined);
  /** @type {Virtualizer<HTMLElement, HTMLElement>} */
  #list = /** @type {any} */ (undefined);
  /** @type {() => void} */
  #unmount = () => {};
  #isAtEnd = true;
  /** Counts what was asked to have the focus: only the last gets it. */
  #asked = 0;

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.#list = new Virtualizer(this.#options());
    this.#unmount = this.#list._didMount();
    this.model.addEventListener("change", this.#changed);
    addEventListener("beforeprint", this.#printing);
    addEventListener("afterprint", this.#printed);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.model.removeEventListener("change", this.#changed);
    removeEventListener("beforeprint", this.#printing);
    removeEventListener("afterprint", this.#printed);
    this.#unmount();
  }

  /** What is mounted of a range: the row that has the focus always is. @param {Range} range */
  #placesIn(range) {
    const places = defaultRangeExtractor(range);
    const current = this.model.filters.placeOf(this.model.cursor);
    if (current >= range.count || places.includes(current)) return places;
    return current < places[0] ? [current, ...places] : [...places, current];
  }

  #options() {
    const { rows, filters } = this.model;
    const { items } = filters;
    const keyOf = (/** @type {Item} */ { from, hidden, turn }) =>
      `${hidden > 0 ? "hidden " : turn ? "turn " : ""}${rows[from].id}`;
    const heightOf = (/** @type {Item} */ { from, hidden, turn }) =>
      hidden > 0 ? HIDDEN_PIXELS : turn ? FOLDED_PIXELS : estimateHeight(rows[from]);
    // Asked again for each row behind one that was measured: made once.
    const heights = items ? items.map(heightOf) : rows.map(estimateHeight);
    const keys = items ? items.map(keyOf) : rows.map(({ id }) => id);
    return {
      count: keys.length,
      getScrollElement: () => /** @type {any} */ (this.#scroll),
      estimateSize: (/** @type {number} */ place) => heights[place],
      getItemKey: (/** @type {number} */ place) => keys[place],
      rangeExtractor: (/** @type {Range} */ range) => this.#placesIn(range),
      overscan: OVERSCAN,
      scrollPaddingStart: BAR,
      scrollMargin: BAR,
      scrollToFn: elementScroll,
      observeElementRect: observeRect,
      observeElementOffset,
      onChange: () => this.requestUpdate(),
      initialRect: { width: 900, height: 800 },
    };
  }

  /** @type {unknown[]} */
  #listed = [];
  #changed = () => {
    const { rows, filters } = this.model;
    this.#isAtEnd = this.isAtEnd;
    // Other options have the list measured anew.
    if (this.#listed[0] !== rows || this.#listed[1] !== filters.items)
      this.#list.setOptions({ ...this.#list.options, ...this.#options() });
    this.#listed = [rows, filters.items];
    this.requestUpdate();
  };

  #isPrinting = false;
  /** Mounts all rows, before the browser lays out its pages. */
  #printing = () => {
    this.#isPrinting = true;
    this.requestUpdate();
    this.performUpdate();
  };
  #printed = () => {
    this.#isPrinting = false;
    this.requestUpdate();
  };

  /** What is mounted. @returns {{ key: unknown, index: number }[]} */
  get #rowsToMount() {
    const { rows, filters } = this.model;
    if (this.#isPrinting) return (filters.items ?? rows).map((_, index) => ({ key: index, index }));
    return this.#list.getVirtualItems();
  }

  /** @type {LongScroll | null} */
  #scrolled = null;
  get #scroll() {
    const element = /** @type {HTMLElement | null} */ (this.querySelector(".conv"));
    if (element !== (this.#scrolled?.element ?? null)) this.#scrolled = element && new LongScroll(element);
    return this.#scrolled;
  }

  /** Whether the end of the session is on screen. */
  get isAtEnd() {
    const box = this.#scroll;
    return !box || box.scrollHeight - box.scrollTop - box.clientHeight < END_PIXELS;
  }

  /** Whether it was, before the model's last change. */
  get wasAtEnd() {
    return this.#isAtEnd;
  }

  /**
   * Brings a row on screen.
   * @param {number} row @param {"start" | "auto" | "center"} [align]
   */
  async show(row, align = "start") {
    if (!this.model.rows[row]) return;
    await this.updateComplete;
    this.#list.scrollToIndex(this.model.filters.placeOf(row), { align });
  }

  /**
   * Brings a part of a row to the top.
   * @param {number} row @param {number} fraction of its height
   */
  showAt(row, fraction) {
    const place = this.model.filters.placeOf(row);
    const known = this.#list.measurementsCache[place];
    if (!known) return;
    const isEnd = row === this.model.end(1) && fraction === 1;
    if (isEnd) return this.#list.scrollToIndex(place, { align: "end" });
    this.#list.scrollToOffset(known.start - BAR + fraction * known.size);
  }

  /** @param {1 | -1} side */
  goToEnd(side) {
    const last = this.model.end(1);
    if (side < 0) this.#list.scrollToOffset(0);
    else if (last !== undefined) this.showAt(last, 1);
  }

  /** @param {number} pixels */
  moveBy(pixels) {
    this.querySelector(".conv")?.scrollBy(0, pixels);
  }

  /**
   * Gives a row the keyboard's focus: now if it is mounted, else once it is, unless something else got it by then.
   * @param {number} row
   */
  async focusRow(row) {
    // By its message: until the list is drawn anew, another row may have its place.
    const { filters, rows } = this.model;
    const message = rows[filters.itemAt(filters.placeOf(row)).from]?.id ?? "";
    const article = () =>
      /** @type {HTMLElement | null} */ (this.querySelector(`article[data-message="${CSS.escape(message)}"]`));
    article()?.focus({ preventScroll: true });
    const { activeElement: held, body } = document;
    const asked = (this.#asked += 1);
    await this.show(row, "auto");
    await new Promise((go) => requestAnimationFrame(go));
    await this.updateComplete;
    const isHeld = document.activeElement === held || document.activeElement === body;
    if (asked === this.#asked && isHeld) article()?.focus({ preventScroll: true });
  }

  /** The rows on screen. */
  #visible() {
    const top = (this.#list.scrollOffset ?? 0) + BAR;
    const bottom = top - BAR + (this.#list.scrollRect?.height ?? 0);
    const items = this.#list.getVirtualItems().filter(({ start, end }) => end > top && start < bottom);
    return {
      first: this.model.filters.itemAt(items[0]?.index ?? 0).from,
      last: this.model.filters.itemAt(items.at(-1)?.index ?? 0).to,
    };
  }

  render() {
    this.#list._willUpdate();
    const { rows, view, conversation, filters } = this.model;
    const row = rows[view.first];
    const turn = row && conversation.turns[row.turn];
    const isBeginning = view.first === 0;
    const isEmpty = filters.items?.every(({ hidden }) => hidden > 0) ?? false;
    return html`<div class="conv" id="conversation" tabindex="-1">
      <div class="now">
        <div>
          <span class="g">${turn && !isBeginning ? html`<span class="num">${turn.number}</span>` : nothing}</span>
          <span class="t">${isBeginning ? "Beginning of the session" : (turn?.title ?? "")}</span>
          <span class="at"
            >${
              row
                ? `${formatDay(row.message.timestamp)} · ${formatCount(row.place + 1)} of ${formatCount(conversation.totals.messages)}`
                : nothing
            }</span
          >
        </div>
      </div>
      <div
        class="feed"
        role=${isEmpty ? nothing : "feed"}
        aria-label=${isEmpty ? nothing : "Conversation"}
        aria-busy=${!this.model.isWhole}
      >
        ${repeat(
          isEmpty ? [] : this.#rowsToMount,
          ({ key }) => key,
          ({ index }) => this.#article(index),
        )}
      </div>
      ${isEmpty ? nothingOf(this.model) : nothing}
    </div>`;
  }

  /** @param {number} index */
  #article(index) {
    const { rows, cursor, filters } = this.model;
    const item = filters.itemAt(index);
    const row = rows[item.from];
    if (!row) return nothing;
    const isHidden = item.hidden > 0;
    const isCurrent = !isHidden && item.from === cursor;
    const name = item.turn ? foldedNameOf(item.turn) : nameOf(row);
    const moveCursor = isHidden ? nothing : () => this.#moveCursor(item.from);
    return html`<article
      data-index=${index}
      data-message=${isHidden ? nothing : row.id}
      tabindex=${isCurrent ? 0 : -1}
      aria-label=${isHidden ? `${formatMany(item.hidden, "message")} hidden` : name}
      aria-posinset=${index + 1}
      aria-setsize=${filters.items?.length ?? rows.length}
      ?data-current=${isCurrent}
      ?data-selected=${!isHidden && this.model.selection.has(row)}
      @focusin=${moveCursor}
      @click=${moveCursor}
    >
      ${isHidden ? hiddenOf(item, () => this.#reveal(item)) : this.#rowOf(row, index)}
    </article>`;
  }

  /** A row, or the line of a turn, with what stands around it. @param {Row} row @param {number} place */
  #rowOf(row, place) {
    const { model } = this;
    const { from, to, turn } = model.filters.itemAt(place);
    const isApart = model.filters.itemAt(place - 1).turn === undefined;
    const toggle = () => void this.toggleTurn(row);
    return html`${chooserOf(model, row)} ${from === 0 ? bandsBefore(model) : nothing}
    ${turn ? foldedOf(model, turn, { isApart, open: toggle }) : messageOf(model, row, toggle)}
    ${model.rows.slice(from, to + 1).map((one) => bandsAfter(model, one))}`;
  }

  /** Folds the turn of a request, or opens it, and goes on with its line. @param {Row} row @param {boolean} [isForAll] */
  async toggleTurn(row, isForAll) {
    const { model } = this;
    model.turnFolds.toggle(row, isForAll);
    const place = model.conversation.turns[row.turn].firstRow;
    this.#moveCursor(place);
    // Until then other rows are where the line will be.
    await this.updateComplete;
    await this.focusRow(place);
  }

  /** Shows a run of hidden rows, and goes on with its first. @param {Item} item */
  #reveal({ from, to }) {
    this.model.reveal(from, to);
    this.#moveCursor(from);
    void this.focusRow(from);
  }

  /** @param {number} index */
  #moveCursor(index) {
    if (this.model.cursor !== index) this.model.change(() => (this.model.cursor = index));
  }

  firstUpdated() {
    this.#list._willUpdate();
    this.requestUpdate();
  }

  updated() {
    if (this.#isPrinting) return;
    const feed = /** @type {HTMLElement} */ (this.querySelector(".feed"));
    const scroll = /** @type {LongScroll} */ (this.#scroll);
    scroll.total = this.#list.getTotalSize();
    const moveBack = this.#list.isScrolling ? undefined : scroll.rest();
    feed.style.height = `${scroll.stretch}px`;
    const items = new Map(this.#list.getVirtualItems().map((item) => [item.index, item]));
    for (const element of /** @type {Iterable<HTMLElement>} */ (feed.querySelectorAll(":scope > article"))) {
      const item = items.get(Number(element.dataset.index));
      if (item) element.style.transform = `translateY(${scroll.placeOf(item.start - BAR, item.size)}px)`;
      this.#list.measureElement(element);
    }
    moveBack?.();
    highlightCode(feed, () => markHits(this, this.model));
    markHits(this, this.model);
    this.#tellView();
  }

  #tellView() {
    const { first, last } = this.#visible();
    const { view } = this.model;
    if (view.first === first && view.last === last) return;
    this.model.view = { first, last };
    this.model.dispatchEvent(new Event("view"));
    this.requestUpdate();
  }
}

/** @type {import("@tanstack/virtual-core").VirtualizerOptions<HTMLElement, HTMLElement>["observeElementRect"]} */
const observeRect = (list, tell) => {
  const { element } = /** @type {any} */ (list.scrollElement);
  return observeElementRect(/** @type {any} */ ({ ...list, scrollElement: element }), tell);
};

/** By message, as rows are made anew with each that is appended. @type {WeakMap<Row["message"], number>} */
const estimates = new WeakMap();

/** The height that a row may have, until it is measured. @param {Row} row */
function estimateHeight(row) {
  const known = estimates.get(row.message) ?? estimateRow(row);
  estimates.set(row.message, known);
  return known;
}

/** @param {Row} row */
function estimateRow({ kind, message, calls, isFirstOfTurn }) {
  const lines = message.content.split("\n", 60).reduce((sum, line) => sum + 1 + Math.floor(line.length / 85), 0);
  if (kind === "user") return 100 + Math.min(lines, 24) * 24 + (message.attachments?.length ?? 0) * 300;
  if (kind !== "assistant") return 40;
  const prose = message.content === "" ? 0 : lines * 24;
  const ledger = calls.reduce((sum, { failed, changes }) => sum + 37 + (failed || changes.length > 0 ? 180 : 0), 0);
  return 48 + prose + ledger + (message.assistant?.reasoning?.length ?? 0) * 28 + (isFirstOfTurn ? 16 : 0);
}

customElements.define("leftoff-conversation", Conversation);
