// @ts-check
/**
 * leftoff in LangChain: a chat history whose messages are those of a session. `@langchain/core` is the caller's own.
 */

import { BaseListChatMessageHistory } from "@langchain/core/chat_history";
import { coerceMessageLikeToMessage, mapStoredMessagesToChatMessages } from "@langchain/core/messages";

import { readDrafts } from "../sdk/drafts.js";
import { Originals } from "../sdk/originals.js";
import { checkObject, refusal } from "../sdk/refusal.js";
import { findSession } from "../sdk/sessions.js";
import { toProviderMessage } from "./messages.js";

/** @import { BaseMessage, StoredMessage } from "@langchain/core/messages" */
/** @import { Session } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */
/** @import { ContextRequest, Draft, ReadMessage } from "../types/index.js" */
/** @typedef {import("../types/langchain.js").LangChainHistoryFields} LangChainHistoryFields */

/** The messages that were added. @type {Originals<StoredMessage>} */
const stored = new Originals("langchain");

/**
 * A chat history of LangChain, kept in a session of the store. Methods throw `LeftoffError`: beside the codes that each
 * names, those of the storage (`disk_full`, `permission_denied`, `storage_closed` …).
 */
export class LeftoffChatMessageHistory extends BaseListChatMessageHistory {
  /** By this LangChain knows the class. */
  lc_namespace = ["leftoff", "langchain"];
  #store;
  #source;

  /**
   * Makes the history of a conversation; its session begins with the first message.
   * @param {LangChainHistoryFields} fields `sessionId`: the conversation's id in your program, any text
   * @throws {LeftoffError} `invalid_request` for what is no store, and an id that is no text
   * @example
   * const history = new LeftoffChatMessageHistory({ store, sessionId: "chat-1" });
   * await history.getMessages(); // => []
   */
  constructor(fields) {
    super();
    const { store, sessionId } = Object(fields);
    if (typeof sessionId !== "string" || sessionId === "") throw refusal('a text for "sessionId"', sessionId);
    this.#store = /** @type {Store} */ (checkObject(store, "session", "a store"));
    this.#source = { agent: "langchain", id: sessionId };
  }

  /**
   * Opens the session of the conversation, or creates it.
   * @returns {Promise<Session>}
   * @throws {LeftoffError} what any method throws
   * @example
   * const history = new LeftoffChatMessageHistory({ store, sessionId: "chat-1" });
   * await history.addUserMessage("Hello");
   * (await history.openSession()).metadata.stats.messageCount; // => 1
   */
  openSession() {
    return this.#store.create({ source: this.#source });
  }

  /**
   * Reads all messages, as they were added.
   * @returns {Promise<BaseMessage[]>}
   * @throws {LeftoffError} what any method throws
   * @example
   * const history = new LeftoffChatMessageHistory({ store, sessionId: "chat-1" });
   * await history.addUserMessage("Hello");
   * (await history.getMessages()).map(({ text }) => text); // => ["Hello"]
   */
  async getMessages() {
    const session = await this.#findSession();
    if (!session) return [];
    /** @type {ReadMessage[][]} */
    const groups = [];
    for await (const record of session.messages()) {
      const last = groups.at(-1);
      if (last && stored.isSameMessage(last, record)) last.push(record);
      else groups.push([record]);
    }
    return groups.flatMap(makeMessages);
  }

  /**
   * Reads the messages that fit a model's window, each call with its result; older ones are summarized.
   * @param {Omit<ContextRequest, "format">} [request] as `Session.context` takes it
   * @returns {Promise<BaseMessage[]>}
   * @throws {LeftoffError} what `context` throws
   * @example
   * const history = new LeftoffChatMessageHistory({ store, sessionId: "chat-1" });
   * await history.addUserMessage("Hello");
   * (await history.fitMessages({ window: 8000 })).map(({ text }) => text); // => ["Hello"]
   */
  async fitMessages(request = {}) {
    if ("format" in Object(request)) throw refusal('no "format": it is LangChain\'s', Reflect.get(request, "format"));
    const session = await this.openSession();
    const { messages } = await session.context({ ...request, format: "openai-chat" });
    return messages.map((message) => coerceMessageLikeToMessage(/** @type {any} */ (message)));
  }

  /**
   * Adds a message.
   * @param {BaseMessage} message
   * @throws {LeftoffError} what `addMessages` throws
   * @example
   * const history = new LeftoffChatMessageHistory({ store, sessionId: "chat-1" });
   * await history.addMessage(new HumanMessage("Hello"));
   */
  addMessage(message) {
    return this.addMessages([message]);
  }

  /**
   * Adds messages, all or none.
   * @param {BaseMessage[]} messages
   * @returns {Promise<void>}
   * @throws {LeftoffError} `invalid_request` for what is no message that can be stored; what `append` throws
   * @example
   * const history = new LeftoffChatMessageHistory({ store, sessionId: "chat-1" });
   * await history.addMessages([new HumanMessage("Hello"), new AIMessage("Hi.")]);
   * (await history.getMessages()).length; // => 2
   */
  async addMessages(messages) {
    if (!Array.isArray(messages)) throw refusal("messages of LangChain, an array", messages);
    /** @type {Draft[]} */
    const drafts = [];
    for (const [place, message] of messages.entries()) drafts.push(...(await draftsOf(message, place)));
    if (drafts.length > 0) await (await this.openSession()).append(drafts);
  }

  /**
   * Empties the history: its session is moved to the store's trash, whence it can be restored, and the next message
   * begins another one.
   * @returns {Promise<void>}
   * @throws {LeftoffError} `open_elsewhere` where another process has it open
   * @example
   * const history = new LeftoffChatMessageHistory({ store, sessionId: "chat-1" });
   * await history.addUserMessage("Hello");
   * await history.clear();
   * await history.getMessages(); // => []
   */
  async clear() {
    const session = await this.#findSession();
    if (session) await this.#store.delete(session);
  }

  #findSession() {
    return findSession(this.#store, this.#source);
  }
}

/** @param {BaseMessage} message @param {number} place */
async function draftsOf(message, place) {
  const original = toStored(message, place);
  const { provider, assistant, isError } = toProviderMessage(original);
  const drafts = await readDrafts(provider, { format: "openai-chat", emptyText: "[no text]" });
  const [first] = drafts;
  if (first?.role === "assistant" && assistant) first.assistant = { ...first.assistant, ...assistant };
  if (first?.tool && isError) first.tool = { ...first.tool, isError };
  return stored.attach(original.data.id ?? "", original, drafts);
}

/** A message as LangChain stores it, as JSON has it. @param {BaseMessage} message @param {number} place @returns {StoredMessage} */
function toStored(message, place) {
  if (typeof Object(message).toDict !== "function")
    throw refusal(`a message of LangChain for message ${place}`, message);
  try {
    const original = JSON.parse(JSON.stringify(message.toDict()));
    // LangChain itself says here of what it could not read again.
    mapStoredMessagesToChatMessages([original]);
    return original;
  } catch (error) {
    throw refusal(`a message ${place} that LangChain can store`, message.type, error);
  }
}

/** The messages of LangChain that stored messages are. @param {ReadMessage[]} records @returns {BaseMessage[]} */
function makeMessages(records) {
  const [first] = records;
  if (!first?.role) return [];
  if (stored.isHead(first)) return mapStoredMessagesToChatMessages([stored.restore(records)]);
  const { role, content, assistant, tool } = first;
  const calls = assistant?.toolCalls?.map(({ id, name, arguments: json }) => ({
    id,
    type: "function",
    function: { name, arguments: json },
  }));
  const more = tool ? { tool_call_id: tool.callId, name: tool.name } : calls ? { tool_calls: calls } : {};
  return [coerceMessageLikeToMessage(/** @type {any} */ ({ role, content, id: first.id, ...more }))];
}
