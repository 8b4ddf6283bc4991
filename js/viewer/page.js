// @ts-check
/** What the viewer's own page does: it opens files that are dropped or chosen, in memory. */

import { LitElement, html, nothing } from "lit";
import { LeftoffError, MemoryStorage, loadWasm, openStore } from "../index.js";
import { brand, icon } from "./elements/icons.js";
import { switchTheme } from "./elements/viewer.js";
import { openViewer } from "./index.js";
import { openServed } from "./served.js";

/** Where dropped files lie in the storage in memory. */
const DROP_FOLDER = "/dropped";

/** What the page shows until a session is open. */
class Start extends LitElement {
  /** @type {string | undefined} */
  #told;
  #isOver = false;

  createRenderRoot() {
    return this;
  }

  render() {
    return html`<header class="head">
        <span class="brand">${brand}</span>
        <div class="title"><span class="name">leftoff</span></div>
        <button class="btn icon" aria-label="Light or dark" @click=${switchTheme}>${icon("theme")}</button>
      </header>
      <main class="empty">
        <div class="drop">
          <div
            class="zone"
            ?data-over=${this.#isOver}
            @dragover=${(/** @type {DragEvent} */ event) => this.#showOver(event, true)}
            @dragleave=${(/** @type {DragEvent} */ event) => this.#showOver(event, false)}
            @drop=${(/** @type {DragEvent} */ event) => this.#takeDrop(event)}
          >
            <h1>Drop a session here</h1>
            <p>
              A file, several, or a folder. From Claude Code, Codex, OpenCode, Gemini CLI, Copilot, Cline and others.
            </p>
            <button class="btn go" @click=${() => this.#choose("files")}>Choose files</button>
            <button class="btn line" @click=${() => this.#choose("folder")}>Choose a folder</button>
            <input id="files" type="file" multiple hidden @change=${this.#chosen} />
            <input id="folder" type="file" webkitdirectory hidden @change=${this.#chosen} />
          </div>
          ${this.#told === undefined ? nothing : html`<p class="told-start" role="alert">${this.#told}</p>`}
          <p class="safe">Nothing leaves this machine. The page makes no request.</p>
        </div>
      </main>`;
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
    await this.#open(files);
  }

  /** @param {"files" | "folder"} kind */
  #choose(kind) {
    /** @type {HTMLInputElement | null} */ (this.querySelector(`#${kind}`))?.click();
  }

  #chosen = (/** @type {Event} */ { target }) =>
    void this.#open(
      [.../** @type {FileList} */ (/** @type {HTMLInputElement} */ (target).files)].map((file) => ({
        path: file.webkitRelativePath || file.name,
        file,
      })),
    );

  /** @param {{ path: string, file: File }[]} files */
  async #open(files) {
    if (files.length === 0) return;
    try {
      await openFiles(files);
    } catch (error) {
      this.tell(error);
    }
  }

  /** Tells why nothing is shown. @param {unknown} error */
  tell(error) {
    this.#told = error instanceof LeftoffError ? error.message : String(error);
    this.requestUpdate();
  }
}

customElements.define("leftoff-start", Start);

/** All files below a dropped one. @param {FileSystemEntry} entry @returns {Promise<{ path: string, file: File }[]>} */
async function filesIn(entry) {
  if (entry.isFile) {
    const file = await new Promise((given, refused) => /** @type {FileSystemFileEntry} */ (entry).file(given, refused));
    return [{ path: entry.fullPath.slice(1), file }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  const found = [];
  for (;;) {
    // A browser gives a part of a large folder each time, and nothing at its end.
    const part = await new Promise((given, refused) => reader.readEntries(given, refused));
    if (part.length === 0) return found;
    for (const one of part) found.push(...(await filesIn(one)));
  }
}

/**
 * Imports files into a store in memory, and shows the session that has most messages.
 * @param {{ path: string, file: File }[]} files
 */
async function openFiles(files) {
  const storage = new MemoryStorage();
  for (const { path, file } of files)
    await storage.replace(`${DROP_FOLDER}/${path}`, new Uint8Array(await file.arrayBuffer()));
  const place = { storage, home: "/leftoff", project: "/project" };
  const store = await openStore(place);
  const only = files.length === 1 ? `${DROP_FOLDER}/${files[0].path}` : DROP_FOLDER;
  const { imported, problems } = await store.import(only);
  const [largest] = imported.filter(({ parent }) => !parent).sort((a, b) => b.messageCount - a.messageCount);
  const found = largest ?? imported[0];
  if (!found)
    throw new LeftoffError({ code: "unknown_format", message: problems[0]?.message ?? "No session is in it." });
  const shown = await openStore({ ...place, readOnly: true });
  openViewer(document.body, { store: shown, session: await shown.session(found.id) });
}

/** Where a file of the package lies. @param {string} name */
const fileUrl = (name) => new URL(`../${name}`, document.baseURI);

/** Shows what `leftoff view` serves, or how to open something. */
async function start() {
  const begin = new Start();
  try {
    // Compiled as they come, and kept by the browser between two openings.
    await loadWasm({ leftoff: fileUrl("leftoff.wasm"), agents: fileUrl("agents.wasm") });
    const isServed = new URLSearchParams(location.search).has("served");
    if (isServed && (await openServed(document.body))) return;
  } catch (error) {
    begin.tell(error);
  }
  document.body.replaceChildren(begin);
}

void start();

export { openViewer };
