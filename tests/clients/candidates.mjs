// @ts-check
/** What became of other versions of the clients, as a table. */

/** @import { Client } from "./driving.mjs" */
/** @import { Present } from "./clients.mjs" */
/** @import { Field } from "./shape.mjs" */

/**
 * @typedef {{ field: string, count: number, why: string }} Loss
 * @typedef {{ added: Field[], removed: Field[], changed: Field[], losses: Loss[], lost: Loss[] }} Changes what leftoff
 *   loses now; `lost`: and did not
 *
 * @typedef {object} Candidate
 * @property {Client} client
 * @property {string} pinned
 * @property {string} version the one that is tried
 * @property {string} [why] it cannot be driven
 * @property {Present} [other]
 * @property {boolean} [hold] whether it resumes what it held
 * @property {{ pair: string, ok: boolean }[]} [ring]
 * @property {Changes} [changes] where both versions wrote a file
 */

const NOT_LISTED = "not listed as lost";

/** @param {Candidate[]} candidates @returns {{ summary: string[][], details: string[][] }} */
export function rowsOf(candidates) {
  return { summary: candidates.map(summaryOf), details: candidates.flatMap(detailsOf) };
}

/** @param {Candidate} candidate */
function summaryOf({ client: { name }, pinned, version, why, hold, ring = [], changes }) {
  const row = [name, pinned, version];
  if (pinned === version) return [...row, "", "", "as pinned"];
  if (why !== undefined) return [...row, "not driven", "not driven", why];
  const failed = ring.length === 0 ? ["no pair was tried"] : ring.filter(({ ok }) => !ok).map(({ pair }) => pair);
  return [
    ...row,
    hold ? "ok" : "FAILED",
    failed.length > 0 ? `FAILED: ${failed.join(", ")}` : `ok, ${ring.length} pairs`,
    describeChanges(changes),
  ];
}

/** @param {Changes} [changes] */
function describeChanges(changes) {
  if (!changes) return "not compared: one of them wrote no file";
  const { added, removed, changed } = changes;
  const counts = [
    [added.length, "new"],
    [removed.length, "gone"],
    [changed.length, "of other kinds"],
  ].filter(([count]) => count !== 0);
  return counts.length > 0 ? counts.map((words) => words.join(" ")).join(", ") : "the same";
}

/** Each field, and what leftoff's reader says of it; then what it loses besides. @param {Candidate} candidate */
function detailsOf({ client: { name }, changes }) {
  if (!changes) return [];
  const { added, removed, changed, losses, lost } = changes;
  const said = (/** @type {string} */ path) =>
    losses.find(({ field }) => isWithin(path, field.replace(/^record:/, "")));
  const besides = lost.filter((loss) => [...added, ...changed].every(({ path }) => said(path) !== loss));
  const listed = (/** @type {string} */ path) => (said(path) ? `lost: ${said(path)?.why}` : NOT_LISTED);
  return [
    ...added.map(({ path, kinds }) => [name, "new", `${path}: ${kinds}`, listed(path)]),
    ...removed.map(({ path, kinds }) => [name, "gone", `${path}: ${kinds}`, ""]),
    ...changed.map(({ path, kinds }) => [name, "of another kind", `${path}: ${kinds}`, said(path) ? listed(path) : ""]),
    ...besides.map(({ field, why }) => [name, "lost", field, why]),
  ];
}

/** Whether a path is a field, or lies in it. @param {string} path @param {string} field */
function isWithin(path, field) {
  return path === field || path.startsWith(`${field}.`) || path.startsWith(`${field}[`);
}

/** Whether a version that was driven failed at what it was driven for. @param {Candidate} candidate */
export function hasFailed({ other, hold, ring = [] }) {
  return other !== undefined && !(hold && ring.length > 0 && ring.every(({ ok }) => ok));
}

/** A table in Markdown. @param {string[]} head @param {string[][]} rows */
export function table(head, rows) {
  const line = (/** @type {string[]} */ cells) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...rows.map(line)].join("\n");
}

/**
 * Whether a Node is as new as a package wants; where that is more than a least version, nobody knows, and it is tried.
 * @param {string} wants
 * @param {string} has as `v22.1.0`
 */
export function isEnough(wants, has) {
  const least = /^>=\s*v?([\d.]+)$/.exec(wants.trim())?.[1];
  if (least === undefined) return true;
  const [wanted, found] = [least, has.replace(/^v/, "")].map((version) => version.split(".").map(Number));
  const at = [0, 1, 2].find((place) => (wanted?.[place] ?? 0) !== (found?.[place] ?? 0));
  return at === undefined || (found?.[at] ?? 0) > (wanted?.[at] ?? 0);
}
