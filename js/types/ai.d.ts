/** Types of `leftoff/ai`, as far as they go beyond the AI SDK's own. */

import type { AiSdkMessage } from "./shapes.js";
import type { ContextRequest } from "./context.js";

/** A part of a message's content, as far as it is looked at. */
export interface AiPart {
  type: string;
  text?: string;
  toolCallId?: string;
}

/** A message of the AI SDK, `ModelMessage`, as far as it is looked at. */
export interface AiMessage {
  role: string;
  content: string | readonly AiPart[];
}

/** A finished step of a run. */
export interface AiStep {
  response: {
    messages: readonly AiMessage[];
    /** The model that answered. */
    modelId?: string | undefined;
  };
  usage?: AiUsage;
  /** Why the model stopped. */
  finishReason?: string | undefined;
}

/** What a step took, in tokens, as the AI SDK counts: `inputTokens` has those of the cache, too. */
export interface AiUsage {
  inputTokens?: number | undefined;
  inputTokenDetails?: {
    noCacheTokens?: number | undefined;
    cacheReadTokens?: number | undefined;
    cacheWriteTokens?: number | undefined;
  };
  outputTokens?: number | undefined;
  outputTokenDetails?: { reasoningTokens?: number | undefined };
  /** In earlier versions, and deprecated. */
  cachedInputTokens?: number | undefined;
  /** In earlier versions, and deprecated. */
  reasoningTokens?: number | undefined;
}

/** What the AI SDK gives to a `prepareStep`, as far as it is looked at. */
export interface AiStepOptions {
  /** The steps that are finished. */
  steps: readonly AiStep[];
  /** What the step would send without a `prepareStep`. */
  messages: readonly AiMessage[];
  model?: string | { modelId?: string };
  /** The system prompt, in version 7. */
  instructions?: string | { content: string } | readonly { content: string }[];
  /** What the user said while the run went on. */
  experimental_steeringMessages?: readonly AiMessage[];
}

/** What a `prepareStep` answers. */
export interface AiStepResult {
  messages: AiSdkMessage[];
}

/** The options of the contexts that steps get. */
export type AiContextRequest = Omit<ContextRequest, "format" | "tools"> & {
  /** The tools as the run is given them, or as a provider is sent them. */
  tools?: Record<string, unknown> | readonly unknown[];
};

/** An answer: an event of `onEnd`, `onFinish` or `onAbort`, a result, or the messages of one. */
export type AiAnswer = { steps: readonly AiStep[] | PromiseLike<readonly AiStep[]> } | readonly AiMessage[];

/** A message on a screen, `UIMessage`, as far as it is looked at. */
export interface AiUiMessage {
  id: string;
  role: "system" | "user" | "assistant";
  parts: { type: string }[];
  metadata?: unknown;
}

/** A chat to save. */
export interface AiChat<Message extends AiUiMessage = AiUiMessage> {
  /** The chat's id in your program: any text. */
  chatId: string;
  /** All of its messages, in their order. */
  messages: readonly Message[];
}

/** A chat whose newest answer streams. */
export interface AiStream<Message extends AiUiMessage = AiUiMessage> extends AiChat<Message> {
  /** The answer as it grows, one state after another, as the SDK's `readUIMessageStream` gives it. */
  answer: AsyncIterable<Message>;
}

/** A chunk of a UI message stream, `UIMessageChunk`. */
export interface AiUiChunk {
  type: string;
  /** What a text grows by. */
  delta?: string;
  /** What a call's input grows by. */
  inputTextDelta?: string;
  [field: string]: unknown;
}
