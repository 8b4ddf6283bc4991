// @ts-check
/** Which edit likely wrote a line. Spaces do not count: a formatter moves them. */

import { diffLines } from "../viewer/changes.js";
import { formatCount } from "./texts.js";

/** @import { FileEdit } from "./file-edits.js" */

/** @typedef {"line" | "part" | "whole" | "command"} Reason what an edit wrote: the line, a part of it, the file, or a command with it */
/** @typedef {{ edit: FileEdit, reason: Reason }} Writer */
/** @typedef {Writer & { lineCount: number }} WriterOfLines */
/** @typedef {{ edit: FileEdit, written: Set<string>, parts: ((line: string) => boolean)[] }} EditLines */

/** Shorter parts of lines stand in lines that others wrote, too. */
const MIN_PART = 8;

/** @param {string} line */
const withoutSpaces = (line) => line.replaceAll(/\s+/g, "");

/** Whether a line says enough to be known again: brackets and blanks are everywhere. @param {string} line */
export const isTelling = (line) => /[\p{L}\p{N}]/u.test(line);

/**
 * Finds who wrote lines, those of most lines first.
 * @param {readonly string[]} lines @param {readonly FileEdit[]} edits in any order
 * @returns {WriterOfLines[]}
 */
export function findWriters(lines, edits) {
  const inOrder = edits
    .map(readEditLines)
    .sort((one, other) => Date.parse(one.edit.time) - Date.parse(other.edit.time));
  /** @type {Map<string, WriterOfLines>} */
  const writers = new Map();
  for (const line of lines.filter(isTelling)) {
    const writer = findWriter(withoutSpaces(line), inOrder);
    if (!writer) continue;
    const key = `${writer.edit.session.id} ${writer.edit.message} ${writer.reason}`;
    const known = writers.get(key);
    if (known) known.lineCount += 1;
    else writers.set(key, { ...writer, lineCount: 1 });
  }
  return [...writers.values()].sort((one, other) => other.lineCount - one.lineCount);
}

/**
 * The latest edit that wrote the line itself; else the first write of the file that has it, since when no write was
 * without it; else the latest edit of a part of it, or command with it.
 * @param {string} line @param {readonly EditLines[]} inOrder
 * @returns {Writer | undefined}
 */
function findWriter(line, inOrder) {
  /** @type {Partial<Record<Reason, FileEdit>>} */
  let found = {};
  for (const { edit, written, parts } of inOrder) {
    const isIn = written.has(line);
    if (edit.change.isNew) {
      if (!isIn) found = {};
      else if (!found.line) found.whole ??= edit;
    } else if (isIn) found[edit.kind === "command" ? "command" : "line"] = edit;
    else if (parts.some((isPart) => isPart(line))) found.part = edit;
  }
  for (const reason of /** @type {const} */ (["line", "whole", "part", "command"])) {
    const edit = found[reason];
    if (edit) return { edit, reason };
  }
  return undefined;
}

/** What an edit wrote: lines, and parts of lines at its ends. @param {FileEdit} edit @returns {EditLines} */
function readEditLines(edit) {
  const { change, kind } = edit;
  const lines = diffLines(change).filter(({ sign }) => sign !== "-");
  const written = new Set(lines.filter(({ sign }) => sign === "+").map(({ text }) => withoutSpaces(text)));
  if (kind !== "edit" || change.isNew) return { edit, written, parts: [] };
  const endOf = (/** @type {number} */ place) => {
    const line = lines.at(place);
    const text = line?.sign === "+" ? withoutSpaces(line.text) : "";
    return text.length < MIN_PART ? undefined : text;
  };
  const [first, last] = [endOf(0), endOf(-1)];
  const parts = [];
  if (first)
    parts.push((/** @type {string} */ line) => (lines.length > 1 ? line.endsWith(first) : line.includes(first)));
  if (last && lines.length > 1) parts.push((/** @type {string} */ line) => line.startsWith(last));
  return { edit, written, parts };
}

const REASONS = {
  line: (/** @type {string} */ what) => `wrote ${what}`,
  part: (/** @type {string} */ what) => `wrote a part of ${what}`,
  whole: (/** @type {string} */ what) => `wrote the whole file, with ${what}`,
  command: (/** @type {string} */ what) => `ran a command that names the file and has ${what}`,
};

/** Says who likely wrote lines, and why. @param {WriterOfLines} writer @param {number} lineCount of all that was asked for */
export function formatWriter({ edit, reason, lineCount: own }, lineCount) {
  const who = `${edit.session.agent ?? "an agent"}'s ${edit.tool}`;
  const day = new Date(edit.time).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
  const what = lineCount === 1 ? "this very line" : `${own} of ${formatCount(lineCount, "line")}`;
  return `Likely: ${who} of ${day} ${REASONS[reason](what)}`;
}
