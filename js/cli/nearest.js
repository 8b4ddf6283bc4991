// @ts-check
/** What may have been meant by a word that nobody knows. */

/** Of more letters that differ, it is another word. @param {string} word */
const most = (word) => Math.max(1, Math.floor(word.length / 3));

/**
 * Those that differ least from what was typed; none where all differ much.
 * @param {string} typed @param {Iterable<string>} known
 */
export function nearest(typed, known) {
  const told = Array.from(known, (word) => ({ word, distance: distance(typed, word) })).filter((one) => one.distance <= most(typed));
  const least = Math.min(...told.map((one) => one.distance));
  return told.filter((one) => one.distance === least).map(({ word }) => word);
}

/** The letters to be changed, added, left out or swapped with their neighbour. @param {string} a @param {string} b */
export function distance(a, b) {
  let [before, last] = [/** @type {number[]} */ ([]), Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min((last[j - 1] ?? 0) + (isSame ? 0 : 1), (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, swapped));
    }
    [before, last] = [last, row];
  }
  return last[b.length] ?? 0;
}

/** For a message: what may have been meant, or nothing. @param {string[]} words */
export function didYouMean(words) {
  return words.length > 0 ? ` (did you mean ${words.join(" or ")}?)` : "";
}
