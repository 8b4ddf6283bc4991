// @ts-check
/** The classes of document 004, with their names and signatures: a veneer over the store. */

import { exportFormats } from "./export.js";
import { LeftoffError } from "./error.js";
import { openStore } from "./store.js";

export { AutoPersist } from "./auto-persist.js";

/** @import { Listed } from "./listing.js" */
/** @import { Session as Inner } from "./session.js" */
/** @import { Store } from "./store.js" */

/**
 * Document 004, "Key Types".
 * @typedef {object} ProviderInfo
 * @property {string} type
 * @property {string} model
 * @property {number} contextWindow
 * @property {string} [baseUrl]
 *
 * @typedef {object} SessionMetadata
 * @property {string} id
 * @property {number} version
 * @property {string} projectPath
 * @property {string} projectHash
 * @property {string} createdAt
 * @property {string} lastAccessedAt
 * @property {string} title
 * @property {number} messageCount
 * @property {number} totalTokens
 * @property {ProviderInfo} provider
 * @property {"active" | "archived" | "corrupted"} status
 *
 * @typedef {object} StoredMessage
 * @property {string} id
 * @property {string | null} parentId
 * @property {string} timestamp
 * @property {"user" | "assistant" | "system" | "tool"} role
 * @property {string} content
 * @property {number} tokenCount
 * @property {number} cumulativeTokens
 * @property {string} [toolCallId]
 * @property {string} [toolName]
 * @property {{ id: string, name: string, arguments: Record<string, unknown> }[]} [toolCalls]
 *
 * @typedef {object} StoredToolExecution
 * @property {string} id
 * @property {string} timestamp
 * @property {string} messageId
 * @property {string} tool
 * @property {Record<string, unknown>} args
 * @property {{ success: boolean, content: string, error?: string }} result
 * @property {number} resultTokens
 * @property {number} durationMs
 *
 * A message as a chat handler has it: document 004's names, or those of OpenAI's shape.
 * @typedef {object} Message
 * @property {"user" | "assistant" | "system" | "tool"} role
 * @property {string} content
 * @property {string} [toolCallId]
 * @property {string} [toolName]
 * @property {Call[]} [toolCalls]
 * @property {string} [tool_call_id]
 * @property {string} [name]
 * @property {Call[]} [tool_calls]
 *
 * @typedef {{ id: string, name?: string, arguments?: Record<string, unknown> | string, function?: { name: string, arguments?: Record<string, unknown> | string } }} Call
 * @typedef {{ content: string, success?: boolean, error?: string, exitCode?: number, durationMs?: number }} ToolResult
 */

/** What `updateMetadata` takes: the rest follows from the logs. */
const UPDATES = ["title", "status", "provider", "lastAccessedAt"];

export class SessionManager {
  #options;
  /** @type {Map<string, Promise<Store>>} by project */
  #stores = new Map();

  /** @param {Omit<Parameters<typeof openStore>[0] & {}, "project">} [options] those of `openStore` */
  constructor(options = {}) {
    this.#options = options;
  }

  /** @param {string} projectPath @param {ProviderInfo} provider @returns {Promise<Session>} */
  async createSession(projectPath, provider) {
    const store = await this.#store(projectPath);
    return new Session(await store.create({ agent: agentOf(provider) }));
  }

  /** @param {string} sessionId @returns {Promise<Session>} */
  async loadSession(sessionId) {
    return new Session(await (await this.#store()).session(sessionId));
  }

  /** @param {string} projectPath @returns {Promise<Session | null>} */
  async getCurrentSession(projectPath) {
    const session = await (await this.#store(projectPath)).current();
    return session ? new Session(session) : null;
  }

  /** @param {string} [projectPath] @returns {Promise<SessionMetadata[]>} */
  async listSessions(projectPath) {
    const store = await this.#store(projectPath);
    return (await store.list({ all: projectPath === undefined, archived: null })).map(listed);
  }

  /** @param {string} sessionId @returns {Promise<SessionMetadata | null>} */
  async getSession(sessionId) {
    const all = await (await this.#store()).list({ all: true, type: null, archived: null });
    const found = all.find(({ id }) => id === sessionId);
    return found ? listed(found) : null;
  }

  /** @param {string} sessionId */
  async archiveSession(sessionId) {
    await (await (await this.#store()).session(sessionId)).archive();
  }

  /** Puts it in the trash. @param {string} sessionId */
  async deleteSession(sessionId) {
    const store = await this.#store();
    await store.delete(await store.session(sessionId));
  }

  /** @param {string} projectPath @param {string} sessionId */
  async setCurrentSession(projectPath, sessionId) {
    const store = await this.#store(projectPath);
    await store.point(await store.session(sessionId));
  }

  /** Writes what is derived, and lets go of all files. */
  async close() {
    const stores = await Promise.all(this.#stores.values());
    this.#stores.clear();
    await Promise.all(stores.map((store) => store.close()));
  }

  // One for each project, since a store is of one.
  /** @param {string} [project] */
  #store(project) {
    const [first] = this.#stores.values();
    if (project === undefined && first) return first;
    const path = project ?? process.cwd();
    const store = this.#stores.get(path) ?? openStore({ ...this.#options, project: path });
    this.#stores.set(path, store);
    return store;
  }
}

export class Session {
  #session;

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

  /** @param {Message} message @returns {Promise<StoredMessage>} */
  async appendMessage(message) {
    const { records } = await this.#session.append(draft(message));
    return stored(/** @type {any} */ (records[0]));
  }

  /** @param {Call} call @param {ToolResult} result @returns {Promise<StoredToolExecution>} */
  async appendToolExecution(call, result) {
    const { id, name, args } = called(call);
    await this.#session.appendTool({ call: { id, name, arguments: args }, result, durationMs: result.durationMs });
    const all = await this.getToolExecutions();
    return /** @type {StoredToolExecution} */ (all.findLast((one) => one.toolCallId === id));
  }

  /**
   * Title, status and provider become events. `lastAccessedAt` is the time of the newest message, and is taken for the
   * sake of the document's own examples only.
   * @param {Partial<SessionMetadata>} updates
   */
  async updateMetadata(updates) {
    const now = /** @type {Record<string, unknown>} */ (this.metadata);
    const other = Object.entries(updates).find(([name, value]) => !UPDATES.includes(name) && value !== now[name]);
    if (other) throw new LeftoffError({ code: "invalid_request", message: `expected one of ${UPDATES.join(", ")} to update, but found "${other[0]}", which follows from what is stored` });
    const { title, status, provider } = updates;
    if (title !== undefined && title !== now.title) await this.#session.rename(title);
    if (provider !== undefined) await this.#session.setAgent({ ...this.#session.metadata.agent, ...agentOf(provider) });
    if (status === "archived") await this.#session.archive();
    if (status === "active") await this.#session.unarchive();
  }

  /** @returns {Promise<StoredMessage[]>} */
  async getMessages() {
    const messages = [];
    for await (const message of this.#session.messages()) messages.push(stored(message));
    return messages;
  }

  /** @returns {Promise<(StoredToolExecution & { toolCallId: string })[]>} */
  async getToolExecutions() {
    const all = await this.#session.toolExecutions();
    return all.map(({ id, timestamp = "", messageId = "", toolCallId, tool, arguments: args, result, tokens = 0, durationMs = 0 }) => ({
      id,
      timestamp,
      messageId,
      toolCallId,
      tool,
      args,
      result: { success: result.success, content: result.content ?? "", ...(result.error !== undefined && { error: result.error }) },
      resultTokens: tokens,
      durationMs,
    }));
  }

  async getMessageCount() {
    return this.#session.metadata.stats.messageCount;
  }

  async getTotalTokens() {
    return this.#session.metadata.stats.totalTokens;
  }

  /** @param {"json" | "markdown"} format */
  async export(format) {
    if (!exportFormats.includes(format)) {
      throw new LeftoffError({ code: "invalid_request", message: `expected ${exportFormats.join(" or ")} to export, but found ${JSON.stringify(format)} instead` });
    }
    return this.#session.export(format);
  }

  /** Makes the disk confirm all that was appended, and writes what is derived. */
  async flush() {
    await this.#session.flush();
  }

  async close() {
    await this.#session.close();
  }
}

/** @param {ProviderInfo} provider */
function agentOf({ type, model, contextWindow, baseUrl }) {
  return { provider: type, model, contextWindow, ...(baseUrl && { baseUrl }) };
}

/** @param {Listed} one @returns {SessionMetadata} */
function listed({ id, project = "", projectHash, createdAt, lastActive, title, messageCount, totalTokens, provider, archivedAt, status }) {
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

/** @param {Message} message */
function draft({ role, content, toolCallId, toolName, toolCalls, tool_call_id = toolCallId, name = toolName, tool_calls = toolCalls }) {
  const calls = tool_calls?.map((call) => {
    const { id, name, args } = called(call);
    return { id, name, arguments: JSON.stringify(args) };
  });
  return {
    role,
    content,
    ...(calls && { assistant: { toolCalls: calls } }),
    ...(role === "tool" && { tool: { callId: tool_call_id ?? "", name: name ?? "" } }),
  };
}

/** @param {Call} call @returns {{ id: string, name: string, args: Record<string, unknown> }} */
function called({ id, function: inner, name = inner?.name ?? "", arguments: args = inner?.arguments ?? {} }) {
  return { id, name, args: typeof args === "string" ? parsed(args) : args };
}

/** @param {any} message @returns {StoredMessage} */
function stored({ id, parentId = null, timestamp = "", role, content, tokens, tool, assistant }) {
  const toolCalls = assistant?.toolCalls?.map((/** @type {any} */ call) => ({ id: call.id, name: call.name, arguments: parsed(call.arguments) }));
  return {
    id,
    parentId,
    timestamp,
    role,
    content,
    tokenCount: tokens?.count ?? 0,
    cumulativeTokens: tokens?.cumulative ?? 0,
    ...(tool && { toolCallId: tool.callId, toolName: tool.name }),
    ...(toolCalls && { toolCalls }),
  };
}

// What a model wrote as arguments may be no JSON: it is kept in one piece then.
/** @param {string} json @returns {Record<string, unknown>} */
function parsed(json) {
  try {
    const value = JSON.parse(json || "{}");
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    return { value };
  } catch {
    return { text: json };
  }
}
