// @ts-check
/** Characters that turn text around or are not seen at all, written out: a text is read as what it is. */

/**
 * Overrides and embeddings of direction, spaces without width, and the tags that only flags use. What languages and
 * emoji need stays: marks of direction, joiners.
 */
const HIDDEN_CHARACTERS =
  /[\u200b\u202a-\u202e\u2060-\u2069\ufeff]|(?<!\u{1f3f4}[\u{e0000}-\u{e007f}]{0,6})[\u{e0000}-\u{e007f}]+/gu;
const FIRST_TAG = 0xe0000;
/** More marks above one letter than any language has: thousands of them take a browser seconds to draw. */
const PILED_MARKS = /(?<=\p{M}{16})\p{M}+/gu;

/** Writes hidden characters by their numbers, tags by their letters, and piles of marks by their count. @param {string} text */
export function showHidden(text) {
  const flat = text.replace(PILED_MARKS, (marks) => `‹${Array.from(marks).length} marks›`);
  return flat.replace(HIDDEN_CHARACTERS, (found) => {
    const codes = Array.from(found, (sign) => Number(sign.codePointAt(0)));
    if (codes[0] < FIRST_TAG) return `‹U+${codes[0].toString(16).toUpperCase()}›`;
    return `‹tags: ${codes.map((code) => String.fromCharCode(code - FIRST_TAG)).join("")}›`;
  });
}
