// The types of `leftoff/ai`, held by tsc: its functions go where both versions of the AI SDK take functions of their own.

import type { Store, Session } from "../../js/index.js";
import { contextFor, loadChat, resumeStream, saveAnswer, saveChat, saveStream } from "../../js/ai/index.js";
import * as current from "ai-current";
import * as previous from "ai-previous";

declare const store: Store;
declare const session: Session;
declare const model: current.LanguageModel;
declare const previousModel: previous.LanguageModel;
declare const tools: Record<string, never>;

interface Metadata {
  createdAt: number;
}
type Mine = current.UIMessage<Metadata, { chart: { values: number[] } }>;

export async function runCurrent() {
  const prepareStep = contextFor(session, { window: 8000, tools });
  const save = saveAnswer(session);
  await save(await current.generateText({ model, prompt: "Hello", tools, prepareStep, onEnd: save }));
  const result = current.streamText({ model, prompt: "Hello", prepareStep, onEnd: save, onAbort: save });
  await save(result);
  await save(await result.responseMessages);
  new current.ToolLoopAgent({ model, prepareStep, onEnd: save });
  const messages = await loadChat<Mine>(store, "chat");
  messages[0]?.metadata?.createdAt.toFixed();
  await current.convertToModelMessages(messages);
  current.toUIMessageStream({
    stream: result.stream,
    originalMessages: messages,
    onEnd: ({ messages }) => saveChat(store, { chatId: "chat", messages }),
  });
  const answer = current.readUIMessageStream<Mine>({ stream: new ReadableStream<current.UIMessageChunk>() });
  await saveStream(store, { chatId: "chat", messages, answer });
  const stream = await resumeStream<current.UIMessageChunk>(store, "chat", { signal: new AbortController().signal });
  if (stream) current.createUIMessageStreamResponse({ stream });
  const loaded: current.UIMessage[] = await loadChat(store, "chat");
  return loaded;
}

export async function runPrevious() {
  const prepareStep = contextFor(session, { window: 8000 });
  const save = saveAnswer(session);
  await save(await previous.generateText({ model: previousModel, prompt: "Hello", prepareStep, onFinish: save }));
  const result = previous.streamText({
    model: previousModel,
    prompt: "Hello",
    prepareStep,
    onFinish: save,
    onAbort: save,
  });
  await save(result);
  const originalMessages: previous.UIMessage[] = await loadChat(store, "chat");
  const answer = previous.readUIMessageStream({ stream: result.toUIMessageStream() });
  await saveStream(store, { chatId: "chat", messages: originalMessages, answer });
  const stream = await resumeStream<previous.UIMessageChunk>(store, "chat");
  if (stream) previous.createUIMessageStreamResponse({ stream });
  result.toUIMessageStream({
    originalMessages,
    onFinish: ({ messages }) => saveChat(store, { chatId: "chat", messages }),
  });
}
