// @ts-check
/** What the page shows of a session's messages: rows, turns, totals. Nothing here knows a document. */

import { describeCall, hasDiff, hasFailed } from "./calls.js";
import { countChanged } from "./changes.js";
import { showHidden } from "./hidden.js";

/** @import { ReadMessage } from "../types/index.js" */
/** @import { Call } from "./calls.js" */

/**
 * @typedef {{ id: string, kind: "user" | "note" | "assistant" | "tool" | "summary", message: ReadMessage, place: number,
 *   calls: Call[], turn: number, isFirstOfTurn: boolean, isFirstOfModel: boolean, failed: boolean, tokens: number,
 *   messageCount: number }} Row
 *   `place`: of its message among all; `messageCount`: with the results of its calls
 */
/**
 * @typedef {{ number: number, id: string, title: string, timestamp: string | undefined, end: string | undefined,
 *   messageCount: number, edits: number, failed: number, tokens: number, firstRow: number, lastRow: number }} Turn
 *   `tokens`: that its requests sent and got
 */
/**
 * @typedef {{ messages: number, tokens: number, calls: number, failed: number, input: number, output: number,
 *   cached: number, window: number, files: Map<string, { added: number, removed: number, rows: string[] }>,
 *   start: string | undefined, end: string | undefined }} Totals
 */
/** @typedef {{ rows: Row[], turns: Turn[], totals: Totals, rowOf: Map<string, number> }} Conversation */

/**
 * Arranges messages as rows: a result goes to the call that it answers, and each request begins a turn.
 * @param {readonly ReadMessage[]} messages
 * @returns {Conversation} `rowOf`: the row of a message by its id, of a result that of its call
 */
export function arrange(messages) {
  const results = new Map();
  for (const message of messages) if (message.tool) results.set(message.tool.callId, message);
  /** @type {Conversation} */
  const made = { rows: [], turns: [], totals: noTotals(), rowOf: new Map() };
  const answered = new Set();
  /** @type {string | undefined} */
  let model;
  messages.forEach((message, place) => {
    addTotals(made.totals, message);
    const owner = message.tool && answered.has(message.tool.callId) ? made.rowOf.get(message.id) : undefined;
    if (owner !== undefined) return void countIn(made, owner, message);
    const row = rowOf(message, place, results);
    if (row.kind === "user" || made.turns.length === 0) model = undefined;
    beginTurn(made, row);
    if (row.kind === "assistant") {
      row.isFirstOfModel = message.assistant?.model !== model;
      model = message.assistant?.model;
    }
    for (const { id, result } of row.calls) {
      if (result === undefined) continue;
      answered.add(id);
      made.rowOf.set(result.id, made.rows.length);
    }
    addRow(made, row);
  });
  return made;
}

/** @returns {Totals} */
function noTotals() {
  const counts = { messages: 0, tokens: 0, calls: 0, failed: 0, input: 0, output: 0, cached: 0, window: 0 };
  return { ...counts, files: new Map(), start: undefined, end: undefined };
}

/** @param {Totals} totals @param {ReadMessage} message */
function addTotals(totals, message) {
  totals.messages += 1;
  totals.tokens += message.tokens?.count ?? 0;
  totals.calls += message.assistant?.toolCalls?.length ?? 0;
  if (hasFailed(message)) totals.failed += 1;
  totals.start ??= message.timestamp;
  totals.end = message.timestamp ?? totals.end;
  const { sent, output, cacheRead } = countsOf(message);
  totals.input += sent;
  totals.output += output;
  totals.cached += cacheRead;
  if (sent > 0) totals.window = sent;
}

/** What an answer took, in tokens, as its provider counted them; `sent`: cached or not. @param {ReadMessage} message */
export function countsOf({ assistant }) {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = assistant?.usage ?? {};
  return { sent: input + cacheRead + cacheWrite, output, cacheRead, cacheWrite };
}

/** What is known of calls, so that a message that is appended costs nothing for those before. @type {WeakMap<object, Call>} */
const described = new WeakMap();

/** @param {ReadMessage} message @param {number} place @param {Map<string, ReadMessage>} results @returns {Row} */
function rowOf(message, place, results) {
  const calls = (message.assistant?.toolCalls ?? []).map((call) => {
    const result = results.get(call.id);
    const known = described.get(call);
    if (known && known.result === result) return known;
    const made = describeCall(call, result, message.timestamp);
    described.set(call, made);
    return made;
  });
  return {
    id: message.id,
    kind: kindOf(message),
    message,
    place,
    calls,
    turn: 0,
    isFirstOfTurn: false,
    isFirstOfModel: false,
    failed: hasFailed(message) || calls.some(({ failed }) => failed),
    tokens: message.tokens?.count ?? 0,
    messageCount: 1,
  };
}

/** @param {ReadMessage} message @returns {Row["kind"]} */
function kindOf({ role, source }) {
  const marks = /** @type {Record<string, unknown>} */ (source ?? {});
  if (marks.isCompactSummary === true || marks.isSummary === true) return "summary";
  if (role === "user") return marks.isMeta === true || marks.isAttached === true ? "note" : "user";
  if (role === "assistant" || role === "tool") return role;
  return "note";
}

/** @param {Conversation} made @param {Row} row */
function beginTurn({ turns, rows }, row) {
  if (row.kind === "user" || turns.length === 0) {
    row.isFirstOfTurn = row.kind === "user";
    const { id, timestamp, content } = row.message;
    const number = turns.length + 1;
    turns.push({
      number,
      id,
      title: row.kind === "user" ? titleOf(content) : "",
      timestamp,
      end: timestamp,
      messageCount: 0,
      edits: 0,
      failed: 0,
      tokens: 0,
      firstRow: rows.length,
      lastRow: rows.length,
    });
  }
  row.turn = turns.length - 1;
}

/** The first lines of a request, as a title. @param {string} content */
const titleOf = (content) => showHidden(content.slice(0, 300).replace(/\s+/g, " ").trim());

/** @param {Conversation} made @param {Row} row */
function addRow(made, row) {
  made.rowOf.set(row.id, made.rows.length);
  made.rows.push(row);
  const turn = made.turns[row.turn];
  turn.lastRow = made.rows.length - 1;
  turn.messageCount += 1;
  turn.end = row.message.timestamp ?? turn.end;
  if (hasFailed(row.message)) turn.failed += 1;
  turn.edits += row.calls.filter(hasDiff).length;
  const { sent, output } = countsOf(row.message);
  turn.tokens += sent + output;
  for (const change of row.calls.flatMap(({ changes }) => changes)) {
    const file = made.totals.files.get(change.path) ?? { added: 0, removed: 0, rows: [] };
    const { added, removed } = countChanged([change]);
    file.added += added;
    file.removed += removed;
    if (file.rows.at(-1) !== row.id) file.rows.push(row.id);
    made.totals.files.set(change.path, file);
  }
}

/** Counts a result in the row of its call. @param {Conversation} made @param {number} owner @param {ReadMessage} result */
function countIn({ rows, turns }, owner, result) {
  const row = rows[owner];
  const turn = turns[row.turn];
  row.tokens += result.tokens?.count ?? 0;
  row.messageCount += 1;
  turn.messageCount += 1;
  turn.end = result.timestamp ?? turn.end;
  if (hasFailed(result)) turn.failed += 1;
}
