// @ts-check
/**
 * A session on its way into the other placement, which may lie on another disk: it is copied, and others append to it all
 * the while.
 *
 * 1. A place is taken for it, and `<home>/moving/<uuid>.json` says from where to where it goes.
 * 2. All is copied. While something lies where it comes from, no session lies where it goes to.
 * 3. Its old folder gets another name beside: whoever appends there is refused from then on, and finds the new place.
 * 4. What was appended between the second step and the third is carried over, by whoever comes to the new place first.
 * 5. The old folder goes to the trash.
 *
 * So whatever moment it is cut off at, one place is the session's, and nothing that was acknowledged is missing there.
 */

import { Buffer } from "node:buffer";
import { join } from "node:path";

import { newId, toBytes } from "./core.js";
import { derived } from "./derived.js";
import { LeftoffError, unlessBug, unlessGone } from "./error.js";
import { conversationOf, names } from "./placement.js";
import { isGone, thisProcess } from "./process.js";
import { copied, copiedFile, goneAt, leftAt, toTrash } from "./trash.js";

/** @import { Place } from "./placement.js" */
/** @import { ProcessName } from "./process.js" */
/** @import { Storage } from "./storage/contract.js" */

/** @typedef {{ path: string, placement: "home" | "workspace" }} Named a place, as it is written down */

/**
 * @typedef {object} Move
 * @property {1} version
 * @property {string} id of the session
 * @property {Named} from
 * @property {Named} to
 * @property {string} left what its old folder is called once it is left
 * @property {string[]} but files that stay behind
 * @property {Record<string, [size: number, line: number]>} [copied] of each log, how much was copied, and where the last line of
 *   that begins
 * @property {ProcessName} by
 */

const LINE_FEED = "\n".charCodeAt(0);
/** Where a line begins is looked for in pieces of so many bytes. */
const PIECE = 64 * 1024;

export class Moves {
  #storage;
  #home;
  #of;

  /** @param {{ storage: Storage, home: string, of: (named: Named) => Place }} parts `storage`: of the home */
  constructor({ storage, home, of }) {
    this.#storage = storage;
    this.#home = home;
    this.#of = of;
  }

  get #folder() {
    return join(this.#home, names().moving);
  }

  /**
   * Carries a session to a place that was taken for it.
   * @param {{ id: string, from: Place, to: Place, but: string[] }} what
   * @param {() => Promise<unknown>} announce says in the new place what is to be said, before anybody finds it
   */
  async carry({ id, from, to, but }, announce) {
    const path = join(this.#folder, `${newId()}.json`);
    /** @type {Move} */
    const move = { version: 1, id, from: named(from), to: named(to), left: leftAt(from.path), but, by: thisProcess() };
    try {
      await this.#storage.replace(path, toBytes(move));
      move.copied = await copies(from, to, but);
      await this.#storage.replace(path, toBytes(move));
      await announce();
      // Where the disk did not confirm it, it is moved all the same.
      await from.storage.move(from.path, move.left).catch((error) => unlessUnconfirmed(error));
    } catch (error) {
      await this.#undone(path, to).catch(unlessBug);
      throw error;
    }
    await this.#arrived(path, move);
  }

  /** The folders that sessions are on their way to; none lies there yet. @returns {Promise<Set<string>>} */
  async hidden() {
    const hidden = new Set();
    for (const { move } of await this.#all()) if ((await this.#state(move)) !== "left") hidden.add(move.to.path);
    return hidden;
  }

  /** Where the session lies that a place was looked up for; nothing where none does. @param {Place} place @returns {Promise<Place | undefined>} */
  async now(place) {
    for (const { path, move } of await this.#all()) {
      if (move.to.path !== place.path) continue;
      const state = await this.#state(move);
      if (state === "there") return this.#of(move.from);
      if (state === "left") await this.#arrived(path, move);
      // Who carried it may be ready by now.
      else if (await this.#storage.stat(path)) return undefined;
    }
    return place;
  }

  /**
   * Those that were cut off, and how each is brought to an end: a session that was left arrives; one that lies where it lay stays there.
   * @returns {Promise<{ path: string, move: Move, mend: () => Promise<string> }[]>}
   */
  async cutOff() {
    const all = await this.#all();
    return all.filter(({ move }) => isGone(move.by)).map(({ path, move }) => ({ path, move, mend: () => this.#ended(path, move) }));
  }

  /** Ends what was cut off on its way to a place, so that it can be taken. @param {Place} place */
  async freed(place) {
    for (const { move, mend } of await this.cutOff()) if (move.to.path === place.path) await mend();
    if (await this.isAbandoned(place)) await this.#takenBack(place, (away) => this.isAbandoned({ ...place, path: away }));
  }

  /** Whether somebody took a place and was gone before anything came there. @param {Pick<Place, "storage" | "path">} place */
  async isAbandoned({ storage, path }) {
    const found = (await storage.list(path)) ?? [];
    const { taken, attributes } = names();
    if (!found.some(({ name }) => name === taken) || found.some(({ name }) => ![taken, attributes].includes(name))) return false;
    const by = await derived(storage, join(path, taken));
    return Number.isSafeInteger(by?.pid) && isGone(by) && !(await this.names(path));
  }

  /** Whether a move has to do with a folder. @param {string} path */
  async names(path) {
    return (await this.#all()).some(({ move }) => move.to.path === path || move.from.path === path || move.left === path);
  }

  /** @returns {Promise<{ path: string, move: Move }[]>} */
  async #all() {
    const found = [];
    // One that cannot be read must not cost a list: at worst a session is shown twice.
    for (const { name, kind } of (await this.#storage.list(this.#folder).catch(unlessBug)) ?? []) {
      const path = join(this.#folder, name);
      const move = kind === "file" && name.endsWith(".json") ? await derived(this.#storage, path) : undefined;
      if (move?.version === 1) found.push({ path, move });
    }
    return found;
  }

  /** @param {Move} move @returns {Promise<"there" | "left" | "none">} */
  async #state({ from, left }) {
    const { storage } = this.#of(from);
    if (await storage.stat(from.path)) return "there";
    return (await storage.stat(left)) ? "left" : "none";
  }

  /** @param {string} path @param {Move} move */
  async #arrived(path, { from, to, left, but, copied }) {
    const source = this.#of(from);
    const target = this.#of(to);
    await carriedOver({ ...source, path: left }, target, { but, copied });
    await target.storage.remove(join(to.path, names().taken));
    await this.#storage.remove(path);
    // Somebody else may have come to that at once.
    await toTrash(source, { storage: this.#storage, home: this.#home, lies: left }).catch(unlessGone);
  }

  /** @param {string} path @param {Place} to */
  async #undone(path, { storage, path: folder }) {
    await storage.remove(folder);
    await this.#storage.remove(path);
  }

  /** @param {string} path @param {Move} move @returns {Promise<string>} what was done */
  async #ended(path, move) {
    const [state, to] = [await this.#state(move), this.#of(move.to)];
    const isCopied = (await to.storage.stat(to.path)) !== null;
    if (state === "there") {
      if (isCopied) await this.#takenBack(to, async () => (await this.#storage.stat(path)) !== null);
      await this.#storage.remove(path);
      return `left the session ${move.id} at "${move.from.path}"`;
    }
    if (state === "left" && isCopied) {
      await this.#arrived(path, move);
      return `brought the session ${move.id} to "${to.path}"`;
    }
    return this.#keptOf(path, move, { isLeft: state === "left", isCopied });
  }

  // One of its two places was taken away by hand. What is in the other may be all there is.
  /** @param {string} path @param {Move} move @param {{ isLeft: boolean, isCopied: boolean }} there @returns {Promise<string>} */
  async #keptOf(path, { id, from, to, left }, { isLeft, isCopied }) {
    const trash = { storage: this.#storage, home: this.#home };
    const workspace = from.placement === "workspace" ? conversationOf(from.path).workspace : undefined;
    // It may lie on a disk that is not there today.
    if (workspace && !isLeft && !(await this.#of(from).storage.stat(workspace))) {
      throw new LeftoffError({ code: "not_found", message: `expected the workspace "${workspace}", where the session ${id} lay, but found none` });
    }
    if (isLeft) await toTrash(this.#of(from), { ...trash, lies: left });
    else if (isCopied) await toTrash(this.#of(to), trash);
    await this.#storage.remove(path);
    return isLeft || isCopied ? `put what there is of the session ${id} into the trash` : `forgot the move of the session ${id}, of which there is nothing`;
  }

  // Somebody else may do the same at once, and take the place anew.
  /** @param {Pick<Place, "storage" | "path">} place @param {(away: string) => Promise<boolean>} isMeant */
  async #takenBack({ storage, path }, isMeant) {
    const away = goneAt(path);
    await storage.move(path, away);
    if (await isMeant(away)) await storage.remove(away);
    else await storage.move(away, path);
  }
}

/** @param {Place} place @returns {Named} */
function named({ path, placement }) {
  return { path, placement };
}

/** @param {unknown} error */
function unlessUnconfirmed(error) {
  if (!(error instanceof LeftoffError && error.durable === false)) throw error;
}

/** @param {Place} from @param {Place} to @param {string[]} but @returns {Promise<NonNullable<Move["copied"]>>} */
async function copies(from, to, but) {
  /** @type {NonNullable<Move["copied"]>} */
  const sizes = {};
  for (const name of names().logs) {
    const path = join(from.path, name);
    if (!(await from.storage.stat(path))) continue;
    const size = await copiedFile({ ...from, path }, { ...to, path: join(to.path, name) });
    sizes[name] = [size, await lineStart(from.storage, path, size)];
  }
  await copied(from, to, { but: [...but, ...names().logs] });
  return sizes;
}

/** Where the line begins that ends at `end`, or the next one. @param {Storage} storage @param {string} path @param {number} end */
async function lineStart(storage, path, end) {
  for (let before = end; before > 0; ) {
    const start = Math.max(0, before - PIECE);
    const found = ((await storage.readRange(path, start, before)) ?? new Uint8Array()).lastIndexOf(LINE_FEED);
    if (found >= 0) return start + found + 1;
    before = start;
  }
  return 0;
}

/**
 * What a folder has and its copy has not: blobs and the like, then what came to the logs.
 * @param {Place} from @param {Place} to @param {Pick<Move, "but" | "copied">} move
 */
async function carriedOver(from, to, { but, copied: sizes = {} }) {
  await copied(from, to, { but: [...but, ...names().logs], isMissing: true });
  for (const name of names().logs) await tailOver({ ...from, path: join(from.path, name) }, { ...to, path: join(to.path, name) }, sizes[name]);
}

/**
 * Whole lines only: what is unfinished nobody was told is stored. A line that another one has carried over is left out.
 * @param {{ storage: Storage, path: string }} from @param {{ storage: Storage, path: string }} to
 * @param {[size: number, line: number]} [copied]
 */
async function tailOver(from, to, [size, line] = [0, 0]) {
  const now = (await from.storage.stat(from.path))?.size ?? 0;
  if (now <= size) return;
  const lines = async (/** @type {{ storage: Storage, path: string }} */ { storage, path }) =>
    Buffer.from((await storage.readRange(path, line, Infinity)) ?? new Uint8Array()).toString("latin1").split("\n");
  const [all, there] = [await lines(from), await lines(to)];
  const unfinished = all.pop() ?? "";
  if (isWhole(unfinished)) all.push(unfinished);
  const known = new Set(there);
  const missing = all.filter((one) => one !== "" && !known.has(one));
  if (missing.length === 0) return;
  const seal = there.at(-1) === "" ? "" : "\n";
  await to.storage.append(to.path, Buffer.from(`${seal}${missing.join("\n")}\n`, "latin1"), { durable: true });
}

/** @param {string} text */
function isWhole(text) {
  try {
    return JSON.parse(text) !== null;
  } catch {
    return false; // Torn, or still being written.
  }
}
