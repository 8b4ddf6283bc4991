// The front door's types, held by tsc: messages are of the providers' own types, by `format`, and nothing is `any`.
// What a user's own compiler says of the packed types is in scripts/pack-test.mjs.

import type { MessageParam } from "@anthropic-ai/sdk/resources/messages";
import type { Content } from "@google/genai";
import type { ModelMessage, UIMessage } from "ai-current";
import type { ChatCompletionMessageParam } from "openai/resources/chat/completions";
import type { ResponseInputItem } from "openai/resources/responses/responses";

import type {
  Compacted,
  ContextMessage,
  ContextReport,
  ErrorCode,
  LeftoffError,
  MessageOf,
  Resumed,
  Session,
} from "../../js/index.js";

type Is<A, B> = [A] extends [B] ? true : false;
type IsSame<A, B> = [Is<A, B>, Is<B, A>] extends [true, true] ? true : false;
type IsAny<T> = 0 extends 1 & T ? true : false;

declare const session: Session;
const context = () => session.context({ window: 8000 });
const chat = () => session.context({ window: 8000, format: "openai-chat" });
const resumeAnthropic = () => session.resume({ format: "anthropic" });

export const checked: [
  Is<MessageOf<"openai-chat">, ChatCompletionMessageParam>,
  // Its type asks for the id of reasoning, which encrypted reasoning does without.
  Is<Exclude<MessageOf<"openai-responses">, { type: "reasoning" }>, ResponseInputItem>,
  Is<MessageOf<"anthropic">, MessageParam>,
  Is<MessageOf<"gemini">, Content>,
  Is<MessageOf<"ai-sdk">, ModelMessage>,
  Is<MessageOf<"ai-sdk-ui">, UIMessage>,
  IsSame<Awaited<ReturnType<typeof context>>["messages"], ContextMessage[]>,
  IsSame<Awaited<ReturnType<typeof chat>>["messages"], MessageOf<"openai-chat">[]>,
  IsSame<Awaited<ReturnType<typeof resumeAnthropic>>, Resumed<"anthropic">>,
  IsSame<Awaited<ReturnType<typeof context>>["report"], ContextReport>,
  IsSame<Awaited<ReturnType<Session["compact"]>>, Compacted>,
  IsSame<LeftoffError["code"], ErrorCode>,
] = [true, true, true, true, true, true, true, true, true, true, true, true];

export const none: [
  IsAny<ContextReport>,
  IsAny<ContextMessage["assistant"]>,
  IsAny<Awaited<ReturnType<Session["state"]>>>,
] = [false, false, false];
