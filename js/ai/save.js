// @ts-check
/** Finds the session of a chat, and saves its messages. */

import { checkObject, isConflict, refusal } from "../sdk/refusal.js";
import { findSession } from "../sdk/sessions.js";
import { inTurn } from "../sdk/turns.js";
import { planSave } from "./plan.js";
import { noteShown } from "./screen.js";

/** @import { Store } from "../store/store.js" */
/** @import { AiChat, AiUiMessage } from "../types/ai.js" */
/** @import { StreamMark } from "./marks.js" */

/** The session of a chat, which is created where it is not known. @param {Store} store @param {string} chatId */
export async function createChat(store, chatId) {
  return checkStore(store).create({ source: sourceOf(chatId) });
}

/** The session of a chat; none where it is not known. @param {Store} store @param {string} chatId */
export async function findChat(store, chatId) {
  return findSession(checkStore(store), sourceOf(chatId));
}

/**
 * Saves a chat's messages, the last one with the mark of a stream.
 * @param {Store} store @param {AiChat} chat @param {StreamMark} [stream]
 */
export async function saveMessages(store, chat, stream) {
  const { chatId, messages } = Object(chat);
  if (!Array.isArray(messages)) throw refusal("the chat's messages, an array", messages);
  const plain = messages.map(toPlain);
  const session = await createChat(store, chatId);
  await inTurn(session, async () => {
    noteShown(session, plain.at(-1));
    for (let isSaved = false; !isSaved;) {
      const { drafts, expected } = await planSave(session, plain, stream);
      isSaved = drafts.length === 0 || (await session.append(drafts, { expected }).then(() => true, isConflict));
    }
  });
}

/** @param {Store} store @returns {Store} */
const checkStore = (store) => checkObject(store, "session", "a store");

/** By what a chat's session is found. @param {string} chatId */
function sourceOf(chatId) {
  if (typeof chatId !== "string" || chatId === "") throw refusal("a chat's id, a text", chatId);
  return { agent: "ai-sdk", id: chatId };
}

/** A message as JSON has it. @param {AiUiMessage} message @param {number} place @returns {AiUiMessage} */
function toPlain(message, place) {
  const { id, role, parts } = Object(message);
  if (typeof id !== "string" || id === "") throw refusal(`an id for message ${place}, a text`, id);
  if (role !== "system" && role !== "user" && role !== "assistant")
    throw refusal(`"system", "user" or "assistant" as the role of message ${place}`, role);
  if (!Array.isArray(parts) || parts.some((part) => typeof Object(part).type !== "string"))
    throw refusal(`parts, each with its type, for message ${place}`, parts);
  try {
    return JSON.parse(JSON.stringify(message));
  } catch (error) {
    throw refusal(`values of JSON in message ${place}`, message, error);
  }
}
