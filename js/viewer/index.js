// @ts-check
/** The transcript viewer: shows one session in a page. */

import { showSession } from "./open.js";

/**
 * @typedef {import("../types/viewer.js").OpenedViewer} OpenedViewer
 * @typedef {import("../types/viewer.js").ViewedSession} ViewedSession
 */

/**
 * Shows a session below an element, in place of what is there: its messages as they are read, then what is appended.
 * The stylesheet `leftoff/viewer.css` is the page's to load, and styles nothing but the viewer; the element gives the size.
 * @param {Element} root
 * @param {ViewedSession} viewed a store that was opened `readOnly` keeps its last context as it is, whichever previews are
 *   looked at
 * @returns {OpenedViewer}
 * @example
 * import { openStore } from "leftoff";
 * import { openViewer } from "leftoff/viewer";
 * const store = await openStore();
 * const { whole, close } = openViewer(document.body, { store, session: await store.continue() });
 * await whole;
 */
export function openViewer(root, { store, session, header, sidebar }) {
  return showSession(root, { store, session, header, sidebar });
}
