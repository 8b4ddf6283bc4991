/** Types of `leftoff/openai`, as far as they go beyond those of `@openai/agents`. */

import type { Store } from "../store/store.js";
import type { ContextRequest } from "./context.js";

/** An item of the OpenAI Agents SDK, its `AgentInputItem`. */
export interface AgentItem {
  type?: string;
  role?: string;
  content?: unknown;
  callId?: string;
  name?: string;
  output?: unknown;
  [key: string]: unknown;
}

/** Which session of a store the SDK goes on with. */
export interface AgentSessionOptions {
  store: Store;
  /** Any text by which your program knows the conversation; it is begun where the store has none of it. */
  id: string;
}

/** A change of the newest items that is made once, whole. */
export type HistoryTransaction<Item extends object = AgentItem> =
  { type: "append_items"; items: Item[] } | { type: "replace_suffix"; expectedSuffix: Item[]; replacement: Item[] };

/** What a context of a run is built for: what `session.context` takes, but for its format. */
export type AgentContextRequest = Omit<ContextRequest, "format"> & { window: number };
