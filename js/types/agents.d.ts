/** The types for other agents: imports, recording, and sessions written for them. */

import type { ContextReport, Loss, Parent } from "../records.js";
import type { ContextRequest, ResumeRequest } from "./context.js";
import type { ReadMessage } from "./session.js";
import type { Secret } from "./store.js";

/** The options of an import. */
export interface ImportOptions {
  /** The agent; detected from the content unless given. */
  from?: string;
  /** Of a database: the session that was active last in this folder. */
  only?: { folder: string };
  /** Called before each file, and as it goes on. */
  onProgress?: (progress: Progress) => void;
}

/** The progress of an import. */
export interface Progress {
  /** The file being read. */
  path: string;
  /** How many files are done. */
  done: number;
  total: number;
  /** How many bytes of the files to read are done, counting within a file, too. */
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
  /** The fields that were not taken over. */
  losses: Loss[];
}

/** The options of a list of what an import would take in. */
export interface ImportableOptions {
  /** The agent; detected from the content unless given. */
  from?: string;
  /** How many sessions at most: no more files are read. */
  limit?: number;
  /** Called before each file, and as it goes on. */
  onProgress?: (progress: Progress) => void;
}

/** A session of which the store lacks something. */
export interface ImportableSession {
  /** The id that it has in the store, or would have. */
  id: string;
  /** Whether the store has nothing of it. */
  isNew: boolean;
  agent: string;
  /** Its id in the agent's files. */
  sourceId: string;
  /** Its title, or how its first prompt begins. */
  title: string;
  /** The project's. */
  folder?: string;
  /** For a sub-agent's: the session whose agent began it; in another file `<agent's name>/<its id there>`. */
  parent?: Parent;
  /** How many messages the file has of it. */
  messageCount: number;
  /** How many of them are not in the store. */
  newMessages: number;
  path: string;
  /** The file's length. */
  bytes: number;
  /** The time of the file's last change, RFC 3339. */
  changed?: string;
}

/** What an import would take in. */
export interface ImportableResult {
  importable: ImportableSession[];
  problems: ImportProblem[];
}

/** A place that could not be read. */
export interface ImportProblem {
  path: string;
  code: string;
  message: string;
  /** The bytes, where it is a part of a file. */
  start?: number;
  end?: number;
}

/** The result of an import. */
export interface ImportResult {
  imported: ImportedSession[];
  problems: ImportProblem[];
  /** How many files have not changed since they were last imported. */
  unchanged: number;
}

/** The command that began a conversation, and the client's tools. */
export interface Command {
  /** As it was typed: `/workspace.brainstorm`. */
  name?: string;
  /** `sha256:` and the hash of its text. */
  hash?: string;
  /** The client's tools, beside those that its record names; `mcp__SERVER` for those of an MCP server. */
  tools?: string[];
}

/** A conversation that goes on in an agent's client. */
export interface Conversation {
  agent: string;
  /** The client's file. */
  path: string;
  /** Of a database: the session that was active last in this folder. */
  only?: { folder: string };
  /** Finds the command that began it, from its messages; called when it is new to the store. */
  commandOf?: (said: (from: number, to: number) => ReadMessage[]) => Promise<Command | undefined>;
}

/** The options of writing a session for another agent. */
export interface WriteForAgent extends ContextRequest {
  agent: string;
  /** Where the client works; the store's project unless given. */
  folder?: string;
  /** The environment, whose variables name the agents' homes; the process's own unless given. */
  env?: Record<string, string | undefined>;
  /**
   * Resumes the session: the client's model is told so before the history. Nothing is written where the client's own
   * session has all of it.
   */
  resume?: ResumeForAgent;
  /** Writes nothing: the answer names the file that would be written, and the command. */
  previews?: boolean;
}

/** The options of resuming a session in another agent. */
export interface ResumeForAgent extends Pick<ResumeRequest, "override" | "revives" | "now"> {
  /** The current text of the command that began it; its name unless given. */
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
  /** Whether a copy was written: none where the client's own session, or an earlier copy, has all of it. */
  copy: "none" | "reused" | "new";
  /** The command that resumes it: the program and its arguments. */
  command: string[];
  /** The command to run before, once, by which the client takes the file in. */
  takes?: string[];
  /** How many messages the session has. */
  messageCount: number;
  /** How many of them were written, whole or shortened. */
  included: number;
  losses: Loss[];
  /** Of a resumption: what changed since the session was saved, and who else has it open. */
  warnings?: string[];
  /** The window and encoding assumed for an unknown model. */
  assumed?: ContextReport["assumed"];
  /** The secrets that the store's `redact` found. */
  secrets?: Secret[];
}

/** A turn of a transcript: a request, with all that was said until the next one. */
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

/** A transcript's own metadata. */
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
  /** The fields that were not taken over. */
  losses: Loss[];
}
