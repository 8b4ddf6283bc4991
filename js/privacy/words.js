// @ts-check
/** Which of many words are in a text, whatever their case: found in one pass, however many they are. */

const SIGNS = 128;

/**
 * The automaton of Aho and Corasick.
 * @param {string[]} words in lower case, of ASCII alone
 * @returns {(text: string) => Set<number>} by their places among the words
 */
export function wordFinder(words) {
  /** @type {number[][]} */
  const next = [[]];
  /** The words that end in each state. @type {number[][]} */
  const ends = [[]];
  for (const [place, word] of words.entries()) {
    let state = 0;
    for (const sign of word) {
      const code = sign.charCodeAt(0);
      const row = /** @type {number[]} */ (next[state]);
      row[code] ??= next.push([]) - 1;
      ends[row[code]] ??= [];
      state = row[code];
    }
    ends[state]?.push(place);
  }
  const table = tableOf(next, ends);
  return (text) => {
    const found = new Set();
    const seen = new Uint8Array(next.length);
    for (let at = 0, state = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      state = code < SIGNS ? /** @type {number} */ (table[state * SIGNS + code]) : 0;
      if (state === 0 || seen[state] === 1) continue;
      seen[state] = 1;
      for (const place of ends[state] ?? []) found.add(place);
    }
    return found;
  };
}

/** Where each state goes with each sign. @param {number[][]} next @param {number[][]} ends what a state falls back to ends there, too */
function tableOf(next, ends) {
  const table = new Uint16Array(next.length * SIGNS);
  const falls = new Uint16Array(next.length);
  const queue = [0];
  for (const state of queue) {
    const fallen = Number(falls[state]);
    if (state !== 0) ends[state]?.push(...(ends[fallen] ?? []));
    for (let code = 0; code < SIGNS; code += 1) {
      const child = next[state]?.[code];
      const other = state === 0 ? 0 : Number(table[fallen * SIGNS + code]);
      table[state * SIGNS + code] = child ?? other;
      if (child === undefined) continue;
      falls[child] = other;
      queue.push(child);
    }
  }
  // Capitals go where small letters go.
  for (let state = 0; state < next.length; state += 1) for (let code = 65; code <= 90; code += 1) table[state * SIGNS + code] = Number(table[state * SIGNS + code + 32]);
  return table;
}
