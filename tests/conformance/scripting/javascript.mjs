// @ts-check
/** JavaScript under scripts: what each operation is in its public surface. */

import { join } from "node:path";

import * as leftoff from "../../../js/index.js";
import { FailingStorage } from "../../js/failing-storage.js";
import { Interruption } from "./interruption.mjs";
import { withCallerFunctions } from "./caller-functions.mjs";
import { OF_SESSIONS, OF_STORES, PLAIN } from "./operations.mjs";

/** @import { Surface } from "./host.mjs" */

/** @implements {Surface} */
export class JavaScript {
  /** @type {Map<string, leftoff.Store>} */
  #stores = new Map();
  /** @type {Map<string, leftoff.Session>} */
  #sessions = new Map();
  /** @type {Map<string, FailingStorage>} those of stores that have one */
  #memories = new Map();
  #between = new Interruption();

  /** @param {{ root: string }} host */
  constructor({ root }) {
    this.root = root;
  }

  /** @param {() => void} [comes] @param {number} [call] */
  arm(comes, call) {
    this.#between.arm(call, comes);
  }

  /** @param {unknown} error */
  refusal(error) {
    return error instanceof leftoff.LeftoffError && error.code !== "internal" ? error : undefined;
  }

  /** @param {string} op @param {any} asked @param {{ as?: string, store: string, session: string }} names */
  async does(op, asked, { as, store, session }) {
    const plain = PLAIN[op];
    if (plain) return plain(asked);
    if (op === "openStore") return this.#openNamedStore(as ?? store, asked);
    if (op === "fails") return this.#storage(store).failNext(asked.verb, asked.failure);
    /** @type {unknown[]} */
    const requests = [];
    const ofSession = OF_SESSIONS[op];
    if (ofSession) {
      const answer = await ofSession(
        findNamed(this.#sessions, session, "session"),
        withCallerFunctions(asked, requests),
      );
      return asked.summarize ? { answer, requests } : answer;
    }
    const ofStore = OF_STORES[op];
    if (!ofStore) throw new Error(`expected an operation, but found "${op}" instead`);
    const value = await ofStore(findNamed(this.#stores, store, "store"), withCallerFunctions(asked, requests), () =>
      findNamed(this.#sessions, session, "session"),
    );
    return value instanceof leftoff.Session ? this.#addSession(as ?? session, value) : value;
  }

  /** @param {string} name @param {any} options */
  async #openNamedStore(
    name,
    { project = join(this.root, "project"), home = join(this.root, "home"), isInterrupted, storage, ...options },
  ) {
    const own = isInterrupted ? this.#between.storage() : storageOf(storage);
    const store = await leftoff.openStore({ project, home, ...options, ...(own !== undefined && { storage: own }) });
    this.#stores.set(name, store);
    if (own instanceof FailingStorage) this.#memories.set(name, own);
    return store.problems.length > 0 ? { problems: store.problems } : undefined;
  }

  /** @param {string} name @param {leftoff.Session} session */
  #addSession(name, session) {
    this.#sessions.set(name, session);
    const { id, path, placement, metadata, notices } = session;
    return {
      id,
      path,
      placement,
      title: metadata.display.title,
      lifecycle: metadata.lifecycle,
      messageCount: metadata.stats.messageCount,
      notices,
    };
  }

  /** @param {string} name of the store */
  #storage(name) {
    return findNamed(this.#memories, name, "store in memory");
  }

  /** @param {string} name */
  session(name) {
    return this.#sessions.get(name);
  }

  async end() {
    for (const store of this.#stores.values()) await store.close().catch(() => {});
    this.#stores.clear();
  }
}

/** `{"memory":{"now":0}}`, with the time of its files; `{"node":{"root"}}`. @param {any} asked */
function storageOf(asked) {
  if (asked?.memory) {
    const { now, ...options } = asked.memory;
    return new FailingStorage({ ...options, ...(now !== undefined && { now: () => now }) });
  }
  return asked?.node ? new leftoff.NodeStorage(asked.node) : asked;
}

/** @template T @param {Map<string, T>} map @param {string} name @param {string} what @returns {T} */
function findNamed(map, name, what) {
  if (!map.has(name)) throw new Error(`expected the ${what} "${name}", but found none`);
  return /** @type {T} */ (map.get(name));
}
