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

/** How long ago a time is: `3h`, `2w`. @param {string} time RFC 3339 @param {Date} now */
export function formatAge(time, now) {
  let amount = (now.getTime() - Date.parse(time)) / 60_000;
  if (!(amount >= 1)) return "now";
  for (const [unit, most] of UNITS) {
    if (amount < most) return `${Math.floor(amount)}${unit === "minute" ? "min" : unit[0]}`;
    amount /= most;
  }
  return "";
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
