// @ts-check
/** What a store refuses to do. */

import { LeftoffError } from "../error.js";

/** @import { Session } from "./session.js" */

/** @param {Session} session @param {string} id of a message */
export async function refuseUnlessSaid(session, id) {
  for await (const message of session.messages({ newestFirst: true, allBranches: true })) if (message.id === id) return;
  throw new LeftoffError({ code: "not_found", message: `expected a message "${id}" in this session, but found none` });
}

/** @param {unknown} signal that ends something */
export function refuseUnlessSignal(signal) {
  if (signal === undefined || typeof (/** @type {any} */ (signal)?.addEventListener) === "function") return;
  throw new LeftoffError({ code: "invalid_request", message: `expected an AbortSignal for "signal", but found ${JSON.stringify(signal)} instead` });
}
