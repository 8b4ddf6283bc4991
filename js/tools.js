// @ts-check
/** What tools did: the result is a message, how it went stands beside it in `tools.jsonl`; both are joined by the call. */

import { entropy, nowMs } from "./clock.js";
import { bytesOf, called, fromBytes, toBytes } from "./core.js";
import { LeftoffError } from "./error.js";
import { toJson } from "./json.js";

/** @import { Live } from "./live.js" */
/** @import { ReadMessage } from "./types/index.js" */
/** @import { Session } from "./session.js" */
/** @import { ToolExecution } from "./records.js" */

/**
 * What a tool did.
 * @typedef {object} Execution
 * @property {{ id: string, name: string, arguments?: Record<string, unknown> }} call
 * @property {{ content: string, success?: boolean, error?: string, exitCode?: number }} result `success`: true unless
 *   given, or there is an error
 * @property {number} [durationMs]
 * @property {string} [messageId] the assistant's message with the call; found, unless given
 *
 * @typedef {ToolExecution & { result: { content?: string } }} ReadExecution `content`: that of the message
 *
 * What is in the log around a call: the assistant's message that makes it, its result, and the assistant's newest one.
 * @typedef {{ owner?: ReadMessage, answer?: ReadMessage, newest?: ReadMessage }} Around
 */

/** How far back a call may lie that is answered. */
const FAR = 2000;

export class Tools {
  #session;
  #live;
  /** One after another: of two that bring the same call the second has to see the first. @type {Promise<unknown>} */
  #turn = Promise.resolve();

  /** @param {Session} session @param {Live} live */
  constructor(session, live) {
    this.#session = session;
    this.#live = live;
  }

  /**
   * @param {Execution} execution
   * @returns {Promise<{ execution: ReadExecution, isNew: boolean }>} `isNew`: false where that call was on record
   */
  async append(execution) {
    const asked = checked(execution);
    const mine = this.#turn.then(() => this.#append(asked));
    this.#turn = mine.catch(() => {});
    return mine;
  }

  /** Oldest first. @returns {Promise<ReadExecution[]>} */
  async executions() {
    const recorded = await this.#recorded();
    if (recorded.length === 0) return [];
    /** @type {Map<string, string>} which message made the call last */
    const owners = new Map();
    /** @type {Map<string, string>} */
    const contents = new Map();
    for await (const { id, assistant, tool, content } of this.#session.messages({ allBranches: true })) {
      for (const call of assistant?.toolCalls ?? []) owners.set(call.id, id);
      if (tool) for (const key of [tool.callId, keyOf(owners.get(tool.callId), tool.callId)]) contents.set(key, content);
    }
    return recorded.map((one) => joined(one, contents.get(keyOf(one.messageId, one.toolCallId)) ?? contents.get(one.toolCallId)));
  }

  /** Writes down what tools did in another session; what they said is among this one's messages. @param {ReadExecution[]} executions */
  async copy(executions) {
    const { tools, handle } = this.#live;
    for (const execution of executions) {
      const bytes = called(() => handle.stageExecution(toBytes(execution), nowMs(), entropy()));
      await tools.append(handle, bytes, { durable: false });
    }
    await tools.confirm({ again: true });
  }

  /** @param {ReturnType<typeof checked>} asked */
  async #append({ call, result: { content, ...result }, durationMs, messageId }) {
    const live = this.#live;
    const { owner, answer } = await this.#around(call.id, { messageId, content });
    await live.tools.observe(await live.revived());
    if (called(() => live.handle.hasExecuted(call.id))) {
      const known = (await this.#recorded()).findLast((one) => one.toolCallId === call.id && (!owner || !one.messageId || one.messageId === owner.id));
      if (known) return { execution: joined(known, answer?.content), isNew: false };
    }
    // A result whose call nobody made would be in no context. What was imported stays as its source has it.
    if (owner && !owner.source && !hasCall(owner, call.id)) await this.#addCall(owner, call);
    // Whoever wrote the result may have died before it came to write down the rest.
    const said = answer ?? (await this.#appendResult(call, { content, isError: !result.success, exitCode: result.exitCode }));
    const { id: toolCallId, name: tool, arguments: args } = call;
    const execution = { toolCallId, tool, arguments: args, messageId: owner?.id ?? messageId, result, tokens: said?.tokens?.count, durationMs };
    const handle = await live.revived();
    await live.tools.observe(handle);
    const bytes = called(() => handle.stageExecution(toBytes(execution), nowMs(), entropy()));
    const [record] = executionsIn(bytes);
    await live.tools.append(handle, bytes, { durable: true });
    return { execution: joined(/** @type {ToolExecution} */ (record), said?.content), isNew: true };
  }

  /**
   * @param {string} id @param {{ messageId?: string, content: string }} about
   * @returns {Promise<Around>} `owner`: where nobody made the call, the assistant's newest message
   */
  async #around(id, { messageId, content }) {
    /** @type {Around} */
    const found = {};
    let far = 0;
    for await (const message of this.#session.messages({ newestFirst: true, allBranches: true })) {
      if (message.role === "tool" && message.tool?.callId === id) found.answer ??= message;
      if (message.role === "assistant" && message.onPath !== false) found.newest ??= message;
      if (messageId === undefined ? hasCall(message, id) : message.id === messageId) found.owner = message;
      far += 1;
      if (found.owner || far === FAR) break;
    }
    const { owner, answer, newest } = found;
    if (messageId !== undefined) return found;
    // Some providers give the same ids again. Whose calls had to be added, of that client another result behind another
    // answer is that of another call.
    const isOther = owner?.rev !== undefined && owner.id !== newest?.id && answer !== undefined && answer.content !== content;
    return owner && !isOther ? found : { owner: newest, answer: isOther ? undefined : answer };
  }

  /** @param {ReadMessage} owner @param {Execution["call"]} call */
  async #addCall(owner, { id, name, arguments: args }) {
    const toolCalls = [...(owner.assistant?.toolCalls ?? []), { id, name, arguments: toJson(args) }];
    await this.#session.appendCopies({ ...owner, role: "assistant", rev: (owner.rev ?? 0) + 1, assistant: { ...owner.assistant, toolCalls } });
  }

  /** @param {Execution["call"]} call @param {{ content: string, isError: boolean, exitCode?: number }} result */
  async #appendResult({ id, name }, { content, isError, exitCode }) {
    const tool = { callId: id, name, isError: isError || undefined, exitCode };
    const [message] = (await this.#session.append({ role: "tool", content, tool })).records;
    return message && { ...message, content };
  }

  // What was appended twice, since nobody could say whether it was, counts once; and so does what two processes wrote.
  async #recorded() {
    const { tools } = this.#live;
    const size = await tools.size();
    const all = size === 0 ? [] : executionsIn(await tools.range(0, size));
    /** @type {Map<string, ToolExecution>} */
    const once = new Map();
    for (const one of all) {
      const key = one.messageId ? keyOf(one.messageId, one.toolCallId) : one.id;
      if (!once.has(key)) once.set(key, one);
    }
    return [...once.values()];
  }
}

// As they are now: the caller may change them before their turn comes; and refused before the first byte is written.
/** @param {Execution} execution */
function checked(execution) {
  const json = toJson(execution);
  called((core) => core.checkExecution(bytesOf(json)));
  /** @type {Execution} */
  const { call, result, durationMs, messageId } = JSON.parse(json);
  if (typeof call?.id !== "string" || !call.id || typeof call.name !== "string" || typeof result?.content !== "string") {
    throw new LeftoffError({ code: "invalid_request", message: 'expected "call" with an id and a name, and "result" with a content, but found less' });
  }
  if (durationMs !== undefined && !(Number.isFinite(durationMs) && durationMs >= 0)) {
    throw new LeftoffError({ code: "invalid_request", message: `expected milliseconds for "durationMs", but found ${String(durationMs)} instead` });
  }
  const { content, error, success = error === undefined, exitCode } = result;
  if (exitCode !== undefined && !Number.isSafeInteger(exitCode)) {
    throw new LeftoffError({ code: "invalid_request", message: `expected a whole number for "exitCode", but found ${String(exitCode)} instead` });
  }
  if (success !== undefined && typeof success !== "boolean") {
    throw new LeftoffError({ code: "invalid_request", message: `expected true or false for "success", but found ${JSON.stringify(success)} instead` });
  }
  const { arguments: args = {} } = call;
  if (typeof args !== "object" || args === null || Array.isArray(args)) {
    throw new LeftoffError({ code: "invalid_request", message: 'expected an object for the "arguments" of the call, but found another value' });
  }
  return {
    call: { id: call.id, name: call.name, arguments: args },
    result: { content, success, error, exitCode },
    durationMs: durationMs === undefined ? undefined : Math.round(durationMs),
    messageId,
  };
}

/** @param {ToolExecution} execution @param {string} [content] @returns {ReadExecution} */
function joined(execution, content) {
  return { ...execution, result: { ...execution.result, content } };
}

/** @param {Uint8Array} log @returns {ToolExecution[]} */
function executionsIn(log) {
  return fromBytes(called((core) => core.toolExecutions(log)));
}

/** @param {ReadMessage} message @param {string} id */
function hasCall({ assistant }, id) {
  return assistant?.toolCalls?.some((call) => call.id === id) === true;
}

/** @param {string | undefined} messageId @param {string} callId */
function keyOf(messageId, callId) {
  return `${messageId} ${callId}`;
}
