// @ts-check
/** What a store refuses to do. */

import { called } from "./core.js";
import { LeftoffError } from "./error.js";

/** @import { Session } from "./session.js" */

/** What another process appends meanwhile would go where nobody looks. @param {Session} session */
export async function refuseIfOpen(session) {
  const [other] = await session.others();
  if (!other) return;
  const { program, pid, host, since } = other;
  throw new LeftoffError({ code: "open_elsewhere", message: `expected a session that nobody else has open, but found ${program}, process ${pid} on ${host}, at it since ${since}` });
}

/** What a caller without types may give. @param {Record<"type" | "title" | "name" | "placement" | "model" | "agent", unknown>} given */
export function refuseUnlessMeant({ placement, agent, ...texts }) {
  const wrong = (/** @type {string} */ message) => new LeftoffError({ code: "invalid_request", message });
  if (placement !== "home" && placement !== "workspace") {
    throw wrong(`expected "home" or "workspace" for "placement", but found ${JSON.stringify(placement)} instead`);
  }
  for (const [key, text] of Object.entries(texts)) {
    if (text !== undefined && typeof text !== "string") throw wrong(`expected a string for "${key}", but found ${JSON.stringify(text)} instead`);
  }
  // It is taken apart, and what has no fields would be as if it was not given.
  if (agent !== undefined && (typeof agent !== "object" || agent === null || Array.isArray(agent))) {
    throw wrong(`expected an object for "agent", but found ${Array.isArray(agent) ? "an array" : String(agent)} instead`);
  }
  const { name } = texts;
  if (typeof name === "string") called((core) => core.checkId(name));
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
