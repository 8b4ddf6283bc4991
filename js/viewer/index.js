// @ts-check
/** The transcript viewer: shows one session in a page. */

import { showSession } from "./open.js";

/** @import { Session, Store } from "../index.js" */

/**
 * Shows a session below an element, in place of what is there: its messages as they are read, then what is appended.
 * The stylesheet `leftoff/viewer.css` is the page's to load; the element gives the height.
 * @param {Element} root
 * @param {{ store: Store, session: Session }} opened the session is one of the store's; neither is closed here
 * @returns {{ whole: Promise<void>, close: () => void }} `whole`: once all messages are read; it rejects with what
 *   `Session.messages` throws. `close` ends following, and takes away what is shown
 * @throws {TypeError} for a session that is none
 * @example
 * import { openViewer } from "leftoff/viewer";
 * const store = await openStore();
 * const { whole, close } = openViewer(document.body, { store, session: await store.continue() });
 * await whole;
 */
export function openViewer(root, { store, session }) {
  return showSession(root, { store, session });
}
