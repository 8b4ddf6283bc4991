// @ts-check
/** A session on its way into the next run: what that is told first, what changed since it was saved, the history as text. */

import { agents } from "./agents.js";
import { entropy, nowMs, stamp } from "./clock.js";
import { called, fromBytes, textOf, toBytes } from "./core.js";

/** @import { MetadataJson } from "./records.js" */
/** @import { SessionSecrets } from "./privacy/session-secrets.js" */
/** @import { Session } from "./session.js" */
/** @import { ContextBuildResult, Format, Holder, Now, ResumeRequest, Resumed } from "./types/index.js" */

/**
 * @internal
 * @template {Format} F the shape of the messages
 * @param {Session} session
 * @param {ResumeRequest<F>} request
 * @param {{ record: (asked: Record<string, unknown>[]) => Promise<unknown>, secrets: SessionSecrets }} doing what only the session can do
 * @returns {Promise<Resumed<F>>}
 */
export async function resumed(session, { override = false, revives = true, now, ...request }, { record, secrets }) {
  await session.look();
  const { metadata } = session.stored;
  const context = await session.context(request);
  const isComplete = metadata.lifecycle === "completed" && !override;
  const told = warningsOf(metadata, { isComplete, now, elsewhere: await session.others() });
  if (!isComplete && revives) {
    // One that rested and that nobody looked at since: from now on it is active again.
    await session.pauseIfIdle();
    await record([{ type: "status", status: "active", override }]);
  }
  // The context has been through the door.
  const { value } = await secrets.out({ command: metadata.agent.command ?? null, block: blockOf(metadata, context, told), warnings: told });
  return { id: metadata.id, command: value.command, block: value.block, history: context.messages, warnings: value.warnings, context };
}

/**
 * A history in leftoff's shape as text, for an agent that does not take it as turns: in a fence that nothing in it can close,
 * one message a line as JSON, with its time, its calls or the call that it answers, and which files came with it.
 * @param {object[]} messages as `resume` or `context` gives them
 * @returns {string}
 * @throws {LeftoffError} `invalid_request` for what is no message
 * @example
 * const text = historyText([{ role: "user", content: "Hello" }]);
 * /^----- [0-9a-f]{32}$/m.test(text); // => true
 */
export function historyText(messages) {
  return textOf(agents.called((agents) => agents.history(toBytes(messages), nowMs(), entropy())));
}

/** @param {MetadataJson} metadata @param {{ isComplete: boolean, now?: Now, elsewhere: Holder[] }} found @returns {string[]} */
function warningsOf({ agent, provider }, { isComplete, now, elsewhere }) {
  const { model, contextWindow } = provider;
  // A document has an empty model and no window where nobody knows them.
  const saved = { ...agent, model: model || undefined, contextWindow: contextWindow || undefined };
  const holders = elsewhere.map(({ program, pid, host, since }) => ({ program, pid, host, since }));
  const about = { agent: saved, status: isComplete ? "completed" : "active", now, elsewhere: holders };
  return fromBytes(called((core) => core.drift(toBytes(about))));
}

/** Which conversation the next run goes on with. @param {MetadataJson} metadata @param {Omit<ContextBuildResult, "messages">} context @param {string[]} warnings */
function blockOf(metadata, context, warnings) {
  const left = context.originalMessageCount - context.includedMessageCount;
  const told = {
    type: metadata.type,
    title: metadata.display.title,
    lastActive: metadata.timestamps.lastMessageAt || undefined,
    messageCount: metadata.stats.messageCount,
    summary: metadata.summary,
    leftOut: left > 0 ? { count: left, command: `leftoff show ${metadata.id}` } : undefined,
    missing: context.missingBlobs ? { count: context.missingBlobs, command: `leftoff doctor ${metadata.id}` } : undefined,
    warnings,
  };
  return textOf(called((core) => core.resumeBlock(toBytes(told), stamp())));
}
