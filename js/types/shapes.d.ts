/**
 * Messages as leftoff writes them for each provider: exactly the keys that are written, so that each is of the
 * provider's own type, too.
 */

import type { Assistant, Attachment, Role, Tool, ToolCall } from "../records.js";

/** A message of a context in leftoff's own shape: as it is stored, without what only storage needs. */
export interface ContextMessage {
  /** The stored message's id; absent where it was made for this context, as a summary is. */
  id?: string;
  role: Role;
  content: string;
  /** Of an answer: its calls, their arguments as JSON. */
  assistant?: Omit<Assistant, "toolCalls" | "reasoning"> & {
    toolCalls?: (Omit<ToolCall, "arguments"> & { arguments: string })[];
  };
  /** Of a result: the call that it answers. */
  tool?: Tool;
  /** Images and files, base64. */
  attachments?: Attachment[];
}

/** A part of a message's content in OpenAI's chat completions. */
export type OpenAiChatPart =
  | { type: "text"; text: string }
  | { type: "image_url"; image_url: { url: string } }
  | { type: "file"; file: { filename: string; file_data: string } }
  | { type: "input_audio"; input_audio: { data: string; format: "wav" | "mp3" } };

/** A message of OpenAI's chat completions: `ChatCompletionMessageParam`. */
export type OpenAiChatMessage =
  | { role: "system"; content: string }
  | { role: "user"; content: string | OpenAiChatPart[] }
  | {
      role: "assistant";
      content: string | null;
      reasoning_content?: string;
      tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
    }
  | { role: "tool"; tool_call_id: string; content: string };

/** A part of a message's content in OpenAI's Responses. */
export type OpenAiResponsesPart =
  | { type: "input_text"; text: string }
  | { type: "input_image"; detail: "auto"; image_url: string }
  | { type: "input_file"; filename: string; file_data: string }
  | { type: "input_file"; file_url: string };

/** An item of OpenAI's Responses: `ResponseInputItem`. */
export type OpenAiResponsesItem =
  | { role: "system" | "user" | "assistant"; content: string | OpenAiResponsesPart[] }
  | { type: "reasoning"; summary: { type: "summary_text"; text: string }[]; encrypted_content: string }
  | { type: "function_call"; call_id: string; name: string; arguments: string }
  | { type: "function_call_output"; call_id: string; output: string | OpenAiResponsesPart[] };

/** The media types of images that Anthropic takes. */
export type AnthropicImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** A text or a file in a message of Anthropic's. */
export type AnthropicContent =
  | { type: "text"; text: string }
  | {
      type: "image";
      source: { type: "base64"; media_type: AnthropicImageType; data: string } | { type: "url"; url: string };
    }
  | {
      type: "document";
      source: { type: "base64"; media_type: "application/pdf"; data: string } | { type: "url"; url: string };
    };

/** A message of Anthropic's: `MessageParam`. `cache_control` is there with `cacheMarks` alone. */
export interface AnthropicMessage {
  role: "user" | "assistant";
  content: (
    | ((
        | AnthropicContent
        | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> }
        | { type: "tool_result"; tool_use_id: string; is_error?: true; content?: AnthropicContent[] }
      ) & { cache_control?: { type: "ephemeral" } })
    | { type: "thinking"; thinking: string; signature: string }
    | { type: "redacted_thinking"; data: string }
  )[];
}

/** One of Gemini's contents: `Content`. */
export interface GeminiContent {
  role: "user" | "model";
  parts: (
    | { text: string; thought?: true; thoughtSignature?: string }
    | { inlineData: { mimeType: string; data: string } }
    | { fileData: { mimeType: string; fileUri: string } }
    | { functionCall: { id: string; name: string; args: Record<string, unknown> }; thoughtSignature?: string }
    | { functionResponse: { id: string; name: string; response: Record<string, unknown> } }
  )[];
}

/** A value of JSON. */
export type JsonValue = null | string | number | boolean | JsonValue[] | { [key: string]: JsonValue };

/** A text or a file in a message of the AI SDK. */
export type AiSdkContent =
  { type: "text"; text: string } | { type: "file"; data: string; mediaType: string; filename?: string };

/** A tool's result in the AI SDK. */
export type AiSdkToolOutput =
  | { type: "text" | "error-text"; value: string }
  | { type: "json" | "error-json"; value: JsonValue }
  | { type: "execution-denied"; reason?: string }
  | {
      type: "content";
      value: (
        | { type: "text"; text: string }
        | { type: "file-data"; data: string; mediaType: string }
        | { type: "file-url"; url: string; mediaType: string }
      )[];
    };

/** Data that a provider signed, for that provider alone. */
export type AiSdkSigned =
  { anthropic: { signature: string } | { redactedData: string } } | { google: { thoughtSignature: string } };

/** A message of the AI SDK: its `ModelMessage`. */
export type AiSdkMessage = (
  | { role: "system"; content: string }
  | { role: "user"; content: string | AiSdkContent[] }
  | {
      role: "assistant";
      content:
        | string
        | ((
            | AiSdkContent
            | { type: "reasoning"; text: string }
            | { type: "tool-call"; toolCallId: string; toolName: string; input: unknown }
          ) & { providerOptions?: AiSdkSigned })[];
    }
  | { role: "tool"; content: { type: "tool-result"; toolCallId: string; toolName: string; output: AiSdkToolOutput }[] }
) & {
  /** With `cacheMarks` alone. */
  providerOptions?: { anthropic: { cacheControl: { type: "ephemeral" } } };
};

/** A call on a screen, with its result in it. */
export type AiSdkUiTool = { type: "dynamic-tool"; toolName: string; toolCallId: string } & (
  | { state: "input-available"; input: unknown }
  | { state: "output-available"; input: unknown; output: unknown }
  | { state: "output-error"; input: unknown; errorText: string }
);

/** A message of the AI SDK on a screen: its `UIMessage`. */
export interface AiSdkUiMessage {
  id: string;
  role: "system" | "user" | "assistant";
  parts: (
    | { type: "text"; text: string }
    | { type: "file"; mediaType: string; url: string; filename?: string }
    | { type: "step-start" }
    | AiSdkUiTool
  )[];
}

/** The messages of each format. */
export interface MessagesByFormat {
  leftoff: ContextMessage;
  "openai-chat": OpenAiChatMessage;
  "openai-responses": OpenAiResponsesItem;
  anthropic: AnthropicMessage;
  gemini: GeminiContent;
  "ai-sdk": AiSdkMessage;
  "ai-sdk-ui": AiSdkUiMessage;
}

/**
 * The shape of messages: leftoff's own, or that of OpenAI's chat completions or Responses, Anthropic's Messages,
 * Gemini's contents, the AI SDK's `ModelMessage` or its `UIMessage`.
 */
export type Format = keyof MessagesByFormat;

/** A message in a format. */
export type MessageOf<F extends Format = Format> = MessagesByFormat[F];
