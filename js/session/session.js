// @ts-check
/** One session. Its methods run the core's operations on its files, one after another. */

import { toPlainDrafts, awaitStreamedResult } from "./library-answers.js";
import { Appended } from "./appended.js";
import { Contexts } from "./context/contexts.js";
import { bytesOf } from "../wasm/core.js";
import { toJson } from "../wasm/json.js";
import { checkOptions, checkKind } from "../wasm/options.js";
import { acknowledgmentOf, joinArrays, rejectUnknownDurability, takeBatch, serializeDrafts } from "./append-queue.js";

/** @import { SessionHandle, SessionParts } from "./handle.js" */
/** @import { WaitingAppend } from "./append-queue.js" */
/**
 * @import { Agent, AppendOptions, CompactOptions, Compacted, ContextBuildResult, ContextRequest, Appendable, Examined, Execution, ExportFormat, Format, Found, Holder, KeptReport, SentContext, SessionSearchOptions, MetadataJson, Placement, ReadExecution, ReadMessage, Reading, ResumeRequest, Resumed, SessionState } from "../types/index.js"
 */

// What only leftoff itself does with a session. These are functions of this module, not methods: so no caller comes to
// depend on one, and none has to be documented. A test compares what is packed with what is declared.

/** Makes a session from a handle. @internal @type {(live: SessionHandle, parts: SessionParts) => Session} */
export let sessionOf;
/** @internal @type {(session: Session) => SessionHandle} */
export let handleOf;
/**
 * Appends messages read from a log or an agent's file, with fields that a caller's draft may not have. @internal
 * @type {(session: Session, messages: object[]) => Promise<Appended>}
 */
export let appendCopies;

/**
 * One conversation: messages are appended, and what a model call gets is built from them. Each call looks first whether
 * other processes appended meanwhile. Methods throw `LeftoffError`: beside the codes that each names, those of the
 * storage (`disk_full`, `permission_denied`, `storage_closed` …), `not_found` where the folder is gone, and
 * `newer_version` where a newer leftoff wrote it.
 */
export class Session {
  #handle;
  #contexts;
  #countTokens;
  #search;
  #fork;
  #onEnd;
  #redactor;
  /** @type {WaitingAppend[]} appends whose turn has not come */
  #waiting = [];

  static {
    sessionOf = (live, parts) => new this(live, parts);
    handleOf = (session) => session.#handle;
    appendCopies = (session, messages) =>
      session.#enqueue(() => messages, { durability: "durable", format: "leftoff", revives: true, isCopy: true });
  }

  /** @private @param {SessionHandle} live @param {SessionParts} parts */
  constructor(live, { countTokens = true, ended = () => {}, search = async function* () {}, fork = async () => this }) {
    this.#search = search;
    this.#fork = fork;
    this.#handle = live;
    this.#countTokens = countTokens;
    this.#onEnd = ended;
    this.#redactor = live.redactor;
    this.#contexts = new Contexts(this, live);
  }

  /** Notices for whoever opened the session, as far as they are known by now. */
  get notices() {
    return this.#handle.notices;
  }

  /** The session's folder; a new one after a move, as soon as another method has run. */
  get path() {
    return this.#handle.place.path;
  }

  /** Where the session lies: in the home, or in a workspace. @returns {Placement} */
  get placement() {
    return this.#handle.place.placement;
  }

  /** The session's uuid. */
  get id() {
    return this.#handle.id;
  }

  /** The content of `metadata.json`, redacted. @returns {MetadataJson} */
  get metadata() {
    return this.#redactor.redactNow(this.#handle.metadata);
  }

  /**
   * Appends one message or many, as one batch. Resolves once they are as safe as `acknowledged` says. Calls made
   * together
   * become one write and one flush.
   * @param {Appendable | readonly Appendable[]} drafts in the shape that `format` names; or a provider's whole answer,
   *   whose shape is detected
   * @param {AppendOptions} [options]
   * @returns {Promise<Appended>}
   * @throws {LeftoffError} `invalid_request` naming the place of a key or value that no reader would give back;
   *   `empty_message`; `unknown_parent`; `line_too_long`;
   * `conflict` and `operation_reused`, then nothing was appended; `disk_full` and others of the storage: then `written`
   * says how many bytes got in, and 0 that nothing was appended
   * @example
   * const { records, acknowledged } = await session.append({ role: "user", content: "What is left to do?" });
   * acknowledged; // => "durable"
   * records.length; // => 1
   * @example
   * const answer = { role: "assistant", content: [{ type: "text", text: "Nothing." }] };
   * await session.append(answer, { format: "anthropic", durability: "buffered" });
   * @example
   * const first = await session.append({ role: "user", content: "Go on." }, { operation: "step-7", expected: null });
   * const again = await session.append({ role: "user", content: "Go on." }, { operation: "step-7", expected: null });
   * again.records[0].id === first.records[0].id; // => true
   */
  append(drafts, options = {}) {
    const { durability = "durable", format, revives = true, operation, expected } = options ?? {};
    const late = awaitStreamedResult(drafts, format);
    if (late) return late.then((whole) => this.append(whole, options));
    return this.#enqueue(() => checkOptions("append", options) && toPlainDrafts(drafts), {
      durability,
      format,
      revives,
      once: { operation, expected },
      isCopy: false,
    });
  }

  /**
   * @param {() => unknown[]} said
   * @param {Pick<WaitingAppend, "durability" | "format" | "revives" | "isCopy"> & { once?: { operation?: string, expected?: string | null } }} how
   * @returns {Promise<Appended>}
   */
  #enqueue(said, { durability, format, revives, once = {}, isCopy }) {
    const mine = new Promise((resolve, reject) => {
      rejectUnknownDurability(durability);
      // Serialized now: the caller may change them before their turn comes.
      const all = said();
      const isAny = once.operation !== undefined || once.expected !== undefined;
      const { json, format: told } = serializeDrafts(all, format);
      this.#waiting.push({
        json,
        count: all.length,
        durability,
        format: told,
        revives,
        once: isAny ? toJson(once) : undefined,
        isCopy,
        resolve,
        reject,
      });
    });
    // The first one takes along those that wait behind it: one write and one flush for all.
    this.#handle.inTurn(() => this.#appendGroup(takeBatch(this.#waiting)));
    return mine;
  }

  /**
   * Records a message as an agent's plugin is handed it, or is handed it again once it has grown: what is new is
   * appended. The reader of the agent's files reads it, so an import of these files finds it there.
   * @param {object} message OpenCode's `{info, parts}`; or all that it has of the session, as `opencode export` gives
   *   it, once messages were taken back there
   * @param {{ from: string }} options `from`: the agent, `opencode`
   * @returns {Promise<number>} how many messages are new, or have grown; an answer to a prompt may be several
   * @throws {LeftoffError} `invalid_request` for what is no message of the agent, or another agent
   * @example
   * const session = await store.create({ source: { agent: "opencode", id: "ses_1" } });
   * const info = { id: "msg_1", sessionID: "ses_1", role: "user", time: { created: 1790000000000 } };
   * const message = { info, parts: [{ id: "prt_1", type: "text", text: "Rename the parser." }] };
   * await session.record(message, { from: "opencode" }); // => 1
   * await session.record(message, { from: "opencode" }); // => 0
   */
  async record(message, options) {
    const { from } = checkOptions("recordMessage", options);
    return this.#handle.recordMessage({ from, message });
  }

  /**
   * Builds what a model call gets: messages within the budget, each call with its result, and a report that says why.
   * What
   * doesn't fit is replaced by one summary, sent as a fenced user message.
   * @template {Format} [F="leftoff"]
   * @param {ContextRequest<F>} [request] windows and budgets in tokens
   * @returns {Promise<ContextBuildResult<F>>}
   * @throws {LeftoffError} `budget_too_small` where the newest user message does not fit, not even shortened;
   *   `no_counter`
   *   for an encoding that needs `count`; `invalid_request` for an option or a model that is not known
   * @example
   * await session.append({ role: "user", content: "Hello" });
   * const { messages, tokensUsed, tokenBudget, report } = await session.context({ window: 8000, format: "openai-chat" });
   * messages; // => [{ role: "user", content: "Hello" }]
   * tokenBudget; // => 6000
   * report.messages[0].action; // => "kept"
   */
  context(request = {}) {
    return /** @type {Promise<any>} */ (this.#contexts.context(request));
  }

  /**
   * Reads the report of the last context, without its texts; nothing where none was built. It is kept on disk, so
   * another process may ask.
   * @template {boolean} [F=false]
   * @param {{ full?: F }} [options] `full`: with its messages, built again from the session as it was then,
   *   and whether they equal those that were given
   * @returns {Promise<(F extends true ? SentContext : KeptReport) | undefined>}
   * @throws {LeftoffError} `invalid_request` for an option that is not known
   * @example
   * await session.append({ role: "user", content: "Hello" });
   * await session.context({ window: 8000 });
   * (await session.lastContext())?.strategy; // => "full-history"
   */
  async lastContext(options = {}) {
    return this.#contexts.last(checkOptions("lastContext", options));
  }

  /**
   * Returns the session state: the task, files, decisions and blockers, open tasks and failed commands. No model is
   * asked.
   * @returns {Promise<SessionState>}
   * @throws {LeftoffError} what any method throws
   * @example
   * await session.append({ role: "user", content: "Rename the parser's entry point." });
   * (await session.state()).originalTask; // => "Rename the parser's entry point."
   */
  state() {
    return this.#redactor.redactResult(this.#handle.run("state"));
  }

  /**
   * Returns the task, pinned messages, open tasks, files and decisions as a text, for a compaction hook.
   * @param {{ maxTokens?: number, encoding?: string }} [options] 2,000 tokens of o200k_base unless given
   * @returns {Promise<string>} empty where nothing is known
   * @throws {LeftoffError} `invalid_request` for a number of tokens that is none; `no_counter`
   * @example
   * await session.append({ role: "user", content: "Rename the parser's entry point." });
   * const told = await session.brief({ maxTokens: 500 });
   * told.includes("Rename the parser's entry point."); // => true
   */
  async brief(options = {}) {
    return this.#contexts.brief(checkOptions("brief", options));
  }

  /**
   * Returns a summary of the messages from one to another: a model's summary of just these, if one is kept, else one
   * made from
   * the session state.
   * @param {{ startMessageId: string, endMessageId: string, maxTokens: number }} asked
   * @returns {Promise<string>}
   * @throws {LeftoffError} `not_found` for a message that is not on the path
   * @example
   * const { records } = await session.append([{ role: "user", content: "Fix the parser." }, { role: "assistant", content: "Done." }]);
   * await session.summaryOf({ startMessageId: records[0].id, endMessageId: records[1].id, maxTokens: 200 });
   */
  summaryOf(asked) {
    return this.#contexts.summaryOf(asked);
  }

  /**
   * Starts future contexts after a summary. Without `apply` it only says what it would do. No message is touched, and
   * `undo`
   * takes it back.
   * @param {CompactOptions} [options] windows, budgets and `keep` in tokens
   * @returns {Promise<Compacted>}
   * @throws {LeftoffError} what `context` throws; `invalid_request` for a `keep` that is no number of tokens
   * @example
   * await session.append({ role: "user", content: "Hello" });
   * const plan = await session.compact({ window: 8000 });
   * plan.isApplied; // => false
   * plan.reason; // => "the conversation has 5 tokens, and 3000 are kept"
   */
  async compact(options = {}) {
    return this.#contexts.compact(checkOptions("compact", options));
  }

  /**
   * Resumes the session: returns the command that began it, the resume block, and the history that fits. A paused
   * session
   * becomes active again; a completed one only with `override`. Warnings say what has changed since.
   * @template {Format} [F="leftoff"]
   * @param {ResumeRequest<F>} [request] windows and budgets in tokens
   * @returns {Promise<Resumed<F>>}
   * @throws {LeftoffError} what `context` throws
   * @example
   * await session.append({ role: "user", content: "Hello" });
   * await session.stop();
   * const { block, history, warnings } = await session.resume({ window: 8000, now: { tools: [] } });
   * block.startsWith("[RESUMED CONVERSATION]"); // => true
   * warnings; // => []
   */
  async resume(request = {}) {
    const { override = false, revives = true, now, maxBytes, ...asked } = checkKind("request", request, "{");
    await this.#redactor.prepare();
    return this.#contexts.resume({ override, revives, now, maxBytes }, asked);
  }

  /**
   * Pauses the session; it can be resumed.
   * @param {{ summary?: string }} [options] `summary`: where it stopped
   * @throws {LeftoffError} `invalid_transition` where it was completed; `invalid_request` for a `summary` that is no
   *   text
   * @example
   * await session.stop({ summary: "The parser is renamed, its tests are not." });
   * session.metadata.lifecycle; // => "paused"
   */
  async stop(options = {}) {
    await this.#setStatus("paused", checkOptions("stop", options).summary);
  }

  /**
   * Pauses the session without a summary.
   * @throws {LeftoffError} what `stop` throws
   * @example await session.pause();
   */
  pause() {
    return this.stop();
  }

  /**
   * Marks the session as completed.
   * @param {{ summary?: string }} [options] `summary`: its result
   * @throws {LeftoffError} `invalid_request` for a `summary` that is no text
   * @example await session.complete(); session.metadata.lifecycle; // => "completed"
   */
  async complete(options = {}) {
    await this.#setStatus("completed", checkOptions("stop", options).summary);
  }

  /**
   * Gives the session a title.
   * @param {string} title
   * @throws {LeftoffError} `invalid_request` where it is no text
   * @example
   * await session.rename("The parser's entry point"); session.metadata.display.title; // => "The parser's entry point"
   */
  async rename(title) {
    await this.#recordEvents([{ type: "title", title }]);
  }

  /**
   * Hides the session from lists. No byte of it is moved.
   * @throws {LeftoffError} what any method throws
   * @example await session.archive(); session.metadata.status; // => "archived"
   */
  async archive() {
    await this.#recordEvents([{ type: "archived" }]);
  }

  /**
   * Shows the session in lists again, as it was.
   * @throws {LeftoffError} what any method throws
   * @example await session.archive(); await session.unarchive(); session.metadata.status; // => "active"
   */
  async unarchive() {
    await this.#recordEvents([{ type: "unarchived" }]);
  }

  /**
   * Keeps a message in every context.
   * @param {string} messageId
   * @throws {LeftoffError} `not_found` where the session has no such message
   * @example
   * const { records } = await session.append({ role: "user", content: "Never touch the schema." });
   * await session.pin(records[0].id);
   * (await session.pins()).length; // => 1
   */
  async pin(messageId) {
    await this.#recordEvents([{ type: "pin", messageId }]);
  }

  /**
   * Lists the pinned messages, which are in every context.
   * @returns {Promise<string[]>} their ids
   * @throws {LeftoffError} what any method throws
   * @example await session.pins(); // => []
   */
  pins() {
    return this.#handle.run("pins");
  }

  /**
   * Unpins a message: contexts may omit it again.
   * @param {string} messageId
   * @throws {LeftoffError} `invalid_request` where it is no text
   * @example
   * for (const id of await session.pins()) await session.unpin(id);
   * await session.pins(); // => []
   */
  async unpin(messageId) {
    await this.#recordEvents([{ type: "unpin", messageId }]);
  }

  /**
   * Replaces the agent from now on: the command, model, provider and tools that the conversation runs with.
   * @param {Agent} agent
   * @throws {LeftoffError} `invalid_request` for a field of another kind
   * @example
   * await session.setAgent({ command: "/brainstorm", model: "gpt-5", tools: ["Read"] });
   * session.metadata.agent.command; // => "/brainstorm"
   */
  async setAgent(agent) {
    await this.#recordEvents([{ type: "agent", agent: agent ?? null }]);
  }

  /**
   * Updates fields of the agent; others stay, except that a new model drops the window and a new provider the address.
   * @param {Agent} fields
   * @throws {LeftoffError} what `setAgent` throws
   * @example
   * await session.setAgent({ command: "/brainstorm", tools: ["Read"] });
   * await session.updateAgent({ model: "gpt-5" });
   * const { agent, provider } = session.metadata;
   * [agent.command, provider.model]; // => ["/brainstorm", "gpt-5"]
   */
  async updateAgent(fields) {
    await this.#recordEvents([{ type: "agent", partial: true, agent: fields ?? null }]);
  }

  /**
   * Records a tool execution: its result as a message, and beside it how it went. Once for each call. A call that no
   * message makes is added to the assistant's newest message.
   * @param {Execution} execution
   * @returns {Promise<{ execution: ReadExecution, isNew: boolean }>} `isNew`: false where that call was recorded before
   * @throws {LeftoffError} `invalid_request` for a call without an id or a name, a result that is no text, and a
   *   `messageId` of a message that is not the assistant's
   * @example
   * const toolCalls = [{ id: "call_1", name: "bash", arguments: '{"command":"npm test"}' }];
   * await session.append({ role: "assistant", assistant: { toolCalls } });
   * const { isNew } = await session.appendTool({ call: { id: "call_1", name: "bash" }, result: { content: "ok", exitCode: 0 }, durationMs: 810 });
   * isNew; // => true
   */
  async appendTool(execution) {
    // Serialized now: the caller may change it before its turn comes.
    const json = toJson(execution);
    const { lines, ...appended } = await this.#handle.inTurn(() =>
      this.#handle.run("appendTool", json, { countTokens: this.#countTokens }),
    );
    await this.#redactor.learnSecrets(bytesOf(lines));
    return appended;
  }

  /**
   * Reads the tool executions, oldest first, each with its result.
   * @returns {Promise<ReadExecution[]>}
   * @throws {LeftoffError} what any method throws
   * @example await session.tools(); // => []
   */
  tools() {
    return this.#redactor.redactResult(this.#run("tools"));
  }

  /**
   * Reads the messages of the current path, as contexts have it: each once, as its highest revision, with blobs put
   * back. They are read piece by piece, so the first comes at once, however long the session is.
   * @param {Reading} [options]
   * @returns {AsyncGenerator<ReadMessage>}
   * @throws {LeftoffError} `not_found` for a `leaf` that the session does not have
   * @example
   * await session.append([{ role: "user", content: "Hello" }, { role: "assistant", content: "Hi." }]);
   * const said = [];
   * for await (const { role, content } of session.messages({ newestFirst: true })) said.push([role, content]);
   * said; // => [["assistant", "Hi."], ["user", "Hello"]]
   */
  async *messages(options = {}) {
    yield* this.#handle.pages("messages", checkOptions("messages", options));
  }

  /**
   * Searches the session's messages for a question or words, best first, as `Store.search` does; `limit` messages at
   * most, 20 unless given.
   * @param {string} question
   * @param {SessionSearchOptions} [options]
   * @returns {AsyncGenerator<Found>}
   * @throws {LeftoffError} `invalid_request` for options that cannot be meant
   * @example
   * await session.append({ role: "user", content: "Rename the parser's entry point." });
   * const found = []; for await (const { words } of session.search("which parsers?")) found.push(words);
   * found; // => [["parsers"]]
   */
  search(question, options = {}) {
    return this.#search(this.id, checkKind("question", question), checkOptions("searchIn", options));
  }

  /**
   * Creates a new session of the store that begins as a copy of this one, up to a message.
   * @param {{ at?: string }} [options] `at`: the id of the last message to copy; the newest one unless given
   * @returns {Promise<Session>}
   * @throws {LeftoffError} `not_found` where this session has no such message
   * @example
   * const { records } = await session.append([{ role: "user", content: "Hello" }, { role: "assistant", content: "Hi." }]);
   * const copy = await session.fork({ at: records[0].id });
   * copy.metadata.stats.messageCount; // => 1
   */
  fork(options = {}) {
    return this.#fork(this, options);
  }

  /**
   * Follows the session: yields what is appended from now on, by this process or by others; a revised message comes
   * again. Ends when `signal` aborts.
   * @param {{ signal?: import("../types/index.js").Signal }} [options]
   * @returns {AsyncGenerator<ReadMessage>}
   * @throws {LeftoffError} `log_replaced` or `log_shrunk` where the log was put back to an earlier state;
   *   `invalid_request` for a `signal` that is none
   * @example
   * const ended = new AbortController();
   * const followed = session.follow({ signal: ended.signal });
   * const next = followed.next();
   * await session.append({ role: "user", content: "Hello" });
   * (await next).value.content; // => "Hello"
   * ended.abort();
   */
  async *follow(options = {}) {
    const { signal } = checkOptions("follow", options);
    if (!signal?.aborted) yield* this.#handle.pages("follow", {}, { signal });
  }

  /**
   * Lists who else has the session open for appending. Nothing is lost by that, but two agents in one conversation are
   * rarely meant.
   * @returns {Promise<Holder[]>}
   * @throws {LeftoffError} what any method throws
   * @example await session.others(); // => []
   */
  others() {
    return this.#run("others");
  }

  /**
   * Reads all of the session's files and reports what is wrong; nothing is mended. Places are byte offsets.
   * @returns {Promise<Examined>}
   * @throws {LeftoffError} what any method throws
   * @example (await session.examine()).health; // => "ok"
   */
  examine() {
    return this.#redactor.redactResult(this.#handle.inTurn(() => this.#handle.runInAgents("examine")));
  }

  /**
   * Exports the session as one text.
   * @param {ExportFormat} format
   * @param {{ allBranches?: boolean }} [options] `allBranches`: also the messages of other branches, marked
   * @returns {Promise<string>}
   * @throws {LeftoffError} `invalid_request` for another format
   * @example
   * await session.append({ role: "user", content: "Hello" }); (await session.export("markdown")).includes("Hello"); // => true
   */
  async export(format, options = {}) {
    const metadata = this.#handle.isEmpty ? this.#handle.metadata : undefined;
    return this.#handle.exportText({ format, ...checkOptions("export", options), metadata });
  }

  /**
   * Reads what others appended, so that `metadata` has it. @throws {LeftoffError} what any method throws
   * @example await session.refresh(); session.metadata.stats.messageCount; // => 0
   */
  async refresh() {
    await this.#run("catchUp");
  }

  /**
   * Makes the disk confirm all that was appended, and writes derived files.
   * @param {{ learns?: boolean }} [options] `learns`: folds new messages into the session state; true unless given
   * @throws {LeftoffError} `invalid_request` for a `learns` that is neither true nor false
   * @example
   * await session.append({ role: "user", content: "Hello" }, { durability: "buffered" });
   * await session.flush();
   */
  async flush(options = {}) {
    const { learns = true } = checkOptions("flush", options);
    if (this.#handle.isDeleted) return;
    await this.#handle.inTurn(async () => {
      await this.#handle.lazyWriter.flush();
      await this.#handle.run("flush", String(learns));
    });
  }

  /**
   * Writes derived files and closes the session. Closing the store does it, too.
   * @throws {LeftoffError} those of the storage
   * @example await session.close();
   */
  async close() {
    if (this.#handle.isDeleted || this.#handle.isStoreClosed) return;
    const ended = async () => {
      await this.#handle.lazyWriter.flush();
      await this.#handle.run("close");
    };
    try {
      await this.#handle.closeRecording();
    } finally {
      await this.#handle.inTurn(ended).finally(() => this.#handle.close());
    }
  }

  /**
   * Records events, judged against the session as it is on disk now, whoever changed it.
   * @param {Record<string, unknown>[]} asked
   */
  async #recordEvents(asked) {
    await this.#run("say", toJson(asked));
  }

  /** @param {"paused" | "completed"} status @param {string} [summary] */
  async #setStatus(status, summary) {
    const said = summary === undefined ? [] : [{ type: "summary", summary }];
    await this.#recordEvents([...said, { type: "status", status }]);
    await this.#onEnd(this.id);
  }

  /**
   * Runs one of the core's operations once its turn has come.
   * @param {string} name
   * @param {string} [request]
   * @returns {Promise<any>}
   */
  #run(name, request) {
    return this.#handle.inTurn(() => this.#handle.run(name, request));
  }

  /** @param {WaitingAppend[]} group alike in durability and format */
  async #appendGroup(group) {
    const [first] = group;
    if (!first) return;
    const durable = first.durability === "durable";
    const live = this.#handle;
    try {
      // In a group of many each draft is one message: a provider's answer, which may become several, goes alone.
      const format = first.format ?? (group.length > 1 ? "leftoff" : "");
      const how = {
        format: first.isCopy ? undefined : format,
        once: first.once,
        durable,
        revives: group.some(({ revives }) => revives),
        countTokens: this.#countTokens,
      };
      const lines = await live.append(joinArrays(group.map((one) => one.json)), how);
      await this.#redactor.learnSecrets(lines);
      let from = 0;
      for (const { count, resolve } of group) {
        // A provider's message, which goes alone, may have become several.
        const to = group.length === 1 ? undefined : from + count;
        resolve(new Appended(lines, { from, to, acknowledged: acknowledgmentOf(live.source.storage, durable) }));
        from += count;
      }
    } catch (error) {
      if (group.length === 1 || live.wasStaged) for (const one of group) one.reject(error);
      // One bad draft must not cost the others: append each alone.
      else for (const one of group) await this.#appendGroup([one]);
    }
  }
}
