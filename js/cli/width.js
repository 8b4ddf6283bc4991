// @ts-check
/** Text widths in a terminal's columns. */

import widthOf from "fast-string-width";

export { widthOf };

/** @type {Intl.Segmenter | undefined} */
let segmenter;

// Made when a text is first cut: making it takes longer than loading all else here.
/** @param {string} text */
function graphemes(text) {
  segmenter ??= new Intl.Segmenter();
  return segmenter.segment(text);
}

/**
 * Cuts a text to at most so many columns, with an ellipsis where something is left out.
 * @param {string} text
 * @param {number} columns
 */
export function cut(text, columns) {
  // A text that surely fits need not be taken apart.
  if (text.length * 2 <= columns || widthOf(text) <= columns) return text;
  let kept = "";
  let width = 1;
  for (const { segment } of graphemes(text)) {
    width += widthOf(segment);
    if (width > columns) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : "";
}

/** The end of a text, in at most so many columns. @param {string} text @param {number} columns */
export function tail(text, columns) {
  const all = Array.from(graphemes(text), ({ segment }) => segment);
  let width = 0;
  let from = all.length;
  while (from > 0 && (width += widthOf(all[from - 1] ?? "")) <= columns) from -= 1;
  return all.slice(from).join("");
}

/**
 * Fits a text into exactly so many columns: cuts it, or fills it up with blanks.
 * @param {string} text
 * @param {number} columns
 */
export function fill(text, columns) {
  const shown = cut(text, columns);
  return shown + " ".repeat(Math.max(0, columns - widthOf(shown)));
}
