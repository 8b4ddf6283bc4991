// @ts-check
/** `ContextManager`, the interface for large tool outputs: a veneer over `store.outputs`. */

import { openStore } from "../store/open-store.js";
import { agents } from "../wasm/agents.js";
import { randomId } from "../wasm/clock.js";
import { checkKind } from "../wasm/options.js";

/** @import { ContextPointer } from "../types/compat.js" */
/** @import { StoreOptions, ToolOutputPointer } from "../types/index.js" */

/**
 * The large tool outputs of one session, for the time of a run. Methods throw `LeftoffError`: beside the codes that
 * each names,
 * those of the storage.
 * @example
 * const contexts = new ContextManager({ home: folder, sessionId: "session-abc123" });
 * const filepath = await contexts.saveContext("search_code", { query: "TODO" }, ["a.ts:1"], undefined, ContextManager.hashQuery("TODO"));
 * await contexts.loadContext(filepath); // => ["a.ts:1"]
 * await contexts.clearContexts();
 * await contexts.close();
 */
export class ContextManager {
  #sessionId;
  #options;
  /** @type {ReturnType<typeof openStore> | undefined} */
  #opening;

  /**
   * @param {StoreOptions & { sessionId?: string }} [options] those of `openStore`; `sessionId`: the outputs' session, a
   *   new one unless given
   */
  constructor({ sessionId = randomId(), ...options } = {}) {
    this.#sessionId = sessionId;
    this.#options = options;
  }

  /**
   * Saves a tool's output; from 32,768 bytes on it is a file, whole when this resolves.
   * @param {string} toolName
   * @param {Record<string, unknown>} args
   * @param {unknown} result
   * @param {string} [taskId]
   * @param {string} [queryId]
   * @returns {Promise<string>} its path, which `loadContext` takes
   * @throws {LeftoffError} `invalid_request` for what JSON cannot hold
   * @example
   * const filepath = await contexts.saveContext("grep", { pattern: "error" }, "a line\n".repeat(9000), "task-1");
   * filepath.endsWith(".json"); // => true
   */
  async saveContext(toolName, args, result, taskId, queryId) {
    const { path } = await (
      await this.#outputs()
    ).save({ sessionId: this.#sessionId, toolName, args, result, taskId, queryId });
    return path;
  }

  /**
   * Loads the output of a path.
   * @param {string} filepath
   * @returns {Promise<unknown>}
   * @throws {LeftoffError} `not_found` where it is gone; `invalid_request` for a path of no output
   * @example await contexts.loadContext(await contexts.saveContext("grep", {}, [1, 2])); // => [1, 2]
   */
  async loadContext(filepath) {
    return (await this.#outputs()).load(filepath);
  }

  /**
   * Lists the outputs of a session, in the order in which they were saved.
   * @param {string} sessionId
   * @returns {Promise<ContextPointer[]>}
   * @throws {LeftoffError} `invalid_request` for a `sessionId` that is no text
   * @example
   * await contexts.saveContext("grep", {}, [1, 2]);
   * (await contexts.listContexts("session-abc123")).map(({ toolName, sizeBytes }) => [toolName, sizeBytes]); // => [["grep", 5]]
   */
  async listContexts(sessionId) {
    return (await (await this.#outputs()).list({ sessionId })).map(pointerOf);
  }

  /**
   * Removes all outputs that it has saved, as the end of a session does.
   * @throws {LeftoffError} what `openStore` throws
   * @example await contexts.clearContexts();
   */
  async clearContexts() {
    await (await this.#outputs()).clear();
  }

  /**
   * The id of a query: the same for the same text, in every host and version.
   * @param {string} query
   * @throws {LeftoffError} `invalid_request` for what is no text
   * @example ContextManager.hashQuery("TODO"); // => "query-337e547a950f"
   */
  static hashQuery(query) {
    return agents.call((agents) => agents.hashQuery(checkKind("query", query)));
  }

  /** Removes all outputs and releases all files. @throws {LeftoffError} those of the storage */
  async close() {
    await (await this.#opening)?.close();
  }

  /** The same as `close`. @throws {LeftoffError} what `close` throws */
  async [Symbol.asyncDispose]() {
    await this.close();
  }

  async #outputs() {
    this.#opening ??= openStore(this.#options);
    return (await this.#opening).outputs;
  }
}

/** @param {ToolOutputPointer} pointer @returns {ContextPointer} */
function pointerOf({ path, toolName, timestamp, sizeBytes, queryId }) {
  return {
    filepath: path,
    toolName,
    timestamp: Date.parse(timestamp),
    sizeBytes,
    ...(queryId !== undefined && { queryId }),
  };
}
