/** Types of `leftoff/opencode`, as far as they go beyond OpenCode's own. */

import type { Session } from "../session/session.js";
import type { ContextRequest } from "./context.js";

/** A session as OpenCode knows it. */
export interface OpenCodeSession {
  id: string;
  title?: string;
  /** The id of the session whose agent began this one. */
  parentID?: string;
  /** Set while messages are taken back. */
  revert?: object;
}

/** A message of OpenCode without its parts. */
export interface OpenCodeMessageInfo {
  id: string;
  sessionID: string;
  role: string;
  /** Milliseconds since 1970. */
  time: { created: number; completed?: number };
  error?: object;
  /** Of a user's message: the model that is to answer. */
  model?: { providerID: string; modelID: string };
}

/** A part of a message of OpenCode. */
export interface OpenCodePart {
  id: string;
  sessionID: string;
  messageID: string;
  type: string;
  text?: string;
  /** The client wrote it, not the user. */
  synthetic?: boolean;
  /** Of a tool's part: `pending` until its arguments are known. */
  state?: {
    status: string;
    output?: string;
    error?: string;
    attachments?: object[];
    /** `compacted`: when OpenCode cleared the output, which it keeps and no longer sends. */
    time?: { start: number; end?: number; compacted?: number };
  };
}

/** A message of OpenCode. */
export interface OpenCodeMessage {
  info: OpenCodeMessageInfo;
  parts: OpenCodePart[];
}

/** An event as OpenCode gives it to plugins. Those that tell nothing of a message or a session are left out. */
export interface OpenCodeEvent {
  type: string;
  properties: object;
}

/** What is used of the client that OpenCode gives to plugins. */
export interface OpenCodeClient {
  session: {
    get(at: { path: { id: string } }): Promise<{ data?: OpenCodeSession; error?: unknown }>;
    messages(at: { path: { id: string } }): Promise<{ data?: OpenCodeMessage[]; error?: unknown }>;
  };
  /** Asked for a model's limits, where `context` gives no window. */
  config?: { providers(): Promise<{ data?: { providers: OpenCodeProvider[] }; error?: unknown }> };
  app: { log(entry: { body: { service: string; level: "error"; message: string } }): Promise<unknown> };
}

/** A provider's models by their names, with their limits in tokens; `context` is 0 where OpenCode does not know it. */
export interface OpenCodeProvider {
  id: string;
  models: { [name: string]: { limit: { context: number; input?: number; output: number } } };
}

/** Where the plugin runs, as OpenCode says. */
export interface OpenCodePlace {
  client: OpenCodeClient;
  /** The project's folder. */
  directory: string;
}

/** What is set beside the plugin's name in OpenCode's settings: `["leftoff", { "home": "/srv/leftoff" }]`. */
export interface OpenCodePluginOptions {
  /** The store's folder, unless it is the usual one. */
  home?: string;
  /**
   * Sends what fits of a session, in place of all: true, or options of `Session.context`. Without `window`, it and
   * `reserve` come from OpenCode's limits of the model. Off unless given.
   */
  context?: boolean | OpenCodeContextRequest;
}

/** The options of `Session.context` that settings can give. */
export type OpenCodeContextRequest = Pick<
  ContextRequest,
  "window" | "reserve" | "model" | "encoding" | "recall" | "fill" | "cacheLifetime" | "only"
>;

/** A tool as OpenCode offers it to the model; `args` are JSON Schemas. */
export interface OpenCodeTool<Arguments extends object> {
  description: string;
  args: { [name in keyof Arguments]: object };
  execute(args: Arguments, call: { sessionID: string }): Promise<string>;
}

/** What the plugin does in OpenCode. */
export interface OpenCodeHooks {
  event(input: { event: OpenCodeEvent }): Promise<void>;
  "chat.message"(
    input: { sessionID: string },
    output: { message: { id: string }; parts: OpenCodePart[] },
  ): Promise<void>;
  /** There only where `context` asks for it; changes the array in place. */
  "experimental.chat.messages.transform"?(input: object, output: { messages: OpenCodeMessage[] }): Promise<void>;
  "experimental.session.compacting"(input: { sessionID: string }, output: { context: string[] }): Promise<void>;
  tool: {
    leftoff_search: OpenCodeTool<{ words: string; cursor: string }>;
    leftoff_recall: OpenCodeTool<{ question: string }>;
  };
  dispose(): Promise<void>;
}

/** What is used of the context that OpenCode 2 gives to plugins. OpenCode 1.18 gives one without most of it, too. */
export interface OpenCode2Context {
  options: OpenCodePluginOptions;
  location?: { directory: string };
  session?: { hook(name: "compaction", work: (event: OpenCode2Compaction) => Promise<void>): Promise<unknown> };
  tool?: { transform(work: (editor: { add(tool: OpenCode2Tool): void }) => void): Promise<unknown> };
}

/** A compaction that OpenCode 2 is about to ask a model for. */
export interface OpenCode2Compaction {
  sessionID: string;
  /** The system prompt, which may be added to. */
  system: { type: "text"; text: string }[];
}

/** A tool as OpenCode 2 takes it; `input` is a JSON Schema. */
export interface OpenCode2Tool {
  name: string;
  description: string;
  input: object;
  options: { codemode: boolean };
  execute(input: object, call: { sessionID: string }): Promise<{ content: string }>;
}

/** Records sessions of OpenCode while they go on. */
export interface OpenCodeRecorder {
  /** Takes an event, and returns at once. */
  take(event: OpenCodeEvent): void;
  /** The session that an agent's session is recorded into, with all that was said so far. */
  session(id: string): Promise<Session>;
  /** Waits until all is recorded that was taken so far. */
  settle(): Promise<void>;
}
