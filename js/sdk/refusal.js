// @ts-check
/** Refuses what an adapter was given; and tells what was refused by the store for another one's sake. */

import { LeftoffError } from "../index.js";

/** @param {string} expected @param {unknown} found @param {unknown} [cause] */
export function refusal(expected, found, cause) {
  return new LeftoffError({
    code: "invalid_request",
    message: `expected ${expected}, but found ${describe(found)} instead`,
    cause,
  });
}

/** Returns a value that has a method; else throws. @template {object} T @param {T} value @param {string} method @param {string} what */
export function checkObject(value, method, what) {
  if (typeof Object(value)[method] !== "function") throw refusal(what, value);
  return value;
}

/** False for a conflict, whereupon a session is looked at again: another one appended meanwhile; else throws. @param {unknown} error */
export function isConflict(error) {
  if (error instanceof LeftoffError && error.code === "conflict") return false;
  throw error;
}

/** A value as an error shows it: its JSON where that is short, else its type. @param {unknown} found */
function describe(found) {
  if (found === null || found === undefined) return String(found);
  if (Array.isArray(found)) return "an array";
  return typeof found === "string" ? JSON.stringify(found.slice(0, 40)) : typeof found;
}
