/** What a page and the extension tell each other. */

import type { Verb } from "../../storage/contract.js";

/** What the page asks of the store's files; or that it is ready to be told what to show. */
export type FromPage =
  | { kind: "ready" }
  | { kind: "read"; id: number; verb: Verb; path: string; args: unknown[] }
  | { kind: "failed"; message: string };

/** What to show, once; answers to reads; and what the person wants of it. */
export type ToPage =
  | { kind: "show"; home: string; workspace: string; session: string; files: Record<string, string>; place: Place }
  | { kind: "answer"; id: number; value?: unknown; error?: { code: string; message: string } }
  | { kind: "go"; place: Place }
  | { kind: "search" }
  | { kind: "inspect" };

/** Where to go in a session: to a message, or to what has a text. */
export interface Place {
  message?: string;
  search?: string;
}
