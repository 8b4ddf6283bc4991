// @ts-check
/**
 * Replaces the messages that OpenCode is about to send by those that leftoff's context of the session keeps: OpenCode's
 * own messages, long outputs shortened, and in the place of those that are left out a summary. Nothing is changed in
 * place: OpenCode goes on with the objects that it gave.
 */

/** @import { Session } from "../session/session.js" */
/** @import { ContextMessage } from "../types/index.js" */
/** @import { OpenCodeClient, OpenCodeContextRequest, OpenCodeEvent } from "../types/opencode.js" */
/** @import { OpenCodeMessage, OpenCodeMessageInfo, OpenCodePart } from "../types/opencode.js" */

/** Ends the id of a message that was made for a context, so that it is known if it comes back. */
const MADE_ENDING = "-leftoff";
/** The most tokens that OpenCode has a model answer with. */
const ANSWER_TOKENS = 32_000;
/** What OpenCode sends beside the messages: its system prompt, the project's rules, tools. */
const PROMPT_TOKENS = 16_000;

/** Events after which a session is not compacted any longer. */
const COMPACTION_ENDS = new Set(["session.compacted", "session.idle", "session.error"]);

/** The contexts of the sessions of one OpenCode. */
export class Contexts {
  #client;
  #request;
  /** Sessions that OpenCode compacts at present: it asks for a summary of all that it sends. @type {Set<string>} */
  #compacting = new Set();
  /** Ids of results that are sent whole while a session's context is only extended, by its id. @type {Map<string, Set<string>>} */
  #whole = new Map();
  /** By their providers' and their own names. @type {Map<string, OpenCodeContextRequest>} */
  #windows = new Map();

  /** @param {OpenCodeClient} client @param {OpenCodeContextRequest} request as the user's settings have it */
  constructor(client, request) {
    this.#client = client;
    this.#request = request;
  }

  /** @param {string} id of a session that is being compacted from now on */
  beginCompaction(id) {
    this.#compacting.add(id);
  }

  /** Takes an event, which may tell that a session is no longer compacted. @param {OpenCodeEvent} event */
  take({ type, properties }) {
    if (COMPACTION_ENDS.has(type)) this.endCompaction(Reflect.get(properties, "sessionID"));
  }

  /** @param {string} id of a session that is not being compacted, or no longer */
  endCompaction(id) {
    this.#compacting.delete(id);
  }

  /**
   * Leaves those that fit of the messages that OpenCode is about to send, but not of those that it compacts.
   * @param {OpenCodeMessage[]} messages @param {(id: string) => Promise<Session>} openSession
   */
  async fit(messages, openSession) {
    const sessionID = messages[0]?.info.sessionID;
    if (sessionID === undefined || this.#compacting.has(sessionID)) return;
    const window = this.#request.window === undefined ? await this.#readWindow(messages) : {};
    const request = { ...window, ...this.#request };
    const whole = this.#whole.get(sessionID) ?? new Set();
    this.#whole.set(sessionID, whole);
    const fitted = await fitMessages(await openSession(sessionID), messages, { request, whole });
    // OpenCode goes on with the array that it gave.
    messages.splice(0, messages.length, ...fitted);
  }

  /** The window of the model that answers next. @param {OpenCodeMessage[]} messages */
  async #readWindow(messages) {
    const { providerID = "", modelID = "" } = messages.findLast(({ info }) => info.role === "user")?.info.model ?? {};
    const key = `${providerID}/${modelID}`;
    const window = this.#windows.get(key) ?? (await readWindow(this.#client, { providerID, modelID }));
    this.#windows.set(key, window);
    return window;
  }
}

/**
 * The messages that fit, in OpenCode's order.
 * @param {Session} session
 * @param {OpenCodeMessage[]} messages all that OpenCode has
 * @param {{ request: OpenCodeContextRequest, whole: Set<string> }} how
 * @returns {Promise<OpenCodeMessage[]>}
 */
async function fitMessages(session, messages, { request, whole }) {
  const all = messages.filter(({ info }) => !info.id.endsWith(MADE_ENDING));
  const { messages: kept, report } = await session.context({ assumes: true, ...request });
  if (report.cache?.ended !== undefined) whole.clear();
  // The model has not read them yet.
  for (const { id } of all.at(-1)?.parts ?? []) whole.add(id);
  const fitted = new FittedMessages(all, whole);
  const natives = await readNatives(session, kept);
  for (const native of natives.values()) fitted.noteRecorded(native);
  const shortened = new Set(report.messages.flatMap(({ id, action }) => (action === "shortened" ? [id] : [])));
  for (const message of kept) {
    const native = natives.get(message.id || "");
    if (!message.id) fitted.addMade(message);
    else if (native) fitted.keep(native, shortened.has(message.id) ? message : undefined);
  }
  const isWhole = report.unreadMessageCount === 0 && report.messages.every(({ action }) => isSent(action));
  return fitted.compose(isWhole);
}

/** What is to be sent of OpenCode's messages. */
class FittedMessages {
  #all;
  #whole;
  /** OpenCode's messages, by their ids and those of their parts. @type {Map<string, OpenCodeMessage>} */
  #owners = new Map();
  /** Those of which the session has something. @type {Set<OpenCodeMessage>} */
  #recorded = new Set();
  /** Those that the context has, with what was made for it and stands before them. @type {Map<OpenCodeMessage, ContextMessage[]>} */
  #kept = new Map();
  /** The shortened results, by the ids of their parts. @type {Map<string, ContextMessage>} */
  #results = new Map();
  /** What was made, and does not stand before a message yet. @type {ContextMessage[]} */
  #made = [];

  /** @param {OpenCodeMessage[]} all @param {Set<string>} whole ids of parts that are not shortened */
  constructor(all, whole) {
    this.#all = all;
    this.#whole = whole;
    for (const message of all) for (const { id } of [message.info, ...message.parts]) this.#owners.set(id, message);
  }

  /** @param {string} native OpenCode's id of what a stored message was */
  noteRecorded(native) {
    const owner = this.#owners.get(native);
    if (owner) this.#recorded.add(owner);
  }

  /** @param {ContextMessage} message */
  addMade(message) {
    if (message.role !== "user") throw new Error(`expected a summary of the user's, but found one of ${message.role}`);
    this.#made.push(message);
  }

  /** @param {string} native @param {ContextMessage} [result] a tool's one, shortened */
  keep(native, result) {
    const owner = this.#owners.get(native);
    // OpenCode has compacted it away.
    if (!owner) return;
    if (result && result.role !== "tool") throw new Error("expected room for the newest message, but found too little");
    if (result && !this.#whole.has(native)) this.#results.set(native, result);
    // A summary of OpenCode's stays with the message that asks for it.
    const before = this.#all[this.#all.indexOf(owner) - 1];
    const asking = before && isCompaction(before) ? [before] : [];
    for (const message of [...asking, owner])
      this.#kept.set(message, [...(this.#kept.get(message) ?? []), ...this.#made.splice(0)]);
  }

  /** @param {boolean} isWhole whether nothing is left out @returns {OpenCodeMessage[]} */
  compose(isWhole) {
    if (this.#kept.size === 0 || this.#made.length > 0)
      throw new Error("expected OpenCode's newest messages in the session, but found none");
    const newest = this.#all.findLast(({ info }) => info.role === "user");
    let isKept = isWhole;
    return this.#all.flatMap((message) => {
      const made = this.#kept.get(message);
      // What the session does not have goes with what is before it.
      if (made) isKept = true;
      else if (this.#recorded.has(message)) isKept = isWhole;
      if (!isKept && message !== newest) return [];
      const about = (newest ?? message).info;
      return [
        ...(made ?? []).map((one, at) => makeMessage(one, `${message.info.id}-${at}`, about)),
        this.#shorten(message),
      ];
    });
  }

  /** @param {OpenCodeMessage} message */
  #shorten(message) {
    const parts = message.parts.map((part) => shortenPart(part, this.#results.get(part.id)));
    return parts.some((part, place) => part !== message.parts[place]) ? { ...message, parts } : message;
  }
}

/**
 * A part as it is sent. What OpenCode itself has cleared is sent as the context has it, as in the turns before.
 * @param {OpenCodePart} part @param {ContextMessage} [result] what is sent of a tool's result
 * @returns {OpenCodePart}
 */
function shortenPart(part, result) {
  const { state } = part;
  if (!state) return part;
  const isCleared = state.time?.compacted !== undefined;
  if (!result && !isCleared) return part;
  const time = state.time && { ...state.time, compacted: undefined };
  const said = result && { [state.status === "error" ? "error" : "output"]: result.content };
  const files = result && state.attachments && !result.attachments?.length && { attachments: [] };
  return { ...part, state: { ...state, time, ...said, ...files } };
}

/**
 * A message of the user's that says what was made for a context.
 * @param {ContextMessage} message @param {string} place says before which message it stands
 * @param {OpenCodeMessageInfo} about a message of the user's
 * @returns {OpenCodeMessage}
 */
function makeMessage({ content }, place, about) {
  const id = `${place}${MADE_ENDING}`;
  const { sessionID } = about;
  const part = { id: `${id}-text`, sessionID, messageID: id, type: "text", text: content, synthetic: true };
  return { info: { ...about, id }, parts: [part] };
}

/** Whether a message asks OpenCode for the summary that follows. @param {OpenCodeMessage} message */
const isCompaction = ({ parts }) => parts.some(({ type }) => type === "compaction");

/** @param {"kept" | "shortened" | "summarized" | "dropped"} action */
const isSent = (action) => action === "kept" || action === "shortened";

/**
 * OpenCode's ids, of messages and parts, by those of a session's messages: at least back to the first one of a context.
 * @param {Session} session @param {ContextMessage[]} kept
 */
async function readNatives(session, kept) {
  const first = kept.find(({ id }) => id)?.id;
  /** @type {Map<string, string>} */
  const natives = new Map();
  for await (const { id, source } of session.messages({ newestFirst: true })) {
    if (source?.id !== undefined) natives.set(id, source.id);
    if (id === first) break;
  }
  return natives;
}

/**
 * A model's window, and how much of it is not for messages, as OpenCode knows them.
 * @param {OpenCodeClient} client @param {{ providerID: string, modelID: string }} model
 * @returns {Promise<OpenCodeContextRequest>} empty where it does not know them
 */
async function readWindow(client, { providerID, modelID }) {
  const answer = await client.config?.providers();
  const limit = answer?.data?.providers.find(({ id }) => id === providerID)?.models[modelID]?.limit;
  const { context = 0, input = context, output = 0 } = limit ?? {};
  if (input === 0) return {};
  // A tenth for what the provider counts otherwise.
  return { window: input, reserve: Math.ceil(Math.min(output, ANSWER_TOKENS) + PROMPT_TOKENS + input / 10) };
}
