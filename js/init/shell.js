// @ts-check
/** Words as a shell reads them. */

/** What shells take as it is. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** @param {string[]} words */
export function shellWords(words) {
  return words.map((word) => (PLAIN.test(word) ? word : `"${word.replace(/["\\$`]/g, "\\$&")}"`)).join(" ");
}
