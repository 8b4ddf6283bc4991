// @ts-check
/** Chats: a session for each, whose messages are read and saved as a screen has them. */

import { createChat, findChat, saveMessages } from "./save.js";
import { makeScreen, screens } from "./screen.js";

/** @import { Session } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */
/** @import { AiSdkUiMessage, ReadMessage } from "../types/index.js" */
/** @import { AiChat, AiUiMessage } from "../types/ai.js" */

/**
 * Opens the session of a chat, or creates it.
 * @param {Store} store
 * @param {string} chatId the chat's id in your program: any text
 * @returns {Promise<Session>}
 * @throws {LeftoffError} `invalid_request` for an id that is no text, or empty
 * @example
 * const session = await openChat(store, "chat-1");
 * (await openChat(store, "chat-1")).id === session.id; // => true
 */
export async function openChat(store, chatId) {
  return createChat(store, chatId);
}

/**
 * Loads a chat's messages, `UIMessage[]`, as they were saved. What a run has said that was saved by `contextFor` or
 * `Session.append` alone is there, too: an answer's steps as one message. Name your own type of messages where you have
 * one.
 * @template {AiUiMessage} [Message=AiSdkUiMessage]
 * @param {Store} store
 * @param {string} chatId
 * @returns {Promise<Message[]>} none for a chat that is not known
 * @throws {LeftoffError} `invalid_request` for an id that is no text, or empty
 * @example
 * const messages = [{ id: "msg-1", role: "user", parts: [{ type: "text", text: "Hello" }] }];
 * await saveChat(store, { chatId: "chat-1", messages });
 * await loadChat(store, "chat-1"); // => [{ id: "msg-1", role: "user", parts: [{ type: "text", text: "Hello" }] }]
 */
export async function loadChat(store, chatId) {
  const session = await findChat(store, chatId);
  if (!session) return [];
  /** @type {ReadMessage[][]} */
  const groups = [];
  for await (const record of session.messages()) {
    const last = groups.at(-1);
    if (last && belongs(last, record)) last.push(record);
    else groups.push([record]);
  }
  const messages = groups.map((records) =>
    screens.isHead(/** @type {ReadMessage} */ (records[0])) ? screens.restore(records) : makeScreen(records),
  );
  return /** @type {any} */ (messages.filter((message) => message !== undefined));
}

/**
 * Saves a chat's messages: what is new is appended; an answer that grew is revised; where the list goes another way, as
 * after an edited question or a second answer, a branch begins, and the old messages stay in the session. A list that
 * only lacks the newest messages deletes nothing.
 *
 * An answer of which a part is still streaming is marked `partial`. Values are saved as JSON has them. What `contextFor`
 * has saved of an answer is not saved twice.
 * @template {AiUiMessage} Message
 * @param {Store} store
 * @param {AiChat<Message>} chat all of its messages
 * @throws {LeftoffError} `invalid_request` naming what is no message of a chat; what `append` throws: then nothing was saved
 * @example
 * const question = { id: "msg-1", role: "user", parts: [{ type: "text", text: "Hello" }] };
 * const answer = { id: "msg-2", role: "assistant", parts: [{ type: "text", text: "Hi." }] };
 * await saveChat(store, { chatId: "chat-1", messages: [question] });
 * await saveChat(store, { chatId: "chat-1", messages: [question, answer] });
 * (await openChat(store, "chat-1")).metadata.stats.messageCount; // => 2
 */
export async function saveChat(store, chat) {
  await saveMessages(store, chat);
}

/** Whether a record goes on with a screen's message. @param {ReadMessage[]} records @param {ReadMessage} next */
function belongs(records, next) {
  const first = /** @type {ReadMessage} */ (records[0]);
  const isLooseAnswer = (/** @type {ReadMessage} */ record) =>
    screens.idOf(record) === undefined && (record.role === "assistant" || record.role === "tool");
  return screens.isSameMessage(records, next) || (isLooseAnswer(first) && isLooseAnswer(next));
}
