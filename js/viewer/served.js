// @ts-check
/** Opens the session that `leftoff view` serves to the page. */

import { openStore } from "../index.js";
import { openViewer } from "./index.js";
import { RemoteStorage } from "./remote-storage.js";

/**
 * Shows the session, or nothing where the server names none.
 * @param {Element} root
 * @returns {Promise<boolean>} whether there is one
 * @throws {LeftoffError} what opening a store and a session throws
 */
export async function openServed(root) {
  const response = await fetch(new URL("../opened.json", document.baseURI), { cache: "no-store" });
  const { home, workspace, session: id } = await response.json();
  if (id === undefined) return false;
  const storage = new RemoteStorage(new URL("../storage", document.baseURI));
  const store = await openStore({ storage, home, project: home, workspace, readOnly: true });
  openViewer(root, { store, session: await store.session(id) });
  return true;
}
