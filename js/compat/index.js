// @ts-check
/**
 * The `SessionManager`-compatible API and `ContextManager`: a veneer over the store, with the designs' classes, names
 * and signatures.
 */

import { resolve } from "node:path";
import process from "node:process";

import { AutoPersist } from "./auto-persist.js";
import { ContextManager } from "./context-manager.js";
import { ContextBuilder, calculateBudget } from "./context.js";
import {
  normalizeResult,
  toAppendable,
  asObject,
  normalizeCall,
  toStoredMessage,
  toStoredExecution,
} from "./shapes.js";
import {
  extractSessionState,
  fullHistoryStrategy,
  generateSummary,
  minimalStateStrategy,
  prunedToolsStrategy,
  recentPlusSummaryStrategy,
} from "./strategies.js";
import { LeftoffError } from "../error.js";
import { handleOf } from "../session/session.js";
import { openStore } from "../store/open-store.js";
import { checkKind } from "../wasm/options.js";

export {
  AutoPersist,
  ContextBuilder,
  ContextManager,
  LeftoffError,
  calculateBudget,
  extractSessionState,
  fullHistoryStrategy,
  generateSummary,
  minimalStateStrategy,
  prunedToolsStrategy,
  recentPlusSummaryStrategy,
};
export * from "../types/compat.js";

/** @import { Session as Inner } from "../session/session.js" */
/** @import { Store } from "../store/store.js" */
/** @import { Call, Message, ProviderInfo, SessionMetadata } from "../types/compat.js" */
/** @import { StoredMessage, StoredToolExecution, ToolResult } from "../types/compat.js" */
/** @import { ContextBuildResult, ContextRequest, Listed, SessionState as State } from "../types/index.js" */

/**
 * A session open in this process, and the store that will close it.
 * @typedef {{ session: Inner, store: Store }} OpenSession
 */

/** The fields that `updateMetadata` takes: the rest follows from the logs. */
const UPDATABLE_FIELDS = ["title", "status", "provider", "lastAccessedAt"];

/**
 * The sessions of projects: creates, loads, lists, archives and deletes them.
 *
 * Methods throw `LeftoffError`: beside the codes that each names, those of the storage.
 * @example
 * const provider = { type: "ollama", model: "qwen2.5-coder", contextWindow: 32_768 };
 * const made = await manager.createSession(folder, provider);
 * (await manager.loadSession(made.id)).metadata.provider.model; // => "qwen2.5-coder"
 */
export class SessionManager {
  #options;
  /** One store for each project. @type {Map<string, Promise<Store>>} by project */
  #stores = new Map();
  /** One object for each session, whichever store opened it. @type {Map<string, OpenSession>} by path */
  #openByPath = new Map();

  /** @param {Omit<Parameters<typeof openStore>[0] & {}, "project">} [options] those of `openStore` */
  constructor(options = {}) {
    this.#options = options;
  }

  /**
   * Creates a session, which is its project's current one from then on.
   * @param {string} projectPath @param {ProviderInfo} provider
   * @returns {Promise<Session>}
   * @throws {LeftoffError} `invalid_request` for a provider that is none; `not_found` where the project is no folder
   */
  async createSession(projectPath, provider) {
    const agent = agentOf(provider);
    const store = await this.#store(projectPath);
    return new Session(this.#registerSession({ store, session: await store.create({ agent }) }));
  }

  /**
   * Opens a session by its whole id.
   * @param {string} sessionId
   * @returns {Promise<Session>}
   * @throws {LeftoffError} `not_found`
   */
  async loadSession(sessionId) {
    return new Session((await this.#findSession(sessionId)).session);
  }

  /**
   * Opens the session that was made current, else the last active one.
   * @param {string} projectPath @returns {Promise<Session | null>}
   * @throws {LeftoffError} what `openStore` throws of a project
   */
  async getCurrentSession(projectPath) {
    const store = await this.#store(projectPath);
    const session = await store.current();
    return session ? new Session(this.#registerSession({ store, session })) : null;
  }

  /**
   * Lists the sessions of a project, or of all; archived ones too, last active first.
   * @param {string} [projectPath]
   * @returns {Promise<SessionMetadata[]>}
   * @throws {LeftoffError} what `openStore` throws of a project
   * @example
   * (await manager.listSessions(folder)).map(({ id }) => id === session.id); // => [true]
   */
  async listSessions(projectPath) {
    const store = await this.#store(projectPath);
    return (await store.list({ all: projectPath === undefined, archived: null })).map(toMetadata);
  }

  /**
   * Reads a session's metadata without opening it.
   * @param {string} sessionId
   * @returns {Promise<SessionMetadata | null>}
   * @throws {LeftoffError} what `openStore` throws
   * @example
   * await manager.getSession("nobody"); // => null
   */
  async getSession(sessionId) {
    const all = await (await this.#store()).list({ all: true, type: null, archived: null });
    const found = all.find(({ id }) => id === sessionId);
    return found ? toMetadata(found) : null;
  }

  /**
   * Hides a session; no byte of it is moved.
   * @param {string} sessionId
   * @throws {LeftoffError} `not_found`
   * @example
   * await manager.archiveSession(session.id);
   * session.metadata.status; // => "archived"
   */
  async archiveSession(sessionId) {
    await (await this.#findSession(sessionId)).session.archive();
  }

  /**
   * Moves a session into the trash.
   * @param {string} sessionId
   * @throws {LeftoffError} `not_found`; `open_elsewhere` where another process has it open
   * @example
   * await manager.deleteSession(session.id);
   * await manager.listSessions(folder); // => []
   */
  async deleteSession(sessionId) {
    const { session, store } = await this.#findSession(sessionId);
    this.#openByPath.delete(session.path);
    await store.delete(session);
  }

  /**
   * Makes a session its project's current one.
   * @param {string} projectPath
   * @param {string} sessionId
   * @throws {LeftoffError} `not_found` where the project has no such session; `no_pointer` where it can have no current
   *   one
   * @example
   * await manager.setCurrentSession(folder, session.id);
   * (await manager.getCurrentSession(folder))?.id === session.id; // => true
   */
  async setCurrentSession(projectPath, sessionId) {
    const store = await this.#store(projectPath);
    const { session } = await this.#findSession(sessionId);
    const isMine = (await store.list({ type: null, archived: null })).some(({ path }) => path === session.path);
    if (!isMine) {
      throw new LeftoffError({
        code: "not_found",
        message: `expected a session of "${projectPath}", but found that "${sessionId}" is of "${session.metadata.project.path}"`,
      });
    }
    if (!(await store.point(session))) {
      throw new LeftoffError({
        code: "no_pointer",
        message: `"${projectPath}" can have no current session: it holds many projects, or cannot be written`,
      });
    }
  }

  /**
   * Saves a session's documents while it changes, by its project's settings: after each message of the assistant's and
   * each tool execution appended through the session. Archives the project's old sessions.
   * @param {Session} session
   * @param {ConstructorParameters<typeof AutoPersist>[1]} [config] over the settings
   * @throws {LeftoffError} `invalid_setting` for a key that is not known, and a value of another kind
   */
  async autoPersist(session, config) {
    const store = await this.#store(session.metadata.projectPath);
    const saving = new AutoPersist(session, { store, ...store.settings.autoPersist, ...config });
    saversOf(session).add(saving);
    return saving;
  }

  /** Writes derived files and releases all files. @throws {LeftoffError} those of the storage */
  async close() {
    const opening = [...this.#stores.values()];
    this.#stores.clear();
    this.#openByPath.clear();
    const closed = await Promise.allSettled(opening.map(async (store) => (await store).close()));
    const failed = closed.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  /** The same as `close`. @throws {LeftoffError} what `close` throws */
  async [Symbol.asyncDispose]() {
    await this.close();
  }

  /** @param {string} [project] */
  #store(project) {
    const [first] = this.#stores.values();
    if (project === undefined && first) return first;
    const path = resolve(checkKind("projectPath", project ?? process.cwd()));
    const store = this.#stores.get(path) ?? openStore({ ...this.#options, project: path });
    this.#stores.set(path, store);
    // A folder that is missing now may be there the next time.
    store.catch(() => this.#stores.delete(path));
    return store;
  }

  // Finds a session by its whole id: a beginning could delete or archive another one.
  /** @param {string} id @returns {Promise<OpenSession>} */
  async #findSession(id) {
    const known = [...this.#openByPath.values()].find(({ session }) => session.id === id);
    if (known) return known;
    const store = await this.#store();
    const session = await store.session(id);
    if (session.id !== id) throw new LeftoffError({ code: "not_found", message: `no session "${id}"` });
    this.#registerSession({ store, session });
    return { store, session };
  }

  /** @param {OpenSession} opened */
  #registerSession({ store, session }) {
    const known = this.#openByPath.get(session.path) ?? { store, session };
    this.#openByPath.set(session.path, known);
    return known.session;
  }
}

/** @type {(session: Session) => Set<AutoPersist>} */
let saversOf;

/**
 * One conversation: messages are appended, in either shape.
 *
 * Methods throw `LeftoffError`: beside the codes that each names, those of the storage, and `not_found` where the
 * folder
 * is gone.
 * @example
 * const stored = await session.appendMessage({ role: "user", content: "Hello" });
 * [stored.role, await session.getMessageCount()]; // => ["user", 1]
 */
export class Session {
  #session;
  /** The `AutoPersist`s that save the session. @type {Set<AutoPersist>} */
  #savers = new Set();

  static {
    saversOf = (session) => session.#savers;
  }

  /** @param {Inner} session */
  constructor(session) {
    this.#session = session;
    this.id = session.id;
  }

  /** @returns {SessionMetadata} */
  get metadata() {
    const { id, version, project, timestamps, stats, provider, display, status } = this.#session.metadata;
    return {
      id,
      version,
      projectPath: project.path,
      projectHash: project.hash,
      createdAt: timestamps.createdAt,
      lastAccessedAt: timestamps.lastAccessedAt,
      title: display.title,
      messageCount: stats.messageCount,
      totalTokens: stats.totalTokens,
      provider,
      status,
    };
  }

  /**
   * Appends a message; it is on disk when this resolves.
   * @param {Message} message
   * @returns {Promise<StoredMessage>}
   * @throws {LeftoffError} `invalid_request` naming what has no place in a message; `line_too_long`
   */
  async appendMessage(message) {
    const { content = "", assistant, ...rest } = toAppendable(message);
    const { records } = await this.#session.append({ ...rest, content, assistant });
    if (rest.role === "assistant") for (const saver of this.#savers) saver.afterAssistantMessage();
    // The given content, at hand here, in place of a blob's reference.
    return toStoredMessage({ ...records[0], content, assistant });
  }

  /**
   * Records a call and its result, once for each call.
   * @param {Call} call
   * @param {ToolResult} result
   * @returns {Promise<StoredToolExecution>}
   * @throws {LeftoffError} `invalid_request` naming what has no place in a call or a result
   * @example
   * await session.appendMessage({ role: "assistant", content: "I run the tests." });
   * const { result } = await session.appendToolExecution({ id: "call_1", name: "bash", arguments: { command: "npm test" } }, "ok");
   * result; // => { success: true, content: "ok" }
   */
  async appendToolExecution(call, result) {
    const { id, name, args, more } = normalizeCall(call);
    const { durationMs, ...answer } = normalizeResult(result, { id, name });
    const { execution } = await this.#session.appendTool({
      call: { ...more, id, name, arguments: asObject(args) },
      result: answer,
      durationMs,
    });
    for (const saver of this.#savers) saver.afterToolExecution();
    return toStoredExecution(execution);
  }

  /**
   * Title, status and provider become events. `lastAccessedAt` is the time of the newest message, and is taken for the
   * sake of the design's own examples only.
   * @param {Partial<SessionMetadata>} updates
   * @throws {LeftoffError} `invalid_request` for what follows from the logs
   * @example
   * await session.updateMetadata({ title: "The parser" });
   * session.metadata.title; // => "The parser"
   */
  async updateMetadata(updates) {
    const now = /** @type {Record<string, unknown>} */ ({ ...this.metadata });
    const other = Object.entries(updates).find(
      ([name, value]) => value !== undefined && !UPDATABLE_FIELDS.includes(name) && value !== now[name],
    );
    if (other)
      throw new LeftoffError({
        code: "invalid_request",
        message: `expected one of ${UPDATABLE_FIELDS.join(", ")} to update, but found "${other[0]}", which follows from what is stored`,
      });
    const { title, status = now.status, provider } = updates;
    if (status !== now.status && status !== "archived" && status !== "active") {
      throw new LeftoffError({
        code: "invalid_request",
        message: `expected "active" or "archived" for "status", but found ${JSON.stringify(status)} instead`,
      });
    }
    const agent = provider && agentOf(provider);
    if (title !== undefined && title !== now.title) await this.#session.rename(title);
    if (agent && JSON.stringify(agent) !== JSON.stringify(agentOf(this.metadata.provider))) {
      const { command, systemPromptHash, promptFile, tools } = handleOf(this.#session).metadata.agent;
      await this.#session.setAgent({ command, systemPromptHash, promptFile, tools, ...agent });
    }
    if (status === "archived") await this.#session.archive();
    if (status === "active") await this.#session.unarchive();
  }

  /**
   * The messages of the current path, oldest first.
   * @returns {Promise<StoredMessage[]>}
   * @throws {LeftoffError} what any method throws
   */
  async getMessages() {
    const messages = [];
    for await (const message of this.#session.messages()) messages.push(toStoredMessage(message));
    return messages;
  }

  /**
   * Reads the tool executions, oldest first, each with its result.
   * @returns {Promise<(StoredToolExecution & { toolCallId: string })[]>} @throws {LeftoffError} what any method throws
   */
  async getToolExecutions() {
    return (await this.#session.tools()).map(toStoredExecution);
  }

  /**
   * Builds what a model call gets, in leftoff's shape; `ContextBuilder` builds messages in this API's.
   * @param {ContextRequest<"leftoff">} request @returns {Promise<ContextBuildResult>}
   * @throws {LeftoffError} what `context` of leftoff's own sessions throws
   */
  context(request) {
    return this.#session.context(request);
  }

  /**
   * Returns the session state. No model is asked.
   * @returns {Promise<State>}
   * @throws {LeftoffError} what any method throws
   */
  state() {
    return this.#session.state();
  }

  /**
   * Returns a summary of the messages from one to another: a model's summary of just these, if one is kept, else one
   * made from the session state.
   * @param {string} startMessageId
   * @param {string} endMessageId
   * @param {number} targetTokens it has no more
   * @returns {Promise<string>}
   * @throws {LeftoffError} `not_found` for a message that is not on the path; `invalid_request` for a number of tokens
   *   that is none
   */
  getSummaryForRange(startMessageId, endMessageId, targetTokens) {
    return this.#session.summaryOf({ startMessageId, endMessageId, maxTokens: targetTokens });
  }

  /**
   * How many messages the current path has.
   * @returns {Promise<number>}
   * @throws {LeftoffError} what any method throws
   */
  async getMessageCount() {
    await this.#session.refresh();
    return this.#session.metadata.stats.messageCount;
  }

  /** How many tokens they have. @returns {Promise<number>} @throws {LeftoffError} what any method throws */
  async getTotalTokens() {
    await this.#session.refresh();
    return this.#session.metadata.stats.totalTokens;
  }

  /**
   * Exports the session as one text.
   * @param {"json" | "markdown"} format
   * @throws {LeftoffError} `invalid_request` for another format
   */
  async export(format) {
    return this.#session.export(format);
  }

  /**
   * Makes the disk confirm all that was appended, and writes derived files.
   * @throws {LeftoffError} what any method throws
   */
  async flush() {
    await this.#session.flush();
  }

  /** Writes derived files and closes the session. @throws {LeftoffError} those of the storage */
  async close() {
    await this.#session.close();
  }
}

/** @param {ProviderInfo} provider */
function agentOf(provider) {
  const { type, model, contextWindow, baseUrl } = provider ?? {};
  if (typeof type !== "string" || typeof model !== "string") {
    throw new LeftoffError({
      code: "invalid_request",
      message: 'expected a provider with "type" and "model", but found less',
    });
  }
  return { provider: type, model, contextWindow, ...(baseUrl && { baseUrl }) };
}

/** @param {Listed} one @returns {SessionMetadata} */
function toMetadata({
  id,
  project = "",
  projectHash,
  createdAt,
  lastActive,
  title,
  messageCount,
  totalTokens,
  provider,
  archivedAt,
  status,
}) {
  return {
    id,
    version: 1,
    projectPath: project,
    projectHash,
    createdAt,
    lastAccessedAt: lastActive,
    title,
    messageCount,
    totalTokens,
    provider,
    status: status === "unreadable" ? "corrupted" : archivedAt ? "archived" : "active",
  };
}
