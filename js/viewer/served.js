// @ts-check
/** Opens the store that `leftoff view` serves to the page. */

import { openStore } from "../index.js";
import { RemoteStorage } from "./remote-storage.js";

/** @import { Store } from "../index.js" */

/**
 * @returns {Promise<{ store: Store, session?: string, search?: string }>} `session`: the id of the one to show first;
 *   `search`: the words whose sessions to show
 * @throws {LeftoffError} what opening a store throws
 */
export async function openServed() {
  const response = await fetch(new URL("../opened.json", document.baseURI), { cache: "no-store" });
  const { home, workspace, session, search } = await response.json();
  const storage = new RemoteStorage(new URL("../storage", document.baseURI));
  const store = await openStore({ storage, home, project: home, workspace, readOnly: true });
  return { store, session, search };
}
