// @ts-check
/** The script of a session's own HTML file: shows the session that the file carries, in place of the plain page. */

import { loadWasm } from "../index.js";
import { inflateBase64 } from "../host/inflate.js";
import { importFiles } from "./dropped.js";
import { showHidden } from "./hidden.js";
import { showSession } from "./open.js";

/** Takes a text that the file carries out of the document. @param {string} selector */
function take(selector) {
  const element = document.querySelector(selector);
  element?.remove();
  return element?.textContent ?? "";
}

async function begin() {
  const [core, readers, counter] = ["leftoff.wasm", "agents.wasm", "o200k_base.planes"].map((file) =>
    take(`script[id="${file}"]`),
  );
  const [leftoff, agents] = await Promise.all([core, readers].map(inflateBase64));
  await loadWasm({ leftoff, agents });
  const file = new File([take('script[type="application/leftoff"]')], "session.leftoff");
  const { store, sessions, problems } = await importFiles([{ path: file.name, file }]);
  const session = await store.session(sessions[0].id);
  /** @type {Promise<void> | undefined} */
  let vocabulary;
  const prepareContexts = () => (vocabulary ??= inflateBase64(counter).then((o200k_base) => loadWasm({ o200k_base })));
  const { title } = session.metadata.display;
  await showSession(document.body, { store, session, problems, prepareContexts }).whole;
  document.title = showHidden(title) || document.title;
}

begin().catch((error) => {
  const notice = document.createElement("p");
  notice.role = "alert";
  notice.textContent = `The viewer could not begin, so this is the plain page: ${error instanceof Error ? error.message : error}`;
  document.body.prepend(notice);
});
