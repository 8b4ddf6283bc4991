/** The types of `leftoff/compat`, by the names of the API that it is compatible with. */

import type { Session } from "../compat/index.js";

/** The provider of the model. */
export interface ProviderInfo {
  type: string;
  model: string;
  /** The model's limit, in tokens. */
  contextWindow: number;
  baseUrl?: string;
}

/** A session's metadata. Times are RFC 3339. */
export interface SessionMetadata {
  id: string;
  version: number;
  projectPath: string;
  projectHash: string;
  createdAt: string;
  lastAccessedAt: string;
  title: string;
  messageCount: number;
  totalTokens: number;
  provider: ProviderInfo;
  /** `corrupted`: it cannot be opened. A damaged session opens with what is whole. */
  status: "active" | "archived" | "corrupted";
}

/** A message as it is stored. */
export interface StoredMessage {
  id: string;
  parentId: string | null;
  timestamp: string;
  role: "user" | "assistant" | "system" | "tool";
  content: string;
  tokenCount: number;
  cumulativeTokens: number;
  toolCallId?: string;
  toolName?: string;
  toolCalls?: { id: string; name: string; arguments: Record<string, unknown> }[];
}

/** A tool execution, as it is stored. */
export interface StoredToolExecution {
  id: string;
  timestamp: string;
  messageId: string;
  tool: string;
  args: Record<string, unknown>;
  result: { success: boolean; content: string; error?: string; exitCode?: number };
  resultTokens: number;
  durationMs: number;
}

/** A message as a chat handler has it: the names of `StoredMessage`, or those of OpenAI's shape. */
export interface Message {
  role: "user" | "assistant" | "system" | "tool";
  content?: string | null;
  toolCallId?: string;
  toolName?: string;
  toolCalls?: Call[];
  tool_call_id?: string;
  name?: string;
  tool_calls?: Call[];
  /** This, and any other key that nothing else is meant by, is kept and given back. */
  refusal?: string | null;
  annotations?: unknown;
}

/** A call, in either shape. */
export interface Call {
  id: string;
  name?: string;
  arguments?: Record<string, unknown> | string;
  function?: { name: string; arguments?: Record<string, unknown> | string };
}

/** A tool's result; a text alone is its content. */
export type ToolResult =
  string | { content?: unknown; success?: boolean; error?: unknown; exitCode?: number | null; durationMs?: number };

/** A token counter. */
export interface Tokenizer {
  count: (text: string) => number;
  /** The cost of messages together. */
  countMessages: (messages: Message[]) => number;
}

/** A token counter whose counts may come later, and which need not say what messages cost together. */
export interface Counter {
  count: (text: string) => number | Promise<number>;
  countMessages?: (messages: Message[]) => number | Promise<number>;
}

/** The division of a window, in tokens. */
export interface ContextBudget {
  modelContextWindow: number;
  systemPromptTokens: number;
  toolDefinitionTokens: number;
  reserveForResponse: number;
  availableTokens: number;
  /** The tokens of the whole conversation; 0 until a context is built. */
  currentConversationTokens: number;
  /** How much of `availableTokens` that would take, in percent; above 100 not all of it fits. */
  utilizationPercent: number;
}

/** A strategy's result. */
export interface StrategyResult {
  messages: (Message & { id?: string })[];
  includedCount: number;
  summarizedCount: number;
}

/** A strategy of your own. */
export interface ContextStrategy {
  name: string;
  /** A whole number; lower is tried first, leftoff's own have 1 to 4. */
  priority: number;
  /** The budget below which it is not tried, in tokens. */
  minTokens: number;
  build: (session: Session, budgetTokens: number, tokenizer: Tokenizer) => StrategyResult | Promise<StrategyResult>;
}

/** One of leftoff's own four, which take any counter. */
export interface OwnStrategy extends Readonly<Omit<ContextStrategy, "build">> {
  /** From `minTokens` on, gives messages even where they exceed the budget. */
  readonly build: (session: Session, budgetTokens: number, tokenizer: Counter) => Promise<StrategyResult>;
}

/** The session state. */
export interface SessionState {
  projectPath: string;
  originalTask: string;
  modifiedFiles: { path: string; action: "created" | "modified" | "deleted" }[];
  currentStatus: string;
  blockers: string[];
  keyDecisions: string[];
}

/** Your model. */
export interface LLMClient {
  /** @param request.maxTokens the answer has no more */
  complete: (request: {
    messages: { role: "system" | "user"; content: string }[];
    maxTokens: number;
  }) => Promise<{ content: string }>;
}

/** What one model call gets. */
export interface ContextBuildResult {
  messages: Message[];
  strategy: string;
  tokensUsed: number;
  tokenBudget: number;
  originalMessageCount: number;
  includedMessageCount: number;
  summarizedMessageCount: number;
}

/** A large tool output that is there. */
export interface ContextPointer {
  filepath: string;
  toolName: string;
  /** When it was saved, milliseconds since 1970. */
  timestamp: number;
  /** How many bytes it has, as JSON. */
  sizeBytes: number;
  queryId?: string;
}
