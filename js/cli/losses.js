// @ts-check
/** Renders import and export losses, to be read at a glance. */

/** @typedef {import("../types/index.js").ImportedSession["losses"][number]} Loss */

/** How many of several things are named, such as fields lost for one reason. */
export const MAX_NAMES = 4;

/**
 * Groups losses by their reason; `--json` has each.
 * @param {Loss[]} all
 * @param {string} [what] what happened to them
 */
export function lossText(all, what = "not taken over") {
  /** @type {Map<string, Map<string, number>>} */
  const byReason = new Map();
  for (const { field, count, why } of all) {
    const fields = byReason.get(why) ?? new Map();
    byReason.set(why, fields.set(field, (fields.get(field) ?? 0) + count));
  }
  const named = (/** @type {Map<string, number>} */ fields) => {
    const names = Array.from(fields, ([field, count]) => `${field} (${count})`);
    return `${names.slice(0, MAX_NAMES).join(", ")}${names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ""}`;
  };
  return Array.from(byReason, ([why, fields]) => `    ${what}, ${why}: ${named(fields)}\n`).join("");
}
