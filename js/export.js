// @ts-check
/** A session as one text: for people, or for other programs. */

import { agents } from "./agents.js";
import { lentBytes, textOf } from "./core.js";
import { toJson } from "./json.js";

/** @import { SessionSecrets } from "./privacy/session-secrets.js" */
/** @import { Session } from "./session.js" */
/** @import { ReadMessage } from "./types/index.js" */

/** The formats there are. */
export const exportFormats = /** @type {const} */ (["json", "markdown"]);

/** @typedef {(typeof exportFormats)[number]} ExportFormat */

/** @param {Session} session @param {{ format: ExportFormat, allBranches?: boolean, secrets: SessionSecrets }} how @returns {Promise<string>} */
export async function exported(session, { format, allBranches = false, secrets }) {
  const { handle, free } = agents.lent(({ Export }) => new Export(String(format), allBranches));
  const piece = (/** @type {"begin" | "message" | "execution"} */ name, /** @type {object} */ value) => textOf(agents.called(() => handle[name](lentBytes(toJson(value)))));
  try {
    /** @type {ReadMessage[]} */
    const all = [];
    for await (const message of session.messages({ allBranches: true })) {
      if (agents.called(() => handle.hasMessage(message.id, message.tool?.callId, message.onPath !== false))) all.push(message);
    }
    const { stored } = session;
    const executions = (await stored.toolExecutions()).filter(({ messageId, toolCallId }) => agents.called(() => handle.hasExecution(messageId, toolCallId)));
    const { metadata, messages, toolExecutions } = (await secrets.out({ metadata: stored.metadata, messages: all, toolExecutions: executions })).value;
    let text = piece("begin", metadata);
    // What is in the text already need not stay in memory beside it.
    for (messages.reverse(); messages.length > 0; ) text += piece("message", /** @type {object} */ (messages.pop()));
    for (const execution of toolExecutions) text += piece("execution", execution);
    return text + textOf(agents.called(() => handle.end()));
  } finally {
    free();
  }
}
