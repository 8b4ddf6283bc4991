/** The types for sessions: messages to append, and what is read. */

import type {
  Assistant,
  Attachment,
  Message,
  Project,
  Reasoning,
  Role,
  Source,
  Tool,
  ToolCall,
  ToolExecution,
} from "../records.js";
import type { Format } from "./shapes.js";

/** A message to append in leftoff's own shape. Another key is refused by its name. */
export interface Draft {
  role: Role;
  /** What was said, or what the tool answered; empty unless given. */
  content?: string;
  /** Of role `tool`: the call that this answers. */
  tool?: Tool;
  /** Of role `assistant`: its model, calls, reasoning and usage. */
  assistant?: Omit<Assistant, "toolCalls" | "reasoning"> & { toolCalls?: ReadCall[]; reasoning?: ReadReasoning[] };
  attachments?: Attachment[];
  /** Names it; made unless given. The same id with a higher `rev` writes the message again. */
  id?: string;
  rev?: number;
  /** An answer that is not finished. */
  partial?: boolean;
  /** RFC 3339; now unless given. */
  timestamp?: string;
  /** The message it follows, where that is not the last one. */
  parentId?: string;
  /** A branch begins with it. */
  branch?: boolean;
  source?: Source;
}

/**
 * A message in a provider's own shape, with every key that some shape reads; which one it is, `format` says. It is as
 * loose as what their libraries give, but for a key that nobody reads.
 */
export interface ProviderMessage {
  role?: unknown;
  content?: unknown;
  /** Of Gemini's contents, and of the AI SDK's messages on a screen. */
  parts?: unknown;
  /** Of OpenAI's items. */
  type?: unknown;
  id?: unknown;
  name?: unknown;
  call_id?: unknown;
  arguments?: unknown;
  input?: unknown;
  output?: unknown;
  summary?: unknown;
  encrypted_content?: unknown;
  status?: unknown;
  phase?: unknown;
  action?: unknown;
  tool_calls?: unknown;
  tool_call_id?: unknown;
  function_call?: unknown;
  reasoning?: unknown;
  reasoning_content?: unknown;
  refusal?: unknown;
  annotations?: unknown;
  audio?: unknown;
  /** Of the AI SDK. */
  providerOptions?: unknown;
  metadata?: unknown;
  createdAt?: unknown;
}

/** A provider's whole answer: it says itself whose it is. */
export type ProviderAnswer =
  | { choices: unknown }
  | { object: string; output: unknown }
  | { candidates?: unknown; usageMetadata?: unknown; modelVersion?: unknown }
  | { type: string; role: string; content: unknown; stop_reason: unknown }
  | { steps: unknown; response: unknown };

/** What `Session.append` takes, alone or in a list. */
export type Appendable = Draft | ProviderMessage | ProviderAnswer;

/** The options of `Session.append`. */
export interface AppendOptions {
  /** `durable`, unless given: survives a power cut. `buffered`: survives the end of the process. */
  durability?: "durable" | "buffered";
  /** The shape of the messages; leftoff's own, or that which a provider's whole answer tells. */
  format?: Format;
  /** Makes a paused session active again; true unless given. */
  revives?: boolean;
  /**
   * Your own name for this append, of at most 128 bytes. The same messages under the same name count once; other
   * messages are refused with `operation_reused`. A session remembers its 1,000 newest operations.
   */
  operation?: string;
  /**
   * The id of the last message that you know, null for none. Where another one is the last, the append is refused with
   * `conflict`.
   */
  expected?: string | null;
}

/** How safe appended messages are: on the disk, in the system's hands, or in this process's memory alone. */
export type Acknowledged = "durable" | "buffered" | "volatile";

/** A call as it is read: its arguments are JSON. */
export type ReadCall = Omit<ToolCall, "arguments"> & { arguments: string };

/** A piece of reasoning as it is read. */
export type ReadReasoning = Omit<Reasoning, "text"> & { text: string };

/** The fields that only a model's answer has. */
export type ReadAssistant = Omit<Assistant, "toolCalls" | "reasoning"> & {
  toolCalls?: ReadCall[];
  reasoning?: ReadReasoning[];
};

/** A message as readers get it, with blobs put back. `onPath` is false for a message of another branch. */
export type ReadMessage = Omit<Message, "content" | "assistant"> & {
  content: string;
  assistant?: ReadAssistant;
  onPath?: false;
};

/** The options of reading messages. */
export interface Reading {
  newestFirst?: boolean;
  /** The message whose path is read; the current path unless given. */
  leaf?: string;
  /** Also reads messages of other branches, marked by `onPath`. */
  allBranches?: boolean;
}

/** A tool execution to record. */
export interface Execution {
  call: { id: string; name: string; arguments?: Record<string, unknown> };
  /** `success`: true unless given, or there is an error. */
  result: { content: string; success?: boolean; error?: string; exitCode?: number };
  durationMs?: number;
  /** The assistant's message with the call; found, unless given. */
  messageId?: string;
}

/** A tool execution as it is read: `content` is its message's. */
export type ReadExecution = ToolExecution & { result: { content?: string } };

/** A notice, given once to whoever opened a session, or listed some. */
export interface Notice {
  /**
   * `left_open`: by a process that is gone. `archived`: some of the project, as a file of settings says.
   * `not_archived`,
   * `not_paused`: why that could not be; `not_read`: why nobody can look into it; a folder of sessions may be told so,
   * too.
   */
  code: "auto_paused" | "left_open" | "archived" | "not_archived" | "not_paused" | "not_read";
  message: string;
}

/** A process that has a session open. */
export interface Holder {
  pid: number;
  host: string;
  /** Names the time since the machine was started; empty where the system does not tell. */
  boot: string;
  /** When the process began, in the system's own words; empty where it does not tell. */
  start: string;
  program: string;
  /** RFC 3339. */
  since: string;
}

/** A session's new place, in a project or a workspace. */
export interface Destination {
  /** It belongs to this project from now on. */
  project?: Project;
  /** It has this name in a workspace. */
  name?: string;
}

/**
 * The format of an export: one JSON value for programs, Markdown for people, or all of its files as one, which another
 * store imports.
 */
export type ExportFormat = "json" | "markdown" | "atif" | "leftoff";
