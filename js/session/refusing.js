// @ts-check
/** What a store refuses to do. */

import { LeftoffError } from "../error.js";

/** @param {unknown} signal that ends something */
export function refuseUnlessSignal(signal) {
  if (signal === undefined || typeof (/** @type {any} */ (signal)?.addEventListener) === "function") return;
  throw new LeftoffError({ code: "invalid_request", message: `expected an AbortSignal for "signal", but found ${JSON.stringify(signal)} instead` });
}
