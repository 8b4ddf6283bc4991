// @ts-check
/** Building a context: the core says what it needs, and gets it, until it is ready. */

import { anyCounter, called, exactCounter, fromBytes, namedCounter, stamp, textOf, toBytes } from "./core.js";
import { LeftoffError } from "./error.js";
import { blobOf } from "./messages.js";

/** @import { ContextBuild, Session as Handle } from "../pkg/leftoff.js" */
/** @import { Log } from "./log.js" */
/** @import { Storage } from "./storage/contract.js" */

/**
 * The shape of messages: leftoff's own, or that of OpenAI's chat completions or Responses, Anthropic's Messages, Gemini's
 * contents, the AI SDK's `ModelMessage` or its `UIMessage`. Also a provider's whole answer is taken by `append`.
 * @typedef {"leftoff" | "openai-chat" | "openai-responses" | "anthropic" | "gemini" | "ai-sdk" | "ai-sdk-ui"} Format
 */

/**
 * @typedef {object} ContextRequest
 * @property {number} [window] the model's limit, in tokens; that of the model unless given
 * @property {string} [model] whose window and encoding hold; the session's own unless given
 * @property {number} [reserve] kept for the answer, in tokens; a quarter of the window unless given
 * @property {string} [system] the system prompt, sent beside the context
 * @property {unknown} [tools] the tool definitions, sent beside the context
 * @property {string} [encoding] `o200k_base`, `cl100k_base`, `estimate-1`, or another one's name with `count`; that of the
 *   model unless given, else `o200k_base`
 * @property {Format} [format] the shape of the messages; `leftoff` unless given
 * @property {(texts: string[], encoding: string) => number[] | Promise<number[]>} [count] counts for another encoding
 *
 * @typedef {object} ContextBuildResult
 * @property {any[]} messages
 * @property {string} strategy
 * @property {number} tokensUsed
 * @property {number} tokenBudget
 * @property {number} originalMessageCount
 * @property {number} includedMessageCount
 * @property {number} summarizedMessageCount
 * @property {string[]} [withoutCall] calls that nobody made: the results that name them are left out of the messages
 * @property {any} report
 */

/** A report as it is kept: no text of a message is in it. @typedef {Omit<ContextBuildResult, "messages"> & { at: string }} KeptReport */

/**
 * @param {ContextBuild} build
 * @param {{ storage: Storage, log: Log, folder: string }} from
 * @param {Pick<ContextRequest, "count">} request
 * @returns {Promise<ContextBuildResult>}
 */
export async function built(build, from, { count }) {
  let counter = anyCounter();
  for (;;) {
    const { ready, needs } = fromBytes(called(() => build.next(counter)));
    if (ready) return ready;
    if (needs.type === "bytes") {
      const { start, end } = needs.range;
      const bytes = await from.log.range(start, end);
      called(() => build.bytes(start, bytes));
    } else if (needs.type === "blob") {
      const bytes = await blobOf(from, needs.id);
      called(() => build.blob(needs.id, bytes));
    } else if (needs.type === "counts" && called((core) => core.Counter.encodingOf(needs.encoding))) {
      counter = exactCounter(needs.encoding);
    } else if (needs.type === "counts" && count) {
      const counts = await count(needs.texts, needs.encoding);
      called(() => build.counts(toBytes(needs.texts.map((/** @type {string} */ text, /** @type {number} */ i) => [text, counts[i]]))));
    } else {
      const message = `expected a counter for "${needs.encoding}", but found none: give "count", or an encoding of o200k_base, cl100k_base or estimate-1`;
      throw new LeftoffError({ code: "no_counter", message });
    }
  }
}

/** What the next run is told first: which conversation it goes on with. @param {any} metadata @param {ContextBuildResult} context */
export function blockOf(metadata, context) {
  const left = context.originalMessageCount - context.includedMessageCount;
  const told = {
    type: metadata.type,
    title: metadata.display.title,
    lastActive: metadata.timestamps.lastMessageAt || undefined,
    messageCount: metadata.stats.messageCount,
    summary: metadata.summary,
    leftOut: left > 0 ? { count: left, command: `leftoff show ${metadata.id}` } : undefined,
  };
  return textOf(called((core) => core.resumeBlock(toBytes(told), stamp())));
}

/** What is kept of a context, so that whoever asks later sees what was sent and why. @param {ContextBuildResult} result @returns {KeptReport} */
export function reportOf({ messages: _, ...rest }) {
  return { at: new Date().toISOString(), ...rest };
}

/**
 * Document 004's `SessionState`; open tasks and failed commands beside it.
 * @typedef {object} SessionState
 * @property {string} projectPath
 * @property {string} originalTask
 * @property {{ path: string, action: "created" | "modified" | "deleted" }[]} modifiedFiles
 * @property {string} currentStatus what the assistant said last
 * @property {string[]} blockers
 * @property {string[]} keyDecisions
 * @property {string[]} openTasks
 * @property {{ command: string, failures: number, hasPassed: boolean }[]} failedCommands
 */

/** @param {Handle} handle which knows all of the conversation @returns {SessionState} */
export function stateOf(handle) {
  return fromBytes(called(() => handle.state()));
}

/**
 * @param {Handle} handle which knows all of the conversation
 * @param {Log} log
 * @param {{ maxTokens: number, encoding: string }} options
 */
export async function briefOf(handle, log, { maxTokens, encoding }) {
  if (!Number.isInteger(maxTokens) || maxTokens < 0 || maxTokens > 2 ** 32 - 1) {
    throw new LeftoffError({ code: "invalid_request", message: `expected a whole number of tokens for "maxTokens", but found ${JSON.stringify(maxTokens)} instead` });
  }
  const counter = namedCounter(encoding);
  /** @type {string[]} */
  const pins = [];
  for (const { start, end } of called(() => handle.pins())) {
    const line = await log.range(start, end);
    const { messages } = fromBytes(called((core) => core.scanLog(line)));
    pins.push(...messages.map((/** @type {{ content: unknown }} */ { content }) => String(content)));
  }
  return called(() => handle.brief(pins, maxTokens, counter));
}
