// @ts-check
/** Finds what a program that is no agent's client keeps in a store. */

import { LeftoffError } from "../index.js";

/** @import { Session } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */

/**
 * The session of a source; none where nothing of it is there.
 * @param {Store} store @param {{ agent: string, id: string }} source @returns {Promise<Session | undefined>}
 */
export function findSession(store, source) {
  return store.session({ source }).catch((error) => {
    if (error instanceof LeftoffError && error.code === "not_found") return undefined;
    throw error;
  });
}
