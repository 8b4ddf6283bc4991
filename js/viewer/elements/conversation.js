// @ts-check
/** The conversation: rows in a list of which only what is near the screen is mounted. */

import { Virtualizer, elementScroll, observeElementOffset, observeElementRect } from "@tanstack/virtual-core";
import { LitElement, html, nothing } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { formatCount, formatDay } from "../format.js";
import { highlightCode } from "../highlight.js";
import { markHits } from "../marks.js";
import { bandsAfter, bandsBefore } from "./bands.js";
import { messageOf, nameOf, chooserOf } from "./message.js";

/** @import { Model } from "../model.js" */
/** @import { Row } from "../conversation.js" */

/** How many rows beyond the screen are mounted, at least. */
const OVERSCAN = 8;
/** What the bar above covers, in pixels. */
const BAR = 36;
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

  #options() {
    const { rows } = this.model;
    return {
      count: rows.length,
      getScrollElement: () => /** @type {HTMLElement | null} */ (this.querySelector(".conv")),
      estimateSize: (/** @type {number} */ place) => estimateHeight(rows[place]),
      getItemKey: (/** @type {number} */ place) => rows[place].id,
      overscan: OVERSCAN,
      scrollPaddingStart: BAR,
      scrollMargin: BAR,
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: () => this.requestUpdate(),
      initialRect: { width: 900, height: 800 },
    };
  }

  #changed = () => {
    this.#isAtEnd = this.isAtEnd;
    this.#list.setOptions({ ...this.#list.options, ...this.#options() });
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
    if (this.#isPrinting) return this.model.rows.map(({ id }, index) => ({ key: id, index }));
    return this.#list.getVirtualItems();
  }

  /** Whether the end of the session is on screen. */
  get isAtEnd() {
    const box = this.querySelector(".conv");
    return !box || box.scrollHeight - box.scrollTop - box.clientHeight < END_PIXELS;
  }

  /** Whether it was, before the model's last change. */
  get wasAtEnd() {
    return this.#isAtEnd;
  }

  /**
   * Brings a row on screen.
   * @param {number} place @param {"start" | "auto" | "center"} [align]
   */
  async show(place, align = "start") {
    if (!this.model.rows[place]) return;
    await this.updateComplete;
    this.#list.scrollToIndex(place, { align });
  }

  /**
   * Brings a part of a row to the top.
   * @param {number} place @param {number} fraction of its height
   */
  showAt(place, fraction) {
    const known = this.#list.measurementsCache[place];
    if (!known) return;
    const isEnd = place === this.model.rows.length - 1 && fraction === 1;
    if (isEnd) return this.#list.scrollToIndex(place, { align: "end" });
    this.#list.scrollToOffset(known.start - BAR + fraction * known.size);
  }

  /** @param {number} pixels */
  moveBy(pixels) {
    this.querySelector(".conv")?.scrollBy(0, pixels);
  }

  /**
   * Gives a row the keyboard's focus: now if it is mounted, else once it is, unless somebody types by then.
   * @param {number} place
   */
  async focusRow(place) {
    const article = () => /** @type {HTMLElement | null} */ (this.querySelector(`article[data-index="${place}"]`));
    article()?.focus({ preventScroll: true });
    const asked = (this.#asked += 1);
    await this.show(place, "auto");
    await new Promise((go) => requestAnimationFrame(go));
    await this.updateComplete;
    if (asked === this.#asked && !(document.activeElement instanceof HTMLInputElement))
      article()?.focus({ preventScroll: true });
  }

  /** The rows on screen. */
  #visible() {
    const top = (this.#list.scrollOffset ?? 0) + BAR;
    const bottom = top - BAR + (this.#list.scrollRect?.height ?? 0);
    const items = this.#list.getVirtualItems().filter(({ start, end }) => end > top && start < bottom);
    return { first: items[0]?.index ?? 0, last: items.at(-1)?.index ?? 0 };
  }

  render() {
    this.#list._willUpdate();
    const { rows, view, conversation } = this.model;
    const row = rows[view.first];
    const turn = row && conversation.turns[row.turn];
    const isBeginning = view.first === 0;
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
      <div class="feed" role="feed" aria-label="Conversation" aria-busy=${!this.model.isWhole}>
        ${repeat(
          this.#rowsToMount,
          ({ key }) => key,
          ({ index }) => this.#article(rows[index], index),
        )}
      </div>
    </div>`;
  }

  /** @param {Row | undefined} row @param {number} index */
  #article(row, index) {
    if (!row) return nothing;
    const { rows, cursor } = this.model;
    return html`<article
      data-index=${index}
      data-message=${row.id}
      tabindex=${index === cursor ? 0 : -1}
      aria-label=${nameOf(row)}
      aria-posinset=${index + 1}
      aria-setsize=${rows.length}
      ?data-current=${index === cursor}
      ?data-selected=${this.model.selection.has(row)}
      @focusin=${() => this.#moveCursor(index)}
      @click=${() => this.#moveCursor(index)}
    >
      ${chooserOf(this.model, row)} ${index === 0 ? bandsBefore(this.model) : nothing} ${messageOf(this.model, row)}
      ${bandsAfter(this.model, row)}
    </article>`;
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
    feed.style.height = `${this.#list.getTotalSize()}px`;
    const items = new Map(this.#list.getVirtualItems().map((item) => [item.index, item]));
    for (const element of /** @type {Iterable<HTMLElement>} */ (feed.querySelectorAll(":scope > article"))) {
      const item = items.get(Number(element.dataset.index));
      if (item) element.style.transform = `translateY(${item.start - BAR}px)`;
      this.#list.measureElement(element);
    }
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

/** @type {WeakMap<Row, number>} */
const estimates = new WeakMap();

/** The height that a row may have, until it is measured. @param {Row} row */
function estimateHeight(row) {
  const known = estimates.get(row) ?? estimateRow(row);
  estimates.set(row, known);
  return known;
}

/** @param {Row} row */
function estimateRow({ kind, message, calls, isFirstOfTurn }) {
  const lines = message.content.split("\n", 60).reduce((sum, line) => sum + 1 + Math.floor(line.length / 85), 0);
  if (kind === "user") return 100 + Math.min(lines, 24) * 24 + (message.attachments?.length ?? 0) * 300;
  if (kind !== "assistant") return 40;
  const prose = message.content === "" ? 0 : lines * 24;
  const ledger = calls.reduce((sum, { failed, change }) => sum + 37 + (failed || change ? 180 : 0), 0);
  return 48 + prose + ledger + (message.assistant?.reasoning?.length ?? 0) * 28 + (isFirstOfTurn ? 16 : 0);
}

customElements.define("leftoff-conversation", Conversation);
