// @ts-check
/** Counts and times as the editor shows them. */

import { nowMs } from "../wasm/clock.js";

const UNITS = /** @type {const} */ ([
  ["minute", 60],
  ["hour", 24],
  ["day", 7],
  ["week", 52],
  ["year", Infinity],
]);

/** @param {number} count @param {string} noun */
export const formatCount = (count, noun) => `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;

/** What is known of a thing, in a line. @param {(string | false | undefined)[]} facts */
export const joinFacts = (...facts) => facts.filter(Boolean).join(" · ");

/** The same, to be heard. @param {(string | false | undefined)[]} facts */
export const sayFacts = (...facts) => facts.filter(Boolean).join(", ");

/** How long ago a time is, to be seen: `3h`, `2w`. @param {string} time RFC 3339 @param {Date} now */
export function formatAge(time, now) {
  const { amount, unit } = measureAge(time, now);
  return amount === 0 ? "now" : `${amount}${unit === "minute" ? "min" : unit[0]}`;
}

/** How long ago a time is, to be heard: `3 hours ago`. @param {string} time RFC 3339 @param {Date} now */
export function sayAge(time, now) {
  const { amount, unit } = measureAge(time, now);
  return amount === 0 ? "now" : `${formatCount(amount, unit)} ago`;
}

/** @param {string} time @param {Date} now @returns {{ amount: number, unit: string }} 0 for less than a minute */
function measureAge(time, now) {
  let amount = Math.max((now.getTime() - Date.parse(time)) / 60_000, 0) || 0;
  for (const [unit, most] of UNITS) {
    if (amount < most) return { amount: Math.floor(amount), unit };
    amount /= most;
  }
  return { amount: 0, unit: "minute" };
}

export const nowDate = () => new Date(nowMs());

/** A day as people write it. @param {string} time RFC 3339 */
export function formatDay(time) {
  const date = new Date(time);
  const isThisYear = date.getFullYear() === nowDate().getFullYear();
  return date.toLocaleDateString(undefined, {
    day: "numeric",
    month: "short",
    ...(!isThisYear && { year: "numeric" }),
  });
}
