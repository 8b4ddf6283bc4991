// @ts-check
/** The sessions of sub-agents that a session called, by the calls that began them. */

import { arrange } from "./conversation.js";

/** @import { ReadMessage, Session, Store } from "../index.js" */
/** @import { Call } from "./calls.js" */
/** @import { Row } from "./conversation.js" */
/** @import { Model } from "./model.js" */

/** @typedef {{ id: string, messageCount: number, rows: Row[] }} Child */

/**
 * Reads the sub-agents' sessions. One whose log does not say which call began it is that call's whose prompt it begins
 * with.
 * @param {Model} model @param {Store} store @param {Session} session
 */
export async function findChildren(model, store, session) {
  const { imported } = session.metadata;
  const names = [session.id, imported && `${imported.agent}/${imported.sourceId}`];
  // Not `store.info`, which knows those of the store's own project alone.
  for (const { id } of await store.list({ all: true, type: "subagent" })) {
    const called = await store.session(id);
    const { parent, stats } = called.metadata;
    if (!names.includes(parent?.session)) continue;
    const { rows } = arrange(await readAll(called));
    const callId = parent?.callId ?? callOf(model, rows);
    const child = { id, messageCount: stats.messageCount, rows };
    if (callId !== undefined) model.addChild(callId, child);
  }
}

/** @param {Session} session */
async function readAll(session) {
  /** @type {ReadMessage[]} */
  const messages = [];
  for await (const message of session.messages()) messages.push(message);
  return messages;
}

/** @param {Model} model @param {Row[]} rows */
function callOf(model, rows) {
  const prompt = rows.find(({ kind }) => kind === "user")?.message.content.trim();
  const calls = model.rows.flatMap((row) => row.calls);
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
