// @ts-check
/** Parses times as they are typed: a day, a time, or how long ago. */

import { nowMs } from "../wasm/clock.js";
import { LeftoffError } from "../index.js";

const DAY_PATTERN = /^\d{4}-\d\d-\d\d$/;
const TIME_PATTERN = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;
const AGO_PATTERN = /^(\d{1,5}) ?(m|min|minutes?|h|hours?|d|days?|w|weeks?|mo|months?|y|years?)(?: ago)?$/;
const MINUTES = { m: 1, h: 60, d: 1440, w: 10_080 };

/**
 * @param {string | undefined} typed
 * @param {"since" | "until"} name a day is meant whole: from its beginning, or to its end
 * @param {Date} [now]
 */
export function parseTime(typed, name, now = new Date(nowMs())) {
  if (typed === undefined) return undefined;
  const found =
    parseDay(typed.trim().toLowerCase(), name, now) ??
    parseExact(typed.trim(), now) ??
    parseAgo(typed.trim().toLowerCase(), now);
  if (found && !Number.isNaN(found.getTime())) return found;
  throw new LeftoffError({
    code: "usage",
    message: `--${name} takes a time such as 2026-11-20, 2026-11-20T09:30, 3d, 2 weeks or yesterday, not "${typed}"`,
  });
}

/** Formats a record's time in local time: a day and a time. @param {string} timestamp */
export function formatLocalTime(timestamp) {
  const then = new Date(timestamp);
  if (Number.isNaN(then.getTime())) return timestamp;
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  return `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${two(then.getHours())}:${two(then.getMinutes())}`;
}

/** @param {string} typed @param {"since" | "until"} name @param {Date} now */
function parseDay(typed, name, now) {
  const end = name === "until" ? 1 : 0;
  const back = typed === "today" ? 0 : typed === "yesterday" ? 1 : undefined;
  const [year = 0, month = 0, day = 0] =
    back === undefined ? typed.split("-").map(Number) : [now.getFullYear(), now.getMonth() + 1, now.getDate() - back];
  const begun = new Date(year, month - 1, day);
  // Date takes the 30th of February for the 2nd of March.
  if (back === undefined && (!DAY_PATTERN.test(typed) || begun.getMonth() !== month - 1 || begun.getDate() !== day))
    return undefined;
  return new Date(new Date(year, month - 1, day + end).getTime() - end);
}

/** @param {string} typed @param {Date} now */
function parseExact(typed, now) {
  return TIME_PATTERN.test(typed) && parseDay(typed.slice(0, 10), "since", now)
    ? new Date(typed.replace(" ", "T"))
    : undefined;
}

/** @param {string} typed @param {Date} now */
function parseAgo(typed, now) {
  const [, count = "", unit = ""] = AGO_PATTERN.exec(typed) ?? [];
  if (!count) return undefined;
  const then = new Date(now);
  if (unit.startsWith("mo")) then.setMonth(now.getMonth() - Number(count));
  else if (unit.startsWith("y")) then.setFullYear(now.getFullYear() - Number(count));
  else then.setTime(now.getTime() - Number(count) * MINUTES[/** @type {keyof typeof MINUTES} */ (unit[0])] * 60_000);
  // Times before the year 1 have no usual form, and no message is as old.
  return then.getFullYear() > 0 ? then : new Date(0);
}
