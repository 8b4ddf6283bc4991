// @ts-check
/** What is typed in the search field: filters by words, such as `role:user` and `file:"a b.js"`, and the text to find. */

/** @typedef {"role" | "tool" | "file" | "is"} FilterKind */
/** @typedef {{ kind: FilterKind, value: string }} Filter */
/** @typedef {{ text: string, filters: Filter[] }} Query */

/** A filter, or a text in quotes that looks like one and is to be found. */
const WORDS =
  /(^|\s)(?:(role|tool|file|is):(?:"((?:[^"\\]|\\.)*)"|([^\s"]\S*))|"([^"]*(?:role|tool|file|is):[^"]*)")(?=\s|$)/gi;

/**
 * Reads what was typed. A filter without its value yet is none.
 * @param {string} typed
 * @returns {Query}
 */
export function parseQuery(typed) {
  /** @type {Filter[]} */
  const filters = [];
  const text = typed.replace(WORDS, (_, space, kind, quoted, plain, literal) => {
    if (literal !== undefined) return `${space}${literal}`;
    const value = plain ?? quoted.replace(/\\(.)/g, "$1");
    if (value !== "") filters.push({ kind: kind.toLowerCase(), value });
    return "";
  });
  // While a value is typed, its kind alone is no text to find.
  return { text: text.replace(/(^|\s)(role|tool|file|is):("[^"]*)?$/i, "").trim(), filters };
}

/** Writes what `parseQuery` reads. @param {Query} query */
export function writeQuery({ text, filters }) {
  const words = filters.map(({ kind, value }) => `${kind}:${/[\s"\\]/.test(value) ? quote(value) : value}`);
  const isLikeFilter = parseQuery(text).filters.length > 0;
  return [...words, isLikeFilter ? `"${text}"` : text].filter((word) => word !== "").join(" ");
}

/** @param {string} value */
const quote = (value) => `"${value.replace(/["\\]/g, "\\$&")}"`;
