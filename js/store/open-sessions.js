// @ts-check
/** The sessions that the core has open, as what callers see: one object for each folder, and its turns. */

import { SessionHandle, Turns } from "../session/handle.js";
import { handleOf, sessionOf } from "../session/session.js";

/** A timer that is set later goes off at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** @import { Cache, SessionParts } from "../session/handle.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Places } from "../placement/places.js" */
/** @import { Redaction } from "../privacy/redaction.js" */
/** @import { Setting, SettingProblem, Settings } from "../types/index.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Host } from "../wasm/drive.js" */
/** @import { CoreStore } from "../wasm/store.js" */

/**
 * @typedef {{ settings: Settings, all: Setting[], problems: SettingProblem[] }} ReadSettings `problems`: what in the files could not be used
 *
 * What a store is made of.
 * @typedef {{ project: string, home: string, workspace?: string, storage: Storage, places: Places, countTokens: boolean,
 *   idleMs?: number, read: ReadSettings, redaction: Redaction,
 *   runGit?: Host["runGit"] }} StoreParts
 *
 * @typedef {SessionParts & { core: CoreStore, agentsStore: CoreStore, cache: Cache, redaction: Redaction }} SessionsParts `agentsStore`: the same store in the second module
 */

export class OpenSessions {
  #parts;
  #places;
  #idleMs;
  /** @type {Set<Session>} */
  #open = new Set();
  /** Of folders that no session is known to be open in, as long as somebody has their turn. @type {Map<string, { turns: Turns, count: number }>} */
  #turns = new Map();
  /** @type {ReturnType<typeof setInterval> | undefined} what pauses those that rest */
  #restTimer;

  /** @param {SessionsParts} parts @param {Places} places @param {number} idleMs */
  constructor(parts, places, idleMs) {
    this.#parts = parts;
    this.#places = places;
    this.#idleMs = idleMs;
  }

  /** What an operation of the core ends with, a session or nothing. @param {string} name @param {(string | object)[]} asked @returns {Promise<Session | undefined>} */
  async findWith(name, ...asked) {
    const found = await this.#parts.core.run(name, ...asked);
    if (!found) return undefined;
    const known = this.#findAt(found.path, found.id);
    if (known) handleOf(known).revive();
    const session = known ?? this.#addSession(found);
    await handleOf(session).redactor.prepare();
    return session;
  }

  /** The same of one that ends with a session. @param {string} name @param {(string | object)[]} asked */
  async openWith(name, ...asked) { return /** @type {Session} */ (await this.findWith(name, ...asked)); }

  /** Those that are open and were written to beside the core look at their files. @param {string[]} ids */
  async refresh(ids) {
    for (const session of this.#open) if (ids.includes(session.id)) await handleOf(session).refresh();
  }

  /** One that is open no longer, since all of it went elsewhere. @param {Session} session @param {boolean} isDeleted */
  drop(session, isDeleted) {
    handleOf(session).retire(isDeleted);
    this.#open.delete(session);
  }

  /** Resolves to what ends the turn of a folder, once it has come: that of its session, where one is open. @param {string} [path] */
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

  /** Lets go of all. */
  async close() {
    clearInterval(this.#restTimer);
    // What a trap took from the core it has to know again.
    for (const session of this.#open) handleOf(session).revive();
    await this.#parts.core.end().finally(() => {
      for (const session of this.#open) this.drop(session, false);
    });
  }

  // One that the core has open no longer, since it was moved or deleted by others, goes on alone where somebody still has it.
  /** @param {string} path @param {string} [id] that of the session that lies there now */
  #findAt(path, id) {
    for (const session of this.#open) {
      if (session.path !== path) continue;
      if (handleOf(session).isOpen && (id ?? session.id) === session.id) return session;
      this.#open.delete(session);
    }
    return undefined;
  }

  // Whoever waits for the turn of its folder waits for its own.
  /** @param {{ path: string, placement: "home" | "workspace" }} found */
  #addSession(found) {
    const { core, agentsStore, cache, redaction, ...parts } = this.#parts;
    const store = { core, agentsStore, placeOf: this.#places.placeOf.bind(this.#places) };
    const live = new SessionHandle({ ...this.#places.placeOf(found), cache, redaction, store, turns: this.#turns.get(found.path)?.turns });
    const session = sessionOf(live.attach(), parts);
    this.#turns.delete(found.path);
    this.#open.add(session);
    // For as long as any is open, those that rest are paused.
    if (this.#idleMs > 0) {
      this.#restTimer ??= setInterval(() => core.run("rest").catch(() => {}), Math.min(this.#idleMs, LONGEST_MS));
      this.#restTimer.unref?.();
    }
    return session;
  }
}
