// @ts-check
/** Answers that stream: they are saved as they grow, and other processes of the machine go on with their streams. */

import { randomId } from "../wasm/clock.js";
import { refusal } from "../sdk/refusal.js";
import { chunksBetween } from "./chunks.js";
import { streamOf } from "./marks.js";
import { findChat, saveMessages } from "./save.js";
import { screens } from "./screen.js";
import { Tree } from "./tree.js";

/** @import { Session } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */
/** @import { ReadMessage, Signal } from "../types/index.js" */
/** @import { AiStream, AiUiChunk, AiUiMessage } from "../types/ai.js" */
/** @import { StreamMark } from "./marks.js" */

/** How long nothing is heard before it is asked whether the process that answers is still there. */
const SILENCE_MS = 1000;
/** Each save writes the answer's last part anew: they come this far apart, and farther for a long answer. */
const SAVE_MS = { least: 100, perThousand: 100, most: 1000 };

/** The streams that this process saves, whichever copy of this module does it. @type {Set<string>} */
const ownStreams = (() => {
  const key = Symbol.for("leftoff.ai.streams");
  if (!Reflect.has(globalThis, key)) Reflect.set(globalThis, key, new Set());
  return Reflect.get(globalThis, key);
})();

/**
 * Saves an answer while it streams, so that `resumeStream` can go on with it: about each 100 ms its newest state, a
 * long answer's each second, and at last the whole. Read one branch of a stream's `tee()` for it: the run then goes on
 * also where the page has gone.
 * @template {AiUiMessage} Message
 * @param {Store} store
 * @param {AiStream<Message>} chat
 * @returns {Promise<void>} resolves once the answer has ended and is saved as far as it came, also after an error of the
 *   run
 * @throws {LeftoffError} what `saveChat` throws: then the rest of the answer is not saved
 * @example
 * const messages = [{ id: "msg-1", role: "user", parts: [{ type: "text", text: "Hello" }] }];
 * async function* grow() {
 *   yield { id: "msg-2", role: "assistant", parts: [{ type: "text", text: "Hi", state: "streaming" }] };
 *   yield { id: "msg-2", role: "assistant", parts: [{ type: "text", text: "Hi.", state: "done" }] };
 * }
 * await saveStream(store, { chatId: "chat-1", messages, answer: grow() });
 * (await loadChat(store, "chat-1"))[1].parts; // => [{ type: "text", text: "Hi.", state: "done" }]
 */
export async function saveStream(store, chat) {
  const { chatId, messages, answer } = Object(chat);
  if (!Array.isArray(messages)) throw refusal("the chat's messages, an array", messages);
  if (typeof Object(answer)[Symbol.asyncIterator] !== "function")
    throw refusal('an answer as it grows, as "readUIMessageStream" gives it', answer);
  const id = randomId();
  const pid = globalThis.process?.pid;
  const save = (/** @type {AiUiMessage | undefined} */ last, /** @type {Partial<StreamMark>} */ mark) =>
    saveMessages(store, { chatId, messages: withAnswer(messages, last) }, { id, ...mark });
  ownStreams.add(id);
  try {
    await save(undefined, { pid });
    const { last, ...end } = await saveStates(answer, (state) => save(state, { pid }));
    await save(last, end);
  } finally {
    ownStreams.delete(id);
  }
}

/** @param {readonly AiUiMessage[]} messages @param {AiUiMessage | undefined} answer */
function withAnswer(messages, answer) {
  if (!answer) return messages;
  const before = messages.at(-1)?.id === answer.id ? messages.slice(0, -1) : messages;
  return [...before, answer];
}

/**
 * Saves the newest state again and again, while the next ones come.
 * @param {AsyncIterable<AiUiMessage>} answer @param {(state: AiUiMessage) => Promise<void>} save
 * @returns {Promise<{ last: AiUiMessage | undefined, end: "finish" | "error", errorText?: string }>}
 */
async function saveStates(answer, save) {
  /** @type {AiUiMessage | undefined} */
  let last;
  /** @type {Promise<void> | undefined} */
  let saving;
  /** @type {{ error: unknown } | undefined} */
  let failure;
  let isEnded = false;
  let pause = startPause(0);
  const saveNewest = async () => {
    for (let saved; saved !== last && !isEnded;) {
      saved = last;
      await save(/** @type {AiUiMessage} */ (saved));
      pause = startPause(isEnded ? 0 : pauseOf(saved));
      await pause.over;
    }
  };
  /** @type {{ end: "finish" | "error", errorText?: string }} */
  let end = { end: "finish" };
  try {
    for await (const state of answer) {
      if (failure) break;
      // A message without parts is none for the SDK's own check.
      if (state.parts.length === 0) continue;
      last = state;
      saving ??= saveNewest()
        .catch((error) => void (failure = { error }))
        .finally(() => (saving = undefined));
    }
  } catch (error) {
    end = { end: "error", errorText: error instanceof Error ? error.message : String(error) };
  }
  isEnded = true;
  pause.end();
  await saving;
  if (failure) throw failure.error;
  return { last, ...end };
}

/** How long to wait after a state was saved. @param {unknown} state */
function pauseOf(state) {
  const thousands = JSON.stringify(state).length / 1000;
  return Math.min(SAVE_MS.most, Math.max(SAVE_MS.least, thousands * SAVE_MS.perThousand));
}

/**
 * Goes on with the stream of the answer that a chat gets at the moment, in this process or another one of the machine:
 * what the GET route of `useChat({ resume: true })` answers. First comes all that is saved of it, then what
 * `saveStream` adds, until the answer ends. If the process that answers is gone, the stream ends with `abort`; what was
 * saved stays in the chat.
 * @template [Chunk=AiUiChunk]
 * @param {Store} store
 * @param {string} chatId
 * @param {{ signal?: Signal }} [options] `signal`: ends the stream
 * @returns {Promise<ReadableStream<Chunk> | null>} for `createUIMessageStreamResponse` or `readUIMessageStream`; null
 *   where no answer is on its way: answer 204
 * @throws {LeftoffError} `invalid_request` for an id that is no text, or empty; what `Session.follow` throws
 * @example
 * await resumeStream(store, "chat-1"); // => null
 */
export async function resumeStream(store, chatId, { signal } = {}) {
  const session = await findChat(store, chatId);
  const stream = session && (await readNewest(session))?.stream;
  if (!session || !stream || !(await isRunning(session, stream))) return null;
  const ended = new AbortController();
  const end = () => ended.abort();
  signal?.addEventListener("abort", end);
  if (signal?.aborted) end();
  const chunks = followStream(session, stream, ended.signal);
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (!done) return controller.enqueue(/** @type {any} */ (value));
      signal?.removeEventListener("abort", end);
      controller.close();
    },
    cancel: end,
  });
}

/**
 * @param {Session} session @param {StreamMark} stream @param {AbortSignal} signal
 * @returns {AsyncGenerator<AiUiChunk>}
 */
async function* followStream(session, { id, pid }, signal) {
  const ended = new AbortController();
  const end = () => ended.abort();
  signal.addEventListener("abort", end);
  const followed = session.follow({ signal: ended.signal });
  try {
    let change = followed.next();
    /** @type {AiUiMessage | undefined} */
    let shown;
    for (let isOver = false; !isOver && !signal.aborted;) {
      const isAlive = await isRunning(session, { id, pid });
      const found = await readStream(session, id);
      isOver = !isAlive || !found || found.stream.end !== undefined;
      if (found?.message.role === "assistant" && (isOver || !found.stream.isAhead)) {
        yield* chunksBetween(shown, found.message);
        shown = found.message;
      }
      if (isOver) yield endOf(found?.stream);
      else if (await waitFor(change)) change = followed.next();
    }
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}

/** Whether a change comes before it was quiet for too long. @param {Promise<unknown>} change */
async function waitFor(change) {
  const silence = startPause(SILENCE_MS);
  const hasCome = await Promise.race([change.then(() => true), silence.over.then(() => false)]);
  silence.end();
  return hasCome;
}

/** @param {StreamMark | undefined} stream @returns {AiUiChunk} */
function endOf({ end, errorText = "" } = { id: "" }) {
  if (end === "error") return { type: "error", errorText };
  return { type: end ?? "abort" };
}

/** Whether the process that saves a stream still does. @param {Session} session @param {StreamMark} stream */
async function isRunning(session, { id, pid, end }) {
  if (end !== undefined) return false;
  return ownStreams.has(id) || (await session.others()).some((holder) => holder.pid === pid);
}

/**
 * The newest message of a stream, wherever it is.
 * @param {Session} session @param {string} id
 * @returns {Promise<{ message: AiUiMessage, stream: StreamMark } | undefined>}
 */
async function readStream(session, id) {
  const newest = await readNewest(session);
  if (newest?.stream?.id === id) return { ...newest, stream: newest.stream };
  // Someone went on after it, or in another branch.
  const tree = await Tree.read(session);
  const head = tree.findLast((record) => screens.isHead(record) && streamOf(record)?.id === id);
  const stream = head && streamOf(head);
  return head && stream && { message: screens.restore(tree.groupOf(head)), stream };
}

/** The newest message of a screen on the path; what a run has saved behind it a screen will have, too. @param {Session} session */
async function readNewest(session) {
  /** @type {ReadMessage[]} */
  const group = [];
  for await (const record of session.messages({ newestFirst: true })) {
    if (screens.idOf(record) === undefined && group.length === 0) continue;
    group.unshift(record);
    if (screens.isHead(record)) return { message: screens.restore(group), stream: streamOf(record) };
  }
  return undefined;
}

/** Begins a pause, which is over after so long, or once it is ended. @param {number} ms */
function startPause(ms) {
  let end = () => {};
  const over = /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      end = () => {
        clearTimeout(timer);
        resolve();
      };
    })
  );
  return { over, end };
}
