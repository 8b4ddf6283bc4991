// @ts-check
/**
 * Time and chance: the one place that asks the host for them, so that equal ones give equal bytes. Timers, and names
 * of files that are renamed before anybody looks, don't go through it.
 */

/**
 * @typedef {object} Clock
 * @property {() => number} now milliseconds since 1970
 * @property {() => number} ticks milliseconds since some moment, which never go backward
 * @property {(ms: number) => number} offsetMinutes how much later local time is than UTC, at a moment
 * @property {() => Uint8Array} entropy 32 bytes, for one call
 */

const ENTROPY_BYTES = 32;
const DAY_MS = 86_400_000;
const YEARS_BACK = 10;
// Chance is asked for in stock: each call to the system costs more than the bytes.
const chance = new Uint8Array(128 * ENTROPY_BYTES);
let used = chance.length;

/** @type {Clock} */
const HOST = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  offsetMinutes: (ms) => 0 - new Date(ms).getTimezoneOffset(),
  entropy: () => {
    if (used === chance.length) {
      crypto.getRandomValues(chance);
      used = 0;
    }
    used += ENTROPY_BYTES;
    return chance.subarray(used - ENTROPY_BYTES, used);
  },
};

let clock = HOST;

/** Sets another clock from now on; the host's again unless given. For tests. @param {Clock} [given] */
export function setClock(given = HOST) {
  clock = given;
}

/** The current time, in milliseconds since 1970. */
export function nowMs() {
  return clock.now();
}

/** A clock for durations, in milliseconds: it never goes backward. */
export function ticksMs() {
  return clock.ticks();
}

/** Minutes by which local time is later than UTC. @param {number} [ms] at this moment; now unless given */
export function offsetMinutes(ms = clock.now()) {
  return clock.offsetMinutes(ms);
}

/**
 * How much later local time is than UTC, in minutes, from which moment on: the changes of the last ten years, each to
 * the minute.
 */
export function offsetChanges() {
  let from = clock.now() - YEARS_BACK * 366 * DAY_MS;
  const changes = [[from, offsetMinutes(from)]];
  for (let to = from + DAY_MS; from < clock.now(); from = to, to += DAY_MS) {
    if (offsetMinutes(from) === offsetMinutes(to)) continue;
    let [before, after] = [from, to];
    while (after - before > 60_000) {
      const middle = (before + after) / 2;
      if (offsetMinutes(middle) === offsetMinutes(to)) after = middle;
      else before = middle;
    }
    changes.push([Math.round(after / 60_000) * 60_000, offsetMinutes(to)]);
  }
  return changes;
}

/** Chance for one call: 32 bytes, which later calls may write over. */
export function entropy() {
  return clock.entropy();
}

/** A random uuid, of version 4, which tells no time. */
export function randomId() {
  const bytes = clock.entropy().slice(0, 16);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return Array.from(
    bytes,
    (byte, at) => ([4, 6, 8, 10].includes(at) ? "-" : "") + byte.toString(16).padStart(2, "0"),
  ).join("");
}
