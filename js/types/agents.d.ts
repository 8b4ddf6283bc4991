/** Of other agents: what is read of them, and written for them. */

import type { ContextReport, Loss, Parent } from "../records.js";
import type { ContextRequest, ResumeRequest } from "./context.js";
import type { ReadMessage } from "./session.js";
import type { Secret } from "./store.js";

/** What is imported. */
export interface ImportOptions {
  /** The agent; the content tells unless given. */
  from?: string;
  /** Of a database: the session that was active last in this folder. */
  only?: { folder: string };
  /** Called before each file, and as it goes on. */
  onProgress?: (progress: Progress) => void;
}

/** How far an import is. */
export interface Progress {
  /** The file that is read. */
  path: string;
  /** How many files are done. */
  done: number;
  total: number;
  /** How many bytes of the files that have to be read are done with, also within one. */
  bytes: number;
  totalBytes: number;
}

/** A session that was imported. */
export interface ImportedSession {
  id: string;
  agent: string;
  path: string;
  /** How many messages the source holds. */
  messageCount: number;
  /** How many of them are new here. */
  added: number;
  parent?: Parent;
  /** What was not taken over. */
  losses: Loss[];
}

/** What could not be read. */
export interface ImportProblem {
  path: string;
  code: string;
  message: string;
  /** The bytes, where it is a part of a file. */
  start?: number;
  end?: number;
}

/** What an import came to. */
export interface ImportResult {
  imported: ImportedSession[];
  problems: ImportProblem[];
  /** Files that are as they were when they were imported last. */
  unchanged: number;
}

/** What began a conversation, and what it has. */
export interface Command {
  /** As it was typed: `/workspace.brainstorm`. */
  name?: string;
  /** `sha256:` and that of its text. */
  hash?: string;
  /** The tools that its client has, beside those that its record names; `mcp__SERVER` for those of an MCP server. */
  tools?: string[];
}

/** A conversation that goes on in an agent's client. */
export interface Conversation {
  agent: string;
  /** The client's file. */
  path: string;
  /** Of a database: the session that was active last in this folder. */
  only?: { folder: string };
  /** Which command began it, told by its messages; asked where it is new here. */
  commandOf?: (said: (from: number, to: number) => ReadMessage[]) => Promise<Command | undefined>;
}

/** How a session goes on in another agent. */
export interface WriteForAgent extends ContextRequest {
  agent: string;
  /** Where the client works; the store's project unless given. */
  folder?: string;
  /** The environment that names the agents' homes; the process's own unless given. */
  env?: Record<string, string | undefined>;
  /** The session is resumed, and the client's model told so before the history; nothing is written where the client's own has all of it. */
  resume?: ResumeForAgent;
  /** Nothing is written: the answer names the file that would be, and the command. */
  previews?: boolean;
}

/** How a session is resumed in another agent. */
export interface ResumeForAgent extends Pick<ResumeRequest, "override" | "revives" | "now"> {
  /** What the command that began it says now; its name unless given. */
  command?: string;
}

/** A session written as another agent keeps its own. */
export interface WrittenForAgent {
  /** The name by which the client knows it. */
  id: string;
  agent: string;
  /** The file. */
  path: string;
  /** Where the client has to be started. */
  folder: string;
  /** What was written: nothing where the client's own session, or an earlier copy, has all of it. */
  copy: "none" | "reused" | "new";
  /** What resumes it: the program and its arguments. */
  command: string[];
  /** What has to be run before, once: the client takes the file in. */
  takes?: string[];
  /** How many messages the session has. */
  messageCount: number;
  /** How many of them went in whole or shortened. */
  included: number;
  losses: Loss[];
  /** Of a resumption: what changed since the session was saved, and who else has it open. */
  warnings?: string[];
  /** What a model that is not known was taken for. */
  assumed?: ContextReport["assumed"];
  /** What the store's `redact` found on the way. */
  secrets?: Secret[];
}

/** What was asked in a transcript, with all that was said until the next time. */
export interface Turn {
  /** The place of its first message. */
  start: number;
  /** The id of that. */
  id: string;
  /** Its first line, cut to 80 columns; empty where nothing was asked. */
  title: string;
  /** RFC 3339. */
  timestamp?: string;
  messageCount: number;
  /** The tools that were called, each once, and how often. */
  tools: { name: string; count: number }[];
  /** How many results say that the tool failed. */
  failed: number;
}

/** What a transcript says of itself. */
export interface TranscriptSession {
  id: string;
  agent: string;
  /** The session's id there. */
  sourceId: string;
  parent: Parent | null;
  fork: { session: string; messageId: string } | null;
  title: string | null;
  folder: string | null;
  model: string | null;
  tools: string[];
  /** What was not taken over. */
  losses: Loss[];
}
