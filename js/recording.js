// @ts-check
/** A conversation that goes on in an agent's client, taken into the store from the client's own record. */

import { conversationNamed, typeOf } from "./arrivals.js";

/** @import { Begun } from "./arrivals.js" */
/** @import { Importing } from "./importing.js" */
/** @import { Session } from "./session.js" */
/** @import { Storage } from "./storage/contract.js" */

/**
 * @typedef {object} Conversation
 * @property {string} agent whose client it is
 * @property {string} path the client's file
 * @property {import("./agents/opencode.js").Only} [only] which one, where the file is a database
 * @property {Begun} [commandOf] which command began it; asked where it is new here
 */

/**
 * @param {Conversation} conversation
 * @param {(recording: { begun: Begun, letGo: (session: Session) => Promise<void> }) => Importing} importing
 * @returns {Promise<Session | undefined>} the session that it is, or goes on with; nothing where nothing was said yet
 */
export async function recorded({ agent, path, only, commandOf = async () => undefined }, importing) {
  /** @type {Session[]} */
  const all = [];
  const letGo = async (/** @type {Session} */ session) => void all.push(session);
  await importing({ begun: commandOf, letGo }).file(path, { from: agent, only });
  return all.findLast((session) => session.metadata.type !== "subagent");
}

/**
 * The conversation that a session of the home belongs beside, where a command of the workspace began it.
 * @param {Session} session @param {{ storage: Storage, workspace: string }} where
 */
export async function besideConversation(session, where) {
  if (session.placement !== "home" || !typeOf(session.metadata.agent.command)) return undefined;
  return conversationNamed(session.messages(), where);
}
