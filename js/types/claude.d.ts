/**
 * Types of `leftoff/claude`. Those of the Claude Agent SDK are restated from `sdk.d.ts` of
 * `@anthropic-ai/claude-agent-sdk` 0.3.332, so that its package need not be installed.
 */

import type { Storage } from "../storage/contract.js";
import type { Store } from "../store/store.js";

/** Names a transcript: that of a session, or with `subpath` one of a sub-agent's. Each part may be any text. */
export interface ClaudeSessionKey {
  /** What the SDK calls a project: made from the working folder, unless the caller sets another. */
  projectKey: string;
  sessionId: string;
  /** `subagents/agent-1`; not empty. */
  subpath?: string;
}

/** A line of a transcript, which is kept as it is. */
export interface ClaudeSessionEntry {
  type: string;
  /** An entry of a uuid that the transcript has already is not stored again. */
  uuid?: string;
  timestamp?: string;
  [field: string]: unknown;
}

/** What a list says of a session. */
export interface ClaudeSessionSummary {
  sessionId: string;
  /** When the transcript was written last, milliseconds since 1970: the same as `listSessions` says. */
  mtime: number;
  /** The SDK's own, kept as it is. */
  data: { [field: string]: unknown };
}

/** The SDK's function that adds entries to a summary. */
export type FoldClaudeSummary = (
  summary: ClaudeSessionSummary | undefined,
  key: ClaudeSessionKey,
  entries: ClaudeSessionEntry[],
) => ClaudeSessionSummary;

/** The options of `sessionStore`. */
export interface ClaudeSessionStoreOptions {
  /** Where each session is recorded, to be listed, searched and resumed. */
  store: Store;
  /** The SDK's function of this name: with it a list of sessions need not load each. */
  foldSessionSummary?: FoldClaudeSummary;
  /** Where the transcripts are kept, in the folder `claude-agent` of the store's home; its disk unless given. */
  storage?: Storage;
  /** Is told why the store has not recorded a session, whose transcript is kept all the same. */
  report?: (error: unknown, key: ClaudeSessionKey) => unknown;
}

/** Keeps sessions of the Claude Agent SDK: its option `sessionStore`. */
export interface ClaudeSessionStore {
  /** Adds entries to a transcript: once it resolves, they are on the disk. */
  append(key: ClaudeSessionKey, entries: ClaudeSessionEntry[]): Promise<void>;
  /** All entries of a transcript, in their order; null where none was ever written. */
  load(key: ClaudeSessionKey): Promise<ClaudeSessionEntry[] | null>;
  /** The sessions of a project; `mtime` is in milliseconds since 1970. */
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>;
  /** What lists say of the sessions of a project; absent without `foldSessionSummary`. */
  listSessionSummaries?: (projectKey: string) => Promise<ClaudeSessionSummary[]>;
  /** Removes a transcript, and with a session's those of its sub-agents. What the store has recorded stays. */
  delete(key: ClaudeSessionKey): Promise<void>;
  /** The sub-paths that a session has transcripts of. */
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>;
  /** Waits until the store has recorded all that was appended; rejects with what it could not record. */
  flush(): Promise<void>;
  /** Flushes, and releases all files; to be called before the store is closed. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
