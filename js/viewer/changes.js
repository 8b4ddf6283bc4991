// @ts-check
/** What an edit changed: its lines in order, and the words that differ in them. */

import { diffArrays, diffWordsWithSpace } from "diff";

/**
 * @typedef {{ path: string, from: string | undefined, removed: string[], added: string[], isNew: boolean }} Change the
 *   lines of an edit; `from`: the path before, where the file was renamed
 */
/** @typedef {{ sign: " " | "+" | "-", text: string, twin: string | undefined }} Line `twin`: what it was before, or became */
/** @typedef {{ text: string, isChanged: boolean }} Piece */

/** Edits of more changed lines are told as all of them removed, and all added. */
const MAX_EDITS = 600;
/** Longer lines have no words marked. */
const MAX_CHARACTERS = 1_000;
/** Lines that share less of their characters are other lines, not changed ones. */
const MIN_SHARE = 0.3;

/** @type {WeakMap<Change, Line[]>} */
const known = new WeakMap();

/** The lines of an edit: what stays, what was removed and what was added. @param {Change} change @returns {Line[]} */
export function diffLines(change) {
  const lines = known.get(change) ?? compareLines(change);
  known.set(change, lines);
  return lines;
}

/** @param {Change} change @returns {Line[]} */
function compareLines({ removed, added }) {
  const options = { maxEditLength: MAX_EDITS };
  const parts = diffArrays(removed, added, options) ?? [
    { value: removed, removed: true, added: false },
    { value: added, removed: false, added: true },
  ];
  return parts.flatMap((part, place) => {
    const sign = /** @type {Line["sign"]} */ (part.added ? "+" : part.removed ? "-" : " ");
    // The lines of a removed part become those of the added part behind it, one by one.
    const other = part.removed ? parts[place + 1] : parts[place - 1];
    const isPair = sign !== " " && other !== undefined && (part.removed ? other.added : other.removed);
    return part.value.map((text, at) => ({ sign, text, twin: isPair ? other.value[at] : undefined }));
  });
}

/** The words of a line, those apart that its twin has not. @param {Line} line @returns {Piece[]} */
export function piecesOf({ sign, text, twin }) {
  if (twin === undefined || text.length > MAX_CHARACTERS || twin.length > MAX_CHARACTERS)
    return [{ text, isChanged: false }];
  const [before, after] = sign === "-" ? [text, twin] : [twin, text];
  const parts = diffWordsWithSpace(before, after);
  const shared = parts.reduce(
    (sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length),
    0,
  );
  if (shared < MIN_SHARE * Math.max(before.trim().length, after.trim().length)) return [{ text, isChanged: false }];
  const own = parts.filter(({ added, removed }) => !(sign === "-" ? added : removed));
  return own.map(({ value, added, removed }) => ({ text: value, isChanged: added || removed }));
}

/**
 * Reads a patch as Codex writes it.
 * @param {string} text
 * @returns {Change[]} one for each file; none for what is no patch
 */
export function readPatch(text) {
  const [, patch] = /\*\*\* Begin Patch\r?\n([\s\S]*?)\*\*\* End Patch/.exec(text) ?? [];
  const files = (patch ?? "").split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m);
  return files.flatMap((file) => readFilePatch(file) ?? []);
}

/** @param {string} file its part of a patch @returns {Change | undefined} */
function readFilePatch(file) {
  const [, verb, name] = /^\*\*\* (Add|Update|Delete) File: (.*)/.exec(file) ?? [];
  if (name === undefined) return undefined;
  const [, target] = /^\*\*\* Move to: (.*)$/m.exec(file) ?? [];
  const lines = file.split("\n").filter((line) => /^[ +-]/.test(line));
  const linesOf = (/** @type {string} */ sign) =>
    lines.filter((line) => line[0] === sign || line[0] === " ").map((line) => line.slice(1));
  return {
    path: (target ?? name).trim(),
    from: target === undefined ? undefined : name.trim(),
    removed: linesOf("-"),
    added: linesOf("+"),
    isNew: verb === "Add",
  };
}

/**
 * Reads the replacements of an edit as Cline writes them: what to search for, and what to put there.
 * @param {string} path @param {string} text @returns {Change[]} one for each
 */
export function readReplacements(path, text) {
  /** @type {Change[]} */
  const changes = [];
  let [removed, added] = [/** @type {string[]} */ ([]), /** @type {string[]} */ ([])];
  /** @type {string[] | undefined} */
  let part;
  for (const line of text.split("\n"))
    if (/^[-<]{7,} SEARCH>?\r?$/.test(line)) {
      [removed, added] = [[], []];
      part = removed;
    } else if (/^={7,}\r?$/.test(line) && part === removed) part = added;
    else if (/^[+>]{7,} REPLACE>?\r?$/.test(line) && part === added) {
      changes.push({ path, from: undefined, removed, added, isNew: false });
      part = undefined;
    } else part?.push(line);
  return changes;
}

/** How many lines edits add and remove. @param {readonly Change[]} changes */
export function countChanged(changes) {
  const lines = changes.flatMap(diffLines);
  const [added, removed] = ["+", "-"].map((sign) => lines.filter((line) => line.sign === sign).length);
  return { added, removed };
}

/** Lines with their numbers before and after the edit; none where they are not there. @param {readonly Line[]} lines */
export function numberLines(lines) {
  let [before, after] = [0, 0];
  return lines.map((line) => ({
    line,
    before: line.sign === "+" ? "" : String((before += 1)),
    after: line.sign === "-" ? "" : String((after += 1)),
  }));
}

/** What a call changed, by file: the heading where there is more to tell than the call's path, and the lines. */
export const sectionsOf = (/** @type {readonly Change[]} */ changes) =>
  changes.map((change, place) => ({ heading: headingOf(changes, place), lines: diffLines(change) }));

/** @param {readonly Change[]} changes @param {number} place */
function headingOf(changes, place) {
  const { path, from, isNew, added, removed } = changes[place];
  if (!isNew && from === undefined && added.length + removed.length === 0) return `Deleted ${path}`;
  if (from !== undefined) return `Renamed from ${from} to ${path}`;
  const isOther = path !== changes[place - 1]?.path;
  return isOther && changes.some((change) => change.path !== path) ? path : undefined;
}
