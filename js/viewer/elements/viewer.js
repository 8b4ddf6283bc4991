// @ts-check
/** The page of one session. */

import { LitElement, html, nothing } from "lit";
import { addressOf, readAddress } from "../address.js";
import { showHidden } from "../hidden.js";
import { KEYS, Keys } from "../keys.js";
import { currentHitBox } from "../marks.js";
import { foldsOf } from "../model.js";
import { actionsOf, copyTexts, selectionOf } from "./actions.js";
import { rangeOf, saveBytes } from "./bands.js";
import { Conversation } from "./conversation.js";
import { inspectorOf } from "./inspector.js";
import { leftOf } from "./left.js";
import { SessionMap } from "./map.js";
import { headerOf, searchOf, stripOf, titleOf } from "./strip.js";
import { switchTheme, watchTheme } from "./theme.js";

/** @import { Model } from "../model.js" */

/** The header, the strip, the panels and the conversation. Its model is given once, before it is connected. */
export class Viewer extends LitElement {
  /** @type {Model} */
  model = /** @type {any} */ (undefined);
  /** Whether it has a header of its own, and its outline beside the conversation; given once, too. */
  hasHeader = true;
  hasSidebar = true;
  #keys = new Keys();
  #ended = new AbortController();

  createRenderRoot() {
    return this;
  }

  connectedCallback() {
    super.connectedCallback();
    this.toggleAttribute("data-no-header", !this.hasHeader);
    this.toggleAttribute("data-no-sidebar", !this.hasSidebar);
    this.conversation.model = this.model;
    this.#map.model = this.model;
    this.#map.go = (row, fraction) => this.conversation.showAt(row, fraction);
    this.#map.moveBy = (pixels) => this.conversation.moveBy(pixels);
    const { signal } = this.#ended;
    const update = () => this.requestUpdate();
    this.model.addEventListener("change", update, { signal });
    this.model.addEventListener("view", () => this.#noteView(), { signal });
    document.addEventListener("keydown", (event) => this.#handlePress(event), { signal });
    window.addEventListener("hashchange", () => this.goToLink(), { signal });
    watchTheme(this, () => this.#map.recolor(), signal);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.#ended.abort();
  }

  #noteView() {
    const { model } = this;
    model.lastRead?.note(model);
    if (model.view.last === model.rows.length - 1 && model.branches.isCurrent) model.unseen = 0;
    this.requestUpdate();
  }

  /** The list of messages. */
  conversation = new Conversation();
  #map = new SessionMap();

  /** @param {"outline" | "files" | "usage"} tab */
  #showTab(tab) {
    const isShown = this.querySelector(".left")?.checkVisibility() ?? false;
    this.#toggleLeft(() => {
      this.model.tab = tab;
      this.model.isLeftOpen ||= !isShown;
    });
  }

  /** @param {() => void} change */
  #toggleLeft(change) {
    void this.#togglePart(".left [aria-selected=true]", () => this.model.change(change));
  }

  /** @param {"isHelpOpen" | "isDamageOpen"} name */
  #toggleDialog(name) {
    void this.#togglePart(".help", () => this.model.change(() => (this.model[name] = !this.model[name])));
  }

  /** Opens what the model saw, or closes it. */
  toggleInspector() {
    return this.#togglePart(".insp [aria-selected=true]", () => this.model.inspector.toggle());
  }

  /**
   * Opens or closes a part: what opens gets the focus, and gives it back to the conversation as it closes.
   * @param {string} target what gets the focus, as a selector @param {() => unknown} toggle
   */
  async #togglePart(target, toggle) {
    const hadFocus = this.querySelector(":is(.left, .insp, .help):focus-within") !== null;
    const moveFocus = async () => {
      await this.updateComplete;
      const opened = /** @type {HTMLElement | null} */ (this.querySelector(target));
      if (opened?.checkVisibility()) opened.focus();
      else if (hadFocus) await this.conversation.focusRow(this.model.cursor);
    };
    await Promise.all([toggle(), moveFocus()]);
  }

  /** @param {boolean} isShown */
  #showSearch(isShown) {
    if (this.toggleAttribute("data-search", isShown) !== this.#isSearchShown) this.requestUpdate();
    this.#isSearchShown = isShown;
  }

  #isSearchShown = false;

  /** What stands above the conversation where there is no header: the strip, and while it is used the search field. */
  #barOf() {
    const { model, actions } = this;
    return html`<header class="top">
      <h1 class="unseen">${titleOf(model)}</h1>
      ${this.#isSearchShown ? searchOf(model, actions) : nothing} ${stripOf(model, actions)}
    </header>`;
  }

  /** What keys and buttons do. @type {Record<string, () => void>} */
  actions = {
    nextMessage: () => this.#moveTo(this.#nextListed(1)),
    previousMessage: () => this.#moveTo(this.#nextListed(-1)),
    nextTurn: () => this.#goTo(this.model.next(1, ({ isFirstOfTurn }) => isFirstOfTurn)),
    previousTurn: () => this.#goTo(this.model.next(-1, ({ isFirstOfTurn }) => isFirstOfTurn)),
    nextError: () => this.#goTo(this.model.next(1, ({ failed }) => failed)),
    previousError: () => this.#goTo(this.model.next(-1, ({ failed }) => failed)),
    nextHit: () => this.#moveHit(1),
    previousHit: () => this.#moveHit(-1),
    toOtherBranch: () => this.#goToOtherBranch(),
    focusSearch: () => void this.openSearch(),
    fold: () => this.#fold(false),
    foldKind: () => this.#fold(true),
    inspect: () => void this.model.attempt(() => this.toggleInspector()),
    focusMap: () => /** @type {HTMLElement | null} */ (this.querySelector("[role=slider]"))?.focus(),
    showOutline: () => this.#showTab("outline"),
    showFiles: () => this.#showTab("files"),
    showUsage: () => this.#showTab("usage"),
    copyLink: () => this.#copy(linkTo(this.model, this.#current.id)),
    copyText: () => this.#copy(textOf(this.#current)),
    select: () => this.model.selection.toggle(this.#current),
    extendDown: () => this.#extend(1),
    extendUp: () => this.#extend(-1),
    openActions: () => this.#toggleActions(),
    toLastRead: () => this.#goTo(this.model.lastRead?.placeIn(this.model)),
    toStart: () => this.#goTo(this.model.end(-1)),
    toEnd: () => this.#goTo(this.model.end(1)),
    toNew: () => this.#goToNew(),
    switchTheme: () => switchTheme(isPageOf(this) ? document.documentElement : this),
    help: () => this.#toggleDialog("isHelpOpen"),
    showDamage: () => this.#toggleDialog("isDamageOpen"),
    toggleLeft: () => this.#toggleLeft(() => (this.model.isLeftOpen = !this.model.isLeftOpen)),
    close: () => this.#closeOne(),
  };

  /** Goes to the conversation without a change of the address, which names a message. @param {Event} event */
  #skip(event) {
    event.preventDefault();
    void this.conversation.focusRow(this.model.cursor);
  }

  get #current() {
    return this.model.rows[this.model.cursor];
  }

  /** @param {KeyboardEvent} event */
  #handlePress(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (isField(event.target) && !this.contains(event.target)) return;
    const isTyping = event.target instanceof HTMLInputElement;
    if (isTyping && event.key === "Enter") return this.#moveHit(event.shiftKey ? -1 : 1);
    if (isTyping && event.key !== "Escape") return;
    const isInMap = event.target instanceof HTMLElement && event.target.role === "slider";
    if (isInMap && event.key.length > 1 && event.key !== "Escape") return;
    if (event.key === "Home" || event.key === "End") {
      // The browser itself knows the end of what is mounted alone.
      event.preventDefault();
      return this.conversation.goToEnd(event.key === "Home" ? -1 : 1);
    }
    const action = this.#keys.press(event.key);
    if (!action || (this.model.rows.length === 0 && action !== "help")) return;
    event.preventDefault();
    this.actions[action]();
  }

  /** Folds what keys act on, or opens it: of a request its turn. @param {boolean} isForKind all of its kind, too */
  #fold(isForKind) {
    const { model } = this;
    const row = this.#current;
    if (model.turnFolds.canFold(row)) void this.conversation.toggleTurn(row, isForKind);
    else if (isForKind) model.toggleKind(row);
    else model.toggleRow(row);
  }

  /** @param {1 | -1} by */
  #nextListed(by) {
    return this.model.next(by, (row) => this.model.isListed(row));
  }

  /** @param {number | undefined} row */
  #moveTo(row) {
    if (row === undefined) return;
    this.model.change(() => (this.model.cursor = row));
    void this.conversation.focusRow(row);
  }

  /** @param {number | undefined} row */
  async #goTo(row) {
    if (row === undefined) return;
    this.model.change(() => {
      this.model.cursor = row;
      this.model.isLeftOpen = false;
      this.model.reveal(row);
    });
    await this.conversation.show(row);
    // By then the list knows that it was scrolled, and somebody may have gone on.
    await nextFrame();
    if (this.model.cursor === row) await this.conversation.focusRow(row);
  }

  /** Selects the next row, too, and goes there. @param {1 | -1} by */
  #extend(by) {
    const { cursor, selection } = this.model;
    const next = this.#nextListed(by);
    selection.extend(cursor, next);
    this.#moveTo(next);
  }

  #toggleActions() {
    const { selection } = this.model;
    void this.#togglePart(".actions button", () => this.model.change(() => (selection.isOpen = !selection.isOpen)));
  }

  /** @param {string} what @param {import("./actions.js").CopyTexts} texts */
  #copyTexts = (what, texts) => {
    if (this.model.selection.isOpen) this.#toggleActions();
    void this.model.attempt(async () => {
      await copyTexts(texts);
      this.#tell(`Copied ${what}`);
    });
  };

  /** Goes to the newest message, on whichever branch it is. */
  #goToNew() {
    const { model } = this;
    if (!model.branches.isCurrent) model.changeBranch(() => model.branches.follow());
    void this.#goTo(model.rows.length - 1);
  }

  /** Brings a row on screen, and leaves the focus where it is. @param {number} row */
  #showRow = (row) => {
    this.model.change(() => {
      this.model.cursor = row;
      this.model.reveal(row);
    });
    void this.conversation.show(row);
  };

  /** @param {number} row the one before the damage */
  #showDamage = (row) => {
    this.model.isDamageOpen = false;
    void this.#goTo(row);
  };

  /** @param {number} by */
  #moveHit(by) {
    this.model.moveHit(by);
    void this.#showHit();
  }

  /** Shows the next hit on another branch. */
  #goToOtherBranch() {
    this.model.otherHits.goToNext();
    void this.#showHit();
  }

  async #showHit() {
    const { currentHit, hit } = this.model;
    if (!hit) return;
    await this.conversation.show(hit.row, "auto");
    await nextFrame();
    await this.conversation.updateComplete;
    if (currentHit !== this.model.currentHit) return;
    const box = currentHitBox();
    const list = this.querySelector(".conv");
    if (!box || !list) return;
    const { top, bottom, height } = list.getBoundingClientRect();
    if (box.top < top + 60 || box.bottom > bottom - 20) list.scrollBy(0, box.top - top - height / 3);
  }

  /** Opens the search field with the focus in it. @param {string} [query] what to search from then on */
  async openSearch(query) {
    this.#showSearch(true);
    if (query !== undefined) this.model.search(query);
    await this.updateComplete;
    const input = this.querySelector("input");
    input?.focus();
    input?.select();
  }

  #closeOne() {
    const { model } = this;
    if (model.isHelpOpen) return this.actions.help();
    if (model.selection.isOpen) return this.#toggleActions();
    if (model.isDamageOpen) return this.actions.showDamage();
    if (model.isLeftOpen) return this.actions.toggleLeft();
    if (model.selection.clear()) return;
    if (model.query === "" && model.inspector.isOpen) return this.actions.inspect();
    this.#showSearch(false);
    if (model.query !== "") model.search("");
    void this.conversation.focusRow(model.cursor);
  }

  /** @param {string} text */
  #copy(text) {
    void navigator.clipboard?.writeText(text);
    this.#tell("Copied");
  }

  /** @param {string} text */
  #tell(text) {
    const region = this.querySelector(".told");
    if (region) region.textContent = text;
  }

  /** Goes to the message that the address names. */
  goToLink() {
    const { message, branch } = readAddress();
    if (branch !== undefined) this.model.changeBranch(() => this.model.branches.choose(branch));
    if (message !== undefined) void this.reveal(message);
  }

  /** Goes to a message, and opens what hides it. @param {string} id @returns {Promise<boolean>} whether it is there */
  async reveal(id) {
    this.model.showPathOf(id);
    const place = this.model.conversation.rowOf.get(id);
    if (place === undefined) return false;
    const row = this.model.rows[place];
    if (this.model.turnFolds.turnAround(row)) this.model.turnFolds.toggle(row);
    for (const { part, call } of foldsOf(row))
      if (call ? call.result?.id === id : row.kind !== "assistant") this.model.setOpen(row, part, true);
    await this.#goTo(place);
    return true;
  }

  /** Gives the focus to the row that keys act on. */
  async focusCurrent() {
    await this.updateComplete;
    await this.conversation.focusRow(this.model.cursor);
  }

  /** Shows the newest message, without moving what keys act on. */
  followEnd() {
    void this.conversation.show(this.model.rows.length - 1, "auto");
  }

  render() {
    const { model, actions } = this;
    return html`<a class="skip" href="#conversation" @click=${this.#skip}>To the conversation</a>
      ${this.hasHeader ? html`${headerOf(model, actions)} ${stripOf(model, actions)}` : this.#barOf()}
      <main class="main" ?data-inspector=${model.inspector.isOpen}>
        ${model.inspector.isOpen ? nothing : leftOf(model, (row) => void this.#goTo(row))} ${this.conversation}
        ${model.inspector.isOpen ? inspectorOf(model, { close: actions.inspect, go: this.#showRow }) : nothing}
        ${this.#map}
        ${
          model.unseen > 0
            ? html`<div class="pill">
                <button @click=${actions.toNew}>
                  ${model.unseen} new ${model.unseen === 1 ? "message" : "messages"}
                </button>
              </div>`
            : nothing
        }
      </main>
      ${model.selection.rows.length > 0 ? selectionOf(model, actions) : nothing}
      <div class="told" role="status"></div>
      ${
        model.selection.isOpen && model.selection.source
          ? actionsOf(model, model.selection.source, { copy: this.#copyTexts, close: actions.openActions })
          : nothing
      }
      ${model.isHelpOpen ? helpOf(actions.help) : nothing}
      ${model.isDamageOpen ? damageOf(model, { close: actions.showDamage, go: this.#showDamage }) : nothing}`;
  }

  updated() {
    const { query, hit, cursor } = this.model;
    if (query === this.#shownQuery) return this.#showTurn();
    this.#shownQuery = query;
    // A narrow page has room for the field only while something is searched.
    this.#showSearch(query !== "" || document.activeElement instanceof HTMLInputElement);
    void (hit ? this.#showHit() : this.conversation.show(cursor, "auto"));
    this.#showTurn();
  }

  #shownQuery = "";

  /** Keeps the turn that is read in sight in the outline. */
  #showTurn() {
    const turn = this.model.rows[this.model.view.first]?.turn;
    if (turn === this.#shownTurn) return;
    this.#shownTurn = turn;
    const pane = this.querySelector(".pane");
    const box = this.querySelector(".o-turn[aria-current]")?.getBoundingClientRect();
    const whole = pane?.getBoundingClientRect();
    if (!pane || !box || !whole || (box.top >= whole.top && box.bottom <= whole.bottom)) return;
    pane.scrollTop += box.top - whole.top - whole.height / 3;
  }

  /** @type {number | undefined} */
  #shownTurn;
}

/** @param {() => void} close */
function helpOf(close) {
  return html`<dialog class="help" open aria-label="All keys" tabindex="-1">
    <h2>Keys</h2>
    <dl>
      ${KEYS.map(
        ([keys, , text]) =>
          html`<div>
            <dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt>
            <dd>${text}</dd>
          </div>`,
      )}
    </dl>
    <button class="btn line" @click=${close}>Close</button>
  </dialog>`;
}

/** @param {Model} model @param {{ close: () => void, go: (row: number) => void }} does */
function damageOf({ damage, branches, conversation }, { close, go }) {
  return html`<dialog class="help" open aria-label="Damage" tabindex="-1">
    <h2>What could not be read</h2>
    <ul>
      ${damage.map((one) => {
        const { file, message, after, bytes } = one;
        const row = after === undefined ? undefined : (conversation.rowOf.get(branches.shownBefore(after)) ?? 0);
        return html`<li>
          ${[showHidden(file), rangeOf(one)].filter(Boolean).join(", ")}: ${message}
          ${row === undefined ? nothing : html`<button class="more" @click=${() => go(row)}>Show the place</button>`}
          ${row === undefined && bytes ? html`<button class="more" @click=${() => saveBytes(one)}>Save the bytes</button>` : nothing}
        </li>`;
      })}
    </ul>
    <button class="btn line" @click=${close}>Close</button>
  </dialog>`;
}

/** Whether the page is the viewer's alone. @param {Viewer} viewer */
const isPageOf = ({ parentElement }) => parentElement === document.body;

/** Whether an element of the page takes what is typed. @param {EventTarget | null} target @returns {target is Element} */
const isField = (target) => target instanceof Element && target.matches("input, textarea, select, [contenteditable]");

const nextFrame = () => new Promise((go) => requestAnimationFrame(go));

/** @param {Model} model @param {string} message */
const linkTo = ({ branches }, message) =>
  `${location.href.replace(/#.*$/, "")}${addressOf({ message, branch: branches.name })}`;

/** @param {import("../conversation.js").Row} row */
const textOf = ({ message, calls }) =>
  [message.content, ...calls.flatMap(({ name, text, result }) => [`${name}\n${text}`, result?.content ?? ""])]
    .filter((text) => text !== "")
    .join("\n\n");

customElements.define("leftoff-viewer", Viewer);
