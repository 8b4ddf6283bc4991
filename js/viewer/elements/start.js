// @ts-check
/** What the page shows until a session is open: where to drop files, and sessions to choose. */

import { LitElement, html, nothing } from "lit";
import { LIST, addressOf } from "../address.js";
import { filesIn } from "../dropped.js";
import { formatDate, formatMany } from "../format.js";
import { textToFind } from "../found.js";
import { showHidden } from "../hidden.js";
import { brandOf, icon } from "./icons.js";
import { switchTheme } from "./theme.js";

/** @import { Found, Listed } from "../../index.js" */
/** @import { DroppedFile } from "../dropped.js" */
/** @import { FoundSession } from "../found.js" */

/**
 * @typedef {object} Sessions to choose from
 * @property {string} heading
 * @property {Listed[]} listed
 * @property {string} [words] those that were searched
 * @property {FoundSession[]} [found] by them; absent while they are searched
 */
/** @typedef {{ message: string, details?: string, beginning?: string }} Notice */

/** How many hits of a session are shown. */
const MAX_HITS = 4;

/** The first page. What is dropped or chosen is given to `open`. */
export class Start extends LitElement {
  /** @type {(files: DroppedFile[]) => Promise<void>} */
  open = async () => {};
  /** Whether `leftoff view` serves the page. */
  isServed = false;
  /** @type {Sessions | undefined} */
  #sessions;
  /** @type {Notice[]} */
  #told = [];
  #isOver = false;

  createRenderRoot() {
    return this;
  }

  /** Shows sessions to choose. @param {Sessions} sessions */
  offer(sessions) {
    this.#sessions = sessions;
    this.requestUpdate();
  }

  /** Tells what went wrong, in place of what was told. @param {Notice[]} told */
  tell(told) {
    this.#told = told;
    this.requestUpdate();
  }

  render() {
    const safe = this.isServed ? "The page asks 'leftoff view' alone." : "The page makes no request.";
    return html`<header class="head">
        ${brandOf(this.#sessions && LIST)}
        <div class="title"><span class="name">leftoff</span></div>
        <button class="btn icon" aria-label="Light or dark" @click=${() => switchTheme(document.documentElement)}>
          ${icon("theme")}
        </button>
      </header>
      <main class="empty">
        <div class="drop">
          ${this.#isSearch ? nothing : this.#zone()} ${this.#told.map(toldOf)}
          ${this.#sessions ? sessionsOf(this.#sessions) : nothing}
          <p class="safe">Nothing leaves this machine. ${safe}</p>
        </div>
      </main>`;
  }

  /** Whether what words found is shown, or still searched. */
  get #isSearch() {
    const { words, found } = this.#sessions ?? {};
    return words !== undefined && found?.length !== 0;
  }

  #zone() {
    return html`<div
      class="zone"
      ?data-over=${this.#isOver}
      @dragover=${(/** @type {DragEvent} */ event) => this.#showOver(event, true)}
      @dragleave=${(/** @type {DragEvent} */ event) => this.#showOver(event, false)}
      @drop=${(/** @type {DragEvent} */ event) => this.#takeDrop(event)}
    >
      <h1>Drop a session here</h1>
      <p>A file, several, or a folder. From Claude Code, Codex, OpenCode, Gemini CLI, Copilot, Cline and others.</p>
      <button class="btn go" @click=${() => this.#choose("files")}>Choose files</button>
      <button class="btn line" @click=${() => this.#choose("folder")}>Choose a folder</button>
      <input id="files" type="file" multiple hidden @change=${this.#chosen} />
      <input id="folder" type="file" webkitdirectory hidden @change=${this.#chosen} />
    </div>`;
  }

  /** @param {DragEvent} event @param {boolean} isOver */
  #showOver(event, isOver) {
    event.preventDefault();
    this.#isOver = isOver;
    this.requestUpdate();
  }

  /** @param {DragEvent} event */
  async #takeDrop(event) {
    this.#showOver(event, false);
    const entries = [...(event.dataTransfer?.items ?? [])].map((item) => item.webkitGetAsEntry());
    const files = [];
    for (const entry of entries) if (entry) files.push(...(await filesIn(entry)));
    await this.open(files);
  }

  /** @param {"files" | "folder"} kind */
  #choose(kind) {
    /** @type {HTMLInputElement | null} */ (this.querySelector(`#${kind}`))?.click();
  }

  #chosen = (/** @type {Event} */ { target }) =>
    void this.open(
      [.../** @type {FileList} */ (/** @type {HTMLInputElement} */ (target).files)].map((file) => ({
        path: file.webkitRelativePath || file.name,
        file,
      })),
    );
}

/** @param {Notice} told */
const toldOf = ({ message, details, beginning }) =>
  html`<div class="told-start" role="alert">
    <p>${showHidden(message)}</p>
    ${details ? html`<p class="details">${details}</p>` : nothing}
    ${beginning ? html`<p class="details">It begins with <code>${beginning}</code></p>` : nothing}
  </div>`;

/** @param {Sessions} sessions */
function sessionsOf({ heading, listed, words, found }) {
  if (words !== undefined && !found) return html`<h1 class="searched">Searching for “${words}”</h1>`;
  if (words !== undefined && found && found.length > 0)
    return html`<h1 class="searched">Sessions with “${words}”</h1>
      <ul class="recs">
        ${found.map((one) => foundOf(one, words))}
      </ul>`;
  const nowhere = words === undefined ? nothing : html`<h2>No session has “${words}”</h2>`;
  if (listed.length === 0) return nowhere;
  return html`${nowhere}
    <h2>${heading}</h2>
    <ul class="recs">
      ${listed.map((one) => html`<li>${recordOf(one)}</li>`)}
    </ul>`;
}

/** @param {Listed} listed @param {string} [search] */
function recordOf({ id, title, project, lastActive, messageCount }, search) {
  const [name = ""] = (project ?? "").split(/[\\/]/).slice(-1);
  const about = [showHidden(name), formatDate(lastActive), formatMany(messageCount, "message")]
    .filter(Boolean)
    .join(", ");
  return html`<a class="rec" href=${addressOf({ session: id, search })}>
    <span class="x">${showHidden(title) || "Session"}</span><span>${about}</span>
  </a>`;
}

/** @param {FoundSession} found @param {string} words */
function foundOf({ session, hits }, words) {
  const said = hits.filter(({ id }) => id !== undefined);
  const more = said.length - MAX_HITS;
  return html`<li>
    ${recordOf(session, said[0] && textToFind(said[0], words))}
    ${said.slice(0, MAX_HITS).map((hit) => hitOf(hit, words))}
    ${more > 0 ? html`<p class="more-hits">${formatMany(more, "more message")}</p>` : nothing}
  </li>`;
}

/** @param {Found} hit @param {string} words */
function hitOf(hit, words) {
  const address = addressOf({ session: hit.session.id, message: hit.id, search: textToFind(hit, words) });
  return html`<a class="rec-hit" href=${address}>
    <span class="who">${hit.role}</span>
    <span class="x"
      >${hit.excerpt.map(({ text, isHit }) => (isHit ? html`<mark>${showHidden(text)}</mark>` : showHidden(text)))}</span
    >
  </a>`;
}

customElements.define("leftoff-start", Start);
