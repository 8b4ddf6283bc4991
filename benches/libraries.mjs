// @ts-check
/** What a message costs that the AI SDK, the OpenAI Agents SDK or LangChain hands over, and a context that a step is given. */

import { HumanMessage } from "@langchain/core/messages";
import { contextFor, openChat, saveAnswer, saveChat } from "../js/ai/index.js";
import { LeftoffChatMessageHistory } from "../js/langchain/index.js";
import { contextFor as itemsFor, session as openMemory } from "../js/openai/index.js";
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
  const memory = openMemory({ store, id: "chat" });
  await memory.addItems(messages.map(({ role, parts: [{ text }] }) => ({ role, content: text })));
  const fits = itemsFor(memory, { window: 128_000 });
  const asked = [{ role: "user", content: "Go on." }];
  let step = 0;
  const nextStep = () => ({
    response: { messages: [{ role: "assistant", content: `${(step += 1)} ${prose(contentBytes)}` }] },
  });
  return {
    answer: { times: 5, once: () => saveRun({ steps: [nextStep()] }) },
    step: { times: 5, once: () => prepareStep({ steps: [nextStep()], messages: [] }) },
    context: { times: 5, once: () => session.context({ window: 128_000, format: "ai-sdk" }) },
    chat: { times: 1, once: () => (say(), saveChat(store, { chatId: "chat", messages })) },
    items: { times: 5, once: () => memory.addItems([{ role: "user", content: prose(contentBytes) }]) },
    sent: { times: 5, once: () => fits(asked, asked) },
    history: { times: 5, once: () => history.addMessage(new HumanMessage(prose(contentBytes))) },
  };
}
