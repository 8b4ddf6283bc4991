// @ts-check
/** What a message costs that the AI SDK or LangChain hands over, and a context that a step is given. */

import { HumanMessage } from "@langchain/core/messages";
import { contextFor, openChat, saveAnswer, saveChat } from "../js/ai/index.js";
import { LeftoffChatMessageHistory } from "../js/langchain/index.js";
import { prose } from "./tools.mjs";

/** How many messages a chat has before it is measured. */
export const CHAT_MESSAGES = 100;

/**
 * Makes the work to measure, by its name.
 * @param {import("../js/store/store.js").Store} store @param {number} contentBytes
 */
export async function prepareLibraries(store, contentBytes) {
  const session = await openChat(store, "run");
  const saveRun = saveAnswer(session);
  const prepareStep = contextFor(session, { window: 128_000 });
  const history = new LeftoffChatMessageHistory({ store, sessionId: "chat" });
  /** @type {any[]} */
  const messages = [];
  const say = () =>
    messages.push({
      id: `m${messages.length}`,
      role: messages.length % 2 ? "assistant" : "user",
      parts: [{ type: "text", text: prose(contentBytes) }],
    });
  while (messages.length < CHAT_MESSAGES) say();
  await saveChat(store, { chatId: "chat", messages });
  let step = 0;
  const nextStep = () => ({
    response: { messages: [{ role: "assistant", content: `${(step += 1)} ${prose(contentBytes)}` }] },
  });
  return {
    answer: { times: 5, once: () => saveRun({ steps: [nextStep()] }) },
    step: { times: 5, once: () => prepareStep({ steps: [nextStep()], messages: [] }) },
    context: { times: 5, once: () => session.context({ window: 128_000, format: "ai-sdk" }) },
    chat: { times: 1, once: () => (say(), saveChat(store, { chatId: "chat", messages })) },
    history: { times: 5, once: () => history.addMessage(new HumanMessage(prose(contentBytes))) },
  };
}
