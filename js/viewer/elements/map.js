// @ts-check
/** The map at the right, in place of a scrollbar: one canvas, and what is on screen above it. */

import { LitElement, html } from "lit";
import { formatCount, formatMany } from "../format.js";
import { PRIORITY, layOut, placeAt } from "../map.js";
import { placeDamage } from "./bands.js";
import { nameOf } from "./message.js";
import { colorReader } from "./theme.js";

/** @import { Band, Layout, Mark } from "../map.js" */
/** @import { Row } from "../conversation.js" */
/** @import { Model } from "../model.js" */

/** Wider than this there are lanes for marks and the fill. */
const NARROW = 40;
const COLORS = {
  user: "--m-user",
  assistant: "--m-asst",
  tool: "--m-tool",
  note: "--m-reason",
  agent: "--m-agent",
  summary: "--warn",
  failed: "--m-err",
};
/** Where a band begins and how wide it is, in parts of its lane. @type {Record<Band["kind"], [number, number]>} */
const SHAPES = {
  user: [0, 1],
  assistant: [0, 0.75],
  tool: [0.2, 0.8],
  note: [0, 0.3],
  agent: [0.3, 0.7],
  summary: [0, 1],
  failed: [0.2, 0.8],
};
/** How much is left of the color of what was not sent as it was, or is hidden. */
const FADED_ALPHA = 0.28;
/** What the canvas has at its left for the numbers of turns. */
const MARGIN = 10;
/** How far a turn of the wheel, and a key, move. */
const PAGE_ROWS = 10;

/** The map. Its model and what goes to a place are given once, before it is connected. */
export class SessionMap extends LitElement {
  /** @type {Model} */
  model = /** @type {any} */ (undefined);
  /** @type {(row: number, fraction: number) => void} */
  go = () => {};
  /** @type {(pixels: number) => void} */
  moveBy = () => {};
  /** @type {Layout} */
  #layout = { bands: [], tops: [0], marks: [], fill: [] };
  /** What it is the layout of. */
  #laidOut = { rows: /** @type {readonly Row[]} */ ([]), damage: /** @type {readonly object[]} */ ([]), size: "" };
  #resized = new ResizeObserver(() => this.#draw());
  #isDragged = false;
  #isStale = true;

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.model.addEventListener("change", this.#changed);
    this.model.addEventListener("view", this.#noteView);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.model.removeEventListener("change", this.#changed);
    this.model.removeEventListener("view", this.#noteView);
    this.#resized.disconnect();
  }

  /** What the map was drawn of. @type {unknown[]} */
  #drawn = [];
  #changed = () => {
    const { rows, hits, filters, inspector, damage, branches } = this.model;
    const now = [rows, hits, filters.items, inspector.fates, damage, branches.forks];
    this.#isStale ||= now.some((one, place) => one !== this.#drawn[place]);
    this.#drawn = now;
    this.requestUpdate();
  };
  /** Draws the map in the colors of another theme. */
  recolor() {
    this.#isStale = true;
    this.requestUpdate();
  }
  #noteView = () => this.requestUpdate();

  render() {
    const { rows, view, conversation } = this.model;
    const row = rows[view.first];
    const messages = conversation.totals.messages;
    const text = row ? `Message ${formatCount(row.place + 1)} of ${formatCount(messages)}, ${nameOf(row)}` : "Empty";
    return html`<aside class="map" aria-label="Map of the session">
      <div class="cap" aria-hidden="true"><span>tokens</span><span>fill</span></div>
      <div
        class="area"
        role="slider"
        tabindex="0"
        aria-orientation="vertical"
        aria-label="Position in the session"
        aria-valuemin="1"
        aria-valuemax=${Math.max(messages, 1)}
        aria-valuenow=${row ? row.place + 1 : 1}
        aria-valuetext=${text}
        @pointerdown=${this.#handlePress}
        @pointermove=${this.#handleMove}
        @pointerup=${this.#handleRelease}
        @pointerleave=${() => this.#tell(undefined, 0)}
        @wheel=${(/** @type {WheelEvent} */ event) => this.moveBy(event.deltaY)}
        @keydown=${this.#handleKey}
      >
        <canvas></canvas>
        <div class="view"></div>
      </div>
      <div class="tip" hidden><b></b><span></span></div>
    </aside>`;
  }

  firstUpdated() {
    this.#resized.observe(/** @type {Element} */ (this.querySelector(".area")));
  }

  updated() {
    if (this.#isStale) this.#draw();
    const { first, last } = this.model.view;
    const { tops } = this.#layout;
    const box = /** @type {HTMLElement} */ (this.querySelector(".view"));
    const [from, to] = [tops[first] ?? 0, tops[last + 1] ?? tops.at(-1) ?? 0];
    box.style.top = `${from}px`;
    box.style.height = `${Math.max(to - from, 12)}px`;
  }

  #draw() {
    this.#isStale = false;
    const canvas = this.querySelector("canvas");
    const { width = 0, height = 0 } = canvas?.parentElement?.getBoundingClientRect() ?? {};
    const pencil = canvas?.getContext("2d");
    if (!canvas || !pencil || width === 0) return;
    const ratio = devicePixelRatio || 1;
    canvas.width = Math.round((width + MARGIN) * ratio);
    canvas.height = Math.round(height * ratio);
    pencil.scale(ratio, ratio);
    pencil.translate(MARGIN, 0);
    const { rows, conversation, metadata, damage } = this.model;
    const window = metadata.provider.contextWindow;
    const size = `${height} ${ratio} ${window}`;
    if (this.#laidOut.rows !== rows || this.#laidOut.damage !== damage || this.#laidOut.size !== size)
      this.#layout = layOut(rows, conversation.turns, { height, pixel: 1 / ratio, window }, landmarksOf(this.model));
    this.#laidOut = { rows, damage, size };
    pencil.font = `600 12px ${getComputedStyle(this).fontFamily}`;
    const colorOf = colorReader(canvas);
    /** @type {Map<string, string>} */
    const colors = new Map();
    const color = (/** @type {string} */ name) => {
      const known = colors.get(name) ?? colorOf(`var(${name})`);
      colors.set(name, known);
      return known;
    };
    const isNarrow = width < NARROW;
    const lane = isNarrow ? { left: 1, width: width - 2 } : { left: 16, width: 40 };
    this.#drawBands(pencil, lane, 1 / ratio, color);
    this.#drawHits(pencil, isNarrow ? 0 : 57, color);
    if (isNarrow) return;
    this.#drawFill(pencil, { left: 64, width: 24, height }, color);
    for (const mark of this.#layout.marks) drawMark(pencil, mark, color);
  }

  /**
   * @param {CanvasRenderingContext2D} pencil @param {{ left: number, width: number }} lane @param {number} least
   * @param {(name: string) => string} color
   */
  #drawBands(pencil, lane, least, color) {
    // The kind that is to be seen comes last, where many share a pixel.
    const { filters, rows } = this.model;
    const { fates } = this.model.inspector;
    const isShown = filters.isActive ? rows.map((row) => filters.isShown(row)) : undefined;
    for (const wanted of PRIORITY) {
      pencil.fillStyle = color(COLORS[wanted]);
      const [left, width] = SHAPES[wanted];
      for (const { id, row, kind, top, height, isCapped } of this.#layout.bands) {
        if (kind !== wanted) continue;
        const isFaded = isShown?.[row] === false || (fates && fates.get(id)?.fate !== "kept");
        pencil.globalAlpha = isFaded ? FADED_ALPHA : 1;
        const gap = height > 3 ? 1 : 0;
        const x = lane.left + left * lane.width;
        pencil.fillRect(x, top, width * lane.width, Math.max(height - gap, least));
        if (isCapped) pencil.clearRect(x + (width * lane.width) / 2 - 3, top + height / 2 - 1, 6, 2);
      }
    }
    pencil.globalAlpha = 1;
  }

  /** @param {CanvasRenderingContext2D} pencil @param {number} left @param {(name: string) => string} color */
  #drawHits(pencil, left, color) {
    pencil.fillStyle = color("--num");
    for (const row of new Set(this.model.hits.groups.map((group) => group.row)))
      pencil.fillRect(left, this.#layout.tops[row] ?? 0, 4, 3);
  }

  /**
   * @param {CanvasRenderingContext2D} pencil @param {{ left: number, width: number, height: number }} lane
   * @param {(name: string) => string} color
   */
  #drawFill(pencil, { left, width }, color) {
    const { fill, tops } = this.#layout;
    const end = tops.at(-1) ?? 0;
    const points = fill.map(({ top, share }) => ({ x: left + share * width, y: top }));
    if (points.length === 0) return;
    pencil.beginPath();
    pencil.moveTo(left, points[0].y);
    for (const { x, y } of points) pencil.lineTo(x, y);
    pencil.lineTo(/** @type {{ x: number }} */ (points.at(-1)).x, end);
    pencil.lineTo(left, end);
    pencil.fillStyle = color("--m-fill");
    pencil.fill();
    pencil.beginPath();
    for (const { x, y } of points) pencil.lineTo(x, y);
    pencil.strokeStyle = color("--m-fill-line");
    pencil.lineWidth = 1.25;
    pencil.stroke();
    pencil.fillStyle = color("--edge");
    pencil.fillRect(left + width - 1, 0, 1, end);
  }

  /** @param {PointerEvent} event */
  #handlePress(event) {
    this.#isDragged = true;
    /** @type {Element} */ (event.currentTarget).setPointerCapture(event.pointerId);
    this.#goTo(event);
  }

  /** @param {PointerEvent} event */
  #handleMove(event) {
    if (this.#isDragged) return this.#goTo(event);
    this.#tell(this.#placeOf(event).row, event.clientY);
  }

  #handleRelease() {
    this.#isDragged = false;
  }

  /** @param {PointerEvent} event */
  #placeOf(event) {
    const { top } = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    return placeAt(this.#layout, event.clientY - top);
  }

  /** @param {PointerEvent} event */
  #goTo(event) {
    const { row, fraction } = this.#placeOf(event);
    this.go(row, fraction);
  }

  /** @param {KeyboardEvent} event */
  #handleKey(event) {
    const { view, rows, filters } = this.model;
    const { from, to } = filters.itemAt(filters.placeOf(view.first));
    /** @type {Record<string, number>} */
    const moves = {
      ArrowUp: from - 1,
      ArrowDown: to + 1,
      PageUp: view.first - PAGE_ROWS,
      PageDown: view.first + PAGE_ROWS,
      Home: 0,
      End: rows.length - 1,
    };
    const wanted = moves[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    this.go(Math.min(Math.max(wanted, 0), rows.length - 1), event.key === "End" ? 1 : 0);
  }

  /** @param {number | undefined} place @param {number} y */
  #tell(place, y) {
    const tip = /** @type {HTMLElement} */ (this.querySelector(".tip"));
    const row = place === undefined ? undefined : this.model.rows[place];
    tip.hidden = row === undefined;
    if (!row) return;
    /** @type {Element} */ (tip.firstElementChild).textContent = `Message ${formatCount(row.place + 1)}`;
    /** @type {Element} */ (tip.lastElementChild).textContent = `${nameOf(row)}, ${formatMany(row.tokens, "token")}`;
    const { top, height } = /** @type {Element} */ (tip.parentElement).getBoundingClientRect();
    tip.style.top = `${Math.min(y - top - 20, height - tip.offsetHeight)}px`;
  }
}

/** The rows that forks and damage stand behind. @param {Model} model */
function landmarksOf(model) {
  const rowBefore = (/** @type {string} */ id) => model.conversation.rowOf.get(id) ?? -1;
  return {
    forks: [...model.branches.forks.keys()].map(rowBefore),
    damage: [...placeDamage(model).keys()].map(rowBefore),
  };
}

/** What damage and forks look like, in ten pixels. */
const MARK_SHAPES = { damage: "M5 1 9.5 9H.5zM5 4v2.5", fork: "M3.5 0v10M3.5 7q5-1 5-5.5" };

/** @param {CanvasRenderingContext2D} pencil @param {Mark} mark @param {(name: string) => string} color */
function drawMark(pencil, { top, kind, text }, color) {
  const names = { failed: "--m-err", damage: "--warn", summary: "--warn", fork: "--ink2", turn: "--accent" };
  pencil.strokeStyle = pencil.fillStyle = color(names[kind]);
  pencil.lineWidth = 1.75;
  if (kind === "turn") {
    pencil.textAlign = text.length > 2 ? "right" : "center";
    pencil.fillText(text, text.length > 2 ? 14 : 7, top + 10);
    return;
  }
  if (kind === "damage" || kind === "fork") {
    pencil.save();
    // What is behind the last message is in sight, too.
    pencil.translate(2, Math.min(top, pencil.canvas.height / devicePixelRatio - 10));
    pencil.stroke(new Path2D(MARK_SHAPES[kind]));
    return pencil.restore();
  }
  pencil.beginPath();
  if (kind === "failed") {
    for (const [x, y] of [
      [-4, -4],
      [-4, 4],
    ]) {
      pencil.moveTo(7 + x, top + 5 + y);
      pencil.lineTo(7 - x, top + 5 - y);
    }
  } else {
    pencil.setLineDash([3, 2]);
    pencil.moveTo(0, top);
    pencil.lineTo(88, top);
  }
  pencil.stroke();
  pencil.setLineDash([]);
}

customElements.define("leftoff-map", SessionMap);
