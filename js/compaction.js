// @ts-check
/** Compaction: contexts begin behind a message from then on, with a summary before it. No message is touched. */

import { called, fromBytes } from "./core.js";
import { LeftoffError } from "./error.js";

/** @import { Session as Handle } from "../pkg/leftoff.js" */
/** @import { Compaction, SummaryRange } from "./records.js" */
/** @import { CompactOptions, Compacted, ContextBuildResult, ContextRequest } from "./types/index.js" */

/** It is due from here on, in parts of the budget. */
const DUE = 0.8;
/** What was compacted is let grow to so much of what it was compacted to. */
const GROWTH = 1.5;
/** What a model's summary may have of what is kept: the share of all summaries, less what is said beside it. */
const SUMMARY = 0.3 * 0.55;
const LONGEST_SUMMARY = 2200;

/**
 * @param {CompactOptions} options
 * @param {object} host
 * @param {(request: ContextRequest, through?: string) => Promise<ContextBuildResult>} host.build
 * @param {Compaction} host.current
 * @returns {Promise<Compacted & { endByte?: number, summaryTokens: number }>}
 */
export async function planned({ keep, ...request }, { build, current }) {
  const before = await build(request);
  const { tokenBudget } = before;
  const most = checked(keep) ?? Math.floor(tokenBudget / 2);
  const all = before.strategy === "full-history";
  const said = {
    isApplied: false,
    isDue: !all || before.tokensUsed > tokenBudget * DUE,
    messageCount: 0,
    tokensBefore: before.tokensUsed,
    tokensAfter: before.tokensUsed,
    tokenBudget,
    summaryTokens: Math.min(Math.floor(most * SUMMARY), LONGEST_SUMMARY),
  };
  // Less than that would soon be due again.
  const limit = current.range ? most * GROWTH : most;
  if (all && before.tokensUsed <= limit) return { ...said, reason: `the conversation has ${before.tokensUsed} tokens, and ${Math.floor(limit)} are kept` };
  const alone = { system: undefined, tools: undefined, format: undefined };
  const through = throughOf(await build({ ...request, ...alone, encoding: before.report.encoding, window: most, reserve: 0 }));
  if (through === current.range?.endMessageId) return { ...said, isDue: false, reason: "what was said since is the newest turn alone" };
  if (!through) return { ...said, reason: "with older tool results shortened, all of it fits into what is kept" };
  const after = await build(request, through);
  if (after.tokensUsed >= before.tokensUsed) return { ...said, reason: "it would not be smaller" };
  return { ...said, through, messageCount: after.report.unreadMessageCount, tokensAfter: after.tokensUsed, endByte: after.report.compacted?.endByte };
}

/** The newest compaction. @param {Handle} handle @returns {Compaction} */
export function compactionOf(handle) {
  return fromBytes(called(() => handle.compaction()));
}

/**
 * The event of a compaction.
 * @param {{ through?: string, messageCount: number, endByte?: number }} plan
 * @param {string} startMessageId
 * @param {import("./summaries.js").CachedSummary} [cached]
 */
export function compactionEvent({ through, messageCount, endByte }, startMessageId, cached) {
  /** @type {SummaryRange} */
  const range = { startMessageId, endMessageId: String(through), startSeq: 0, messageCount, endByte };
  if (!cached) return { type: "compaction", range };
  const { summary, originalTokens, compressionRatio } = cached;
  return { type: "compaction", range, summary, originalTokens, compressionRatio };
}

/**
 * The last message before what is kept: a step that did not fit, but none of the newest turn.
 * @param {ContextBuildResult} plan in leftoff's shape
 */
function throughOf({ messages, report }) {
  const newestUser = messages.findLast(({ role, id }) => role === "user" && id)?.id;
  const turn = report.messages.findIndex((/** @type {{ id: string }} */ { id }) => id === newestUser);
  const before = report.messages.slice(0, turn < 0 ? report.messages.length : turn);
  const isBehind = report.messages.slice(before.length).some(isLeftOut);
  return (isBehind ? before.at(-1) : before.findLast(isLeftOut))?.id;
}

/** A step that did not fit; results without a call stand for nothing. @param {{ action: string, rule: string }} decision */
function isLeftOut({ action, rule }) {
  return rule === "did-not-fit" && (action === "dropped" || action === "summarised");
}

/** @param {number} [keep] */
function checked(keep) {
  if (keep === undefined || (Number.isInteger(keep) && keep > 0)) return keep;
  throw new LeftoffError({ code: "invalid_request", message: `expected a whole number of tokens for "keep", but found ${JSON.stringify(keep)} instead` });
}
