// @ts-check
/**
 * A session of the OpenAI Agents SDK, kept in a store. Nothing is ever removed from a log: an item that is taken back is
 * the next revision of its message, without it; and each change of what was there ends with a message of its own, so
 * that of two processes that change it at once one is refused, looks again, and goes on from what the other left.
 */

import { LeftoffError } from "../index.js";
import {
  checkItems,
  checkTransaction,
  draftsOfTransaction,
  hashOf,
  readHistory,
  replaceCalls,
  reviseGroup,
  reviseSuffix,
} from "./history.js";
import { AGENT, draftsOf, silentDraft } from "./items.js";
import { checkObject, refusal } from "../sdk/refusal.js";

/** @import { Session } from "../session/session.js" */
/** @import { AgentItem, AgentSessionOptions, HistoryTransaction } from "../types/openai.js" */

/** How often a change is tried where others change the session meanwhile. */
const MAX_ATTEMPTS = 50;

/**
 * A session for `run`, made by `session`.
 * @template {object} [Item=AgentItem]
 * @example (await memory.getSessionId()); // => "chat 42"
 */
export class AgentSession {
  #options;
  /** @type {Promise<Session> | undefined} */
  #opened;
  /** What was begun last: a change looks at what the one before left. @type {Promise<unknown>} */
  #last = Promise.resolve();

  /**
   * @param {AgentSessionOptions} options
   * @throws {LeftoffError} `invalid_request` for what is no store, or no id
   */
  constructor(options) {
    const { store, id, ...unknown } = Object(options);
    const [key] = Object.keys(unknown);
    if (key !== undefined) throw refusal("store and id", key);
    checkObject(store, "create", "a store");
    if (typeof id !== "string" || id === "") throw refusal("a text for the session's id", id);
    this.#options = { store, id };
  }

  /**
   * The session in the store, for all that leftoff does with sessions.
   * @returns {Promise<Session>}
   * @throws {LeftoffError} what `create` throws
   * @example
   * await memory.addItems([{ role: "user", content: "Rename the parser." }]);
   * (await memory.session()).metadata.display.title; // => "Rename the parser."
   */
  session() {
    const { store, id } = this.#options;
    const opened = (this.#opened ??= store.create({ source: { agent: AGENT, id } }));
    opened.catch(() => (this.#opened = undefined));
    return opened;
  }

  /**
   * @returns {Promise<string>} the id that it was given
   * @example await memory.getSessionId(); // => "chat 42"
   */
  async getSessionId() {
    return this.#options.id;
  }

  /**
   * The newest items, oldest first.
   * @param {number} [limit] all unless given
   * @returns {Promise<Item[]>}
   * @throws {LeftoffError} what `messages` throws
   * @example
   * await memory.addItems([{ role: "user", content: "One." }, { role: "user", content: "Two." }]);
   * await memory.getItems(1); // => [{ role: "user", content: "Two." }]
   */
  async getItems(limit) {
    if (limit !== undefined && !(limit > 0)) return [];
    const { groups } = await this.#run(async () => readHistory(await this.session()));
    const all = groups.flatMap(({ items }) => items);
    return /** @type {Item[]} */ (limit === undefined ? all : all.slice(-limit));
  }

  /**
   * Appends items.
   * @param {Item[]} items
   * @returns {Promise<void>} once they are on the disk
   * @throws {LeftoffError} `invalid_request` for what is no list of items; what `append` throws
   * @example
   * await memory.addItems([{ role: "user", content: "Rename the parser." }]);
   * (await memory.getItems()).length; // => 1
   */
  async addItems(items) {
    const given = checkItems(items);
    if (given.length === 0) return;
    await this.#run(async () => {
      await (await this.session()).append(draftsOf(given));
    });
  }

  /**
   * Takes the newest item back. Of several processes that do so at once, each gets another item.
   * @returns {Promise<Item | undefined>} undefined where there is none
   * @throws {LeftoffError} what `append` throws: then nothing is taken back
   * @example
   * await memory.addItems([{ role: "user", content: "Two." }]);
   * await memory.popItem(); // => { role: "user", content: "Two." }
   */
  popItem() {
    return this.#change(({ groups }) => {
      const newest = groups.findLast(({ items }) => items.length > 0);
      const revised = newest ? [reviseGroup(newest, newest.items.slice(0, -1))] : [];
      return { drafts: revised, answer: /** @type {Item | undefined} */ (newest?.items.at(-1)) };
    });
  }

  /**
   * Takes all items back. The log keeps what they said: `delete` of the store removes a session.
   * @returns {Promise<void>}
   * @throws {LeftoffError} what `append` throws: then nothing is changed
   * @example
   * await memory.clearSession();
   * await memory.getItems(); // => []
   */
  async clearSession() {
    await this.#change((history) => ({ drafts: reviseSuffix(history, Infinity), answer: undefined }));
  }

  /**
   * Has a conversation begin with a compaction and what it retains. All that was said stays in the store's session.
   * @param {Item[]} items
   * @returns {Promise<void>}
   * @throws {LeftoffError} `invalid_request` for what is no list of items; what `append` throws
   * @example
   * await memory.addItems([{ role: "user", content: "One." }]);
   * await memory.replaceHistoryWithCompaction([{ type: "compaction", encrypted_content: "xyz" }]);
   * (await memory.getItems()).map(({ type }) => type); // => ["compaction"]
   */
  async replaceHistoryWithCompaction(items) {
    const given = checkItems(items);
    await this.#change(() => {
      // What is retained is there already, so that it isn't said again.
      const draft = silentDraft(given);
      return { drafts: [{ ...draft, source: { ...draft.source, begins: true } }], answer: undefined };
    });
  }

  /**
   * Puts other calls into the places of calls that are there.
   * @param {{ mutations: { type: string, callId: string, replacement: Item }[] }} args
   * @returns {Promise<void>}
   * @throws {LeftoffError} what `append` throws: then nothing is changed
   * @example
   * const call = { type: "function_call", callId: "call_1", name: "read", arguments: "{}" };
   * await memory.addItems([call]);
   * const replacement = { ...call, arguments: '{"path":"a.js"}' };
   * await memory.applyHistoryMutations({ mutations: [{ type: "replace_function_call", callId: "call_1", replacement }] });
   * await memory.getItems(); // => [replacement]
   */
  async applyHistoryMutations({ mutations }) {
    await this.#change((history) => ({ drafts: replaceCalls(history, mutations), answer: undefined }));
  }

  /**
   * Appends items, or puts others in the place of the newest: once for an `operationId`, however often it is called.
   * @param {{ operationId: string, transaction: HistoryTransaction<Item> }} args
   * @returns {Promise<void>}
   * @throws {LeftoffError} `operation_reused` where the operation was another transaction; `conflict` where the newest
   *   items are others than expected: then nothing is changed
   * @example
   * const items = [{ role: "user", content: "One." }];
   * const step = { operationId: "step 1", transaction: { type: "append_items", items } };
   * await memory.applyHistoryTransaction(step);
   * await memory.applyHistoryTransaction(step);
   * (await memory.getItems()).length; // => 1
   */
  async applyHistoryTransaction({ operationId, transaction }) {
    if (typeof operationId !== "string" || operationId.trim() === "")
      throw refusal("a text for the operation's id", operationId);
    const operation = { id: operationId, hash: hashOf(checkTransaction(transaction)) };
    await this.#change((history) => {
      const known = history.operations.get(operationId);
      if (known !== undefined && known !== operation.hash)
        throw new LeftoffError({
          code: "operation_reused",
          message: `expected what the operation "${operationId}" did before, but found another transaction instead`,
        });
      if (known !== undefined) return { drafts: [], answer: undefined };
      return { drafts: draftsOfTransaction(history, transaction), operation, answer: undefined };
    });
  }

  /**
   * Runs one piece of work behind the one before it.
   * @template T @param {() => Promise<T>} work @returns {Promise<T>}
   */
  #run(work) {
    const mine = this.#last.then(work);
    this.#last = mine.catch(() => {});
    return mine;
  }

  /**
   * Appends what a change makes of the history: behind the work before it, and only behind what it has seen.
   * @template T @param {(history: import("./history.js").History) => import("./history.js").Plan<T>} plan @returns {Promise<T>}
   */
  #change(plan) {
    return this.#run(async () => this.#appendChange(plan));
  }

  /** @template T @param {(history: import("./history.js").History) => import("./history.js").Plan<T>} plan @returns {Promise<T>} */
  async #appendChange(plan) {
    const session = await this.session();
    for (let attempt = 1; ; attempt += 1) {
      const history = await readHistory(session);
      const { drafts, answer, operation } = plan(history);
      if (drafts.length === 0 && !operation) return answer;
      // A revision keeps its message's place: who expects the last message would not see it.
      const hasNew = drafts.length > 0 && drafts.at(-1)?.id === undefined;
      const whole = hasNew ? drafts : [...drafts, silentDraft()];
      if (operation) Object.assign(/** @type {import("./items.js").ItemDraft} */ (whole.at(-1)).source, { operation });
      try {
        await session.append(whole, { expected: history.last });
        return answer;
      } catch (/** @type {any} */ error) {
        if (error?.code !== "conflict" || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }
}
