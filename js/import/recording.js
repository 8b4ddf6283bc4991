// @ts-check
/** A conversation that goes on in an agent's client, taken into the store from the client's own record. */

import { conversationNamed, typeOf } from "./arrivals.js";

/** @import { Begun } from "./arrivals.js" */
/** @import { LetGo } from "./importing.js" */
/** @import { Importing } from "./importing.js" */
/** @import { Session } from "../session/session.js" */
/** @import { ReadSession } from "../session/transcript.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Conversation } from "../types/index.js" */

/**
 * @param {Conversation} conversation
 * @param {(recording: { begun: Begun, letGo: LetGo }) => Importing} importing
 * @returns {Promise<Session | undefined>} the session that it is, or goes on with; nothing where nothing was said yet
 */
export async function recorded({ agent, path, only, commandOf = async () => undefined }, importing) {
  /** @type {Session[]} */
  const all = [];
  const letGo = async (/** @type {Session} */ session, /** @type {ReadSession} */ one) => {
    all.push(session);
    await noteAgent(session, one);
  };
  await importing({ begun: commandOf, letGo }).file(path, { from: agent, only });
  return all.findLast((session) => session.metadata.type !== "subagent");
}

// The model and the tools that it has by now.
/** @param {Session} session @param {ReadSession} one */
async function noteAgent(session, { model, tools }) {
  const { agent, provider } = session.stored.metadata;
  const known = agent.tools ?? [];
  const all = [...new Set([...known, ...tools])].sort();
  const isNew = all.length > known.length || (model && model !== provider.model);
  if (!isNew) return;
  const served = { ...(provider.type && { provider: provider.type }), ...(provider.baseUrl && { baseUrl: provider.baseUrl }) };
  // Of another model another window is true.
  const window = model === provider.model && provider.contextWindow ? { contextWindow: provider.contextWindow } : {};
  await session.setAgent({ ...agent, ...served, ...window, model: model ?? provider.model, tools: all });
}

/**
 * The conversation that a session of the home belongs beside, where a command of the workspace began it.
 * @param {Session} session @param {{ storage: Storage, workspace: string }} where
 */
export async function besideConversation(session, where) {
  if (session.placement !== "home" || !typeOf(session.metadata.agent.command)) return undefined;
  return conversationNamed(session.messages(), where);
}
