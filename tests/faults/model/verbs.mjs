// @ts-check
/** What a process does with its store, as it is asked for in JSON: in this process, or in one of its own. */

import { mock } from "node:test";

import { LeftoffError, openStore } from "../../../js/index.js";

/** Of a context that holds everything. */
const WHOLE = { window: 1_000_000, encoding: "estimate-1" };

/** @type {Record<string, (store: any, asked: any) => Promise<any>>} */
const verbs = {
  create: async (store, options) => describeSession(await store.create(options)),
  continue: async (store) => describeSession(await store.continue()),
  current: async (store) => describeSession(await store.current()),
  find: async (store, { id }) => describeSession(await store.session(id)),
  list: (store, options) => store.list(options),
  fork: async (store, { id, at }) => describeSession(await store.fork(await store.session(id), { at })),
  delete: async (store, { id, purge }) => store.delete(await store.session(id), { purge }),
  relocate: (store, { from, to }) => store.relocate(from, to),
  import: async (store, { path }) => (await store.import(path)).imported,
  close: (store) => store.close(),
  append: async (store, { id, drafts, options }) =>
    (await (await store.session(id)).append(drafts, options)).records.map((/** @type {any} */ one) => one.id),
  appendTool: async (store, { id, execution }) => (await store.session(id)).appendTool(execution),
  resume: async (store, { id, override }) => (await (await store.session(id)).resume({ ...WHOLE, override })).warnings,
  stop: async (store, { id, summary }) => (await store.session(id)).stop({ summary }),
  pause: async (store, { id }) => (await store.session(id)).pause(),
  complete: async (store, { id, summary }) => (await store.session(id)).complete({ summary }),
  rename: async (store, { id, title }) => (await store.session(id)).rename(title),
  archive: async (store, { id }) => (await store.session(id)).archive(),
  unarchive: async (store, { id }) => (await store.session(id)).unarchive(),
  pin: async (store, { id, message }) => (await store.session(id)).pin(message),
  unpin: async (store, { id, message }) => (await store.session(id)).unpin(message),
  setAgent: async (store, { id, agent }) => (await store.session(id)).setAgent(agent),
  flush: async (store, { id }) => (await store.session(id)).flush(),
  /** All that the API says of a session. */
  told: async (store, { id, window }) => {
    const session = await store.session(id);
    const messages = [];
    for await (const message of session.messages()) messages.push(message);
    const context = await session.context(WHOLE);
    const narrow = await session.context({ window, encoding: "estimate-1" }).catch((/** @type {any} */ error) => {
      if (error.code === "budget_too_small") return null;
      throw error;
    });
    const texts = (/** @type {any} */ built) => built?.messages.map((/** @type {any} */ one) => one.content);
    const executions = (await session.tools()).map((/** @type {any} */ one) => one.toolCallId);
    return { metadata: session.metadata, messages, context: texts(context), narrow: texts(narrow), executions };
  },
};

/** One process with a store. */
export class Process {
  /** @type {any} */
  #store;
  #options;

  /** @param {any} options of its store */
  constructor(options) {
    this.#options = options;
  }

  /**
   * Does what is asked for, at a time.
   * @param {string} verb @param {any} asked @param {number} now
   * @returns {Promise<{ value?: any, code?: string, message?: string }>}
   */
  async does(verb, asked, now) {
    setTime(now);
    try {
      this.#store ??= await openStore(this.#options);
      const value = await /** @type {any} */ (verbs[verb])(this.#store, asked);
      if (verb === "close") this.#store = undefined;
      return { value };
    } catch (error) {
      if (verb === "close") this.#store = undefined;
      if (error instanceof LeftoffError && error.code !== "internal")
        return { code: error.code, message: error.message };
      return { code: "bug", message: error instanceof Error ? error.stack : String(error) };
    }
  }
}

let isMocked = false;

/** The time of day of this process. @param {number} now */
export function setTime(now) {
  if (isMocked) return mock.timers.setTime(now);
  mock.timers.enable({ apis: ["Date"], now });
  isMocked = true;
}

/** @param {any} session */
function describeSession(session) {
  return session && { id: session.id, path: session.path, placement: session.placement };
}
