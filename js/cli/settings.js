// @ts-check
/** `leftoff settings`: shows settings with the file that sets each, or changes them. */

import { LeftoffError } from "../index.js";
import { withStore } from "./store.js";

/** @typedef {ReturnType<import("../store/store.js").Store["listSettings"]>[number]} Setting */

/** @param {Record<string, any>} args */
export async function settings({ key, value, project, unset, ...args }) {
  if (unset ? key === undefined || value !== undefined : project && value === undefined) {
    throw new LeftoffError({
      code: "usage",
      message: unset ? "--unset takes a key and no value" : "--project takes a key and a value, or a key and --unset",
    });
  }
  return withStore(args, async (store) => {
    if (unset) await store.unsetSetting(key, { project });
    if (value !== undefined) await store.writeSetting(key, parseValue(value), { project });
    const all = store.listSettings();
    const asked = key === undefined ? all : all.filter((one) => one.key === key);
    return { text: renderTable(asked), value: key === undefined ? asked : asked[0] };
  });
}

// Parses a value: what is no JSON is a text, which the setting accepts or refuses.
/** @param {string} value */
function parseValue(value) {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** @param {Setting[]} shown */
function renderTable(shown) {
  const why = (/** @type {Setting} */ { path }) =>
    path ? "not in force: autoPersist.enabled is false" : "not in force until set";
  const source = (/** @type {Setting} */ one) => `${one.path ?? "default"}${one.inForce ? "" : ` (${why(one)})`}`;
  const rows = shown.map((one) => [one.key, JSON.stringify(one.value), source(one)]);
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ")}\n`).join("");
}
