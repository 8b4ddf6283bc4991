// @ts-check
/**
 * What a model is answered on its own questions, whatever it asks them through. Each answer is short, says where it is
 * from and how to go on, and shows what was said in a fence and without the secrets that are to be replaced: it is data,
 * and no instruction.
 */

import { LeftoffError } from "../index.js";
import { MAX_ANSWER_BYTES, Page, cutToFit, titleLine } from "./page.js";

/** @import { Session } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */
/** @import { ReadMessage } from "../types/index.js" */
/**
 * @typedef {{ words: string, all?: boolean, cursor?: string }} WordsRequest
 * @typedef {{ session: string, message?: string, cursor?: string }} OpenRequest
 * @typedef {{ direction: "before" | "after", id: string }} Place beside which message of a session to go on
 */

/** How many messages before the one that is asked for are shown. */
const MESSAGES_BEFORE = 2;
const MAX_TITLE_BYTES = 300;
const BRIEF_TOKENS = 700;

/**
 * Answers a call; a refusal is an answer, too: the model reads what was wrong with it.
 * @param {Store} store @param {() => Promise<string>} work @returns {Promise<{ text: string, isRefusal: boolean }>}
 */
export async function answerCall(store, work) {
  try {
    return { text: await work(), isRefusal: false };
  } catch (error) {
    if (!(error instanceof LeftoffError) || error.code === "internal") throw error;
    const { value: text } = await store.redacted(`${error.message} (${error.code})`);
    return { text: cutToFit(text), isRefusal: true };
  }
}

/**
 * The places that have the words.
 * @param {Store} store @param {WordsRequest} asked
 * @param {{ own?: string, hint?: string }} [by] `own`: the id of the session that the model is in, which knows what it
 *   says; `hint`: how to read on there
 */
export async function answerSearch(store, { words, all, cursor }, { own, hint = "" } = {}) {
  const page = new Page();
  const start = parseCount(cursor);
  let count = 0;
  let next;
  for await (const { session, id, role = "user", timestamp, excerpt } of store.search(words, { all })) {
    if (session.id === own) continue;
    count += 1;
    if (count <= start) continue;
    const text = cutToFit(excerpt.map((piece) => piece.text).join(""));
    const line = id
      ? { role, timestamp, content: `[${session.id} ${id}] ${text}` }
      : titleLine(text, `[${session.id}] `);
    if (page.add(line)) continue;
    next = `${count - 1}`;
    break;
  }
  if (page.isEmpty) return count > 0 ? "Nothing more was found." : "Nothing was found.";
  const about = `Each line begins with the ids of the session and of the message${hint}.`;
  return page.render(about, { "There is more": next });
}

/**
 * The messages of a session: its newest, those around one, or those beside the place that a cursor names. Read are those
 * that are shown, and what lies between them and the nearer end of what is asked for.
 * @param {Store} store @param {OpenRequest} asked
 */
export async function answerOpen(store, { session: id, message, cursor }) {
  const session = await store.session(id);
  const { type, lifecycle, stats, display } = session.metadata;
  const page = new Page(cutToFit(display.title, MAX_TITLE_BYTES));
  const at = cursor === undefined ? undefined : parsePlace(cursor);
  const shown = { store, session, page };
  let cursors;
  if (at?.direction === "after") cursors = await addNewer(shown, at.id);
  else if (at || message === undefined) cursors = await addOlder(shown, at && { leaf: at.id });
  else cursors = await addAround(shown, message);
  return page.render(`${session.id}: ${type}, ${lifecycle}, ${stats.messageCount} messages.`, {
    "Those before": cursors.before && writePlace("before", cursors.before),
    "Those after": cursors.after && writePlace("after", cursors.after),
  });
}

/**
 * Quotes of other sessions on a question.
 * @param {Store} store @param {string} question @param {{ own?: string }} [by] as of `answerSearch`
 */
export async function answerRecall(store, question, { own } = {}) {
  const { text } = await store.recall(question, { maxBytes: MAX_ANSWER_BYTES, exclude: own ? [own] : [] });
  return text || "Nothing that was said before matches.";
}

/** Where a session stands. @param {Session} session */
export async function answerBrief(session) {
  const brief = await session.brief({ maxTokens: BRIEF_TOKENS });
  if (!brief) return "Nothing was said in this session yet.";
  const page = new Page();
  page.add({ role: "assistant", content: cutToFit(brief) });
  return page.render(`${session.id}: where it stands.`);
}

/** @typedef {{ store: Store, session: Session, page: Page }} ShownSession */
/** @typedef {{ before?: string, after?: string }} Ends the ids of the messages at which a page ends, unless all is shown */

/**
 * Adds the newest messages, or those before one.
 * @param {ShownSession} shown
 * @param {{ leaf: string, isShown?: boolean }} [end] the last of them, which is shown itself where that is said
 * @returns {Promise<Ends>}
 */
async function addOlder({ store, session, page }, end) {
  let before;
  // Where there is only one branch, those after the leaf come, too.
  let isReached = end === undefined;
  for await (const message of session.messages({ newestFirst: true, ...(end && { leaf: end.leaf }) })) {
    const isEnd = message.id === end?.leaf;
    isReached ||= isEnd;
    if (!isReached || (isEnd && !end?.isShown)) continue;
    if (!page.addBefore(await toLine(store, message))) return { before };
    before = message.id;
  }
  return {};
}

/** Adds the messages after one. @param {ShownSession} shown @param {string} id @returns {Promise<Ends>} */
async function addNewer({ store, session, page }, id) {
  let after;
  for await (const message of session.messages()) {
    if (after !== undefined && !page.add(await toLine(store, message))) return { after };
    if (after !== undefined || message.id === id) after = message.id;
  }
  if (after === undefined) throw unknownMessage(id);
  return {};
}

/**
 * Adds a message, some before it and those after it; of one on another branch those before it.
 * @param {ShownSession} shown @param {string} id @returns {Promise<Ends>}
 */
async function addAround(shown, id) {
  const { store, session, page } = shown;
  /** @type {ReadMessage[]} */
  let latest = [];
  /** @type {Ends | undefined} */
  let ends;
  for await (const message of session.messages()) {
    if (ends) {
      if (!page.add(await toLine(store, message))) return ends;
      ends.after = message.id;
      continue;
    }
    // One more than is shown tells whether there are more.
    latest = [...latest.slice(-MESSAGES_BEFORE - 1), message];
    if (message.id === id) ends = { before: await addLatest(store, page, latest), after: id };
  }
  return ends ? { before: ends.before } : addOlder(shown, { leaf: id, isShown: true });
}

/**
 * Adds the last message of some and those before it that have room.
 * @param {Store} store @param {Page} page @param {ReadMessage[]} latest
 * @returns {Promise<string | undefined>} the first that is shown, where others come before it
 */
async function addLatest(store, page, latest) {
  let count = 0;
  for (const message of latest.slice(-MESSAGES_BEFORE - 1).toReversed()) {
    if (!page.addBefore(await toLine(store, message))) break;
    count += 1;
  }
  return count < latest.length ? latest.at(-count)?.id : undefined;
}

/**
 * A message as a line of an answer. Secrets are replaced before it is cut: of a part of one nobody knows what it is.
 * @param {Store} store @param {ReadMessage} message
 */
async function toLine(store, message) {
  const { role = "user", timestamp, content = "", assistant } = (await store.redacted(message)).value;
  const calls = assistant?.toolCalls?.map(({ name }) => name).join(", ");
  const cut = cutToFit(content);
  return { role, timestamp, content: calls ? `${cut} [calls ${cutToFit(calls, MAX_TITLE_BYTES)}]`.trimStart() : cut };
}

/** @param {string} [cursor] */
function parseCount(cursor) {
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  throw unknownCursor(cursor);
}

// Encoded: a cursor stands outside of the fence, and an id may be any text.
/** @param {Place["direction"]} direction @param {string} id */
const writePlace = (direction, id) => `${direction}-${Buffer.from(id).toString("base64url")}`;

/** @param {string} cursor @returns {Place} */
function parsePlace(cursor) {
  const [, direction, id = ""] = /^(before|after)-([\w-]+)$/.exec(cursor) ?? [];
  if (direction === "before" || direction === "after")
    return { direction, id: Buffer.from(id, "base64url").toString() };
  throw unknownCursor(cursor);
}

/** @param {string} cursor */
function unknownCursor(cursor) {
  return new LeftoffError({
    code: "invalid_request",
    message: `expected a cursor that an earlier answer gave, but found ${JSON.stringify(cursor)} instead`,
  });
}

/** @param {string} id */
function unknownMessage(id) {
  return new LeftoffError({ code: "not_found", message: `no message ${JSON.stringify(id)} in this session` });
}
