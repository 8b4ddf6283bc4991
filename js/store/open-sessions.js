// @ts-check
/**
 * The open sessions as callers see them: one object for each folder, and the folder's turns. Which are open, the core
 * decides.
 */

import { SessionHandle, Turns } from "../session/handle.js";
import { handleOf, sessionOf } from "../session/session.js";

/** The longest timer: one set for longer goes off at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/** @import { Cache, SessionParts } from "../session/handle.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Places } from "../placement/places.js" */
/** @import { Redaction } from "../privacy/redaction.js" */
/** @import { Setting, SettingProblem, Settings } from "../types/index.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Host } from "../wasm/drive.js" */
/** @import { CoreStore } from "../wasm/store.js" */

/**
 * @typedef {{ settings: Settings, all: Setting[], problems: SettingProblem[] }} ReadSettings `problems`: values that
 *   could not be used
 *
 * The parts of a store.
 * @typedef
 *   {{ project: string, home: string, workspace?: string, storage: Storage, places: Places, countTokens: boolean,
 *   idleMs?: number, read: ReadSettings, redaction: Redaction,
 *   runGit?: Host["runGit"] }} StoreParts
 *
 * @typedef {SessionParts & { core: CoreStore, agentsStore: CoreStore, cache: Cache, redaction: Redaction }}
 *   SessionsParts `agentsStore`: the same store in the second module
 */

export class OpenSessions {
  #parts;
  #places;
  #idleMs;
  /** @type {Set<Session>} */
  #open = new Set();
  /**
   * Turns of folders without a known open session, kept while somebody has one.
   * @type {Map<string, { turns: Turns, count: number }>}
   */
  #turns = new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} pauses idle sessions */
  #restTimer;

  /** @param {SessionsParts} parts @param {Places} places @param {number} idleMs */
  constructor(parts, places, idleMs) {
    this.#parts = parts;
    this.#places = places;
    this.#idleMs = idleMs;
  }

  /**
   * Runs an operation that ends with a session or nothing.
   * @param {string} name
   * @param {(string | object)[]} asked
   * @returns {Promise<Session | undefined>}
   */
  async findWith(name, ...asked) {
    const found = await this.#parts.core.run(name, ...asked);
    if (!found) return undefined;
    const known = this.#findAt(found.path, found.id);
    if (known) handleOf(known).revive();
    const session = known ?? this.#addSession(found);
    await handleOf(session).redactor.prepare();
    return session;
  }

  /** Runs an operation that ends with a session. @param {string} name @param {(string | object)[]} asked */
  async openWith(name, ...asked) {
    return /** @type {Session} */ (await this.findWith(name, ...asked));
  }

  /** Refreshes open sessions whose files were written beside the core. @param {string[]} ids */
  async refresh(ids) {
    for (const session of this.#open) if (ids.includes(session.id)) await handleOf(session).refresh();
  }

  /** Drops a session that was moved or deleted. @param {Session} session @param {boolean} isDeleted */
  drop(session, isDeleted) {
    handleOf(session).retire(isDeleted);
    this.#open.delete(session);
  }

  /**
   * Waits for a folder's turn, its session's where one is open; resolves to the function that ends it.
   * @param {string} [path]
   */
  async turn(path = "") {
    const session = this.#findAt(path);
    if (session) return handleOf(session).turn();
    const one = this.#turns.get(path) ?? { turns: new Turns(), count: 0 };
    this.#turns.set(path, one);
    one.count += 1;
    const leave = await one.turns.turn();
    return () => {
      leave();
      one.count -= 1;
      if (one.count === 0 && this.#turns.get(path) === one) this.#turns.delete(path);
    };
  }

  /** Closes all sessions. */
  async close() {
    clearInterval(this.#restTimer);
    // After a trap the core has to know its open sessions again.
    for (const session of this.#open) handleOf(session).revive();
    await this.#parts.core.end().finally(() => {
      for (const session of this.#open) this.drop(session, false);
    });
  }

  // A session that others moved or deleted, which the core has closed, lives on alone if a caller still holds it.
  /** @param {string} path @param {string} [id] the id of the session that lies there now */
  #findAt(path, id) {
    for (const session of this.#open) {
      if (session.path !== path) continue;
      if (handleOf(session).isOpen && (id ?? session.id) === session.id) return session;
      this.#open.delete(session);
    }
    return undefined;
  }

  // Waiting for the folder's turn is waiting for the session's.
  /** @param {{ path: string, placement: "home" | "workspace" }} found */
  #addSession(found) {
    const { core, agentsStore, cache, redaction, ...parts } = this.#parts;
    const store = { core, agentsStore, placeOf: this.#places.placeOf.bind(this.#places) };
    const live = new SessionHandle({
      ...this.#places.placeOf(found),
      cache,
      redaction,
      store,
      turns: this.#turns.get(found.path)?.turns,
    });
    const session = sessionOf(live.attach(), parts);
    this.#turns.delete(found.path);
    this.#open.add(session);
    // The timer runs as long as any session is open.
    if (this.#idleMs > 0) {
      this.#restTimer ??= setInterval(() => core.run("rest").catch(() => {}), Math.min(this.#idleMs, MAX_TIMEOUT_MS));
      this.#restTimer.unref?.();
    }
    return session;
  }
}
