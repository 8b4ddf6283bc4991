// @ts-check
/** What holds, and which file says so. */

import { LeftoffError } from "../index.js";
import { settingKeys } from "../settings.js";
import { using } from "./store.js";

/** @typedef {ReturnType<import("../store.js").Store["listSettings"]>[number]} Shown */

/** @param {Record<string, any>} args */
export async function settings({ key, value, project, ...args }) {
  if (project && value === undefined) throw new LeftoffError({ code: "usage", message: "expected a key and a value with --project, but found less" });
  if (key !== undefined && !settingKeys.includes(key)) {
    throw new LeftoffError({ code: "usage", message: `expected one of ${settingKeys.join(", ")}, but found "${key}" instead` });
  }
  return using(args, async (store) => {
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
