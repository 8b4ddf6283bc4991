// @ts-check
/** Renders a list on a terminal: one line per session, at the terminal's width. */

import { basename } from "node:path";

import { nowMs } from "../wasm/clock.js";
import { stripControls } from "./print.js";
import { cut, fill, widthOf } from "./width.js";

/** @typedef {import("../types/index.js").Listed} ListedSession */
/**
 * @typedef {{ name: string, text: (one: ListedSession, place: number) => string, most?: number, color?: number, isRight?: boolean }} Column
 */

/** The columns of a title that are worth more than any other column. */
const MIN_TITLE_COLUMNS = 22;
/** The shortest id shown: one that is unique today should be unique tomorrow. */
const MIN_ID_CHARS = 8;
/** The order in which columns are dropped where there is no room. */
const DROP_ORDER = ["project", "agent", "messages", "id"];

/**
 * @param {ListedSession[]} listed
 * @param {{ columns: number, isColored: boolean, idLength: number, now?: Date }} options `idLength`: how much of an id
 *   is unique here
 */
export function rowsText(listed, { columns, isColored, idLength, now = new Date(nowMs()) }) {
  const all = columnsFor(listed, { idLength, now });
  const columnWidths = new Map(
    all.map((column) => [
      column,
      Math.min(column.most ?? Infinity, Math.max(0, ...listed.map((one, place) => widthOf(column.text(one, place))))),
    ]),
  );
  const remainingWidth = (/** @type {Column[]} */ some) =>
    columns - 1 - some.reduce((sum, column) => sum + (columnWidths.get(column) ?? 0) + 2, 0);
  let shown = all.filter((column) => columnWidths.get(column));
  for (const name of DROP_ORDER)
    if (remainingWidth(shown) < MIN_TITLE_COLUMNS) shown = shown.filter((column) => column.name !== name);
  const room = Math.max(1, remainingWidth(shown));
  const painted = (/** @type {string} */ text, /** @type {number | undefined} */ color) =>
    isColored && color !== undefined ? `\u001b[${color}m${text}\u001b[0m` : text;
  const cell = (/** @type {Column} */ column, /** @type {ListedSession} */ one, /** @type {number} */ place) => {
    const width = columnWidths.get(column) ?? 0;
    const text = fill(column.text(one, place), width);
    return painted(column.isRight ? text.trimEnd().padStart(width) : text, column.color);
  };
  const before = shown.filter(({ name }) => name === "number" || name === "id");
  const behind = shown.filter((column) => !before.includes(column));
  const line = (/** @type {ListedSession} */ one, /** @type {number} */ place) => {
    const title = fillTitle(titleOf(one), room);
    const isInactive = one.archivedAt || !["active", "paused"].includes(one.status);
    return [
      ...before.map((column) => cell(column, one, place)),
      painted(title, isInactive ? 2 : undefined),
      ...behind.map((column) => cell(column, one, place)),
    ]
      .join("  ")
      .trimEnd();
  };
  return listed.map((one, place) => `${line(one, place)}\n`).join("");
}

/**
 * Fits a title into so many columns; a cut one keeps what tells a fork from its like.
 * @param {string} title
 * @param {number} columns
 */
export function fillTitle(title, columns) {
  const [mark = ""] = / \(fork(?: \d+)?\)$/.exec(title) ?? [];
  if (!mark || widthOf(title) <= columns || mark.length + 1 > columns) return fill(title, columns);
  return fill(`${cut(title.slice(0, -mark.length), columns - mark.length)}${mark}`, columns);
}

/**
 * How many characters of the ids tell each from all others.
 * @param {string[]} ids those that are shown
 * @param {string[]} all
 */
export function uniqueLength(ids, all) {
  const sorted = [...new Set([...all, ...ids])].sort();
  const places = new Map(sorted.map((id, place) => [id, place]));
  const shared = (/** @type {string} */ id, /** @type {string | undefined} */ other) => {
    let length = 0;
    while (other !== undefined && length < id.length && id[length] === other[length]) length += 1;
    return length;
  };
  const needed = ids.map((id) => {
    const place = places.get(id) ?? 0;
    return 1 + Math.max(shared(id, sorted[place - 1]), shared(id, sorted[place + 1]));
  });
  return Math.max(MIN_ID_CHARS, ...needed);
}

/** @param {ListedSession[]} listed @param {{ idLength: number, now: Date }} about @returns {Column[]} */
function columnsFor(listed, { idLength, now }) {
  const isOfMany = new Set(listed.map(({ project }) => project)).size > 1;
  return [
    { name: "number", text: (_, place) => String(place + 1), isRight: true, color: 2 },
    { name: "id", text: ({ id }) => id.slice(0, idLength), color: 33 },
    { name: "agent", text: ({ agent = "" }) => oneLine(agent), most: 12, color: 36 },
    { name: "project", text: ({ project = "" }) => (isOfMany ? oneLine(basename(project)) : ""), most: 14, color: 32 },
    { name: "age", text: ({ lastActive }) => age(lastActive, now), isRight: true, color: 2 },
    { name: "messages", text: ({ messageCount }) => `${messageCount} msg`, isRight: true, color: 2 },
  ];
}

/** @param {ListedSession} one */
function titleOf({ title, status, archivedAt }) {
  const mark = archivedAt ? "archived" : ["active", "paused"].includes(status) ? "" : status;
  return `${mark && `(${mark}) `}${oneLine(title)}`;
}

/** @param {string} text */
function oneLine(text) {
  return stripControls(text).replace(/\s+/g, " ").trim();
}

/** How long ago something was, in few letters. @param {string} timestamp @param {Date} now */
export function age(timestamp, now) {
  const minutes = Math.floor((now.getTime() - new Date(timestamp).getTime()) / 60_000);
  if (Number.isNaN(minutes)) return "";
  const steps = /** @type {const} */ ([
    [525_600, "y"],
    [43_800, "mo"],
    [10_080, "w"],
    [1440, "d"],
    [60, "h"],
    [1, "m"],
  ]);
  const [size, unit] = steps.find(([size]) => minutes >= size) ?? [];
  return size ? `${Math.floor(minutes / size)}${unit}` : "now";
}
