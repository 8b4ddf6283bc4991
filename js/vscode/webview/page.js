// @ts-check
/** The page of a session's panel: the viewer, on what the extension reads for it. */

import { loadWasm, openStore } from "../../index.js";
import { openViewer } from "../../viewer/index.js";
import { PageStorage } from "./page-storage.js";

/** @import { FromPage, ToPage } from "./messages.js" */

/** @type {{ postMessage: (message: FromPage) => void, setState: (state: unknown) => void }} */
const editor = /** @type {any} */ (globalThis).acquireVsCodeApi();
const storage = new PageStorage((message) => editor.postMessage(message));

addEventListener("message", ({ data }) => {
  const message = /** @type {ToPage} */ (data);
  if (message.kind === "answer") storage.settle(message);
  else if (message.kind === "show") void show(message).catch(tellFailure);
});
editor.postMessage({ kind: "ready" });

/** @param {ToPage & { kind: "show" }} asked */
async function show({ home, workspace, session, files, place, file }) {
  // Kept by the editor, so that the panel shows the session again after a restart.
  editor.setState({ session, place, file });
  await loadWasm(files);
  const store = await openStore({ storage, home, project: home, workspace, readOnly: true });
  const { whole } = openViewer(document.body, { store, session: await store.session(session) });
  await whole;
}

/** @param {unknown} error */
function tellFailure(error) {
  editor.postMessage({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
}
