// @ts-check
/**
 * Holds a chat with the AI SDK, from the round `from` on: in each a question, a step with a call, and an answer that is
 * saved while it streams. Says of each save that was acknowledged the id and the text of the message, and whether it is
 * whole.
 * Arguments: the store's folder, the name of who asks, the number of rounds, and `from`.
 */

import { writeSync } from "node:fs";
import * as sdk from "ai-current";
import { MockLanguageModelV4, simulateReadableStream } from "ai-current/test";
import { contextFor, loadChat, openChat, saveAnswer, saveChat } from "../../js/ai/index.js";
import { openStore } from "../../js/index.js";
import { CHAT, answerTo, textOf } from "./ai-texts.mjs";

/** @import { UIMessage } from "ai-current" */

const [home = "", name = "", count = "0", from = "0"] = process.argv.slice(2);
const store = await openStore({ home, project: "/" });
const session = await openChat(store, CHAT);
const tools = {
  look: sdk.tool({ inputSchema: sdk.jsonSchema({ type: "object", properties: {} }), execute: () => "src" }),
};

/** @param {number} round @param {UIMessage} message @param {boolean} isWhole */
const acknowledge = (round, { id, role, parts }, isWhole) =>
  writeSync(1, `${JSON.stringify({ round, id, role, text: textOf(parts), isWhole })}\n`);

/** Ends the program where a run fails, which the SDK itself would only tell. @param {unknown} error @returns {never} */
function fail(error) {
  writeSync(2, String(error));
  process.exit(1);
}

/** What calls the tool, then answers in many pieces. @param {string} id @param {string} text */
function modelOf(id, text) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  let isAsked = false;
  return new MockLanguageModelV4({
    async doStream() {
      // What is said meanwhile by the other program may stand behind its own result.
      isAsked = !isAsked;
      const deltas = text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "1", delta }));
      const said = isAsked
        ? [{ type: "tool-call", toolCallId: `call ${id}`, toolName: "look", input: "{}" }]
        : [{ type: "text-start", id: "1" }, ...deltas, { type: "text-end", id: "1" }];
      const finishReason = { unified: isAsked ? "tool-calls" : "stop" };
      const chunks = /** @type {any[]} */ ([...said, { type: "finish", finishReason, usage }]);
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
}

/** @param {number} round */
async function holdRound(round) {
  // Who was killed asks anew.
  const id = `${name} ${round} ${process.pid}`;
  /** @type {UIMessage} */
  const question = { id: `${id}?`, role: "user", parts: [{ type: "text", text: `${id}?` }] };
  const messages = [...(await loadChat(store, CHAT)), question];
  await saveChat(store, { chatId: CHAT, messages });
  acknowledge(round, question, true);
  const result = sdk.streamText({
    model: modelOf(id, answerTo(question.id)),
    tools,
    messages: await sdk.convertToModelMessages(messages),
    stopWhen: sdk.isStepCount(2),
    prepareStep: contextFor(session, { window: 128_000 }),
    onEnd: saveAnswer(session),
    onError: ({ error }) => fail(error),
  });
  const stream = sdk.toUIMessageStream({
    stream: result.stream,
    originalMessages: messages,
    generateMessageId: () => `${id}.`,
    onError: fail,
  });
  let last;
  for await (const answer of sdk.readUIMessageStream({ stream })) {
    last = structuredClone(answer);
    await saveChat(store, { chatId: CHAT, messages: [...messages, last] });
    acknowledge(round, last, false);
  }
  if (!last) return fail("no answer");
  await saveChat(store, { chatId: CHAT, messages: [...messages, last] });
  acknowledge(round, last, true);
}

for (let round = Number(from); round < Number(count); round += 1) await holdRound(round);
await store.close();
