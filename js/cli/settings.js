// @ts-check
/** What holds, and which file says so. */

import { LeftoffError } from "../index.js";
import { using } from "./store.js";

/** @typedef {ReturnType<import("../store/store.js").Store["listSettings"]>[number]} Shown */

/** @param {Record<string, any>} args */
export async function settings({ key, value, project, unset, ...args }) {
  if (unset ? key === undefined || value !== undefined : project && value === undefined) {
    throw new LeftoffError({ code: "usage", message: `expected ${unset ? "a key and no value with --unset" : "a key and a value with --project, or a key and --unset"}` });
  }
  return using(args, async (store) => {
    if (unset) await store.unsetSetting(key, { project });
    if (value !== undefined) await store.writeSetting(key, typed(value), { project });
    const all = store.listSettings();
    const asked = key === undefined ? all : all.filter((one) => one.key === key);
    return { text: table(asked), value: key === undefined ? asked : asked[0] };
  });
}

// What is no JSON is a text; the settings say whether they want one.
/** @param {string} value */
function typed(value) {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** @param {Shown[]} shown */
function table(shown) {
  const rows = shown.map(({ key, value, path }) => [key, JSON.stringify(value), path ?? "by default"]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`).join("");
}
