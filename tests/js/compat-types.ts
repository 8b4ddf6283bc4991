// The interfaces of SessionManager's design as its page has them,
// and that the classes of leftoff/compat are of these types: tsc checks it. Tests that run are in compat.test.js.

import type { AutoPersist, ContextManager, Session, SessionManager } from "../../js/compat/index.js";

interface SessionMetadata {
  id: string;
  version: number;
  projectPath: string;
  projectHash: string;
  createdAt: string;
  lastAccessedAt: string;
  title: string;
  messageCount: number;
  totalTokens: number;
  provider: {
    type: "ollama" | "llamacpp" | "lmstudio" | "openai" | "anthropic" | "openai-compatible";
    model: string;
    contextWindow: number;
    baseUrl?: string;
  };
  status: "active" | "archived" | "corrupted";
}

interface StoredMessage {
  id: string;
  parentId: string | null;
  timestamp: string;
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  tokenCount: number;
  cumulativeTokens: number;
  toolCallId?: string;
  toolName?: string;
  toolCalls?: Array<{
    id: string;
    name: string;
    arguments: Record<string, unknown>;
  }>;
}

interface StoredToolExecution {
  id: string;
  timestamp: string;
  messageId: string;
  tool: string;
  args: Record<string, unknown>;
  result: {
    success: boolean;
    content: string;
    error?: string;
  };
  resultTokens: number;
  durationMs: number;
}

interface AutoPersistConfig {
  enabled: boolean;
  saveAfterAssistantMessage: boolean;
  saveAfterToolExecution: boolean;
  debounceMs: number;
  updateMetadataIntervalMs: number;
  maxSessionsPerProject: number;
  autoArchiveAfterDays: number;
}

// Another program's provider may be of any type, so what is read says no more than that it is a text.
type ReadMetadata = Omit<SessionMetadata, "provider"> & {
  provider: Omit<SessionMetadata["provider"], "type"> & { type: string };
};
type ProviderInfo = SessionMetadata["provider"];
type Message = Pick<StoredMessage, "role" | "content" | "toolCallId" | "toolName" | "toolCalls">;

/** Nanocoder's, which the document does not repeat. */
interface ToolCall {
  id: string;
  function: { name: string; arguments: Record<string, unknown> };
}
interface ToolResult {
  tool_call_id: string;
  role: "tool";
  name: string;
  content: string;
}

interface DocumentSession {
  readonly id: string;
  readonly metadata: ReadMetadata;
  appendMessage(message: Message): Promise<StoredMessage>;
  appendToolExecution(call: ToolCall, result: ToolResult): Promise<StoredToolExecution>;
  updateMetadata(updates: Partial<SessionMetadata>): Promise<void>;
  getMessages(): Promise<StoredMessage[]>;
  getToolExecutions(): Promise<StoredToolExecution[]>;
  getMessageCount(): Promise<number>;
  getTotalTokens(): Promise<number>;
  export(format: "json" | "markdown"): Promise<string>;
  flush(): Promise<void>;
}

interface DocumentSessionManager {
  createSession(projectPath: string, provider: ProviderInfo): Promise<DocumentSession>;
  loadSession(sessionId: string): Promise<DocumentSession>;
  getCurrentSession(projectPath: string): Promise<DocumentSession | null>;
  listSessions(projectPath?: string): Promise<ReadMetadata[]>;
  getSession(sessionId: string): Promise<ReadMetadata | null>;
  archiveSession(sessionId: string): Promise<void>;
  deleteSession(sessionId: string): Promise<void>;
  setCurrentSession(projectPath: string, sessionId: string): Promise<void>;
}

interface DocumentAutoPersist {
  readonly config: Readonly<AutoPersistConfig>;
  scheduleMetadataUpdate(): void;
}

// As the page of large tool outputs has them; TypeScript takes no static method in an interface.
interface ContextPointer {
  filepath: string;
  toolName: string;
  timestamp: number;
  sizeBytes: number;
  queryId?: string;
}

interface IContextManager {
  // Save tool output to storage
  saveContext(
    toolName: string,
    args: Record<string, unknown>,
    result: unknown,
    taskId?: string,
    queryId?: string,
  ): Promise<string>; // Returns filepath

  // Load context from storage
  loadContext(filepath: string): Promise<unknown>;

  // List available contexts for session
  listContexts(sessionId: string): Promise<ContextPointer[]>;

  // Clear all contexts (session end)
  clearContexts(): Promise<void>;
}

interface ContextManagerStatics {
  // Generate deterministic query ID
  hashQuery(query: string): string;
}

// Both ways where both are meant: no field more and none less would do.
type IsSame<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
export const checked: [
  Session extends DocumentSession ? true : false,
  SessionManager extends DocumentSessionManager ? true : false,
  AutoPersist extends DocumentAutoPersist ? true : false,
  IsSame<Awaited<ReturnType<Session["appendMessage"]>>, StoredMessage>,
  IsSame<Session["metadata"], ReadMetadata>,
  IsSame<AutoPersist["config"], Readonly<AutoPersistConfig>>,
  ContextManager extends IContextManager ? true : false,
  typeof ContextManager extends ContextManagerStatics ? true : false,
  IsSame<Awaited<ReturnType<ContextManager["listContexts"]>>, ContextPointer[]>,
  IsSame<Parameters<ContextManager["saveContext"]>, Parameters<IContextManager["saveContext"]>>,
] = [true, true, true, true, true, true, true, true, true, true];
