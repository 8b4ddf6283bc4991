// @ts-check
/** The sessions that a store has open: one object for each folder, whoever asks meanwhile. */

import { Session } from "../session/session.js";

/** A timer that is set later goes off at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** @import { Cache } from "../session/handle.js" */
/** @import { Place } from "../placement/placement.js" */
/** @import { Places } from "../placement/places.js" */
/** @import { Redaction } from "../privacy/redaction.js" */
/** @import { ReadSettings } from "./settings.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Notice } from "../types/index.js" */
/** @import { Host } from "../wasm/drive.js" */
/** @import { CoreStore } from "../wasm/store.js" */

/**
 * Where a session lies now that was moved.
 * @typedef {(id: string) => Promise<Place | undefined>} Find
 */

/**
 * What a store is made of.
 * @typedef {{ project: string, home: string, workspace?: string, storage: Storage, places: Places, countTokens: boolean,
 *   idleMs?: number, read: ReadSettings, redaction: Redaction,
 *   runGit?: Host["runGit"] }} StoreParts
 */

export class OpenSessions {
  #places;
  #cache;
  #countTokens;
  #redaction;
  #idleMs;
  #find;
  #ended;
  #search;
  #core;
  /** @type {Map<string, Session>} by their folders */
  #open = new Map();
  /** @type {Map<string, Promise<Session>>} those that are being opened, by their folders */
  #opening = new Map();

  /** What was found out about sessions that nobody has opened since. @type {{ path: string, notice: Notice }[]} */
  #unsaid = [];
  /** @type {ReturnType<typeof setInterval> | undefined} what pauses those that rest */
  #resting;

  /**
   * @param {{ places: Places, cache: Cache, countTokens: boolean, redaction: Redaction, idleMs: number,
   *   find: (id: string) => Promise<Place | undefined>, core: CoreStore, ended: (id: string) => unknown, search: (id: string, ...asked: any[]) => AsyncGenerator<any> }} parts
   *   `find`: where a session lies; `ended`: is told of one that was stopped or completed; `search`: in one
   */
  constructor({ places, cache, countTokens, redaction, idleMs, find, core, ended, search }) {
    this.#search = search;
    this.#find = find;
    this.#ended = ended;
    this.#core = core;
    this.#places = places;
    this.#countTokens = countTokens;
    this.#redaction = redaction;
    this.#idleMs = idleMs;
    this.#cache = cache;
  }

  /** One that the core has begun. @param {Place} place */
  async begun(place) {
    const session = Session.of(this.#lent(place));
    await session.prepare();
    this.#keep(session.path, session);
    return session;
  }

  /**
   * One that was just written beside the core, for whoever has it now: it is not taken up, however long nothing was said in it.
   * @param {Place} place
   */
  async kept(place) {
    this.#sort();
    const known = await this.#known(place.path);
    const session = known ?? (await Session.open(this.#lent(place)));
    if (!known) await session.prepare();
    await session.hold();
    if (!known) this.#take(place, session);
    return session;
  }

  /** Those that are open and were written to beside the core look at their files. @param {string[]} ids */
  async look(ids) {
    for (const session of this.#open.values()) if (ids.includes(session.id)) await session.look();
  }

  /** The one of a folder. @param {Place} place @returns {Promise<Session>} */
  async at(place) {
    this.#sort();
    const known = await this.#known(place.path);
    if (known) return known;
    const { path } = place;
    const opening = this.#opening.get(path) ?? this.#opened(place);
    this.#opening.set(path, opening);
    return opening.finally(() => this.#opening.delete(path));
  }

  /** The one of an id, where it is open. @param {string} id */
  async byId(id) {
    this.#sort();
    const open = [...this.#open.values()].find((session) => session.id === id);
    return open && this.#known(open.path);
  }

  // Whoever asks next gets another object.
  /** @param {string} path */
  #forget(path) {
    this.#sort();
    this.#open.delete(path);
  }

  /** One that is open no longer, since all of it went elsewhere. @param {Session} session @param {string} path where it lay @param {boolean} isDeleted */
  gone(session, path, isDeleted) {
    session.left(isDeleted);
    this.#forget(path);
  }

  /** What was found out about sessions: those that are open say it themselves. @param {{ path: string, notice: Notice }[]} notices */
  tell(notices) {
    this.#sort();
    for (const { path, notice } of notices) {
      const session = this.#open.get(path);
      if (session) session.notices.push(notice);
      else this.#unsaid.push({ path, notice });
    }
  }

  /** The same of those that were not opened since; told once. */
  unsaid() {
    return this.#unsaid.splice(0);
  }

  /** Resolves to what ends the turn of the one of a folder, once it has come. @param {string} [path] */
  async turn(path = "") {
    return (await this.#open.get(path)?.turn()) ?? (() => {});
  }

  /** Lets go of all. */
  close() {
    clearInterval(this.#resting);
    return Promise.allSettled([...this.#open.values()].map((session) => this.#letGo(session)));
  }

  /** @param {Session} session */
  async #letGo(session) {
    this.#forget(session.path);
    // What was derived from it is nobody's any more; what was acknowledged went along with its folder.
    await ((await session.isThere()) ? session.close() : session.leave());
  }

  // As its files say by now; none where its folder was moved or deleted meanwhile: by another process, or by hand.
  /** @param {string} path */
  async #known(path) {
    const session = this.#open.get(path);
    const isThere = await session?.isThere();
    if (isThere) await session?.look();
    if (isThere ?? true) return session;
    this.#open.delete(path);
    await session?.leave();
    return undefined;
  }

  // Those that were moved, and have found out.
  #sort() {
    for (const [path, session] of this.#open) {
      if (session.path === path) continue;
      this.#open.delete(path);
      if (!this.#open.has(session.path)) this.#open.set(session.path, session);
    }
  }

  /** @param {Place} place @returns {Promise<Session>} */
  async #opened(place) {
    const { place: lies, told } = await this.#core.run("open", place.path, place.placement);
    const known = lies.path === place.path ? undefined : await this.#known(lies.path);
    if (known) return known;
    const now = this.#places.of(lies);
    const session = Session.of(this.#lent(now));
    await session.prepare();
    // The same one where it lay before: it is held there no longer.
    for (const { id, path } of this.#open.values()) if (id === session.id) await this.#known(path);
    session.notices.push(...told.notices);
    this.#take(now, session);
    return session;
  }

  // Whoever opens one hears what was found out about it.
  /** @param {Place} place @param {Session} session */
  #take({ path }, session) {
    const told = this.#unsaid.filter((one) => one.path === path);
    session.notices.unshift(...told.map(({ notice }) => notice));
    this.#unsaid = this.#unsaid.filter((one) => !told.includes(one));
    this.#keep(path, session);
  }

  // For as long as any is open, those that rest are paused.
  /** @param {string} path @param {Session} session */
  #keep(path, session) {
    this.#open.set(path, session);
    if (!(this.#idleMs > 0)) return;
    const told = (/** @type {Error} */ { message }) => this.tell([{ path, notice: { code: "not_paused", message } }]);
    this.#resting ??= setInterval(() => this.#rest().catch(told), Math.min(this.#idleMs, LONGEST_MS));
    this.#resting.unref?.();
  }

  async #rest() {
    for (const session of this.#open.values()) {
      await session.look();
      await session.takeUp();
    }
  }

  /** What is kept open. @param {Place} place */
  #lent(place) {
    const lend = (/** @type {Place} */ at, /** @type {string} */ id) => this.#core.live(at, id);
    return { ...place, lend, find: this.#find, cache: this.#cache, countTokens: this.#countTokens, redaction: this.#redaction, idleMs: this.#idleMs, ended: this.#ended, search: this.#search };
  }
}
