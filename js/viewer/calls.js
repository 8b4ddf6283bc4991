// @ts-check
/** What one line says of a tool call: its argument, its outcome, whether it failed, what it changed. */

import { readPatch, readReplacements } from "./changes.js";
import { showHidden } from "./hidden.js";

/** @import { Change } from "./changes.js" */
/** @import { ReadCall, ReadMessage } from "../types/index.js" */

/**
 * @typedef {{ id: string, name: string, kind: "tool" | "edit" | "agent", argument: string,
 *   text: string, isBrief: boolean, result: ReadMessage | undefined, failed: boolean, outcome: string, ms: number | undefined,
 *   tokens: number | undefined, changes: Change[], files: string[] }} Call
 *   `isBrief`: the argument is all that was asked; `files`: that it read or changed
 */

/** The argument that identifies a call, the first one that it has. */
const IDENTIFYING = [
  "command",
  "cmd",
  "file_path",
  "filePath",
  "path",
  "notebook_path",
  "absolute_path",
  "pattern",
  "query",
  "url",
  "description",
  "prompt",
  "name",
];
/** What nests deeper is not indented: each level would be, and the text become many times as long. */
const MAX_INDENTED = 32;
const PATH_KEYS = ["file_path", "filePath", "filepath", "path", "absolute_path", "notebook_path", "target_file"];
const REMOVED_KEYS = ["old_string", "oldString", "old_str", "old_text", "oldText"];
const ADDED_KEYS = ["new_string", "newString", "new_str", "new_text", "newText", "new_source", "content", "file_text"];
/** Tools whose path is a folder to look in. */
const SEARCHES = /^(grep|glob|ls|find|list|search)/i;
/** A longer argument is cut in the line, and shown whole below it. */
const MAX_BRIEF = 90;
/** Names of tools that edit, their letters alone. */
const EDITS = new RegExp(
  `^(${[
    "(multi|notebook)?edit",
    "editor|strreplace(editor|basededittool)",
    "(edit|create|write|writeto|replacein)file",
    "write|filewrite|create",
    "insert(lines)?|applypatch",
    "(string|str|search|searchand)?replace(lines)?",
  ].join("|")})$`,
  "i",
);
/** Those that write a part of a file, without what stood there. */
const INSERTS = /^(insert|replacelines|notebook)/i;
const PATCH = /\*\*\* Begin Patch/;
const AGENTS = /^(agent|task|spawn_agent|subagent|delegate)$/i;

/**
 * Describes a call with its result.
 * @param {ReadCall} call @param {ReadMessage | undefined} result @param {string | undefined} asked when it was asked for
 * @returns {Call}
 */
export function describeCall(call, result, asked) {
  const input = parseArguments(call.arguments);
  const changes = changesOf(call.name, input, call.arguments);
  const paths = new Set(changes.map(({ path }) => path));
  const argument = paths.size > 0 ? namePaths([...paths]) : argumentOf(input, call.arguments);
  const isBrief = argument.length <= MAX_BRIEF && Object.values(input ?? {}).every((value) => value === argument);
  const kind = AGENTS.test(call.name) ? "agent" : changes.length > 0 || isEdit(call.name, input) ? "edit" : "tool";
  return {
    id: call.id,
    name: call.name,
    kind,
    argument,
    text:
      kind === "agent" && typeof input?.prompt === "string"
        ? input.prompt
        : isBrief
          ? argument
          : input
            ? formatInput(input, call.arguments)
            : call.arguments,
    isBrief,
    result,
    failed: hasFailed(result),
    outcome: outcomeOf(result),
    ms: msBetween(asked, result?.timestamp),
    tokens: result?.tokens?.count,
    changes,
    files:
      changes.length > 0
        ? [...paths, ...changes.flatMap(({ from }) => (from === undefined ? [] : [from]))]
        : filesOf(call.name, input),
  };
}

/** How long an edit may be to be open. */
const SHORT_EDIT_LINES = 12;

/** Whether a call is open until somebody folds it: one that failed, and a short edit. @param {Call} call */
export function isOpenAtFirst({ failed, changes }) {
  const lines = changes.reduce((sum, { added, removed }) => sum + added.length + removed.length, 0);
  return failed || (changes.length > 0 && lines <= SHORT_EDIT_LINES);
}

/** @param {string} text @returns {Record<string, unknown> | undefined} */
function parseArguments(text) {
  try {
    const parsed = JSON.parse(text);
    return parsed && typeof parsed === "object" && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** @param {Record<string, unknown> | undefined} input @param {string} raw */
function argumentOf(input, raw) {
  if (!input) return oneLine(raw);
  const key =
    IDENTIFYING.find((name) => isNamed(input[name])) ?? Object.keys(input).find((name) => isNamed(input[name]));
  const value = key === undefined ? undefined : input[key];
  return oneLine(Array.isArray(value) ? value.join(" ") : typeof value === "string" ? value : "");
}

/** @param {unknown} value */
const isNamed = (value) =>
  (typeof value === "string" && value !== "") ||
  (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"));

/** @param {string} text */
const oneLine = (text) => showHidden(text.slice(0, 400).replace(/\s+/g, " ").trim());

/** The whole of what was asked, for whoever opens the call. @param {Record<string, unknown>} input @param {string} raw */
function formatInput(input, raw) {
  try {
    const entries = Object.entries(input);
    return entries
      .map(([key, value]) => `${key}: ${typeof value === "string" ? value : formatValue(value)}`)
      .join("\n");
  } catch {
    // Nested too deep for the engine's stack.
    return raw;
  }
}

/** @param {unknown} value */
function formatValue(value) {
  const flat = JSON.stringify(value);
  let [depth, deepest] = [0, 0];
  for (const [sign] of flat.matchAll(/[[{\]}]/g)) {
    depth += sign === "[" || sign === "{" ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest > MAX_INDENTED ? flat : JSON.stringify(value, null, 2);
}

/** Whether a result says that the tool failed, or did not run. @param {ReadMessage | undefined} result */
export function hasFailed(result) {
  const tool = result?.tool;
  return tool !== undefined && (tool.isError === true || tool.notRun === true || (tool.exitCode ?? 0) !== 0);
}

/** @param {ReadMessage | undefined} result */
function outcomeOf(result) {
  if (!result) return "no result";
  const { exitCode, notRun, isError } = result.tool ?? {};
  if (notRun) return "did not run";
  if (exitCode !== undefined && (exitCode !== 0 || isError)) return `exit ${exitCode}`;
  if (isError) return "failed";
  const lines = countLines(result.content);
  return lines > 1 ? `${lines} lines` : "";
}

/** Whether a call is shown as what it changed. @param {Call} call */
export const hasDiff = ({ changes, failed }) => changes.length > 0 && !failed;

/** @param {string} text */
export const countLines = (text) => (text === "" ? 0 : text.replace(/\n$/, "").split("\n").length);

/** @param {string | undefined} from @param {string | undefined} to @returns {number | undefined} */
function msBetween(from, to) {
  const ms = Date.parse(to ?? "") - Date.parse(from ?? "");
  return ms >= 0 ? ms : undefined;
}

/**
 * @param {string} name @param {Record<string, unknown> | undefined} input @param {string} raw
 * @returns {Change[]}
 */
function changesOf(name, input, raw) {
  const patch = input
    ? Object.values(input)
        .flat()
        .find((value) => typeof value === "string" && PATCH.test(value))
    : raw;
  if (typeof patch === "string" && PATCH.test(patch)) return readPatch(patch);
  if (!input || !isEdit(name, input)) return [];
  const path = firstText(input, PATH_KEYS);
  if (path === undefined) return [];
  if (typeof input.diff === "string") return readReplacements(path, input.diff);
  const edits = Array.isArray(input.edits) ? input.edits : [input];
  return edits.flatMap((edit) => changeOf(name, path, edit) ?? []);
}

/**
 * Whether a call edits: one tool views files, too, by a command word.
 * @param {string} name @param {Record<string, unknown> | undefined} input
 */
const isEdit = (name, input) => EDITS.test(lettersOf(name)) && input?.command !== "view";

/** @param {string} name @param {string} path @param {unknown} edit @returns {Change | undefined} */
function changeOf(name, path, edit) {
  if (typeof edit !== "object" || edit === null) return undefined;
  const input = /** @type {Record<string, unknown>} */ (edit);
  const removed = firstText(input, REMOVED_KEYS);
  const added = firstText(input, ADDED_KEYS);
  if (added === undefined) return undefined;
  const lines = { removed: linesOf(removed ?? ""), added: linesOf(added) };
  const isPart = removed !== undefined || "insert_line" in input || INSERTS.test(lettersOf(name));
  return { path, from: undefined, ...lines, isNew: !isPart };
}

/** @param {string} name */
const lettersOf = (name) => name.replaceAll(/[^a-z]/gi, "");

/** One path, or the first of several. @param {string[]} paths */
const namePaths = ([first, ...others]) =>
  others.length === 0 ? oneLine(first) : `${oneLine(first)} and ${others.length} more`;

/** @param {string} name @param {Record<string, unknown> | undefined} input */
function filesOf(name, input) {
  const path = input && !SEARCHES.test(name) ? firstText(input, PATH_KEYS) : undefined;
  return path === undefined ? [] : [path];
}

/** @param {Record<string, unknown>} input @param {string[]} keys */
function firstText(input, keys) {
  const key = keys.find((name) => typeof input[name] === "string");
  return key === undefined ? undefined : /** @type {string} */ (input[key]);
}

/** @param {string} text */
const linesOf = (text) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
