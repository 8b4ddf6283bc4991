// @ts-check
/** What a fork begins with: how the other session began, what was said up to a message, and what tools did for it. */

import { LeftoffError } from "../error.js";

/** @import { Session } from "../session/session.js" */
/** @import { ReadMessage } from "../types/index.js" */

/** @param {Session} session @param {{ at?: string }} options */
export async function copyOf(session, { at }) {
  await session.look();
  const { type, display, agent, provider } = session.stored.metadata;
  /** @type {ReadMessage[]} */
  const messages = [];
  for await (const message of session.messages({ leaf: at })) {
    messages.push(message);
    if (message.id === at) break;
  }
  const messageId = messages.at(-1)?.id;
  if (!messageId || (at !== undefined && messageId !== at)) {
    throw new LeftoffError({ code: "not_found", message: `expected a message ${at ? `"${at}" ` : ""}to fork at, but found none` });
  }
  const answered = new Set(messages.map(({ tool }) => tool?.callId));
  const ids = new Set(messages.map(({ id }) => id));
  const executions = (await session.stored.toolExecutions()).filter((one) => answered.has(one.toolCallId) && (!one.messageId || ids.has(one.messageId)));
  const { type: by, model, contextWindow, baseUrl } = provider;
  const made = { ...agent, provider: by || undefined, model: model || undefined, contextWindow: contextWindow || undefined, baseUrl };
  const then = [{ type: "fork", session: session.id, messageId }];
  return { created: { type, title: display.title, agent: made, then }, messages, executions };
}
