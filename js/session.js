// @ts-check
/** One session: its files, and the handle of the core that knows what is in them. */

import { given, streamed } from "./answers.js";
import { Contexts } from "./contexts.js";
import { entropy, nowMs } from "./clock.js";
import { anyCounter, called, toBytes } from "./core.js";
import { unlessBug } from "./error.js";
import { examine } from "./examine.js";
import { exported } from "./export.js";
import { Lease } from "./lease.js";
import { Live } from "./live.js";
import { Log } from "./log.js";
import { Appended, appended, ofPath } from "./messages.js";
import { SessionSecrets } from "./privacy/session-secrets.js";
import { Redaction } from "./redaction.js";
import { refuseUnlessSaid } from "./refusing.js";
import { resumed } from "./resuming.js";
import { Tools } from "./tools.js";
import { acknowledged, joined, refuseUnlessKnown, taken, written } from "./waiting.js";

/** @import { ExportFormat } from "./export.js" */
/** @import { Cache } from "./live.js" */
/** @import { Place } from "./placement.js" */
/** @typedef {(id: string) => Promise<Place | undefined>} Find */
/** @import { Waiting } from "./waiting.js" */
/** @import { CompactOptions, Compacted, ContextBuildResult, ContextRequest, Draft, Format, KeptReport, Notice, ReadMessage, ResumeRequest, Resumed } from "./types/index.js" */

export class Session {
  #live;
  #tools;
  #contexts;
  #lease;
  #isCounted;
  #idleMs;
  #secrets;
  /** @type {Promise<unknown>} */
  #queue = Promise.resolve();
  /** @type {Waiting[]} appends whose turn has not come */
  #waiting = [];
  /** Messages were appended that the document does not know. */
  #hasNews = false;

  /**
   * @param {{ cache: Cache, isCounted?: boolean, redaction?: Redaction, idleMs?: number }} parts `isCounted`: whether appended
   *   messages are counted; true unless given. `idleMs`: without activity for so long, it rests; never unless given
   * @param {Live} live
   */
  constructor({ cache, isCounted = true, redaction = Redaction.none, idleMs = Infinity }, live) {
    this.#live = live;
    this.#tools = new Tools(this, live);
    this.#lease = new Lease({ storage: cache.storage, folder: `${live.cachePath}.open` });
    this.#isCounted = isCounted;
    this.#idleMs = idleMs;
    this.#secrets = new SessionSecrets(live.from, redaction);
    this.#contexts = new Contexts(this, live, { from: live.from, secrets: this.#secrets, doing: { inTurn: (work) => this.#inTurn(work), record: (asked) => this.#record(asked) } });
    /** What whoever opened it should hear. @type {Notice[]} */
    this.notices = [];
  }

  /** The folder of the session; another one once it was moved, and something was done with it since. */
  get path() { return this.#live.place.path; }

  get placement() { return this.#live.place.placement; }

  /** The session's uuid. */
  get id() { return this.#live.id; }

  /** What `metadata.json` says of it, as it may leave. */
  get metadata() { return this.#secrets.outNow(this.#live.metadata); }

  /** The same as it is stored, and what tools did: for who writes it on, never for what leaves. */
  get stored() { return { metadata: this.#live.metadata, toolExecutions: () => this.#executions() }; }

  /** Loads what has to be known before anything leaves. */
  prepare() { return this.#secrets.prepare(); }

  /** The file of its messages, for who reads all of it. */
  get log() { return new Log({ ...this.#live.from, name: "Messages" }); }

  /** Whether its folder is where it was, and still its own. */
  isThere() {
    return this.#queued(() => this.#live.isThere());
  }

  /** Takes in what others wrote since the last look. */
  async look() {
    await this.#inTurn(() => this.#live.look());
    await this.prepare();
  }

  /** A folder that was made, and nothing in it. */
  get isEmpty() { return this.#live.isEmpty; }

  /**
   * Begins a session in a folder.
   * @param {Place & { cache: Cache, isCounted?: boolean, find?: Find, created: Record<string, unknown> & { id: string } }} options
   */
  static async begin({ created, ...parts }) {
    const live = new Live(parts);
    live.begin(created.id);
    const bytes = called(() => live.handle.stageCreated(toBytes(created), nowMs(), entropy()));
    await live.events.append(live.handle, bytes, { durable: true, begins: true });
    await live.save();
    return new Session(parts, live);
  }

  /**
   * Opens the session of a folder, reading what came after its checkpoint.
   * @param {Place & { cache: Cache, isCounted?: boolean, find?: Find }} parts `find`: where it lies now, if it was moved
   */
  static async open(parts) {
    const live = new Live(parts);
    await live.open();
    return new Session(parts, live);
  }

  /**
   * Appends one message or many, as one batch. Resolves once they are as safe as `acknowledged` says.
   * @param {Draft | Draft[] | object} drafts in the shape that `format` says; a provider's whole answer, too, which says it itself
   * @param {{ durability?: "durable" | "buffered", format?: Format, revives?: boolean }} [options] `revives`: a paused
   *   session is active again with it; true unless given
   * @returns {Promise<Appended>}
   */
  append(drafts, { durability = "durable", format, revives = true } = {}) {
    const late = streamed(drafts, format);
    if (late) return late.then((messages) => this.append(messages, { durability, format: "ai-sdk", revives }));
    return this.#enqueue(() => given(drafts, format), { durability, revives, isCopy: false });
  }

  /** Appends what was read from a log, or an agent's file: whatever it has, another one may have. @param {object | object[]} messages @param {{ durability?: "durable" | "buffered", revives?: boolean }} [options] as `append` */
  appendCopies(messages, { durability = "durable", revives = true } = {}) {
    return this.#enqueue(() => ({ all: [messages].flat(), format: "leftoff" }), { durability, revives, isCopy: true });
  }

  /** @param {() => { all: unknown[], format: Format }} said @param {Pick<Waiting, "durability" | "revives" | "isCopy">} how @returns {Promise<Appended>} */
  #enqueue(said, { durability, revives, isCopy }) {
    const mine = new Promise((resolve, reject) => {
      refuseUnlessKnown(durability);
      // As they are now: the caller may change them before their turn comes.
      const { all, format } = said();
      this.#waiting.push({ json: written(all, format), count: all.length, durability, format, revives, isCopy, resolve, reject });
    });
    // Whoever is first takes those along that wait behind it: one write and one flush for all of them.
    this.#queued(() => this.#appendGroup(taken(this.#waiting)));
    return mine;
  }

  /** Appends what was staged elsewhere, for a log that holds nothing yet; how many bytes that was. @param {import("./appending.js").Staging} staging */
  appendStaged(staging) {
    return this.#queued(async () => {
      await this.#live.revived();
      if (!this.#lease.isHeld) await this.#lease.hold();
      if (this.#live.isDue) await this.#goOn([]);
      this.#hasNews = true;
      const appended = await this.#live.appendStaged(staging);
      await this.prepare();
      return appended;
    });
  }

  /**
   * What a model call gets.
   * @template {Format} [F="leftoff"]
   * @param {ContextRequest<F>} [request]
   * @returns {Promise<ContextBuildResult<F>>}
   */
  context(request = {}) {
    return /** @type {Promise<any>} */ (this.#contexts.context(request));
  }

  /** What the last context was made of, without its texts; nothing where none was built. @returns {Promise<KeptReport | undefined>} */
  lastContext() { return this.#contexts.last(); }

  /** What the conversation has come to: its task, files, decisions and blockers, open tasks and failed commands beside it. */
  state() { return this.#contexts.state(); }

  /**
   * The task, pinned messages, open tasks, files and what was decided, as a text: for a compaction hook.
   * @param {{ maxTokens?: number, encoding?: string }} [options] 2,000 tokens of o200k_base unless given
   * @returns {Promise<string>} empty where nothing is known
   */
  brief({ maxTokens = 2000, encoding = "o200k_base" } = {}) { return this.#contexts.brief({ maxTokens, encoding }); }

  /**
   * A summary of the messages from one to another: what a model wrote of just these, if that is kept, else what was
   * learned of them.
   * @param {{ startMessageId: string, endMessageId: string, maxTokens: number }} asked
   * @returns {Promise<string>}
   */
  summaryOf(asked) { return this.#contexts.summaryOf(asked); }

  /**
   * Has contexts begin later: a summary stands for what lies before. Says what it would do; does it with `apply`. No
   * message is touched, and `undo` takes it back.
   * @param {CompactOptions} [options]
   * @returns {Promise<Compacted>}
   */
  compact(options = {}) {
    return this.#contexts.compact(options);
  }

  /**
   * What hands the session to the next run: the command that began it, the block, and the history that fits. A paused
   * session is active again; a completed one with `override` only. Warnings say what is not as it was.
   * @template {Format} [F="leftoff"]
   * @param {ResumeRequest<F>} [request]
   * @returns {Promise<Resumed<F>>}
   */
  resume(request = {}) {
    return resumed(this, request, { record: (asked) => this.#record(asked), secrets: this.#secrets });
  }

  /** Pauses it: what was said is saved, and can be taken up. @param {{ summary?: string }} [options] where it stopped */
  async stop({ summary } = {}) {
    await this.#become("paused", summary);
  }

  /** The same as `stop`. */
  pause() { return this.stop(); }

  /** Marks it as done. @param {{ summary?: string }} [options] */
  async complete({ summary } = {}) {
    await this.#become("completed", summary);
  }

  /** Gives it a title. @param {string} title */
  async rename(title) {
    await this.#record([{ type: "title", title }]);
  }

  /** Hides it from lists. No byte of it is moved. */
  async archive() {
    await this.#record(({ archivedAt }) => (archivedAt ? [] : [{ type: "archived" }]));
  }

  /** Puts it back into lists, as it was. */
  async unarchive() { await this.#record(({ archivedAt }) => (archivedAt ? [{ type: "unarchived" }] : [])); }

  /** Keeps a message in every context. @param {string} messageId */
  async pin(messageId) {
    await refuseUnlessSaid(this, messageId);
    await this.#record([{ type: "pin", messageId }]);
  }

  /** The messages that are in every context. @returns {Promise<string[]>} their ids */
  pins() { return this.#contexts.pins(); }

  /** Keeps it in every context no longer. @param {string} messageId */
  async unpin(messageId) {
    await this.#record([{ type: "unpin", messageId }]);
  }

  /** What made the conversation possible, as a whole, from now on. @param {import("./records.js").Agent} agent */
  async setAgent(agent) {
    await this.#record([{ type: "agent", agent: agent ?? null }]);
  }

  /**
   * It belongs to this project from now on, or has this name in a workspace.
   * @param {{ project?: import("./records.js").Project, name?: string, sessionJson?: object, metadataJson?: object }} where
   *   the documents: what it had in the placement that it left
   */
  async relocate(where) {
    await this.#record([{ type: "relocated", ...where }]);
  }

  /**
   * Records what a tool did: its result as a message, and beside it how it went. Once for each call. A call that no
   * message makes is added to the assistant's newest one.
   * @param {import("./types/index.js").Execution} execution
   */
  appendTool(execution) { return this.#tools.append(execution); }

  /** Takes over what tools did in another session, whose messages were. @param {import("./types/index.js").ReadExecution[]} executions */
  copyExecutions(executions) { return this.#tools.copy(executions); }

  /** What the tools did, oldest first; each with its result. */
  toolExecutions() { return this.#secrets.leaving(this.#executions()); }

  async #executions() {
    await this.#inTurn(() => this.#live.arrive());
    return this.#tools.executions();
  }

  /**
   * Pauses it where it rests and nobody has it open: dated when it was last active.
   * @returns {Promise<boolean>} whether it did
   */
  async pauseIfIdle() {
    if (this.#lease.isMine || !this.#live.isIdle(this.#idleMs) || (await this.#lease.others()).length > 0) return false;
    let last = "";
    await this.#record(() => {
      if (!this.#live.isIdle(this.#idleMs)) return [];
      last = new Date(this.#live.activeMs).toISOString();
      return [{ type: "status", status: "paused", reason: "idle", timestamp: last }];
    });
    if (!last) return false;
    const minutes = Math.round(this.#idleMs / 60_000);
    this.notices.push({ code: "auto_paused", message: `paused after ${minutes} minute${minutes === 1 ? "" : "s"} without activity; last active ${last}` });
    return true;
  }

  /** Whether a process that had it open is gone without having closed it. */
  async findLeftOpen() {
    for (const { program, pid, since } of await this.#lease.left()) {
      const message = `${program}, process ${pid}, had this session open since ${since} and ended without closing it; what was acknowledged is here`;
      this.notices.push({ code: "left_open", message });
    }
  }

  /**
   * The messages of the current path, as contexts have it: each once, as its highest revision; what lies in blobs is put back.
   * @param {import("./types/index.js").Reading} [options]
   * @returns {AsyncGenerator<ReadMessage>}
   */
  async *messages(options = {}) {
    const handle = await this.#inTurn(() => this.#live.arrive().then(() => this.#live.caughtUp()));
    yield* ofPath(this.#live.from, handle, options);
  }

  /**
   * What is appended from now on, by this process or by others, as it comes; a message that is written again comes
   * again. Ends when `signal` says so.
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {AsyncGenerator<ReadMessage>}
   */
  async *follow({ signal } = {}) {
    yield* appended(this.#live.from, { start: await this.#live.messages.size(), signal });
  }

  /**
   * Who else has the session open for appending. Nothing is lost by that; but two agents at one conversation are
   * seldom meant.
   */
  others() {
    return this.#lease.others();
  }

  /** Reads all of it and says what is wrong; nothing is mended. @returns {Promise<import("./types/index.js").Examined>} */
  examine() {
    return this.#secrets.leaving(examine(this.#live.place, this.id));
  }

  /** The session as one text. @param {ExportFormat} format @param {{ allBranches?: boolean }} [options] @returns {Promise<string>} */
  export(format, { allBranches } = {}) {
    return exported(this, { format, allBranches, secrets: this.#secrets });
  }

  /** Its line of the store's index. @param {object} place */
  indexLine(place) {
    return called(() => this.#live.handle.indexLine(toBytes(place)));
  }

  /** Takes in what others appended, so that `metadata` has it. */
  async refresh() {
    await this.#inTurn(async () => this.#live.messages.observe(await this.#live.revived()));
  }

  /** Makes the disk confirm all that was appended, and writes what is derived. @param {{ learns?: boolean }} [options] `learns`: folds what came since */
  async flush({ learns = true } = {}) {
    await this.#inTurn(async () => {
      await this.#live.messages.confirm({ again: true });
      await this.#live.report.settled();
      await this.#save({ learns });
    });
  }

  /** Writes what is derived, and lets go. */
  async close() {
    await this.#released();
    await this.#inTurn(() => this.#save()).finally(() => this.#live.close());
  }

  /** Forgets what is known of it, where it was opened for a look only. */
  letGo() { this.#live.letGo(); }

  /** Lets go of one whose folder is there no longer: nothing is written. */
  async leave() { await this.#released().finally(() => this.#live.close()); }

  async #released() {
    await this.#queue.catch(() => {});
    await this.#live.report.settled();
    await this.#lease.release();
  }

  // What others appended meanwhile belongs to what is derived, too.
  async #save({ learns = true } = {}) {
    const live = this.#live;
    if (!this.#hasNews && !live.wasRead && !live.isStale) return;
    await live.messages.observe(await live.revived());
    await live.complete();
    // The one in a workspace is the user's, and in git: it is written when an event changes it, never for a message.
    if (this.#hasNews && (live.isStale || this.placement === "home")) await live.save();
    // Who only reads writes it anew where that is possible.
    else if (live.isStale) await live.save().catch(unlessBug);
    await live.saveCheckpoint({ learns });
    this.#hasNews = false;
  }

  /**
   * Says as events what is asked for, of the session as it is now, whoever changed it.
   * @param {Record<string, unknown>[] | ((metadata: import("./records.js").MetadataJson) => Record<string, unknown>[])} asked
   */
  async #record(asked) {
    return this.#inTurn(async () => {
      await this.#live.look();
      const said = typeof asked === "function" ? asked(this.#live.metadata) : asked;
      if (await this.#live.record(said)) await this.#live.save();
    });
  }

  /** @param {"paused" | "completed"} status @param {string} [summary] */
  async #become(status, summary) {
    const said = summary === undefined ? [] : [{ type: "summary", summary }];
    await this.#record([...said, { type: "status", status }]);
  }

  /** Where the session lies now, once its turn has come; again, if it was moved meanwhile. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #inTurn(work) {
    return this.#queued(() => this.#live.here(work));
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #queued(work) {
    const mine = this.#queue.then(work, work);
    this.#queue = mine;
    return mine;
  }

  /** @param {Waiting[]} group alike in durability and format */
  async #appendGroup(group) {
    const [first] = group;
    if (!first) return;
    const durable = first.durability === "durable";
    let batch;
    try {
      batch = await this.#live.here(() => this.#stage(group, first));
    } catch (error) {
      if (group.length === 1) return first.reject(error);
      // One bad draft must not cost the others.
      for (const one of group) await this.#appendGroup([one]);
      return;
    }
    try {
      await this.#live.append(batch, { durable });
      await this.#secrets.take(batch.bytes);
      this.#hasNews = true;
      if (this.#live.needsAll) await this.#live.complete();
      let from = 0;
      for (const { count, resolve } of group) {
        // A provider's message may become several; it goes alone.
        const to = group.length === 1 ? undefined : from + count;
        resolve(new Appended(batch.bytes, { from, to, acknowledged: acknowledged(this.#live.from.storage, durable) }));
        from += count;
      }
    } catch (error) {
      for (const one of group) one.reject(error);
    }
  }

  /** @param {Waiting[]} group @param {Waiting} first */
  async #stage(group, { format, isCopy, durability }) {
    const live = this.#live;
    // Without the event that began the session, its messages would be nobody's.
    if (durability === "durable") await live.events.confirm();
    // Waiting costs, even for nothing.
    const handle = live.isLive ? live.handle : await live.revived();
    if (!this.#lease.isHeld) await this.#lease.hold();
    await live.messages.observe(handle);
    await live.lookSometimes();
    if (live.isDue) await this.#goOn(group);
    const json = joined(group.map((one) => one.json));
    const stamp = /** @type {const} */ ([nowMs(), entropy(), anyCounter(), this.#isCounted]);
    const bytes = called(() => (isCopy ? handle.stageCopies(json, ...stamp) : handle.stageMessages(json, format, ...stamp)));
    try {
      const blobs = called(() => handle.stagedBlobs()) ?? [];
      for (const [id, content] of blobs) await live.keepBlob(id, content);
      return { handle, bytes, blobs };
    } catch (error) {
      live.messages.abort(handle);
      throw error;
    }
  }

  // What the document says is said before the first message; and who goes on with a paused session makes it active.
  /** @param {Waiting[]} group */
  async #goOn(group) {
    const isPaused = this.#live.metadata.lifecycle === "paused" && group.some(({ revives }) => revives);
    // The document follows at once: an edit that takes back one that was adopted is seen by comparing it.
    if (await this.#live.record(isPaused ? [{ type: "status", status: "active" }] : [])) await this.#live.save();
  }
}
