import type { Session } from "../session/session.js";
import type { Store } from "../store/store.js";

/** What `openViewer` shows. */
export interface ViewedSession {
  /** Sub-agents' sessions are looked for there. It is not closed. */
  store: Store;
  /** One of the store's. It is not closed. */
  session: Session;
  /** Shows the header: the title, the search field and the buttons. Default: true. A host that has these sets it to false. */
  header?: boolean;
  /** Shows the outline, files and usage beside the conversation. Default: true. If false, `1`, `2` and `3` open them. */
  sidebar?: boolean;
}

/** A viewer in a page. */
export interface OpenedViewer {
  /** Once all messages are read; rejects with what `Session.messages` throws. */
  whole: Promise<void>;
  /** Gives the keyboard's focus to the message that keys act on. */
  focus: () => Promise<void>;
  /** Opens the search field with the focus in it; with a query, searches for it. */
  openSearch: (query?: string) => Promise<void>;
  /** Opens what the model saw, with the focus in it, or closes it. */
  toggleInspector: () => Promise<void>;
  /** Scrolls to a message once all are read, and unfolds what hides it; false if the session does not have it. */
  reveal: (messageId: string) => Promise<boolean>;
  /** Ends following, and takes away what is shown. */
  close: () => void;
}
