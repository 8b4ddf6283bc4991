// @ts-check
/**
 * File names for keys that may be any text: no two keys have one name, on no filesystem, and each name tells its key.
 *
 * Small letters, digits, `-` and `_` stand for themselves, `^a` for `A`, and `%2e` or `%u20ac` for any other UTF-16 code
 * unit. A name that is too long is cut into folders, which end in `+`.
 */

/** Names that Windows takes for devices, whatever follows a dot. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/;
/** The most letters of a part: some filesystems take 143 bytes. */
const MAX_PART_LENGTH = 120;
/** Stands for the empty text. */
const EMPTY = "%";

/**
 * The names of the folders on the way to a text's file, and the file's own without its ending.
 * @param {string} text
 * @returns {string[]}
 */
export function encodeName(text) {
  const plain = text.replaceAll(/[^a-z0-9_-]/g, escapeUnit);
  const name = plain === "" ? EMPTY : DEVICE.test(plain) ? `${escapeUnit(plain[0] ?? "")}${plain.slice(1)}` : plain;
  const parts = [];
  for (let at = 0; at < name.length; at += MAX_PART_LENGTH) parts.push(name.slice(at, at + MAX_PART_LENGTH));
  const isLast = (/** @type {number} */ place) => place === parts.length - 1;
  return parts.map((part, place) => `${place > 0 ? "+" : ""}${part}${isLast(place) ? "" : "+"}`);
}

/** Whether a folder has a part of a name that goes on in it. @param {string} folder */
export const isNamePart = (folder) => folder.endsWith("+");

/**
 * The text that has these names; nothing where no text has.
 * @param {string[]} names
 * @returns {string | undefined}
 */
export function decodeName(names) {
  const name = names.map((part) => part.replaceAll("+", "")).join("");
  const text = name === EMPTY ? "" : name.replaceAll(/\^([a-z])|%u([0-9a-f]{4})|%([0-9a-f]{2})/g, unescapeUnit);
  return encodeName(text).join("/") === names.join("/") ? text : undefined;
}

/** @param {string} unit */
function escapeUnit(unit) {
  if (/[A-Z]/.test(unit)) return `^${unit.toLowerCase()}`;
  const hex = unit.charCodeAt(0).toString(16);
  return hex.length > 2 ? `%u${hex.padStart(4, "0")}` : `%${hex.padStart(2, "0")}`;
}

/** @param {string} _ @param {string} [capital] @param {string} [wide] @param {string} [narrow] */
function unescapeUnit(_, capital, wide, narrow) {
  return capital?.toUpperCase() ?? String.fromCharCode(Number.parseInt(wide ?? narrow ?? "", 16));
}
