// @ts-check
/**
 * The commands that show a session, its contexts and its health. Each answers a text and a value; `print.js` prints one
 * of them.
 */

import { forgetFailures, readFailures } from "../agents/failures.js";
import { LeftoffError, compareContexts } from "../index.js";
import { parseFraction, parseWholeNumber } from "./arguments.js";
import { readFileJson, readFileText } from "./input-files.js";
import { formatCount, progress, stripControls } from "./print.js";
import { screenLook } from "./screen.js";
import { findSession, withStore, withId } from "./store.js";
import { formatLocalTime } from "./times.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {import("../store/store.js").Store} Store */
/** @typedef {import("../types/index.js").DoctorReport} DoctorReport */

/** The placeholder for reasoning that a provider encrypted. */
const ENCRYPTED_REASONING = "[reasoning that only its provider can read]";

/** @param {Args} args */
export async function show(args) {
  const shown = await withStore(args, async (store) => {
    const all = [];
    for await (const message of (await findSession(store, args)).messages({ allBranches: args["all-branches"] }))
      all.push(message);
    const first = args.at === undefined ? 0 : indexOfMessage(all.length, parseWholeNumber(args.at, "at"));
    const last = args.last === undefined ? all.length : parseWholeNumber(args.last, "last");
    return { all: all.slice(Math.max(first, all.length - last)), count: all.length };
  });
  const { all: value, count } = shown;
  const text = value
    .map((message, place) => renderMessage(withLocalTime(message, count - value.length + place + 1)))
    .join("\n");
  return { text, screen: renderScreen(args, text), value };
}

/** @param {number} count @param {number} typed */
function indexOfMessage(count, typed) {
  if (typed >= 1 && typed <= count) return typed - 1;
  throw new LeftoffError({
    code: "usage",
    message: `no message ${typed}: the session has ${formatCount(count, "message")}`,
  });
}

/** A message for people: with its number, and in local time. @param {any} message @param {number} place */
function withLocalTime(message, place) {
  const { timestamp, role } = message;
  return { ...message, role: `${place} ${role}`, ...(timestamp && { timestamp: formatLocalTime(timestamp) }) };
}

/** Renders text for the pager, with bold headings. @param {Args} args @param {string} text */
function renderScreen(args, text) {
  const { isScreen, isColored } = screenLook(args);
  if (!isScreen || args.json) return undefined;
  return stripControls(text).replace(/^--- .*$/gm, (line) => (isColored ? `\u001b[1m${line}\u001b[0m` : line));
}

/** @param {Args} args */
export async function context(args) {
  if (args.full && (args.compare || !args.last))
    throw new LeftoffError({ code: "usage", message: "--full needs --last, and excludes --compare" });
  if (args.last && !args.compare) return showLastContext(args);
  const request = {
    ...(await parseContextRequest(args)),
    frame: false,
    recall: args.recall === undefined ? undefined : parseFraction(args.recall, "recall"),
  };
  const { last, built } = await withStore(
    args,
    async (store) => {
      const session = await findSession(store, args);
      const before = args.compare ? requireLastContext(await session.lastContext()) : undefined;
      return { last: before, built: await session.context(request) };
    },
    "building the context",
  );
  if (last) return compareWithLast(last, built);
  const { report, ...result } = built;
  const explained = args.explain ? `${explainReport(report)}\n` : "";
  return {
    text: `${renderTotals(result)}${explained}\n${result.messages.map(renderMessage).join("\n")}`,
    value: args.explain ? { ...result, report } : result,
  };
}

/** @param {Args} args */
async function showLastContext(args) {
  const isFull = Boolean(args.full);
  const value = requireLastContext(
    await withStore(args, async (store) => (await findSession(store, args)).lastContext({ full: isFull })),
  );
  const explained = !isFull || args.explain ? `${explainReport(value.report)}\n` : "";
  return {
    text: `built ${value.at}\n${renderTotals(value)}${explained}${"isVerified" in value ? renderSentContext(value) : ""}`,
    value,
  };
}

/**
 * Renders the messages that were sent, as far as they can be shown.
 * @param {import("../types/index.js").SentContext} last
 */
function renderSentContext({ isVerified, differences, messages }) {
  const why = differences.map(({ code, message }) => `${message} (${code})\n`).join("");
  const what = messages
    ? "not verified, these are not the messages that were sent"
    : "not verified, the messages that were sent cannot be shown";
  return `${isVerified ? "verified: these are the messages that were sent" : what}\n${why}\n${(messages ?? []).map(renderMessage).join("\n")}`;
}

/** @template T @param {T | undefined} last @returns {T} */
function requireLastContext(last) {
  if (last) return last;
  throw new LeftoffError({
    code: "not_found",
    message: "this session has no last context yet; 'leftoff context' builds one",
  });
}

/**
 * @param {import("../types/index.js").KeptReport} last
 * @param {import("../types/index.js").ContextBuildResult} built
 */
function compareWithLast(last, built) {
  const value = compareContexts(last, built);
  const lines = value.messages.map(({ id, before, after }) => `  ${before.padEnd(10)} -> ${after.padEnd(10)}  ${id}\n`);
  return {
    text: `before, ${last.at}: ${renderTotals(last)}now: ${renderTotals(built)}${lines.join("") || "  the same messages\n"}`,
    value,
  };
}

/** @param {Args} args */
export async function compact(args) {
  const { apply, undo } = args;
  const request = {
    ...(await parseContextRequest(args)),
    apply,
    undo,
    keep: args.keep === undefined ? undefined : parseWholeNumber(args.keep, "keep"),
  };
  const value = await withStore(
    args,
    async (store) => (await findSession(store, args)).compact(request),
    "counting tokens",
  );
  const { reason, messageCount, tokensBefore, tokensAfter, tokenBudget } = value;
  if (reason) return { text: `nothing to do: ${reason}\n`, value };
  const tokens =
    tokenBudget === undefined ? "" : `: ${tokensBefore} tokens before, ${tokensAfter} after, of ${tokenBudget}`;
  if (undo) return { text: `contexts start at the first message again${tokens}\n`, value };
  const what = `a summary ${apply ? "replaces" : "would replace"} ${messageCount} messages in contexts${tokens}\n`;
  return { text: `${what}No message is deleted. ${apply ? "--undo undoes this" : "--apply compacts"}.\n`, value };
}

const REMAINING_PROBLEMS_NOTE =
  "the problems not listed as repaired remain: complete log lines are never changed, and what is readable stays readable\n";
const FIX_HINT = "'leftoff doctor --fix' repairs what can be repaired\n";

/** @param {Args} args */
export async function doctor(args) {
  if (args.agents) return (await import("./missing.js")).listExpiring(args);
  const { fix, secrets } = args;
  const { onProgress, end } = progress("checking", "session");
  const found = await withStore(
    args,
    async (store) => {
      const reports = await withId(store, args, (id) => store.doctor({ id, fix, secrets, onProgress })).finally(end);
      return args.session === undefined ? addFailures(store, reports, { fix }) : reports;
    },
    "checking sessions",
  );
  const value = found.map(({ id, health, problems, fixed }) =>
    fix ? { id, health, problems, fixed } : { id, health, problems },
  );
  const where = (/** @type {any} */ { file, start, end }) => (end > 0 ? `${file}, bytes ${start} to ${end}` : file);
  const line = (/** @type {any} */ problem) => `    ${where(problem)}: ${problem.message} (${problem.code})\n`;
  const done = (/** @type {string} */ what) => `    repaired: ${what}\n`;
  // Healthy sessions are only counted.
  const isTold = (/** @type {import("../types/index.js").DoctorReport} */ { health, problems, fixed }) =>
    health !== "ok" || problems.length > 0 || fixed.length > 0;
  const text = found
    .filter(isTold)
    .map(
      ({ id, health, problems, fixed }) =>
        `${id}  ${describeHealth(health, problems.length)}\n${fixed.map(done).join("")}${problems.map(line).join("")}`,
    )
    .join("");
  const well = found.filter((one) => one.id !== "store" && !isTold(one)).length;
  const failed = value.some(({ problems }) => problems.some(({ code }) => code === "secret"));
  // A file with a secret in it is not damaged.
  const rest = found.some(({ problems }) => problems.some(({ code }) => code !== "secret"))
    ? fix
      ? REMAINING_PROBLEMS_NOTE
      : FIX_HINT
    : "";
  return {
    text: `${text}${rest}${well > 0 ? `${formatCount(well, "session")} ${well === 1 ? "is" : "are"} undamaged\n` : text ? "" : "no sessions here\n"}`,
    value,
    failed,
  };
}

/**
 * Adds what could not be recorded lately to what is said of the store.
 * @param {Store} store @param {DoctorReport[]} reports @param {{ fix?: boolean }} asked @returns {DoctorReport[]}
 */
function addFailures(store, reports, { fix }) {
  const failures = readFailures(store.home);
  if (failures.length === 0) return reports;
  const of = reports.find(({ id }) => id === "store") ?? newStoreReport(store);
  if (fix) forgetFailures(store.home);
  const lines = failures.map(({ file, agent, project, at, code, message }) => {
    const failed = `${at}: ${agent} could not record in "${project}": ${message} (${code})`;
    return { code: "not_recorded", message: failed, file, start: 0, end: 0 };
  });
  const more = fix
    ? { fixed: [...of.fixed, ...lines.map(({ message }) => `forgot: ${message}`)] }
    : { problems: [...of.problems, ...lines] };
  return [...reports.filter((one) => one !== of), { ...of, ...more }];
}

/** @param {Store} store @returns {DoctorReport} */
const newStoreReport = ({ home }) => ({ id: "store", path: home, health: "ok", problems: [], fixed: [] });

/**
 * Describes the health: undamaged files with secrets are not called well.
 * @param {string} health
 * @param {number} problems
 */
function describeHealth(health, problems) {
  return health === "ok" && problems > 0 ? formatCount(problems, "problem") : health;
}

/** @param {Args} args */
export async function parseContextRequest(args) {
  return {
    window: args.window === undefined ? undefined : parseWholeNumber(args.window, "window"),
    model: args.model,
    reserve: args.reserve === undefined ? undefined : parseWholeNumber(args.reserve, "reserve"),
    encoding: args.encoding,
    format: args.format,
    system: args.system && (await readFileText(args.system)),
    tools: args.tools && (await readFileJson(args.tools)),
  };
}

/** @param {any} message */
export function renderMessage(message) {
  const content = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
  const calls = (message.assistant?.toolCalls ?? []).map(
    (/** @type {any} */ call) => `\n  > ${call.name} ${call.arguments}`,
  );
  const tool = message.tool ? ` ${message.tool.name}${message.tool.isError ? ", failed" : ""}` : "";
  const elsewhere = message.onPath === false ? ", of another branch" : "";
  const thoughts = (message.assistant?.reasoning ?? []).map((/** @type {any} */ { text, data }) =>
    text || data ? `  ~ ${text || ENCRYPTED_REASONING}\n` : "",
  );
  const files = (Array.isArray(message.attachments) ? message.attachments : []).map(
    (/** @type {any} */ { name, path, mime }) => `\n  + ${[name ?? path, mime].filter(Boolean).join(", ")}`,
  );
  return `--- ${message.role}${tool}${message.timestamp ? `, ${message.timestamp}` : ""}${elsewhere}\n${thoughts.join("")}${content}${calls.join("")}${files.join("")}\n`;
}

/**
 * @param {Pick<import("../types/index.js").ContextBuildResult, "strategy" | "tokensUsed" | "tokenBudget" | "includedMessageCount" | "originalMessageCount">} result
 */
function renderTotals({ strategy, tokensUsed, tokenBudget, includedMessageCount, originalMessageCount }) {
  return `${strategy}: ${tokensUsed} of ${tokenBudget} tokens, ${includedMessageCount} of ${originalMessageCount} messages\n`;
}

// Renders a report: an overview first, then each message.
/** @param {any} report */
function explainReport({
  budget,
  messages,
  rejected,
  summaryTokens,
  summaryLeftOut,
  recall,
  compacted,
  unreadMessageCount,
  bytesRead,
}) {
  const { modelContextWindow, systemPromptTokens, toolDefinitionTokens, reserveForResponse, availableTokens } = budget;
  const divided = `  window ${modelContextWindow} = ${systemPromptTokens} system + ${toolDefinitionTokens} tools + ${reserveForResponse} for the answer + ${availableTokens} for messages\n`;
  const refused = rejected.map((/** @type {any} */ one) => `  ${one.strategy}: no, ${one.why}\n`);
  const groups = ["kept", "shortened", "summarized", "dropped"].map((action) => {
    const those = messages.filter((/** @type {any} */ one) => one.action === action);
    const tokens = those.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.tokens, 0);
    return those.length > 0
      ? `  ${action.padEnd(10)} ${String(tokens).padStart(7)}  ${formatCount(those.length, "message")}\n`
      : "";
  });
  const summary =
    summaryTokens === undefined
      ? ""
      : `  summary    ${String(summaryTokens).padStart(7)}  of the messages left out${summaryLeftOut ? `, without ${formatCount(summaryLeftOut, "line")} that did not fit` : ""}\n`;
  const recalled = recall
    ? `  recalled   ${String(recall.tokens).padStart(7)}  from ${formatCount(recall.messages.length, "older message")}, for the words ${recall.words.join(", ")}\n`
    : "";
  const begins = compacted ? `  compacted through ${compacted.through}\n` : "";
  const each = messages.map(
    (/** @type {any} */ one) =>
      `  ${one.action.padEnd(10)} ${String(one.tokens).padStart(7)}  ${one.rule.padEnd(20)} ${one.id}\n`,
  );
  const unread = unreadMessageCount > 0 ? `, without ${formatCount(unreadMessageCount, "older message")}` : "";
  const rest = `  read ${bytesRead} bytes of the log${unread}`;
  return `${divided}${refused.join("")}${groups.join("")}${summary}${recalled}${begins}\n${each.join("")}${rest}`;
}
