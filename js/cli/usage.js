// @ts-check
/** `leftoff usage`: tokens and cost of model calls; a table for people, columns for pipes. */

import { LeftoffError } from "../index.js";
import { parseListOptions, sessionValue } from "./find.js";
import { columnsText, noteLater } from "./print.js";
import { withStore } from "./store.js";
import { cut, widthOf } from "./width.js";

/** @import { UsageReport, UsageRow } from "../types/index.js" */
/** @typedef {"day" | "session" | "project" | "agent" | "model"} Key */

/** @type {Key[]} */
const KEYS = ["day", "project", "agent", "session", "model"];
const COUNTS = ["calls", "input", "output", "cache write", "cache read", "cost"];
/** Columns of the widest key: a longer title or path is cut. */
const MAX_KEY_WIDTH = 40;

/** @param {Record<string, any>} args */
export async function usage(args) {
  const by = parseKeys(args.by ?? "day");
  const { all, agent, folder, since, until } = parseListOptions(args);
  const isPiped = !args.json && !process.stdout.isTTY;
  return withStore(
    args,
    async (store) => {
      const value = await store.usage({ by, all, agent, folder, since, until });
      if (value.rows.length === 0) noteLater(`no calls with counts${all ? "" : " in this project; --all counts all"}`);
      for (const note of notesOn(value)) noteLater(note);
      const keys = KEYS.filter((key) => by.includes(key));
      const text = isPiped ? value.rows.map((row) => columns(row, keys)).join("") : table(value, keys);
      return { text, value: { ...value, rows: value.rows.map(rowValue) } };
    },
    "counting",
  );
}

/** @param {string} text @returns {Key[]} */
function parseKeys(text) {
  const keys = text.split(",").map((key) => key.trim());
  for (const key of keys)
    if (!KEYS.some((known) => known === key))
      throw new LeftoffError({
        code: "usage",
        message: `--by takes day, session, project, agent or model, separated by commas, not "${key}"`,
      });
  return /** @type {Key[]} */ (keys);
}

/** What the costs leave out. @param {UsageReport} report */
function notesOn({ total, listedOn, unpriced }) {
  if (total.calls === 0) return [];
  const without = unpriced.map((model) => model || "calls without a model").join(", ");
  const left = total.unpriced > 0 ? `; ${total.unpriced} of ${total.calls} calls have none: ${without}` : "";
  return [`costs are by the list of prices of ${listedOn}${left}`];
}

/** @param {UsageRow} row */
function rowValue({ session, ...row }) {
  return session ? { ...row, session: sessionValue(session) } : row;
}

/** @param {UsageReport} report @param {Key[]} keys */
function table({ rows, total }, keys) {
  if (rows.length === 0) return "";
  const lines = [
    [...keys, ...COUNTS],
    ...rows.map((row) => [...keys.map((key) => cut(keyText(row, key), MAX_KEY_WIDTH)), ...counts(row)]),
    [...keys.map((_, nth) => (nth === 0 ? "total" : "")), ...counts(total)],
  ];
  const widths = (lines[0] ?? []).map((_, nth) => Math.max(...lines.map((cells) => widthOf(cells[nth] ?? ""))));
  return lines.map((cells) => `${cells.map(pad).join("  ").trimEnd()}\n`).join("");

  /** @param {string} cell @param {number} nth */
  function pad(cell, nth) {
    const blanks = " ".repeat((widths[nth] ?? 0) - widthOf(cell));
    return nth < keys.length ? cell + blanks : blanks + cell;
  }
}

/** @param {UsageRow} row @param {Key} key */
function keyText(row, key) {
  const text = key === "session" ? `${row.session?.id.slice(0, 8)} ${row.session?.title}` : row[key];
  return (text || "unknown").replace(/\s+/g, " ");
}

/** @param {UsageRow} row */
function counts({ calls, usage: { input, output, cacheWrite, cacheRead }, cost, unpriced }) {
  const dollars = cost === undefined ? "" : `$${cost.toFixed(2)}${unpriced > 0 ? "+" : ""}`;
  return [...[calls, input, output, cacheWrite, cacheRead].map((count) => count.toLocaleString("en-US")), dollars];
}

/** A line for a pipe: columns separated by tabs, nothing cut. @param {UsageRow} row @param {Key[]} keys */
function columns(row, keys) {
  const { input, output, cacheWrite, cacheRead, reasoning } = row.usage;
  const named = keys.flatMap((key) => (key === "session" ? [row.session?.id, row.session?.title] : [row[key]]));
  return columnsText([...named, row.calls, input, output, cacheWrite, cacheRead, reasoning, row.cost]);
}
