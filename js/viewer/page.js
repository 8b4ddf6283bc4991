// @ts-check
/** The viewer's own page: it opens what `leftoff view` serves, or files that are dropped or chosen, in memory. */

import { LeftoffError, loadWasm } from "../index.js";
import { LIST, readAddress } from "./address.js";
import { importFiles, importHead } from "./dropped.js";
import { Start } from "./elements/start.js";
import { searchSessions } from "./found.js";
import { showSession } from "./open.js";
import { openServed } from "./served.js";
import { describeFile } from "./unknown.js";

/** @import { Listed, Store } from "../index.js" */
/** @import { FileDamage } from "./damage.js" */
/** @import { DroppedFile, ImportedFiles } from "./dropped.js" */
/** @import { Notice } from "./elements/start.js" */

/**
 * @typedef {object} Source where sessions are from
 * @property {Store} store
 * @property {string} [session] the id of the one to show where the address names none
 * @property {string} [search] the words whose sessions to list
 * @property {Listed[]} [dropped] the sessions of dropped files
 * @property {FileDamage[]} [problems]
 */

/** How many of the store's sessions are listed. */
const MAX_LISTED = 30;

/** Where a file of the package lies. @param {string} name */
const fileUrl = (name) => new URL(`../${name}`, document.baseURI);

/** @type {Promise<void> | undefined} */
let vocabularies;

/** Loads what counts tokens exactly, once, as only contexts need it. */
function loadVocabularies() {
  const [o200k_base, cl100k_base] = [fileUrl("o200k_base.planes"), fileUrl("cl100k_base.planes")];
  // Where they are not there, the context that needs one says so.
  vocabularies ??= loadWasm({ o200k_base, cl100k_base }).catch(() => {});
  return vocabularies;
}

/** What the page shows: the first page, or a session of where it has them from. */
class Page {
  #start = new Start();
  /** @type {Source | undefined} */
  #source;
  /** @type {{ id: string, close: () => void } | undefined} */
  #shown;

  /** Begins with what `leftoff view` serves, or with how to open something. */
  async begin() {
    this.#start.open = (files) => this.#openFiles(files);
    this.#start.isServed = new URLSearchParams(location.search).has("served");
    addEventListener("hashchange", () => void this.#show());
    try {
      // Compiled as they come, and kept by the browser between two openings.
      await loadWasm({ leftoff: fileUrl("leftoff.wasm"), agents: fileUrl("agents.wasm") });
      if (this.#start.isServed) this.#source = await openServed();
    } catch (error) {
      this.#start.tell([toldOf(error)]);
    }
    await this.#show();
  }

  /** Shows what the address names. */
  async #show() {
    const { session = this.#source?.session, search, isList } = readAddress();
    if (!this.#source || session === undefined || isList) return this.#showStart();
    if (this.#shown?.id === session) return;
    try {
      const { store, problems, dropped } = this.#source;
      const opened = await store.session(session);
      this.#shown?.close();
      const { whole, close } = showSession(document.body, {
        store,
        session: opened,
        search,
        isDropped: dropped !== undefined,
        listAddress: LIST,
        prepareContexts: loadVocabularies,
        problems,
      });
      this.#shown = { id: session, close };
      await whole;
    } catch (error) {
      this.#start.tell([toldOf(error)]);
      await this.#showStart();
    }
  }

  async #showStart() {
    this.#shown?.close();
    this.#shown = undefined;
    document.body.replaceChildren(this.#start);
    if (!this.#source) return;
    const { store, search, dropped } = this.#source;
    const listed = dropped ?? (await store.list({ all: true, limit: MAX_LISTED }));
    const heading = dropped ? "In these files" : "Recent sessions";
    this.#start.offer({ heading, listed, words: search });
    if (search === undefined) return;
    this.#start.offer({ heading, listed, words: search, found: await searchSessions(store, search) });
  }

  /** Shows the session of files, or all to choose from. @param {DroppedFile[]} files */
  async #openFiles(files) {
    if (files.length === 0) return;
    try {
      const head = await importHead(files);
      if (head) await this.#showHead(head);
      const { store, sessions, problems } = await importFiles(files);
      this.#start.tell(problems.map(({ path, message }) => ({ message: `${path}: ${message}` })));
      if (sessions.length === 0) throw new LeftoffError({ code: "unknown_format", message: "no session is in it" });
      const [only] = sessions.length === 1 ? sessions : [];
      this.#source = { store, session: only?.id, dropped: sessions, problems };
      history.replaceState(null, "", location.href.replace(/#.*$/, ""));
      await this.#show();
    } catch (error) {
      this.#start.tell([await toldOfFiles(error, files)]);
      await this.#showStart();
    }
  }

  /** Shows what there is of a session, until all of it is imported. @param {ImportedFiles} head */
  async #showHead({ store, sessions: [{ id }] }) {
    this.#shown?.close();
    const { whole, close } = showSession(document.body, { store, session: await store.session(id), isHead: true });
    this.#shown = { id: "", close };
    await whole;
    await new Promise((go) => requestAnimationFrame(() => setTimeout(go)));
  }
}

/** @param {unknown} error @returns {Notice} */
const toldOf = (error) => ({ message: error instanceof LeftoffError ? error.message : String(error) });

/** Tells of files that cannot be opened; of one alone, what it seems to be. @param {unknown} error @param {DroppedFile[]} files */
async function toldOfFiles(error, files) {
  const [{ path, file }, ...others] = files;
  if (others.length > 0) return { ...toldOf(error), details: `None of ${files.length} files is a session.` };
  const { kind, advice, beginning } = describeFile(new Uint8Array(await file.slice(0, 1_024).arrayBuffer()));
  return { message: `${path}: ${toldOf(error).message}`, details: `It seems to be ${kind}. ${advice}`, beginning };
}

void new Page().begin();
