// @ts-check
/** The page of a session's panel: the viewer, on what the extension reads for it. */

import { openStore } from "../../index.js";
import { openViewer } from "../../viewer/index.js";
import { loadFiles } from "../wasm-files.js";
import { PageStorage } from "./page-storage.js";

/** @import { OpenedViewer } from "../../viewer/index.js" */
/** @import { FromPage, Place, ToPage } from "./messages.js" */

/** @type {{ postMessage: (message: FromPage) => void, setState: (state: unknown) => void }} */
const editor = /** @type {any} */ (globalThis).acquireVsCodeApi();
const storage = new PageStorage((message) => editor.postMessage(message));
/** @type {Promise<OpenedViewer> | undefined} */
let showing;

addEventListener("message", ({ data }) => {
  const message = /** @type {ToPage} */ (data);
  if (message.kind === "answer") storage.settle(message);
  else void act(message).catch(tellFailure);
});
editor.postMessage({ kind: "ready" });

/** @param {Exclude<ToPage, { kind: "answer" }>} asked */
async function act(asked) {
  if (asked.kind === "show") showing = show(asked);
  const viewer = await showing;
  if (asked.kind === "search") await viewer?.openSearch();
  else if (asked.kind === "inspect") await viewer?.toggleInspector();
  else if (viewer) await go(viewer, asked.place);
}

/** @param {ToPage & { kind: "show" }} asked */
async function show({ home, workspace, session, files, file }) {
  // Kept by the editor, so that the panel shows the session again after a restart.
  editor.setState({ session, file });
  await loadFiles(async (name) => new Uint8Array(await (await fetch(files[name])).arrayBuffer()));
  const store = await openStore({ storage, home, project: home, workspace, readOnly: true });
  const opened = await store.session(session);
  document.title = opened.metadata.display.title || "Session";
  // The editor's own title has the title and the buttons.
  const viewer = openViewer(document.body, {
    store,
    session: opened,
    header: false,
    sidebar: false,
  });
  keepFocus(viewer);
  return viewer;
}

/**
 * Passes the panel's focus on to what in it had the focus last, at first the messages: the browser forgets it when
 * something else of the editor gets the focus.
 * @param {OpenedViewer} viewer
 */
function keepFocus(viewer) {
  /** @type {HTMLElement | undefined} */
  let last;
  const pass = () => {
    if (!document.hasFocus() || document.activeElement !== document.body) return;
    if (last?.isConnected) last.focus({ preventScroll: true });
    if (document.activeElement === document.body) void viewer.focus();
  };
  addEventListener("focusin", ({ target }) => (last = /** @type {HTMLElement} */ (target)));
  addEventListener("focus", pass);
  void viewer.whole.then(pass);
}

/** @param {OpenedViewer} viewer @param {Place} place */
async function go(viewer, { message, search }) {
  await viewer.whole;
  if (search !== undefined) await viewer.openSearch(search);
  if (message !== undefined) await viewer.reveal(message);
}

/** @param {unknown} error */
function tellFailure(error) {
  editor.postMessage({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
}
