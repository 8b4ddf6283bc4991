// @ts-check
/** What model calls cost whose provider has the beginning of each context in its cache, where that is unchanged. */

import { countTokens } from "../js/index.js";

/** What a token costs of the price of one that no cache has: read from a cache, and written to it. */
const READ = 0.1;
const WRITTEN = 1.25;

/**
 * @typedef {object} Bill
 * @property {number} calls
 * @property {number} kept the sum of the shares of contexts that the call before had
 * @property {number} tokens of all contexts: what they cost without a cache
 * @property {number} cost
 * @property {number} cuts contexts of which little was kept
 * @property {string[]} last the messages of the last call, each as JSON
 */

/** @returns {Bill} */
export const beginBill = () => ({ calls: 0, kept: 0, tokens: 0, cost: 0, cuts: 0, last: [] });

/** Adds a call. @param {Bill} bill @param {string[]} items the messages, each as JSON */
export async function billCall(bill, items) {
  const changed = items.findIndex((item, place) => item !== bill.last[place]);
  const whole = changed < 0 ? items.length : changed;
  const unchanged = [...items.slice(0, whole), commonBeginning(items[whole] ?? "", bill.last[whole] ?? "")];
  const [all, same] = [await countItems(items), await countItems(unchanged)];
  bill.calls += 1;
  bill.kept += same / all;
  bill.tokens += all;
  bill.cost += same * READ + (all - same) * WRITTEN;
  bill.cuts += same < all / 4 ? 1 : 0;
  bill.last = items;
}

/** Some shapes add to the last message what was said since. @param {string} one @param {string} other */
function commonBeginning(one, other) {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}

/** In percent: of a context, what the call before has. @param {Bill} bill */
export const meanKept = ({ kept, calls }) => (kept / calls) * 100;

/** What they cost, of the price without a cache. @param {Bill} bill */
export const costShare = ({ cost, tokens }) => cost / tokens;

/** The tokens of each text that was counted. @type {Map<string, number>} */
const counts = new Map();

/** @param {string[]} items */
export async function countItems(items) {
  const unknown = items.filter((item) => !counts.has(item));
  const made = await countTokens(unknown);
  unknown.forEach((item, place) => counts.set(item, made[place] ?? 0));
  return items.reduce((sum, item) => sum + (counts.get(item) ?? 0), 0);
}
