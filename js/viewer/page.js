// @ts-check
/** The viewer's own page: it opens what `leftoff view` serves, or files that are dropped or chosen, in memory. */

import { LeftoffError, loadWasm } from "../index.js";
import { LIST, addressOf, readAddress } from "./address.js";
import { BrowserStore, hasPrivateFiles } from "./browser-store.js";
import { importFiles, importHead } from "./dropped.js";
import { Start } from "./elements/start.js";
import { searchSessions } from "./found.js";
import { showSession } from "./open.js";
import { openServed } from "./served.js";
import { createPolicy, pagePolicy } from "./trusted-types.js";
import { describeFile } from "./unknown.js";

/** @import { Listed, Store } from "../index.js" */
/** @import { FileDamage } from "./damage.js" */
/** @import { DroppedFile, ImportedFiles, StoredFiles } from "./dropped.js" */
/** @import { Notice } from "./elements/start.js" */

/**
 * @typedef {object} Source where sessions are from
 * @property {Store} store
 * @property {string} [session] the id of the one to show where the address names none
 * @property {string} [search] the words whose sessions to list
 * @property {Listed[]} [dropped] the sessions of dropped files
 * @property {StoredFiles} [files] those files
 * @property {FileDamage[]} [problems]
 */

/** How many of the store's sessions are listed. */
const MAX_LISTED = 30;

/** Where a file of the package lies. @param {string} name */
const fileUrl = (name) => new URL(`../${name}`, document.baseURI);

/** The one script that the page runs beside its own. */
const WORKER = String(fileUrl("viewer/storage-worker.js"));
const startWorker = () =>
  new Worker(/** @type {any} */ (pagePolicy()?.createScriptURL(WORKER) ?? WORKER), { type: "module" });

/** @type {Promise<void> | undefined} */
let vocabularies;

/** Loads what counts tokens exactly, once, as only contexts need it. */
function loadVocabularies() {
  const [o200k_base, cl100k_base] = [fileUrl("o200k_base.planes"), fileUrl("cl100k_base.planes")];
  // Where they are not there, the context that needs one says so.
  vocabularies ??= loadWasm({ o200k_base, cl100k_base }).catch(() => {});
  return vocabularies;
}

const NO_PRIVATE_FILES =
  "This browser keeps no files for the page, as in a private window. What is open stays until the page is closed.";

/** What the page shows: the first page, or a session of where it has them from. */
class Page {
  #start = new Start();
  /** @type {Source | undefined} */
  #source;
  /** @type {BrowserStore | undefined} */
  #browserStore;
  /** @type {{ id: string, close: () => void } | undefined} */
  #shown;

  /** Begins with what `leftoff view` serves, or with how to open something. */
  async begin() {
    this.#start.open = (files) => this.#openFiles(files);
    this.#start.keepFiles = async () => {
      await this.#keepFiles().finally(() => this.#showStart());
    };
    this.#start.removeSession = async (id) => {
      await this.#browserStore?.removeSession(id).catch(rejectOpenSession);
      await this.#showStart();
    };
    this.#start.isServed = new URLSearchParams(location.search).has("served");
    addEventListener("hashchange", () => void this.#show());
    try {
      // Compiled as they come, and kept by the browser between two openings.
      await loadWasm({ leftoff: fileUrl("leftoff.wasm"), agents: fileUrl("agents.wasm") });
      if (this.#start.isServed) this.#source = await openServed();
      else if (await hasPrivateFiles()) this.#browserStore = await BrowserStore.open(startWorker);
    } catch (error) {
      this.#start.tell([toldOf(error)]);
    }
    await this.#show();
  }

  /** Shows what the address names. */
  async #show() {
    const { session: id = this.#source?.session, search, isList } = readAddress();
    if (id === undefined || isList) return this.#showStart();
    if (this.#shown?.id === id) return;
    try {
      const found = await this.#findSession(id);
      if (!found) return this.#showStart();
      const { store: opened, problems } = this.#source ?? {};
      const canKeep = found.store === opened && (await this.#canKeep());
      this.#shown?.close();
      const { whole, close } = showSession(document.body, {
        ...found,
        search,
        isDropped: !this.#start.isServed,
        listAddress: LIST,
        prepareContexts: loadVocabularies,
        problems,
        keep: canKeep ? () => this.#keepFiles() : undefined,
      });
      this.#shown = { id, close };
      await whole;
    } catch (error) {
      this.#start.tell([toldOf(error)]);
      await this.#showStart();
    }
  }

  /** Finds a session in what was opened, else in what the browser keeps. @param {string} id */
  async #findSession(id) {
    const { store } = this.#source ?? {};
    const reader = this.#browserStore?.reader;
    try {
      if (store) return { store, session: await store.session(id) };
    } catch (error) {
      if (!reader || !(error instanceof LeftoffError) || error.code !== "not_found") throw error;
    }
    return reader && { store: reader, session: await reader.session(id) };
  }

  async #showStart() {
    this.#shown?.close();
    this.#shown = undefined;
    document.body.replaceChildren(this.#start);
    await this.#offerKept();
    if (!this.#source) return;
    const { store, search, dropped } = this.#source;
    const listed = dropped ?? (await store.list({ all: true, limit: MAX_LISTED }));
    const heading = dropped ? "In these files" : "Recent sessions";
    this.#start.offer({ heading, listed, words: search, canKeep: await this.#canKeep() });
    if (search === undefined) return;
    this.#start.offer({ heading, listed, words: search, found: await searchSessions(store, search) });
  }

  async #offerKept() {
    try {
      this.#start.offerKept((await this.#browserStore?.listSessions()) ?? []);
    } catch (error) {
      this.#start.tell([toldOf(error)]);
    }
  }

  /** Shows the session of files, or all to choose from. @param {DroppedFile[]} files */
  async #openFiles(files) {
    if (files.length === 0) return;
    try {
      const head = await importHead(files);
      if (head) await this.#showHead(head);
      const { store, sessions, problems, files: stored } = await importFiles(files);
      this.#start.tell(problems.map(({ path, message }) => ({ message: `${path}: ${message}` })));
      if (sessions.length === 0) throw new LeftoffError({ code: "unknown_format", message: "no session is in it" });
      const [only] = sessions.length === 1 ? sessions : [];
      this.#source = { store, session: only?.id, dropped: sessions, problems, files: stored };
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

  /** Whether the browser may keep what was dropped, and does not yet keep all of it. */
  async #canKeep() {
    const { dropped } = this.#source ?? {};
    return dropped !== undefined && (await this.#countKept(dropped)) < dropped.length;
  }

  /** How many of these the browser keeps whole. @param {Listed[]} sessions */
  async #countKept(sessions) {
    const kept = (await this.#browserStore?.listSessions()) ?? [];
    const counts = new Map(kept.map(({ id, messageCount }) => [id, messageCount]));
    return sessions.filter(({ id, messageCount }) => (counts.get(id) ?? -1) >= messageCount).length;
  }

  /** Keeps the sessions of what was dropped. @throws {LeftoffError} */
  async #keepFiles() {
    const { files, dropped } = this.#source ?? {};
    if (!files || !dropped) return;
    if (!this.#browserStore) throw new LeftoffError({ code: "permission_denied", message: NO_PRIVATE_FILES });
    try {
      await this.#browserStore.keepFiles(files);
    } catch (cause) {
      if (!(cause instanceof LeftoffError) || cause.code !== "disk_full") throw cause;
      const which = dropped.length === 1 ? "this session" : "all of these";
      const message =
        `The browser has no room for ${which}: ${await this.#countKept(dropped)} of ${dropped.length} are kept whole. ` +
        "Remove others that it keeps, or free disk space, and keep them again.";
      throw new LeftoffError({ code: "disk_full", message, cause });
    }
    // A link that is copied from now on names the session.
    if (this.#shown) history.replaceState(null, "", addressOf({ ...readAddress(), session: this.#shown.id }));
  }
}

/** @param {unknown} error @returns {Notice} */
const toldOf = (error) => ({ message: error instanceof LeftoffError ? error.message : String(error) });

/** @param {unknown} cause @returns {never} */
function rejectOpenSession(cause) {
  if (!(cause instanceof LeftoffError) || cause.code !== "open_elsewhere") throw cause;
  const message = "A page writes to this session. Close other tabs with it, load this page again, and remove it then.";
  throw new LeftoffError({ code: cause.code, message, cause });
}

/** Tells of files that cannot be opened; of one alone, what it seems to be. @param {unknown} error @param {DroppedFile[]} files */
async function toldOfFiles(error, files) {
  const [{ path, file }, ...others] = files;
  if (others.length > 0) return { ...toldOf(error), details: `None of ${files.length} files is a session.` };
  const { kind, advice, beginning } = describeFile(new Uint8Array(await file.slice(0, 1_024).arrayBuffer()));
  return { message: `${path}: ${toldOf(error).message}`, details: `It seems to be ${kind}. ${advice}`, beginning };
}

createPolicy(WORKER);
void new Page().begin();
