// @ts-check
/**
 * Records the sessions of OpenCode while they go on, from its events. Events come faster than they can be stored, and
 * say the same message again and again: what is stored is the state of a message when its turn comes.
 */

/** @import { Session } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */
/**
 * @import { OpenCodeClient, OpenCodeEvent, OpenCodeMessageInfo, OpenCodePart, OpenCodeSession } from "../types/opencode.js"
 */
/** @typedef {(error: unknown, session: string) => unknown} Report is told why something was not recorded */

/** How long a message waits for its other parts. */
const GATHER_MS = 20;
/** How often the beginning of an answer is stored while it is said. */
const STREAM_MS = 1000;

/** Parts that say nothing. */
const SILENT_PARTS = new Set(["step-start", "snapshot"]);

export class Recorder {
  #store;
  #client;
  #report;
  /** @type {Map<string, SessionRecording>} */
  #recordings = new Map();

  /** @param {Store} store @param {OpenCodeClient} client @param {Report} report */
  constructor(store, client, report) {
    this.#store = store;
    this.#client = client;
    this.#report = report;
  }

  /** Takes an event, and returns at once. @param {OpenCodeEvent} event */
  take({ type, properties }) {
    const told = /** @type {any} */ (properties);
    const { info, part } = told;
    if (type === "message.updated") this.#recordingOf(info.sessionID).setInfo(info);
    else if (type === "message.part.updated") this.#recordingOf(part.sessionID).setPart(part);
    else if (type === "message.part.delta") this.#recordingOf(told.sessionID).extendPart(told);
    else if (type === "message.removed" || type === "message.part.removed")
      this.#recordingOf(told.sessionID).remove(told);
    else if (type === "session.updated") this.#recordings.get(info.id)?.setSession(info);
    else if (type === "session.idle" || type === "session.error") void this.#recordings.get(told.sessionID)?.rest();
    else if (type === "session.deleted") void this.#forget(info.id);
  }

  /**
   * The session in the store that an agent's session is recorded into, with all that was said so far.
   * @param {string} id
   * @returns {Promise<Session>}
   */
  async session(id) {
    const recording = this.#recordingOf(id);
    await recording.settle();
    return recording.session();
  }

  /** Waits until all is recorded that was taken so far. */
  async settle() {
    await Promise.all(Array.from(this.#recordings.values(), (recording) => recording.settle()));
  }

  /** Stores what is left of a session that the agent deleted, and lets go of it. @param {string} id */
  async #forget(id) {
    const recording = this.#recordings.get(id);
    await recording?.close();
    this.#recordings.delete(id);
  }

  /** @param {string} id */
  #recordingOf(id) {
    const recording =
      this.#recordings.get(id) ??
      new SessionRecording(id, { store: this.#store, client: this.#client, report: this.#report });
    this.#recordings.set(id, recording);
    return recording;
  }
}

/** One session of OpenCode while it is recorded. */
class SessionRecording {
  #id;
  #parts;
  /** What was begun last. @type {Promise<void>} */
  #last = Promise.resolve();
  /** @type {Promise<Session> | undefined} */
  #session;
  /** @type {Map<string, { info?: OpenCodeMessageInfo, parts: Map<string, OpenCodePart> }>} the messages since it last rested */
  #messages = new Map();
  /** @type {Set<string>} ids of messages that have changed since they were stored */
  #changed = new Set();
  /** Whether the client has what the events did not tell: from before the first, or after something was taken back. */
  #isBehind = true;
  /** Whether messages are taken back at present. */
  #hasTakenBack = false;
  /** The title that the client gave last. @type {string | undefined} */
  #title;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** How long the timer was set for. */
  #waitMs = Infinity;

  /** @param {string} id @param {{ store: Store, client: OpenCodeClient, report: Report }} parts */
  constructor(id, parts) {
    this.#id = id;
    this.#parts = parts;
  }

  /** @param {OpenCodeMessageInfo} info */
  setInfo(info) {
    this.#messageOf(info.id).info = info;
    this.#noteChange(info.id, info.time.completed === undefined ? GATHER_MS : 0);
  }

  /** @param {OpenCodePart} part */
  setPart(part) {
    this.#messageOf(part.messageID).parts.set(part.id, part);
    this.#noteChange(part.messageID, GATHER_MS);
  }

  /** Adds what was said next to a part. @param {{ messageID: string, partID: string, field: string, delta: string }} piece */
  extendPart({ messageID, partID, field, delta }) {
    const parts = this.#messageOf(messageID).parts;
    const part = parts.get(partID);
    const said = part && Reflect.get(part, field);
    if (!part || typeof said !== "string") return;
    parts.set(partID, { ...part, [field]: said + delta });
    this.#noteChange(messageID, STREAM_MS);
  }

  /** Forgets a message, or a part of one. @param {{ messageID: string, partID?: string }} removed */
  remove({ messageID, partID }) {
    if (partID === undefined) this.#messages.delete(messageID);
    else this.#messages.get(messageID)?.parts.delete(partID);
    this.#isBehind = true;
  }

  /** @param {OpenCodeSession} info */
  setSession(info) {
    // What was taken back may also be given back.
    const hasChanged = info.revert !== undefined || this.#hasTakenBack;
    this.#hasTakenBack = info.revert !== undefined;
    if (hasChanged) this.#isBehind = true;
    if (hasChanged || info.title !== this.#title) void this.settle(info);
  }

  /** Stores what is not stored yet. @param {OpenCodeSession} [info] the session as it is now */
  settle(info) {
    clearTimeout(this.#timer);
    this.#waitMs = Infinity;
    return (this.#last = this.#last.then(() => this.#recordChanges(info)).catch((error) => this.#noteFailure(error)));
  }

  // The next message is stored with all that the client has, in whatever session there is then.
  /** @param {unknown} error */
  #noteFailure(error) {
    this.#session = undefined;
    this.#isBehind = true;
    this.#parts.report(error, this.#id);
  }

  /** @param {OpenCodeSession} [info] */
  async #recordChanges(info) {
    if (info?.revert) await this.#recordAll(info);
    while (this.#changed.size > 0) await this.#recordNext();
    if (info?.title && this.#session) await this.#rename(await this.session(), info.title);
  }

  /** Stores what is not stored yet, and forgets it: the answer is said to its end. */
  async rest() {
    // What begins meanwhile stays.
    const ids = [...this.#messages.keys()];
    await this.settle();
    for (const id of ids) if (!this.#changed.has(id)) this.#messages.delete(id);
  }

  /** Stores what is not stored yet, and closes the session in the store. */
  close() {
    void this.settle();
    return (this.#last = this.#last.then(() => this.#closeSession()).catch((error) => this.#noteFailure(error)));
  }

  async #closeSession() {
    const session = await this.#session;
    this.#session = undefined;
    await session?.close();
  }

  /** Its session in the store. */
  session() {
    return (this.#session ??= this.#open().catch((error) => {
      this.#session = undefined;
      throw error;
    }));
  }

  async #open() {
    const { store } = this.#parts;
    const { title, parentID: parent } = await this.#readSession();
    this.#title = title;
    return store.create({ source: { agent: "opencode", id: this.#id, parent }, title });
  }

  async #readSession() {
    return requireData(await this.#parts.client.session.get({ path: { id: this.#id } }));
  }

  // Stores one message, or all that the client has.
  async #recordNext() {
    const id = /** @type {string} */ (this.#changed.values().next().value);
    this.#changed.delete(id);
    await this.#recordMessage(id).catch((error) => {
      this.#changed.add(id);
      throw error;
    });
  }

  /** @param {string} id */
  async #recordMessage(id) {
    const message = this.#messages.get(id);
    if (!message) return;
    const { info } = message;
    if (!info) return this.#recordAll(await this.#readSession());
    const parts = Array.from(message.parts.values())
      .filter((part) => !isPending(part))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    const isFinished = info.time.completed !== undefined || info.error !== undefined;
    if (!isFinished && parts.every(({ type, text }) => SILENT_PARTS.has(type) || text === "")) return;
    if (this.#isBehind) await this.#recordAll(await this.#readSession());
    await (await this.session()).record({ info, parts }, { from: "opencode" });
  }

  /** @param {OpenCodeSession} info */
  async #recordAll(info) {
    this.#isBehind = false;
    const messages = requireData(await this.#parts.client.session.messages({ path: { id: this.#id } }));
    if (messages.length > 0) await (await this.session()).record({ info, messages }, { from: "opencode" });
  }

  // A title that the user gave in the store stays.
  /** @param {Session} session @param {string} title */
  async #rename(session, title) {
    if (title !== this.#title && session.metadata.display.title === this.#title) await session.rename(title);
    this.#title = title;
  }

  /** @param {string} id */
  #messageOf(id) {
    /** @type {{ info?: OpenCodeMessageInfo, parts: Map<string, OpenCodePart> }} */
    const message = this.#messages.get(id) ?? { parts: new Map() };
    this.#messages.set(id, message);
    return message;
  }

  /** @param {string} id @param {number} waitMs */
  #noteChange(id, waitMs) {
    this.#changed.add(id);
    if (waitMs >= this.#waitMs) return;
    clearTimeout(this.#timer);
    this.#waitMs = waitMs;
    this.#timer = setTimeout(() => void this.settle(), waitMs);
  }
}

/** Whether a call's arguments are not known yet. @param {OpenCodePart} part */
function isPending({ type, state }) {
  return type === "tool" && state?.status === "pending";
}

/** What the client answers. @template T @param {{ data?: T, error?: unknown }} answer @returns {T} */
function requireData({ data, error }) {
  if (data === undefined) throw new Error(`OpenCode tells nothing of the session: ${JSON.stringify(error)}`);
  return data;
}
