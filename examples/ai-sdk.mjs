// A chat in a terminal with the AI SDK 7: `npm install ai leftoff`. What was said before is there again at the next
// start, whatever happened to the last one.
//
//     node ai-sdk.mjs store first-chat
//     AI_GATEWAY_API_KEY=... node ai-sdk.mjs store first-chat openai/gpt-5

import process from "node:process";
import { createInterface } from "node:readline";
import { generateId, convertToModelMessages, isStepCount, jsonSchema, streamText, tool, toUIMessageStream } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { openStore } from "leftoff";
import { contextFor, loadChat, openChat, saveAnswer, saveChat } from "leftoff/ai";

const [home = ".leftoff", chatId = "first-chat", model = standIn()] = process.argv.slice(2);
const store = await openStore({ home });
const session = await openChat(store, chatId);
const tools = {
  clock: tool({
    description: "Tells the time.",
    inputSchema: jsonSchema({ type: "object", properties: {} }),
    execute: () => new Date().toTimeString(),
  }),
};

/** @param {string} text */
async function answer(text) {
  const question = { id: generateId(), role: "user", parts: [{ type: "text", text }] };
  const messages = [...(await loadChat(store, chatId)), question];
  await saveChat(store, { chatId, messages });
  const result = streamText({
    model,
    tools,
    messages: await convertToModelMessages(messages),
    stopWhen: isStepCount(5),
    // Each step gets the messages that fit, and is saved before the next one begins.
    prepareStep: contextFor(session, { window: 128_000, tools }),
    onEnd: saveAnswer(session),
  });
  const stream = toUIMessageStream({
    stream: result.stream,
    originalMessages: messages,
    generateMessageId: generateId,
    onEnd: ({ messages }) => saveChat(store, { chatId, messages }),
  });
  for await (const chunk of stream) if (chunk.type === "text-delta") process.stdout.write(chunk.delta);
  process.stdout.write("\n");
}

for (const { role, parts } of await loadChat(store, chatId))
  console.log(`${role}: ${parts.map(({ text = "" }) => text).join("")}`);
for await (const line of createInterface(process.stdin)) if (line) await answer(line);
await store.close();

/** What answers without a key: it looks at the clock, then says how much it was sent. */
function standIn() {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  return new MockLanguageModelV4({
    async doStream({ prompt }) {
      const isAsked = prompt.at(-1)?.role === "user";
      const text = `I was sent ${prompt.length} messages.`;
      const said = isAsked
        ? [{ type: "tool-call", toolCallId: generateId(), toolName: "clock", input: "{}" }]
        : [
            { type: "text-start", id: "1" },
            { type: "text-delta", id: "1", delta: text },
            { type: "text-end", id: "1" },
          ];
      const finishReason = { unified: isAsked ? "tool-calls" : "stop" };
      return { stream: simulateReadableStream({ chunks: [...said, { type: "finish", finishReason, usage }] }) };
    },
  });
}
