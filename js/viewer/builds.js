// @ts-check
/** What a context holds, as the page shows it: the parts of the window, and what became of each message. No document. */

/** @import { ContextBuildResult, KeptReport, ReadMessage } from "../types/index.js" */
/** @import { Row } from "./conversation.js" */

/** @typedef {"kept" | "shortened" | "summarized" | "dropped" | "unread" | "later"} Fate `later`: it came after */
/** @typedef {{ fate: Fate, rule: string, tokens: number }} Verdict `tokens`: of what was sent of it */
/**
 * @typedef {{ key: string, at: string | undefined, result: KeptReport | ContextBuildResult, messages?: object[] }} Build
 *   `at`: when it was sent; none for a preview. `messages`: where they are known
 */
/** @typedef {"system" | "tools" | "summary" | "recall" | "kept" | "shortened" | "unused" | "reserve"} PartName */
/** @typedef {{ name: PartName, tokens: number, count: number, from: number | undefined }} WindowPart `from`: tokens */
/** @typedef {{ row: number, fate: Fate, rule: string, before: number, after: number }} Entry */
/** @typedef {{ entry: Entry } | { hidden: Entry[] }} Listed */

/** The fates in the order of their chips. @type {Fate[]} */
export const FATES = ["kept", "shortened", "summarized", "dropped", "unread"];
/** How many entries are shown at the ends, and at each side of a cut. */
const HEAD_ENTRIES = 4;
const TAIL_ENTRIES = 6;
/** A run of fewer stays as it is. */
const MIN_RUN = 4;

/**
 * What became of each message.
 * @param {Build} build @param {readonly ReadMessage[]} messages of the session, in order
 * @returns {Map<string, Verdict>}
 */
export function fatesOf({ result }, messages) {
  const decided = new Map(result.report.messages.map((one) => [one.id, one]));
  const last = messages.findLastIndex(({ id }) => decided.has(id));
  // A summary stands for messages that were not read as well, where it stands for more than the report names.
  const named = result.report.messages.filter(({ action }) => action === "summarized").length;
  const isCovered = result.report.summaryTokens !== undefined && result.summarizedMessageCount > named;
  /** @type {Verdict} */
  const older = { fate: isCovered ? "summarized" : "unread", rule: "unread", tokens: 0 };
  /** @type {Verdict} */
  const newer = { fate: "later", rule: "later", tokens: 0 };
  return new Map(
    messages.map(({ id }, place) => {
      const one = decided.get(id);
      if (!one) return [id, place < last ? older : newer];
      const isSent = one.action === "kept" || one.action === "shortened";
      return [id, { fate: one.action, rule: one.rule, tokens: isSent ? one.tokens : 0 }];
    }),
  );
}

/** The messages that a row shows: its own, and the results of its calls. @param {Row} row */
export const messagesOf = ({ message, calls }) => [message, ...calls.flatMap(({ result }) => (result ? [result] : []))];

/**
 * What became of a row; of one that was sent in part, that it was shortened.
 * @param {Row} row @param {Map<string, Verdict>} fates
 * @returns {Verdict}
 */
export function fateOf(row, fates) {
  const all = messagesOf(row).flatMap(({ id }) => fates.get(id) ?? []);
  const changed = all.find(({ fate }) => fate !== "kept") ?? all[0];
  const isMixed = all.some(({ fate }) => fate !== changed.fate);
  const tokens = all.reduce((sum, one) => sum + one.tokens, 0);
  return { fate: isMixed ? "shortened" : (changed?.fate ?? "later"), rule: changed?.rule ?? "later", tokens };
}

/**
 * Divides the window into its parts, in the order of the bar: their tokens are all of it.
 * @param {Build} build @param {readonly ReadMessage[]} messages
 * @returns {WindowPart[]}
 */
export function divideWindow(build, messages) {
  const { tokensUsed, summarizedMessageCount, report } = build.result;
  const { budget, summaryTokens = 0, recall } = report;
  const fates = fatesOf(build, messages);
  /** @type {(fate: Fate) => number} */
  const stored = (fate) =>
    messages.reduce((sum, { id, tokens }) => sum + (fates.get(id)?.fate === fate ? (tokens?.count ?? 0) : 0), 0);
  const ofAction = (/** @type {"kept" | "shortened"} */ name) => {
    const those = report.messages.filter(({ action }) => action === name);
    return { name, tokens: those.reduce((sum, { tokens }) => sum + tokens, 0), count: those.length };
  };
  const part = (/** @type {PartName} */ name, tokens = 0, count = 0) => ({ name, tokens, count, from: undefined });
  return [
    part("system", budget.systemPromptTokens),
    part("tools", budget.toolDefinitionTokens),
    { ...part("summary", summaryTokens, summarizedMessageCount), from: stored("summarized") },
    part("recall", recall?.tokens, recall?.messages.length),
    { ...ofAction("kept"), from: undefined },
    { ...ofAction("shortened"), from: stored("shortened") },
    part("unused", Math.max(budget.availableTokens - tokensUsed, 0)),
    part("reserve", budget.reserveForResponse),
  ];
}

/** What was sent, with the system prompt and the tools, in tokens. @param {Build} build */
export const sentTokens = ({ result: { tokensUsed, report } }) =>
  tokensUsed + report.budget.systemPromptTokens + report.budget.toolDefinitionTokens;

/**
 * The answer to the call that a context was for, if it is in the session.
 * @param {Build} build @param {readonly ReadMessage[]} messages
 * @returns {{ message: ReadMessage, place: number } | undefined}
 */
export function answerTo({ at, result }, messages) {
  const sent = new Set(result.report.messages.map(({ id }) => id));
  const place = messages.findLastIndex(({ id }) => sent.has(id)) + 1;
  const message = messages[place];
  const isAnswer = at !== undefined && message?.role === "assistant" && String(message.timestamp) >= at;
  return isAnswer ? { message, place } : undefined;
}

/**
 * What a provider had of a context in its cache: as it said, or what is unchanged and it may have had.
 * @param {Build} build @param {readonly ReadMessage[]} messages
 * @returns {{ tokens: number, isReported: boolean } | undefined} nothing where neither is recorded
 */
export function cachedOf(build, messages) {
  const reported = answerTo(build, messages)?.message.assistant?.usage?.cacheRead;
  if (reported !== undefined) return { tokens: reported, isReported: true };
  const { cache, budget } = build.result.report;
  if (!cache || build.at === undefined) return undefined;
  const before = budget.systemPromptTokens + budget.toolDefinitionTokens;
  return { tokens: cache.unchangedMessages === 0 ? 0 : before + cache.unchangedTokens, isReported: false };
}

/**
 * The rows with what became of them.
 * @param {readonly Row[]} rows @param {Map<string, Verdict>} fates
 * @returns {Entry[]} without those that came after
 */
export function entriesOf(rows, fates) {
  return rows.flatMap((row, place) => {
    const { fate, rule, tokens } = fateOf(row, fates);
    return fate === "later" ? [] : [{ row: place, fate, rule, before: row.tokens, after: tokens }];
  });
}

/**
 * Lists entries, with long runs between what stands out as one: the ends, each side of a cut, what is always sent.
 * @param {readonly Entry[]} entries
 * @returns {Listed[]}
 */
export function collapseRuns(entries) {
  const isSent = ({ fate } = entries[0]) => fate === "kept" || fate === "shortened";
  const standsOut = (/** @type {Entry} */ entry, /** @type {number} */ place) =>
    place < HEAD_ENTRIES ||
    place >= entries.length - TAIL_ENTRIES ||
    entry.rule === "required" ||
    entry.fate === "dropped" ||
    [entries[place - 1], entries[place + 1]].some((near) => isSent(near) !== isSent(entry));
  /** @type {Listed[]} */
  const listed = [];
  /** @type {Entry[]} */
  let run = [];
  const endRun = () => {
    listed.push(...(run.length < MIN_RUN ? run.map((entry) => ({ entry })) : [{ hidden: run }]));
    run = [];
  };
  entries.forEach((entry, place) => {
    if (!standsOut(entry, place)) return void run.push(entry);
    endRun();
    listed.push({ entry });
  });
  endRun();
  return listed;
}

/**
 * Where two contexts first differ: the place in what was sent, and the message there.
 * @param {Build} before @param {Build} after
 * @returns {{ place: number, id: string | undefined } | undefined} nothing where one is not known as it was sent
 */
export function firstDifference(before, after) {
  const [one, other] = [before.messages, after.messages];
  if (!one || !other) return undefined;
  const same = one.findIndex((message, place) => JSON.stringify(message) !== JSON.stringify(other[place]));
  const place = same < 0 ? one.length : same;
  const message = /** @type {{ id?: string } | undefined} */ (one[place] ?? other[place]);
  return { place, id: message?.id || undefined };
}
