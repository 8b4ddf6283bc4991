// @ts-check
/** A list of sessions to choose from. It narrows as one types, and previews the session under the cursor. */

import { basename } from "node:path";
import { styleText } from "node:util";

import { AutocompletePrompt } from "@clack/core";
import { S_BAR, S_BAR_END, S_RADIO_ACTIVE, S_RADIO_INACTIVE, symbol } from "@clack/prompts";

import { unlessBug } from "../error.js";
import { nowMs } from "../wasm/clock.js";
import { stripControls } from "./print.js";
import { fillTitle } from "./rows.js";
import { cut, fill, tail, widthOf } from "./width.js";

/** @import { Terminal } from "./prompts.js" */

/**
 * A session as the list shows it.
 * @typedef {{ title: string, lastActive: string, messageCount: number, agent?: string, project?: string }} Item
 */

/**
 * A message that has the typed words.
 * @typedef {{ place: number, role: string, excerpt: { text: string, isHit: boolean }[] }} MessageHit
 */

/**
 * @typedef {object} Choice
 * @property {string} message the question
 * @property {Item[]} items
 * @property {(words: string) => number[]} rank the places of the items that the words may mean, best first
 * @property {(words: string) => Promise<MessageHit[]>} searchMessages the best message of each session that has the
 *   words, best first
 * @property {(place: number) => Promise<string[]>} preview lines about an item
 * @property {boolean} [canBegin] whether a new session can be chosen, too
 */

/** @typedef {{ value: { place: number } }} Option */

/** The most items shown at once: nobody looks over more. */
const MAX_ROWS = 12;
/** The most lines of a preview. */
const MAX_PREVIEW_LINES = 8;
/** The fewest lines of a list beside a preview. */
const MIN_LIST_LINES = 3;
/** Below so many columns a row shows only its title. */
const MIN_ROW_COLUMNS = 56;
/** From so many columns on a row also shows the agent, and the project where there are several. */
const MIN_WIDE_COLUMNS = 72;
/** Columns for the bar on the left, and one that stays free: some terminals wrap a full line. */
const MARGIN_COLUMNS = 4;
const SEARCH_NOTE = "searching messages";

export class Picker {
  #choice;
  #output;
  #prompt;
  /**
   * The listed options and the words they are for: after typing, the best one is chosen, not the former one.
   * @type {{ words: string, options: Option[] }}
   */
  #listing;
  /** @type {Map<number, string[]>} */
  #previews = new Map();
  /** Message hits of the listed words. @type {Map<number, MessageHit>} */
  #messageHits = new Map();
  #isOfMany;
  #isLoading = false;
  #isSearching = false;
  /** @type {"new" | undefined} */
  #other;

  /** @param {Choice & Terminal} parts */
  constructor({ input, output, signal, ...choice }) {
    this.#choice = choice;
    this.#output = output;
    this.#isOfMany = new Set(choice.items.map(({ project }) => project)).size > 1;
    this.#listing = { words: "", options: choice.items.map((_, place) => ({ value: { place } })) };
    const picker = this;
    const isChosen = () =>
      picker.#other || picker.#place() !== undefined
        ? undefined
        : picker.#isSearching
          ? SEARCH_NOTE
          : "nothing to choose";
    this.#prompt = /** @type {AutocompletePrompt<Option>} */ (
      new AutocompletePrompt({
        input,
        output,
        signal,
        options() {
          return picker.#options(stripControls(this.userInput ?? ""));
        },
        filter: () => true,
        validate: isChosen,
        render: () => picker.#frame(),
      })
    );
    this.#prompt.on("key", (_, key) => {
      if (!choice.canBegin || !key.ctrl || key.name !== "n") return;
      this.#other = "new";
      this.#prompt.state = "submit";
    });
  }

  /** @returns {Promise<number | "new" | symbol | undefined>} */
  async prompt() {
    const answer = await this.#prompt.prompt();
    if (this.#other) return this.#other;
    return typeof answer === "symbol" ? answer : this.#place();
  }

  #place() {
    return /** @type {Option["value"] | undefined} */ (this.#prompt.focusedValue)?.place;
  }

  /** @param {string} words */
  #options(words) {
    if (words !== this.#listing.words) {
      const places = words.trim() ? this.#choice.rank(words) : this.#choice.items.map((_, place) => place);
      this.#listing = { words, options: places.map((place) => ({ value: { place } })) };
      this.#messageHits.clear();
      if (words.trim()) void this.#search(words);
    }
    return this.#listing.options;
  }

  // Adds message hits after the title matches. One search at a time, and typing on waits for none. If the search fails,
  // titles remain.
  /** @param {string} words @returns {Promise<void>} */
  async #search(words) {
    if (this.#isSearching) return;
    this.#isSearching = true;
    const said = await this.#choice.searchMessages(words).catch(unlessBug);
    this.#isSearching = false;
    const listed = this.#listing;
    if (listed.words !== words) return listed.words.trim() ? this.#search(listed.words) : undefined;
    const known = new Set(listed.options.map(({ value: { place } }) => place));
    for (const one of said ?? []) this.#messageHits.set(one.place, one);
    const more = (said ?? []).filter(({ place }) => !known.has(place)).map(({ place }) => ({ value: { place } }));
    if (more.length > 0) listed.options = this.#prompt.filteredOptions = [...listed.options, ...more];
    this.#prompt.focusedValue ??= listed.options[0]?.value;
    this.#redraw();
  }

  #redraw() {
    if (["active", "error"].includes(this.#prompt.state)) this.#output.emit("resize");
  }

  #frame() {
    const { state, userInput } = this.#prompt;
    const place = this.#place();
    const head = `${symbol(state)}  ${this.#line(stripControls(this.#choice.message))}`;
    if (state === "cancel") return head;
    if (state === "submit")
      return `${head}\n${bar()}${styleText("dim", this.#line(this.#other ? "a new session" : place === undefined ? "" : this.#title(place)))}`;
    if (place !== undefined) this.#load(place);
    const { columns, rows } = this.#output;
    const shown = this.#prompt.filteredOptions;
    // Lines left beside head, search, keys, and one that stays free.
    const free = Math.max(1, rows - 4);
    const most = Math.max(0, Math.min(MAX_PREVIEW_LINES, free - MIN_LIST_LINES - 1));
    const preview = place === undefined ? [] : this.#preview(place).slice(0, most);
    const height = Math.max(1, Math.min(MAX_ROWS, free - (preview.length > 0 ? preview.length + 1 : 0)));
    const none =
      state === "error" ? this.#prompt.error : this.#isSearching ? SEARCH_NOTE : "no match; Backspace deletes a letter";
    const keys = ["↑↓ choose", "Enter take", ...(this.#choice.canBegin ? ["Ctrl+N new"] : []), "Esc quit"].join(" · ");
    return [
      head,
      `${bar()}${this.#line(this.#renderSearchLine(stripControls(userInput), shown.length))}`,
      ...(shown.length === 0
        ? [`${bar()}${styleText("yellow", this.#line(none))}`]
        : this.#rows(shown, height, columns - MARGIN_COLUMNS)),
      ...(preview.length > 0 ? [bar(), ...preview.map((line) => `${bar()}${line}`)] : []),
      `${styleText("cyan", S_BAR_END)}  ${styleText("dim", this.#line(keys))}`,
    ].join("\n");
  }

  // Of long words the end is shown, where one types.
  /** @param {string} words @param {number} found */
  #renderSearchLine(words, found) {
    const { columns } = this.#output;
    if (columns < MIN_ROW_COLUMNS) return `${tail(words, columns - MARGIN_COLUMNS - 1)}█`;
    const count = found === this.#choice.items.length ? "" : `  ${found} of ${this.#choice.items.length}`;
    return `Search: ${tail(words, columns / 2)}█${count}`;
  }

  /** @param {Option[]} shown @param {number} height @param {number} columns */
  #rows(shown, height, columns) {
    const { cursor } = this.#prompt;
    const first = Math.max(0, Math.min(cursor - Math.floor(height / 2), shown.length - height));
    return shown.slice(first, first + height).map(({ value: { place } }, at) => {
      const isFocused = first + at === cursor;
      const mark = isFocused ? styleText("green", S_RADIO_ACTIVE) : styleText("dim", S_RADIO_INACTIVE);
      const row = this.#row(place, columns - 2);
      return `${bar()}${mark} ${isFocused ? row : styleText("dim", row)}`;
    });
  }

  /** @param {number} place @param {number} columns */
  #row(place, columns) {
    const { lastActive, messageCount, agent = "", project = "" } = /** @type {Item} */ (this.#choice.items[place]);
    if (columns < MIN_ROW_COLUMNS) return fillTitle(this.#title(place), columns).trimEnd();
    const count = `${messageCount} message${messageCount === 1 ? "" : "s"}`.padStart(15);
    const cells =
      columns < MIN_WIDE_COLUMNS
        ? []
        : [
            [this.#hasAgents() ? 12 : 0, agent],
            [this.#isOfMany ? 16 : 0, basename(project)],
          ];
    const beside = cells
      .map(([width, text]) => (width ? `  ${fill(oneLine(String(text)), Number(width))}` : ""))
      .join("");
    const title = fillTitle(this.#title(place), columns - 17 - 1 - widthOf(beside) - count.length);
    return `${fill(formatRecentTime(lastActive), 17)} ${title}${beside}${count}`;
  }

  #hasAgents() {
    return this.#choice.items.some(({ agent }) => agent);
  }

  /** The preview's lines; the second is the message that has the words. @param {number} place */
  #preview(place) {
    const [about = "", ...rest] = this.#previews.get(place) ?? [];
    const said = this.#messageHits.get(place);
    const dim = (/** @type {string} */ line) => styleText("dim", this.#line(line));
    return [...(about ? [dim(about)] : []), ...(said ? [this.#renderHit(said)] : []), ...rest.map(dim)];
  }

  /** @param {MessageHit} said */
  #renderHit({ role, excerpt }) {
    let left = Math.max(1, this.#output.columns - MARGIN_COLUMNS);
    const parts = [{ text: `${role}: `, isHit: false }, ...excerpt].map(({ text, isHit }) => {
      const shown = cut(stripControls(text).replace(/\s+/g, " "), left);
      left -= widthOf(shown);
      return isHit && shown ? styleText(["bold", "yellow"], shown) : shown;
    });
    return parts.join("");
  }

  /** @param {number} place */
  #title(place) {
    return oneLine(this.#choice.items[place]?.title ?? "");
  }

  /** @param {string} text */
  #line(text) {
    return cut(oneLine(text), Math.max(1, this.#output.columns - MARGIN_COLUMNS));
  }

  // Loads previews one after another: moving through a long list waits for none.
  /** @param {number} place */
  #load(place) {
    if (this.#isLoading || this.#previews.has(place)) return;
    this.#isLoading = true;
    const keep = (/** @type {string[]} */ lines) => {
      this.#previews.set(place, lines.map(stripControls));
      this.#isLoading = false;
      this.#redraw();
    };
    void this.#choice.preview(place).then(keep);
  }
}

function bar() {
  return `${styleText("cyan", S_BAR)}  `;
}

/** @param {string} text */
function oneLine(text) {
  return stripControls(text).replace(/\s+/g, " ").trim();
}

/** Formats a time of today as the time, any other as the day. @param {string} timestamp @param {Date} [now] */
export function formatRecentTime(timestamp, now = new Date(nowMs())) {
  const then = new Date(timestamp);
  if (Number.isNaN(then.getTime())) return "";
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const day = (/** @type {Date} */ date) => date.toDateString();
  if (day(then) === day(now)) return `Today ${time}`;
  const before = new Date(now);
  before.setDate(now.getDate() - 1);
  if (day(then) === day(before)) return `Yesterday ${time}`;
  const isThisYear = then.getFullYear() === now.getFullYear();
  return then.toLocaleDateString("en-GB", { day: "numeric", month: "short", ...(!isThisYear && { year: "numeric" }) });
}
