// @ts-check
/** What each command does. It answers with a text and a value; `print.js` prints one of them. */

import { LeftoffError, compareContexts } from "../index.js";
import { fraction, number } from "./arguments.js";
import { fileJson, fileText } from "./given.js";
import { counted, safe } from "./print.js";
import { screenLook } from "./screen.js";
import { chosen, using, withId } from "./store.js";
import { localTime } from "./times.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../store/store.js").Store} Store */

/** What stands for reasoning that a provider gave out encrypted. */
const UNREADABLE = "[reasoning that only its provider can read]";

/** @param {Args} args */
export async function show(args) {
  const shown = await using(args, async (store) => {
    const all = [];
    for await (const message of (await chosen(store, args)).messages({ allBranches: args["all-branches"] })) all.push(message);
    const first = args.at === undefined ? 0 : placeOf(all.length, number(args.at, "at"));
    const last = args.last === undefined ? all.length : number(args.last, "last");
    return { all: all.slice(Math.max(first, all.length - last)), count: all.length };
  });
  const { all: value, count } = shown;
  const text = value.map((message, place) => readable(inLocalTime(message, count - value.length + place + 1))).join("\n");
  return { text, screen: onScreen(args, text), value };
}

/** @param {number} count @param {number} typed */
function placeOf(count, typed) {
  if (typed >= 1 && typed <= count) return typed - 1;
  throw new LeftoffError({ code: "usage", message: `no message ${typed}: the session has ${counted(count, "message")}` });
}

/** As people read it: with its number, and in the time of where they are. @param {any} message @param {number} place */
function inLocalTime(message, place) {
  const { timestamp, role } = message;
  return { ...message, role: `${place} ${role}`, ...(timestamp && { timestamp: localTime(timestamp) }) };
}

/** For the pager, its headings bold. @param {Args} args @param {string} text */
function onScreen(args, text) {
  const { isScreen, isColored } = screenLook(args);
  if (!isScreen || args.json) return undefined;
  return safe(text).replace(/^--- .*$/gm, (line) => (isColored ? `\u001b[1m${line}\u001b[0m` : line));
}

/** @param {Args} args */
export async function context(args) {
  if (args.full && (args.compare || !args.last)) throw new LeftoffError({ code: "usage", message: "--full needs --last, and excludes --compare" });
  if (args.last && !args.compare) return lastContext(args);
  const request = { ...(await requested(args)), recall: args.recall === undefined ? undefined : fraction(args.recall, "recall") };
  const { last, built } = await using(args, async (store) => {
    const session = await chosen(store, args);
    const before = args.compare ? kept(await session.lastContext()) : undefined;
    return { last: before, built: await session.context(request) };
  }, "building the context");
  if (last) return compared(last, built);
  const { report, ...result } = built;
  const explained = args.explain ? `${explain(report)}\n` : "";
  return { text: `${summed(result)}${explained}\n${result.messages.map(readable).join("\n")}`, value: args.explain ? { ...result, report } : result };
}

/** @param {Args} args */
async function lastContext(args) {
  const isFull = Boolean(args.full);
  const value = kept(await using(args, async (store) => (await chosen(store, args)).lastContext({ full: isFull })));
  const explained = !isFull || args.explain ? `${explain(value.report)}\n` : "";
  return { text: `built ${value.at}\n${summed(value)}${explained}${"isVerified" in value ? sent(value) : ""}`, value };
}

/** The messages that were sent, or what can be shown of them. @param {import("../types/index.js").SentContext} last */
function sent({ isVerified, differences, messages }) {
  const why = differences.map(({ code, message }) => `${message} (${code})\n`).join("");
  const what = messages ? "not verified, these are not the messages that were sent" : "not verified, the messages that were sent cannot be shown";
  return `${isVerified ? "verified: these are the messages that were sent" : what}\n${why}\n${(messages ?? []).map(readable).join("\n")}`;
}

/** @template T @param {T | undefined} last @returns {T} */
function kept(last) {
  if (last) return last;
  throw new LeftoffError({ code: "not_found", message: "this session has no last context yet; 'leftoff context' builds one" });
}

/** @param {import("../types/index.js").KeptReport} last @param {import("../types/index.js").ContextBuildResult} built */
function compared(last, built) {
  const value = compareContexts(last, built);
  const lines = value.messages.map(({ id, before, after }) => `  ${before.padEnd(10)} -> ${after.padEnd(10)}  ${id}\n`);
  return { text: `before, ${last.at}: ${summed(last)}now: ${summed(built)}${lines.join("") || "  the same messages\n"}`, value };
}

/** @param {Args} args */
export async function compact(args) {
  const { apply, undo } = args;
  const request = { ...(await requested(args)), apply, undo, keep: args.keep === undefined ? undefined : number(args.keep, "keep") };
  const value = await using(args, async (store) => (await chosen(store, args)).compact(request), "counting tokens");
  const { reason, messageCount, tokensBefore, tokensAfter, tokenBudget } = value;
  if (reason) return { text: `nothing to do: ${reason}\n`, value };
  const tokens = tokenBudget === undefined ? "" : `: ${tokensBefore} tokens before, ${tokensAfter} after, of ${tokenBudget}`;
  if (undo) return { text: `contexts start at the first message again${tokens}\n`, value };
  const what = `a summary ${apply ? "replaces" : "would replace"} ${messageCount} messages in contexts${tokens}\n`;
  return { text: `${what}No message is deleted. ${apply ? "--undo undoes this" : "--apply compacts"}.\n`, value };
}

const LEFT = "the problems not listed as repaired remain: complete log lines are never changed, and what is readable stays readable\n";
const MENDS = "'leftoff doctor --fix' repairs what can be repaired\n";

/** @param {Args} args */
export async function doctor(args) {
  const found = await using(args, async (store) => {
    const { fix, secrets } = args;
    return withId(store, args, (id) => store.doctor({ id, fix, secrets }));
  }, "checking sessions");
  const value = found.map(({ id, health, problems, fixed }) => (args.fix ? { id, health, problems, fixed } : { id, health, problems }));
  const where = (/** @type {any} */ { file, start, end }) => (end > 0 ? `${file}, bytes ${start} to ${end}` : file);
  const line = (/** @type {any} */ problem) => `    ${where(problem)}: ${problem.message} (${problem.code})\n`;
  const done = (/** @type {string} */ what) => `    repaired: ${what}\n`;
  // Of what is well, how much there is says enough.
  const isTold = (/** @type {import("../types/index.js").DoctorReport} */ { health, problems, fixed }) => health !== "ok" || problems.length > 0 || fixed.length > 0;
  const text = found.filter(isTold).map(({ id, health, problems, fixed }) => `${id}  ${stateOf(health, problems.length)}\n${fixed.map(done).join("")}${problems.map(line).join("")}`).join("");
  const well = found.filter((one) => one.id !== "store" && !isTold(one)).length;
  const failed = value.some(({ problems }) => problems.some(({ code }) => code === "secret"));
  // What a secret stands in is no damage.
  const rest = found.some(({ problems }) => problems.some(({ code }) => code !== "secret")) ? (args.fix ? LEFT : MENDS) : "";
  return { text: `${text}${rest}${well > 0 ? `${counted(well, "session")} ${well === 1 ? "is" : "are"} undamaged\n` : text ? "" : "no sessions here\n"}`, value, failed };
}

/** Of files that are undamaged and have secrets nobody says that they are well. @param {string} health @param {number} problems */
function stateOf(health, problems) {
  return health === "ok" && problems > 0 ? counted(problems, "problem") : health;
}

/** @param {Args} args */
export async function requested(args) {
  return {
    window: args.window === undefined ? undefined : number(args.window, "window"),
    model: args.model,
    reserve: args.reserve === undefined ? undefined : number(args.reserve, "reserve"),
    encoding: args.encoding,
    format: args.format,
    system: args.system && (await fileText(args.system)),
    tools: args.tools && (await fileJson(args.tools)),
  };
}

/** @param {any} message */
export function readable(message) {
  const content = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
  const calls = (message.assistant?.toolCalls ?? []).map((/** @type {any} */ call) => `\n  > ${call.name} ${call.arguments}`);
  const tool = message.tool ? ` ${message.tool.name}${message.tool.isError ? ", failed" : ""}` : "";
  const elsewhere = message.onPath === false ? ", of another branch" : "";
  const thoughts = (message.assistant?.reasoning ?? []).map((/** @type {any} */ { text, data }) => (text || data ? `  ~ ${text || UNREADABLE}\n` : ""));
  const files = (Array.isArray(message.attachments) ? message.attachments : []).map((/** @type {any} */ { name, path, mime }) => `\n  + ${[name ?? path, mime].filter(Boolean).join(", ")}`);
  return `--- ${message.role}${tool}${message.timestamp ? `, ${message.timestamp}` : ""}${elsewhere}\n${thoughts.join("")}${content}${calls.join("")}${files.join("")}\n`;
}

/** @param {Pick<import("../types/index.js").ContextBuildResult, "strategy" | "tokensUsed" | "tokenBudget" | "includedMessageCount" | "originalMessageCount">} result */
function summed({ strategy, tokensUsed, tokenBudget, includedMessageCount, originalMessageCount }) {
  return `${strategy}: ${tokensUsed} of ${tokenBudget} tokens, ${includedMessageCount} of ${originalMessageCount} messages\n`;
}

// At a glance first; then each message.
/** @param {any} report */
function explain({ budget, messages, rejected, summaryTokens, summaryLeftOut, recall, compacted, unreadMessageCount, bytesRead }) {
  const { modelContextWindow, systemPromptTokens, toolDefinitionTokens, reserveForResponse, availableTokens } = budget;
  const divided = `  window ${modelContextWindow} = ${systemPromptTokens} system + ${toolDefinitionTokens} tools + ${reserveForResponse} for the answer + ${availableTokens} for messages\n`;
  const refused = rejected.map((/** @type {any} */ one) => `  ${one.strategy}: no, ${one.why}\n`);
  const groups = ["kept", "shortened", "summarized", "dropped"].map((action) => {
    const those = messages.filter((/** @type {any} */ one) => one.action === action);
    const tokens = those.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.tokens, 0);
    return those.length > 0 ? `  ${action.padEnd(10)} ${String(tokens).padStart(7)}  ${counted(those.length, "message")}\n` : "";
  });
  const summary = summaryTokens === undefined ? "" : `  summary    ${String(summaryTokens).padStart(7)}  of the messages left out${summaryLeftOut ? `, without ${counted(summaryLeftOut, "line")} that did not fit` : ""}\n`;
  const recalled = recall ? `  recalled   ${String(recall.tokens).padStart(7)}  from ${counted(recall.messages.length, "older message")}, for the words ${recall.words.join(", ")}\n` : "";
  const begins = compacted ? `  compacted through ${compacted.through}\n` : "";
  const each = messages.map((/** @type {any} */ one) => `  ${one.action.padEnd(10)} ${String(one.tokens).padStart(7)}  ${one.rule.padEnd(20)} ${one.id}\n`);
  const unread = unreadMessageCount > 0 ? `, without ${counted(unreadMessageCount, "older message")}` : "";
  const rest = `  read ${bytesRead} bytes of the log${unread}`;
  return `${divided}${refused.join("")}${groups.join("")}${summary}${recalled}${begins}\n${each.join("")}${rest}`;
}
