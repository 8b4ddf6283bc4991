// @ts-check
/** Work that reads a session and then appends to it, one piece behind the other: of this process only. */

/** @import { Session } from "../session/session.js" */

/** What was begun last. @type {WeakMap<Session, Promise<unknown>>} */
const lastTurns = new WeakMap();

/**
 * Does work on a session behind what was begun before.
 * @template T @param {Session} session @param {() => Promise<T>} work @returns {Promise<T>}
 */
export function inTurn(session, work) {
  const turn = (lastTurns.get(session) ?? Promise.resolve()).then(work);
  const settled = turn.catch(() => {});
  lastTurns.set(session, settled);
  return turn;
}
