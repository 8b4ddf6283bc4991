import type { Session } from "../session/session.js";
import type { Store } from "../store/store.js";

/** What `openViewer` shows. */
export interface ViewedSession {
  /** Sub-agents' sessions are looked for there. It is not closed. */
  store: Store;
  /** One of the store's. It is not closed. */
  session: Session;
}

/** A viewer in a page. */
export interface OpenedViewer {
  /** Once all messages are read; rejects with what `Session.messages` throws. */
  whole: Promise<void>;
  /** Ends following, and takes away what is shown. */
  close: () => void;
}
