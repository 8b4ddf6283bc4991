// @ts-check
/** What a store refuses to do. */

import { LeftoffError } from "./error.js";

/** @import { Session } from "./session.js" */

/** What another process appends meanwhile would go where nobody looks. @param {Session} session */
export async function refuseIfOpen(session) {
  const [other] = await session.others();
  if (!other) return;
  const { program, pid, host, since } = other;
  throw new LeftoffError({ code: "open_elsewhere", message: `expected a session that nobody else has open, but found ${program}, process ${pid} on ${host}, at it since ${since}` });
}

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
