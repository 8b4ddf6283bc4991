// @ts-check
/** Saves what a run of the AI SDK says: each of its messages once in the session, whoever saves it. */

import { LeftoffError } from "../index.js";
import { completeScreen } from "./complete.js";
import { keyOf, keysOf } from "./keys.js";
import { isShown } from "./screen.js";

/** @import { Session } from "../session/session.js" */
/** @import { ReadMessage } from "../types/index.js" */
/** @import { AiMessage, AiStep } from "../types/ai.js" */

/** The steps that are saved, of each session. @type {WeakMap<Session, WeakSet<object>>} */
const savedSteps = new WeakMap();

/** The parts that ask or answer whether a tool may run: no model is told. */
const APPROVALS = new Set(["tool-approval-request", "tool-approval-response"]);

/**
 * Saves the steps that are not saved yet.
 * @param {Session} session
 * @param {readonly AiStep[]} steps all of a run so far
 * @param {readonly AiMessage[]} [others] what was said after them, or in a run without steps
 */
export async function saveSteps(session, steps, others = []) {
  const saved = savedSteps.get(session) ?? new WeakSet();
  savedSteps.set(session, saved);
  const unsaved = steps.flatMap((step, place) => (saved.has(step) ? [] : messagesOf(steps, place)));
  await saveNew(session, [...unsaved, ...others]);
  for (const step of steps) saved.add(step);
}

/**
 * Saves the messages that a session does not end with.
 * @param {Session} session @param {readonly AiMessage[]} messages
 */
export async function saveNew(session, messages) {
  const said = messages.filter(isSaid);
  for (let isSaved = said.length === 0; !isSaved;) isSaved = await saveRest(session, said).catch(isConflict);
}

/** Saves those that a session does not end with; false where it is to be looked at again. @param {Session} session @param {readonly AiMessage[]} said */
async function saveRest(session, said) {
  const keys = said.map(keysOf);
  const tail = await readTail(session, keys.flat().length + 1);
  const last = tail.at(-1);
  const unsaved = said.slice(countOverlap(tail.map(keyOf), keys));
  if (unsaved.length === 0) return true;
  if (last && isShown(session, last)) {
    // The screen may have saved the beginning of what follows.
    const [next] = said.slice(countOverlap(tail.slice(0, -1).map(keyOf), keys));
    if (!next && last.role === "assistant") return true;
    if (next && (await completeScreen(session, last, next))) return false;
  }
  await session.append(unsaved, { format: "ai-sdk", expected: last?.id ?? null });
  return true;
}

/** False for a conflict: another one appended meanwhile, so the end is read again. @param {unknown} error */
function isConflict(error) {
  if (error instanceof LeftoffError && error.code === "conflict") return false;
  throw error;
}

/**
 * The messages of one step. Version 6 gives each step those of the steps before, too.
 * @param {readonly AiStep[]} steps @param {number} place
 */
function messagesOf(steps, place) {
  const own = steps[place]?.response.messages ?? [];
  const before = steps[place - 1]?.response.messages ?? [];
  const hasBefore = before.length > 0 && own.length > before.length && isSame(own.slice(0, before.length), before);
  return hasBefore ? own.slice(before.length) : own;
}

/** @param {unknown} one @param {unknown} other */
const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** Whether a message says something to a model. @param {AiMessage} message */
function isSaid({ content }) {
  return typeof content === "string" ? content !== "" : content.some(({ type }) => !APPROVALS.has(type));
}

/** The newest messages of a session, in their order. @param {Session} session @param {number} count */
async function readTail(session, count) {
  /** @type {ReadMessage[]} */
  const tail = [];
  for await (const message of session.messages({ newestFirst: true })) {
    tail.unshift(message);
    if (tail.length >= count) break;
  }
  return tail;
}

/**
 * How many messages at the front are those that the session ends with.
 * @param {string[]} tail @param {string[][]} messages the keys of each
 */
function countOverlap(tail, messages) {
  for (let count = messages.length; count > 0; count -= 1) {
    const keys = messages.slice(0, count).flat();
    const end = tail.slice(-keys.length);
    if (keys.length === end.length && keys.every((key, place) => key === end[place])) return count;
  }
  return 0;
}
