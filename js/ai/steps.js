// @ts-check
/** Saves what a run of the AI SDK says: each of its messages once in the session, whoever saves it. */

import { readDrafts } from "../sdk/drafts.js";
import { isConflict } from "../sdk/refusal.js";
import { inTurn } from "../sdk/turns.js";
import { completeScreen } from "./complete.js";
import { addDetails, readDetails } from "./details.js";
import { keyOf, keysOf } from "./keys.js";
import { readDraft, reviseRecords } from "./plan.js";
import { isShown } from "./screen.js";

/** @import { Session } from "../session/session.js" */
/** @import { ReadMessage } from "../types/index.js" */
/** @import { AiMessage, AiStep } from "../types/ai.js" */
/** @import { AnswerDetails } from "./details.js" */

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
  /** @type {Map<AiMessage, AnswerDetails>} */
  const details = new Map();
  const unsaved = steps.flatMap((step, place) => {
    if (saved.has(step)) return [];
    const messages = messagesOf(steps, place);
    for (const message of messages) details.set(message, readDetails(step));
    return messages;
  });
  await saveNew(session, [...unsaved, ...others], details);
  for (const step of steps) saved.add(step);
}

/**
 * Saves the messages that a session does not end with.
 * @param {Session} session @param {readonly AiMessage[]} messages
 * @param {ReadonlyMap<AiMessage, AnswerDetails>} [details] what is known of them beside
 */
export async function saveNew(session, messages, details = new Map()) {
  const said = messages.filter(isSaid);
  if (said.length === 0) return;
  await inTurn(session, async () => {
    for (let isSaved = false; !isSaved;) isSaved = await saveRest(session, said, details).catch(isConflict);
  });
}

/**
 * Saves those that a session does not end with; false where it is to be looked at again.
 * @param {Session} session @param {readonly AiMessage[]} said @param {ReadonlyMap<AiMessage, AnswerDetails>} details
 */
async function saveRest(session, said, details) {
  const keys = said.map(keysOf);
  // The last message of all: the one on the path is another one where a chat went back to an older branch.
  const expected = (await session.messages({ newestFirst: true, allBranches: true }).next()).value?.id ?? null;
  let tail = await readTail(session, keys.flat().length + 1);
  const last = tail.at(-1);
  const before = tail.slice(0, -1);
  let count = countOverlap(tail.map(keyOf), keys);
  if (count < said.length && last?.role === "assistant" && isShown(session, last)) {
    // The screen may have saved the beginning of what follows.
    const next = said[countOverlap(before.map(keyOf), keys)];
    if (next && (await completeScreen(session, { last, expected }, next))) return false;
    if (!next) [tail, count] = [before, said.length];
  }
  const drafts = reviseDetails(tail, keys.slice(0, count), said, details);
  for (const message of said.slice(count))
    drafts.push(...addDetails(await readDrafts(message, { format: "ai-sdk", emptyText: "" }), details.get(message)));
  if (drafts.length > 0) await session.append(drafts, { expected });
  return true;
}

/**
 * Adds details to the records at a session's end that a screen has saved without them.
 * @param {ReadMessage[]} tail @param {string[][]} keys those of the messages that it ends with
 * @param {readonly AiMessage[]} said @param {ReadonlyMap<AiMessage, AnswerDetails>} details
 */
function reviseDetails(tail, keys, said, details) {
  let place = tail.length - keys.flat().length;
  return keys.flatMap((own, at) => {
    const record = tail[place];
    place += own.length;
    const known = details.get(/** @type {AiMessage} */ (said[at]));
    return record && known ? reviseRecords([record], addDetails([readDraft(record)], known)) : [];
  });
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
