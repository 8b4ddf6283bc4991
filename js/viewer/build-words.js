// @ts-check
/** What the page says of a context, in words. */

import { formatCount, formatMany } from "./format.js";

/** @import { ContextReport, ReadMessage } from "../types/index.js" */
/** @import { Build, Entry, Fate, PartName } from "./builds.js" */

/** @type {Record<Fate, string>} */
export const FATE_WORDS = {
  kept: "kept",
  shortened: "shortened",
  summarized: "summarized",
  dropped: "dropped",
  unread: "not read",
  later: "came after",
};

/** @type {Record<PartName, string>} */
export const PART_WORDS = {
  system: "System prompt",
  tools: "Tool definitions",
  summary: "Summary",
  recall: "Recalled",
  kept: "Kept",
  shortened: "Shortened",
  unused: "Not used",
  reserve: "Kept for the answer",
};

/** @type {Record<string, string>} */
const RULE_WORDS = {
  fits: "fits the budget",
  "tool-result": "results shortened by the rule of their tool",
  "cut-to-fit": "too long by itself, cut to fit",
  "result-without-call": "a result without its call is never sent",
  "call-not-read": "its call lies farther back than was read",
  strategy: "chosen by a strategy of the program's own",
};

/**
 * The rule that decided, in words.
 * @param {{ fate: Fate, rule: string }} decided @param {{ isPinned: boolean, isNewest: boolean }} message
 */
export function ruleWords({ fate, rule }, { isPinned, isNewest }) {
  const isCovered = fate === "summarized";
  if (rule === "unread") return isCovered ? "older than what was read; in the summary" : "older than what was read";
  if (rule === "did-not-fit") return isCovered ? "did not fit; in the summary" : "did not fit the budget";
  if (rule !== "required") return RULE_WORDS[rule] ?? rule;
  return isPinned ? "pinned" : isNewest ? "newest request" : "always sent";
}

/** @type {Record<NonNullable<NonNullable<ContextReport["cache"]>["ended"]>, string>} */
const ENDED_WORDS = {
  none: "There was none for this request.",
  budget: "The one before reached its budget.",
  cold: "The provider's cache no longer had the one before.",
  changed: "What was sent before no longer holds.",
  compacted: "The conversation was compacted, or that was taken back.",
  unverified: "The one before was cut by another process, and could not be proved to hold.",
  logShrunk: "The log had become shorter.",
};

/** The frame of a context: whether it goes on, and why not. @param {Build} build @returns {[string, string]} */
export function frameWords({ at, result: { report } }) {
  const { cache } = report;
  if (at === undefined) return ["None", "A preview is built by itself."];
  if (!cache) return ["None", "It was built by itself."];
  if (cache.ended !== undefined) return ["A new one begins", ENDED_WORDS[cache.ended]];
  return [
    "Goes on",
    `${formatMany(cache.unchangedMessages, "message")} as in the context before, ${formatMany(cache.unchangedTokens, "token")}.`,
  ];
}

/** Why the strategies before did not serve. @param {ContextReport} report */
export const rejectedWords = ({ rejected }) =>
  rejected.length === 0
    ? "No other was refused."
    : rejected.map(({ strategy, why }) => `${strategy}: ${why}.`).join(" ");

/** What was assumed about the model. @param {ContextReport} report */
export function assumedWords({ assumed }) {
  if (!assumed) return "";
  const { model, window, encoding } = assumed;
  const what = [
    window === undefined ? "" : `a window of ${formatCount(window)}`,
    encoding === undefined ? "" : `the encoding ${encoding}`,
  ].filter(Boolean);
  return `Assumed ${what.join(" and ")}${model ? ` for ${model}` : ", as no model is recorded"}.`;
}

/** What a collapsed run holds: "41 summarized, 22 shortened". @param {readonly Entry[]} entries */
export function runWords(entries) {
  const counts = new Map();
  for (const { fate } of entries) counts.set(fate, (counts.get(fate) ?? 0) + 1);
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([fate, count]) => `${formatCount(count)} ${FATE_WORDS[/** @type {Fate} */ (fate)]}`)
    .join(", ");
}

/** A share in percent: all of it only where it is all. @param {number} part @param {number} whole */
export const formatShare = (part, whole) =>
  `${Math.min(Math.round((100 * part) / Math.max(whole, 1)), part < whole ? 99 : 100)} %`;

/** Dollars to three digits that say something. @param {number} dollars */
export function formatDollars(dollars) {
  const digits = dollars >= 1 ? 2 : dollars >= 0.1 ? 3 : 4;
  return `$${dollars.toFixed(digits)}`;
}

/**
 * The text that was sent of a message, in whatever shape.
 * @param {readonly object[]} sent @param {ReadMessage} message
 * @returns {string | undefined} nothing where the shape does not name it
 */
export function sentText(sent, message) {
  const own = sent.find((one) => /** @type {{ id?: string }} */ (one).id === message.id);
  if (own) return textIn(own);
  const callId = message.tool?.callId;
  return callId === undefined ? undefined : resultIn(sent, callId);
}

/** The text of a summary: what stands before the messages. @param {readonly object[]} sent */
export const summaryText = (sent) => (sent[0] === undefined ? undefined : textIn(sent[0]));

/** How the shapes name the call that a result answers. */
const CALL_NAMES = ["tool_call_id", "tool_use_id", "toolCallId", "call_id"];
/** How they name what it says. */
const TEXT_NAMES = ["content", "output", "text", "value", "parts"];

/** @param {unknown} value @param {string} callId @returns {string | undefined} */
function resultIn(value, callId) {
  if (value === null || typeof value !== "object") return undefined;
  const record = /** @type {Record<string, unknown>} */ (value);
  const isResult = CALL_NAMES.some((name) => record[name] === callId) && ("content" in record || "output" in record);
  if (isResult) return textIn(record);
  for (const one of Object.values(record)) {
    const found = resultIn(one, callId);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** @param {unknown} value @returns {string} */
function textIn(value) {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textIn).filter(Boolean).join("\n");
  if (value === null || typeof value !== "object") return "";
  const record = /** @type {Record<string, unknown>} */ (value);
  const name = TEXT_NAMES.find((one) => record[one] !== undefined && record[one] !== null);
  return name === undefined ? "" : textIn(record[name]);
}
