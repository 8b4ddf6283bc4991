// @ts-check
/** The sessions of sub-agents that a session called, by the calls that began them. */

import { arrange } from "./conversation.js";

/** @import { ReadMessage, Session, Store } from "../index.js" */
/** @import { Call } from "./calls.js" */
/** @import { Row } from "./conversation.js" */
/** @import { Model } from "./model.js" */

/** @typedef {{ id: string, messageCount: number, rows: Row[] }} Child */

/** How deep sub-agents are shown in their callers; deeper ones are sessions to open. */
export const MAX_NESTED = 2;

/**
 * Reads the sub-agents' sessions, and those that they called. One whose log does not say which call began it is that
 * call's whose prompt it begins with.
 * @param {Model} model @param {Store} store @param {Session} session
 */
export async function findChildren(model, store, session) {
  /** @type {Session[]} */
  const all = [];
  // Not `store.info`, which knows those of the store's own project alone.
  for (const { id } of await store.list({ all: true, type: "subagent" })) all.push(await store.session(id));
  /** @type {{ caller: Session, rows: readonly Row[] }[]} */
  let callers = [{ caller: session, rows: model.rows }];
  // One level more than is shown, whose sessions are told of.
  for (let level = 0; level <= MAX_NESTED && callers.length > 0; level += 1) {
    const called = await Promise.all(callers.map(({ caller, rows }) => readCalled(model, all, caller, rows)));
    callers = called.flat();
  }
}

/**
 * @param {Model} model @param {readonly Session[]} all the sub-agents' @param {Session} caller
 * @param {readonly Row[]} callerRows
 */
async function readCalled(model, all, caller, callerRows) {
  const found = [];
  for (const called of all) {
    const { id } = called;
    const { parent, stats } = called.metadata;
    if (!isCaller(caller, called)) continue;
    const { rows } = arrange(await readAll(called));
    found.push({ caller: called, rows });
    const callId = parent?.callId ?? callOf(callerRows, rows);
    const child = { id, messageCount: stats.messageCount, rows };
    if (callId !== undefined) model.addChild(callId, child);
  }
  return found;
}

/** Whether a session began a sub-agent's. @param {Session} caller @param {Session} called */
export function isCaller({ id, metadata: { imported } }, called) {
  const names = [id, imported && `${imported.agent}/${imported.sourceId}`];
  return names.includes(called.metadata.parent?.session);
}

/** @param {Session} session */
async function readAll(session) {
  /** @type {ReadMessage[]} */
  const messages = [];
  for await (const message of session.messages()) messages.push(message);
  return messages;
}

/** @param {readonly Row[]} callerRows @param {readonly Row[]} rows */
function callOf(callerRows, rows) {
  const prompt = rows.find(({ kind }) => kind === "user")?.message.content.trim();
  const calls = callerRows.flatMap((row) => row.calls);
  return calls.find(({ kind, text }) => kind === "agent" && text.trim() === prompt)?.id;
}

/**
 * What is shown of a sub-agent between its prompt and its report: all that it said and did, without what these two say.
 * @param {Child} child @param {Call} call
 */
export function reportedRows({ rows }, call) {
  const prompt = rows.findIndex(({ kind }) => kind === "user");
  const report = call.result?.content.trim() ?? "";
  return rows.filter((row, place) => {
    const content = row.message.content.trim();
    if (row.calls.length > 0) return true;
    if (content === "" || row.kind === "note" || row.kind === "tool") return false;
    return place === prompt ? !call.text.includes(content) : !(place === rows.length - 1 && report.includes(content));
  });
}
