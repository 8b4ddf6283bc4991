// @ts-check
/** What was said in a session of the SDK, read from its log; and what is appended to change it. */

import { createHash } from "node:crypto";
import { LeftoffError } from "../index.js";
import { refusal } from "../sdk/refusal.js";
import { draftOf, draftsOf, isBeginning, itemsOf } from "./items.js";

/** @import { Session } from "../session/session.js" */
/** @import { AgentItem, HistoryTransaction } from "../types/openai.js" */
/** @import { ReadMessage } from "../types/index.js" */
/** @import { ItemDraft } from "./items.js" */
/** @typedef {{ message: ReadMessage, items: AgentItem[] }} Group a message and what of its items counts */
/** @typedef {{ groups: Group[], last: string | null, operations: Map<string, string> }} History `operations`: hashes by ids */
/**
 * @template T
 * @typedef {{ drafts: ItemDraft[], answer: T, operation?: { id: string, hash: string } }} Plan what a change appends
 */

/** @param {Session} session @returns {Promise<History>} */
export async function readHistory(session) {
  /** @type {Group[]} */
  let groups = [];
  /** @type {History["operations"]} */
  const operations = new Map();
  /** @type {string | null} */
  let last = null;
  for await (const message of session.messages()) {
    last = message.id;
    const { operation } = /** @type {any} */ (message.source ?? {});
    if (operation) operations.set(operation.id, operation.hash);
    if (isBeginning(message)) groups = [];
    groups.push({ message, items: itemsOf(message) ?? [] });
  }
  return { groups, last, operations };
}

/** The drafts of a transaction. @param {History} history @param {HistoryTransaction<any>} transaction */
export function draftsOfTransaction(history, transaction) {
  if (transaction.type === "append_items") return draftsOf(transaction.items);
  const { expectedSuffix, replacement } = transaction;
  const all = history.groups.flatMap(({ items }) => items);
  const found = all.slice(Math.max(all.length - expectedSuffix.length, 0));
  if (canonical(found) !== canonical(expectedSuffix))
    throw new LeftoffError({
      code: "conflict",
      message: `expected ${expectedSuffix.length} items as the newest ones, but found others instead`,
    });
  return [...reviseSuffix(history, expectedSuffix.length), ...draftsOf(replacement)];
}

/** Revisions that take so many of the newest items back. @param {History} history @param {number} count */
export function reviseSuffix({ groups }, count) {
  /** @type {ItemDraft[]} */
  const revised = [];
  let left = count;
  for (const group of groups.toReversed()) {
    if (left <= 0) break;
    const kept = Math.max(group.items.length - left, 0);
    if (group.items.length > 0) revised.unshift(reviseGroup(group, group.items.slice(0, kept)));
    left -= group.items.length;
  }
  return revised;
}

/**
 * Revisions that put other calls into the places of calls, one mutation after the other: of several calls of one id into
 * that of the first.
 * @param {History} history
 * @param {{ callId: string, replacement: object }[]} mutations
 */
export function replaceCalls({ groups }, mutations) {
  let all = groups.map(({ items }) => items);
  for (const { callId, replacement } of mutations) {
    let isFirst = true;
    const replace = (/** @type {AgentItem} */ item) => {
      if (item.type !== "function_call" || item.callId !== callId) return [item];
      const put = isFirst ? [/** @type {AgentItem} */ (replacement)] : [];
      isFirst = false;
      return put;
    };
    all = all.map((items) => items.flatMap(replace));
  }
  return groups.flatMap((group, at) => {
    const items = all[at] ?? [];
    return canonical(items) === canonical(group.items) ? [] : [reviseGroup(group, items)];
  });
}

/**
 * The next revision of a message, made of these items: without any it says nothing.
 * @param {Group} group @param {AgentItem[]} items @returns {ItemDraft}
 */
export function reviseGroup({ message: { id, rev = 0, source }, items: before }, items) {
  const isLeft = items.length > 0;
  const draft = draftOf(isLeft ? items : before);
  const { role, tool } = draft;
  const next = isLeft ? draft : { role, content: "", ...(tool && { tool }) };
  return { ...next, id, rev: rev + 1, source: { ...source, ...draft.source, items: isLeft ? draft.source.items : [] } };
}

/** @param {unknown} items @returns {AgentItem[]} */
export function checkItems(items) {
  if (!Array.isArray(items) || items.some((item) => Object(item) !== item || Array.isArray(item)))
    throw refusal("a list of items", items);
  return items;
}

/** @param {HistoryTransaction<any>} transaction */
export function checkTransaction(transaction) {
  /** @type {{ type?: unknown, items?: unknown, expectedSuffix?: unknown, replacement?: unknown }} */
  const { type, items, expectedSuffix, replacement } = Object(transaction);
  if (type === "append_items") checkItems(items);
  else if (type === "replace_suffix") [expectedSuffix, replacement].forEach(checkItems);
  else throw refusal("append_items or replace_suffix", type);
  return transaction;
}

/** @param {unknown} value */
export function hashOf(value) {
  return createHash("sha256").update(canonical(value)).digest("hex");
}

/** A value's text, whatever the order of its keys. @param {unknown} value */
export function canonical(value) {
  return JSON.stringify(value, (_key, one) => {
    if (one instanceof Uint8Array) return { bytes: Buffer.from(one).toString("base64") };
    if (Object(one) !== one || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
