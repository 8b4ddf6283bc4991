// @ts-check
/**
 * Renders search hits on a terminal: each session in a line, below it its messages with their numbers and the words in
 * color.
 */

import { stripControls } from "./print.js";
import { rowsText } from "./rows.js";

/** @typedef {import("../types/index.js").Found} SearchHit */
/**
 * @typedef {{ columns: number, isColored: boolean, idLength: number }} Look `idLength`: how much of an id is unique
 *   here
 */

/** The color of found words, grep's: bold red. */
const BOLD_RED = "1;31";
const DIM = "2";
/** The color of message numbers, ripgrep's of line numbers. */
const GREEN = "32";
const INDENT = 4;

/** The groups of sessions by how much of the words they have, best first. */
const [ALL, SOME, SIMILAR] = [0, 1, 2];
const HIT_HEADINGS = {
  some: "only some of the words:",
  noneHasAll: "no message has all of the words; these have some:",
  similar: "only words that begin or are spelled like these:",
};

/**
 * @param {SearchHit[][]} found the hits of each session, the best session first
 * @param {Look} look
 * @returns {{ text: string, shown: SearchHit[][] }} `shown`: the same hits in the order of the text
 */
export function searchText(found, look) {
  const groups = [ALL, SOME, SIMILAR].map((group) => found.filter((hits) => Math.min(...hits.map(groupOf)) === group));
  const shown = groups.flat();
  const rows = rowsText(
    shown.map(([hit]) => /** @type {SearchHit} */ (hit).session),
    look,
  ).split("\n");
  const sections = groups.map((hits, group) => {
    const heading = headingOf(group, groups);
    const texts = hits.map((one) => `${rows.shift()}\n${hitsText(one, look.isColored)}`);
    return texts.length > 0 ? `${heading && `${paint(heading, DIM, look.isColored)}\n`}${texts.join("\n")}` : "";
  });
  return { text: sections.filter(Boolean).join("\n"), shown };
}

/** @param {SearchHit} hit */
export function groupOf(hit) {
  if (["prefix", "spelling"].includes(hit.found)) return SIMILAR;
  return missingWords(hit).length > 0 ? SOME : ALL;
}

/** The words that this hit lacks but others have. @param {SearchHit} hit */
function missingWords({ missing = [], nowhere = [] }) {
  return missing.filter((word) => !nowhere.includes(word));
}

/** @param {number} group @param {SearchHit[][][]} groups */
function headingOf(group, groups) {
  if (group === SIMILAR) return similarHeading((groups[SIMILAR] ?? []).flat());
  if (group === ALL) return "";
  return groups[ALL]?.length === 0 ? HIT_HEADINGS.noneHasAll : HIT_HEADINGS.some;
}

/** Names the similar words that were searched instead of those found nowhere. @param {SearchHit[]} hits */
function similarHeading(hits) {
  const pairs = new Set(
    hits
      .flatMap(({ instead = [] }) => instead)
      .map(({ word, found }) => `"${stripControls(found)}" for "${stripControls(word)}"`),
  );
  return pairs.size > 0 ? `words that are spelled alike, ${[...pairs].join(", ")}:` : HIT_HEADINGS.similar;
}

/**
 * Says which words were found nowhere, as a sentence without its stop; empty where each was found.
 * @param {readonly string[]} words
 */
export function nowhereText(words) {
  const [last = "", ...others] = words.map((word) => `"${word}"`).reverse();
  return others.length > 0
    ? `${others.reverse().join(", ")} and ${last} were found nowhere`
    : last && `${last} was found nowhere`;
}

/** @param {SearchHit[]} all of a session @param {boolean} isColored */
function hitsText(all, isColored) {
  // Hits only near the words add little where others have the words themselves.
  const having = all.filter(({ found }) => found !== "near");
  const hits = having.length > 0 ? having : all;
  const wide = Math.max(...hits.map(({ number }) => String(number ?? "").length));
  return hits.map((hit) => hitText(hit, wide, isColored)).join("");
}

/** @param {SearchHit} hit @param {number} wide columns of the numbers @param {boolean} isColored */
function hitText(hit, wide, isColored) {
  const { id, number, role, excerpt, session } = hit;
  const lines = linesOf(excerpt, isColored);
  // The title is shown above already.
  if (!id && excerpt.every(({ text }) => session.title.includes(text.trim()))) return "";
  const label = id ? (role ?? "message") : "summary";
  const indent = " ".repeat(INDENT + wide + 1 + label.length + 2);
  const about = notesOf(hit)
    .map((note) => paint(`  (${note})`, DIM, isColored))
    .join("");
  const head = `${" ".repeat(INDENT)}${paint(String(number ?? "").padStart(wide), GREEN, isColored)} ${paint(label, DIM, isColored)}  `;
  const details = detailsOf(hit).map((line) => `${indent}${paint(line, DIM, isColored)}\n`);
  return `${head}${lines.join(`\n${indent}`)}${about}\n${details.join("")}`;
}

/**
 * The lines of a text, without those that are empty.
 * @param {SearchHit["excerpt"]} excerpt
 * @param {boolean} isColored
 */
function linesOf(excerpt, isColored) {
  const mark = (/** @type {string} */ line) =>
    isColored ? paint(line, BOLD_RED, true) : line.trim() ? `»${line}«` : line;
  const marked = excerpt.map(({ text, isHit }) => {
    const shown = stripControls(text).replaceAll("\t", "  ");
    return isHit ? shown.split("\n").map(mark).join("\n") : shown;
  });
  const lines = marked
    .join("")
    .split("\n")
    .map((line) => line.trimEnd());
  return lines.filter((line) => line.trim());
}

/** Notes on a hit: how well it matches, unless it has all words, and what was done. @param {SearchHit} hit */
function notesOf(hit) {
  const { found, words, missing = [], nowhere = [], isChanged, exitCode, command } = hit;
  const lacks = missingWords(hit).length;
  const all = words.length + missing.length - nowhere.filter((word) => missing.includes(word)).length;
  return [
    ...(found === "near"
      ? ["beside the words"]
      : lacks > 0 && found !== "title"
        ? [`${words.length} of ${all} words`]
        : []),
    ...(isChanged === undefined ? [] : [isChanged ? "changed" : "read"]),
    ...(exitCode === undefined || (found === "error" && command) ? [] : [`exit code ${exitCode}`]),
  ];
}

/** Details of an error's hit: the command that met it, and the one that ran without it. @param {SearchHit} hit */
function detailsOf({ found, command, after }) {
  const line = (/** @type {string} */ text) => stripControls(text).replace(/\s+/g, " ").trim();
  const ended = after?.exitCode === undefined ? "" : ` (exit code ${after.exitCode})`;
  const met = found === "error" && command ? [`in: ${line(command)}`] : [];
  return [...met, ...(after ? [`later without it: ${line(after.command)}${ended}`] : [])];
}

/** @param {string} text @param {string} color @param {boolean} isColored */
function paint(text, color, isColored) {
  return isColored && text.trim() ? `\u001b[${color}m${text}\u001b[0m` : text;
}
