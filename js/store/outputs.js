// @ts-check
/** Large tool outputs, kept beside the sessions of a run until their session ends or the store is closed. */

import { beforeSignals, cancelBeforeSignals } from "../host/host.node.js";
import { agents } from "../wasm/agents.js";
import { bytesOf, fromBytes } from "../wasm/core.js";
import { toJsonFast } from "../wasm/json.js";
import { checkOptions, checkKind } from "../wasm/options.js";

/** @import { Redaction } from "../privacy/redaction.js" */
/** @import { OutputMenu, OutputPrompt, OutputPromptRequest, ToolOutput, ToolOutputPointer } from "../types/index.js" */
/** @import { CoreStore } from "../wasm/store.js" */
/** @import { CallerFunctions } from "../wasm/drive.js" */

/**
 * Large tool outputs, for an answer that is made from many: a small one stays in memory, from the setting
 * `outputs.memoryBytes` on it is a file. Methods throw `LeftoffError`: beside the codes that each names, those of the
 * storage.
 */
export class ToolOutputs {
  #core;
  #redaction;
  /** @type {Set<Promise<unknown>>} */
  #saving = new Set();
  #guard = () => this.clear().catch(() => {});

  /** @internal @param {CoreStore} core @param {Redaction} redaction */
  constructor(core, redaction) {
    this.#core = core;
    this.#redaction = redaction;
  }

  /**
   * Saves an output; if it becomes a file, that is whole when this resolves. A signal that ends the process removes it.
   * @param {ToolOutput} output
   * @returns {Promise<ToolOutputPointer>}
   * @throws {LeftoffError} `invalid_request` for what JSON cannot hold
   * @example
   * (await store.outputs.save({ sessionId: session.id, toolName: "grep", args: { pattern: "TODO" }, result: ["a", "b"] })).about; // => 'Found 2 matches for "TODO"'
   */
  async save({ result, ...output }) {
    const given = bytesOf(toJsonFast(result, { about: "result" }));
    beforeSignals(this.#guard);
    const saving = this.#core.runWith({ own: { savedBytes: given } }, "saveOutput", {
      ...output,
      sizeBytes: given.length,
    });
    this.#saving.add(saving);
    return saving.finally(() => this.#saving.delete(saving));
  }

  /**
   * Loads an output's result by its path, also one that another process has saved on the same home.
   * @param {string} path
   * @returns {Promise<unknown>}
   * @throws {LeftoffError} `not_found` where it is gone; `invalid_request` for a path of no output; `damaged`
   * @example
   * const { path } = await store.outputs.save({ sessionId: session.id, toolName: "read_file", args: { path: "a.txt" }, result: "text" });
   * await store.outputs.load(path); // => "text"
   */
  async load(path) {
    const own = /** @type {CallerFunctions} */ ({});
    const found = await this.#core.runWith({ own }, "loadOutput", checkKind("path", path));
    return own.loadedBytes ? fromBytes(own.loadedBytes) : found;
  }

  /**
   * Lists the outputs that this store has saved, in order.
   * @param {{ sessionId?: string }} [options]
   * @returns {Promise<ToolOutputPointer[]>}
   * @throws {LeftoffError} `invalid_request` for a `sessionId` that is no text
   * @example await store.outputs.list({ sessionId: session.id }); // => []
   */
  list(options = {}) {
    return this.#core.run("outputs", checkOptions("outputs", options));
  }

  /**
   * Removes outputs, of one session or all.
   * @param {{ sessionId?: string }} [options]
   * @returns {Promise<{ count: number }>} how many
   * @throws {LeftoffError} `invalid_request` for a `sessionId` that is no text
   * @example await store.outputs.clear(); // => { count: 0 }
   */
  async clear(options = {}) {
    const { sessionId } = checkOptions("outputs", options);
    await Promise.allSettled(this.#saving);
    const count = await this.#core.run("clearOutputs", { sessionId });
    if (sessionId === undefined) cancelBeforeSignals(this.#guard);
    return { count };
  }

  /**
   * Makes a menu for a model to pick from: a numbered list, one line per output.
   * @param {{ sessionId?: string }} [options]
   * @returns {Promise<OutputMenu>}
   * @throws {LeftoffError} `invalid_request` for a `sessionId` that is no text
   * @example (await store.outputs.menu()).text; // => "Available contexts:\n"
   */
  menu(options = {}) {
    return this.#leaving("outputMenu", checkOptions("outputs", options));
  }

  /**
   * Parses which outputs a model picked from a menu: `[1, 2]`, `1 and 2`, `all`, `none`, also inside a sentence.
   * @template T
   * @param {string} answer
   * @param {T[]} outputs those of the menu
   * @returns {T[]}
   * @throws {LeftoffError} `invalid_request` for a number that is none of them, and for an answer that does not say
   *   clearly which are meant
   * @example store.outputs.select("I need 1 and 3.", ["a", "b", "c"]); // => ["a", "c"]
   */
  select(answer, outputs) {
    const places = agents.call(({ chosenOutputs }) => chosenOutputs(checkKind("answer", answer), outputs.length));
    return Array.from(places, (place) => /** @type {T} */ (outputs[place]));
  }

  /**
   * Builds a prompt from outputs, for a model to answer a question: at most so many tokens, with a mark where something
   * was left out.
   * @param {OutputPromptRequest} request
   * @returns {Promise<OutputPrompt>}
   * @throws {LeftoffError} `budget_too_small`; `no_counter`; what `load` throws
   * @example
   * const { path } = await store.outputs.save({ sessionId: session.id, toolName: "grep", result: "a line\n".repeat(9000) });
   * const { tokens, outputs } = await store.outputs.prompt({ question: "How many lines?", outputs: [path], maxTokens: 200 });
   * [tokens <= 200, outputs[0].isCut]; // => [true, true]
   */
  prompt(request) {
    return this.#leaving("outputPrompt", request);
  }

  /** @param {string} name @param {object} asked */
  #leaving(name, asked) {
    const out = this.#redaction.isOn
      ? (/** @type {Uint8Array} */ json) => this.#redaction.own.redactBytes(json)
      : undefined;
    return this.#core.runWith({ own: { out } }, name, asked);
  }
}
