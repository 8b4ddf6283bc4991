// @ts-check
/** Adds entries to a JSON file that is the user's, too, and removes them: every other byte of it stays. */

import { createHash } from "node:crypto";

import { applyEdits, findNodeAtLocation, format, getNodeValue, modify, parseTree } from "jsonc-parser";

import { LeftoffError } from "../error.js";

/** @import { Entry } from "./parts.js" */

/**
 * A change to a file. `made`: the places that were not there before, outermost first; the empty place is the file
 * itself.
 * `pieces`: the changed bytes, to be undone in reverse while the file is as it was left, which `after`, its hash,
 * tells: a hash, since the rest of the file may be nobody else's business.
 * @typedef {{ entries: { at: string[], value: object }[], made: string[][], pieces: Piece[], after: string }} Change
 * @typedef {{ offset: number, removed: string, inserted: string }} Piece
 */

/** @param {string} text */
export const hashOf = (text) => createHash("sha256").update(text).digest("hex");

const FORMATTING = { insertSpaces: true, tabSize: 2, eol: "\n" };
const EMPTY_FILE = "{}\n";

const BYTE_ORDER_MARK = "\ufeff";

/**
 * @param {string | undefined} found the file's text @param {Entry[]} entries
 * @param {{ path: string, before?: Change }} of
 * @returns {{ text: string, change: Change }}
 */
export function addEntries(found, entries, { path, before }) {
  // Some editors begin a file with a byte order mark. It is no JSON, and stays.
  if (found?.startsWith(BYTE_ORDER_MARK)) {
    const { text, change } = addEntries(found.slice(1), entries, { path, before });
    return { text: BYTE_ORDER_MARK + text, change };
  }
  const wanted = entries.map(({ at, value }) => ({ at, value }));
  // Entries of an older leftoff are removed first.
  const isSame = before && JSON.stringify(before.entries) === JSON.stringify(wanted);
  if (found !== undefined && isSame && wanted.every((entry) => indexOfEntry(found, entry, path) >= 0))
    return { text: found, change: before };
  const clean = found === undefined || !before ? found : removeEntries(found, before, path);
  /** @type {Change} */
  const change = { entries: wanted, made: clean === undefined ? [[]] : [], pieces: [], after: "" };
  let text = clean ?? EMPTY_FILE;
  for (const { at, value } of wanted) {
    for (let depth = 1; depth <= at.length; depth += 1) {
      const place = at.slice(0, depth);
      if (!findNode(text, place, path) && !change.made.some((made) => made.join("/") === place.join("/")))
        change.made.push(place);
    }
    const isThere = findNode(text, at, path) !== undefined;
    const [edit] = isThere
      ? modify(text, [...at, -1], value, { isArrayInsertion: true })
      : modify(text, at, [value], {});
    if (!edit) continue;
    const { offset, length, content } = edit;
    const next = formatRange(applyEdits(text, [edit]), offset, content.length);
    const end = next.length - (text.length - offset - length);
    change.pieces.push({ offset, removed: text.slice(offset, offset + length), inserted: next.slice(offset, end) });
    text = next;
  }
  return { text, change: { ...change, after: hashOf(text) } };
}

/**
 * The file without the added entries; nothing where it was made for them and holds nothing else.
 * @param {string} found @param {Change} change @param {string} path
 * @returns {string | undefined}
 */
export function removeEntries(found, { entries, made, pieces, after }, path) {
  if (found.startsWith(BYTE_ORDER_MARK)) {
    const text = removeEntries(found.slice(1), { entries, made, pieces, after }, path);
    return text === undefined ? undefined : BYTE_ORDER_MARK + text;
  }
  const isNew = made.some((place) => place.length === 0);
  const clean = withoutEntries(found, { entries, made }, path);
  if (hashOf(found) === after) {
    const text = pieces.reduceRight(
      (now, { offset, removed: old, inserted }) => now.slice(0, offset) + old + now.slice(offset + inserted.length),
      found,
    );
    // What takes the bytes back takes nothing else away, and puts nothing else in.
    if (canonicalJson(text) === canonicalJson(clean)) return isNew && text === EMPTY_FILE ? undefined : text;
  }
  return isNew && Object.keys(parseObject(clean, path)).length === 0 ? undefined : clean;
}

/** @param {string} found @param {Pick<Change, "entries" | "made">} change @param {string} path */
function withoutEntries(found, { entries, made }, path) {
  let text = found;
  for (const entry of entries) {
    const place = indexOfEntry(text, entry, path);
    if (place >= 0) text = removeNode(text, findNode(text, entry.at, path)?.children?.[place]);
  }
  for (const place of made.toReversed()) {
    const node = place.length > 0 ? findNode(text, place, path) : undefined;
    if (node && (node.children?.length ?? 0) === 0) text = removeNode(text, node.parent);
  }
  return text;
}

/** A text's JSON in canonical form; NaN, which equals nothing, for what is no JSON. @param {string} text */
function canonicalJson(text) {
  /** @type {import("jsonc-parser").ParseError[]} */
  const errors = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  return root && errors.length === 0 ? JSON.stringify(getNodeValue(root)) : NaN;
}

// Removes a node with the comma beside it; the library's own way is wrong for arrays on one line.
/** @param {string} text @param {import("jsonc-parser").Node} [node] an element, or a property */
function removeNode(text, node) {
  const around = node?.parent;
  if (!node || !around?.children) return text;
  const at = around.children.indexOf(node);
  const [before, next] = [around.children[at - 1], around.children[at + 1]];
  const start = before ? before.offset + before.length : next ? node.offset : around.offset + 1;
  const end = before ? node.offset + node.length : next ? next.offset : around.offset + around.length - 1;
  return text.slice(0, start) + text.slice(end);
}

// Formats a range only: the formatter takes whole lines, whose rest is the user's.
/** @param {string} text @param {number} offset @param {number} length */
function formatRange(text, offset, length) {
  const end = offset + length;
  return applyEdits(
    text,
    format(text, { offset, length }, FORMATTING).filter(
      (edit) => edit.offset >= offset && edit.offset + edit.length <= end,
    ),
  );
}

/** @param {string} text @param {{ at: string[], value: object }} entry @param {string} path */
function indexOfEntry(text, { at, value }, path) {
  const node = findNode(text, at, path);
  const wanted = JSON.stringify(value);
  return node?.children?.findIndex((child) => JSON.stringify(getNodeValue(child)) === wanted) ?? -1;
}

/** @param {string} text @param {string[]} at @param {string} path */
function findNode(text, at, path) {
  parseObject(text, path);
  const root = /** @type {import("jsonc-parser").Node} */ (parseTree(text, [], { allowTrailingComma: true }));
  const node = findNodeAtLocation(root, at);
  const kind = at.length === 2 ? "array" : "object";
  if (node && node.type !== kind)
    throw new LeftoffError({
      code: "usage",
      message: `expected an ${kind} for "${at.join(".")}" in "${path}", but found a ${node.type} instead; nothing was changed`,
    });
  return node;
}

// Parses the file as an object, with comments, which clients accept.
/** @param {string} text @param {string} path */
function parseObject(text, path) {
  /** @type {import("jsonc-parser").ParseError[]} */
  const errors = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  if (root?.type === "object" && errors.length === 0) return getNodeValue(root);
  throw new LeftoffError({
    code: "usage",
    message: `expected an object of JSON in "${path}", but found something else; nothing was changed`,
  });
}
