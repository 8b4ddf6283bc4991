/** Types of `leftoff/langchain`. */

import type { Store } from "../store/store.js";

/** What a chat history is made of. */
export interface LangChainHistoryFields {
  store: Store;
  /** The conversation's id in your program: any text. */
  sessionId: string;
}
