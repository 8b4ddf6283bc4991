// @ts-check
/**
 * Says that a session is open for appending, and by whom. It locks nothing: several may hold one. Each holder has a file
 * of its own, so that nobody has to take one away from another; its loss costs a warning, never data.
 */

import { nowText, randomId } from "./clock.js";
import { called, textOf, toBytes } from "./core.js";
import { unlessBug } from "./error.js";
import { isGone, thisProcess } from "./process.js";

/** @import { Storage } from "./storage/contract.js" */
/** @import { Holder } from "./types/index.js" */
export class Lease {
  #storage;
  #folder;
  #mine = `${randomId()}.json`;
  #isHeld = false;

  /** @param {{ storage: Storage, folder: string }} parts `folder`: where the session's holders are named */
  constructor({ storage, folder }) {
    this.#storage = storage;
    this.#folder = folder;
  }

  /** Whether there is nothing more to say: what lies in the memory of a process is open nowhere else. */
  get isHeld() {
    return this.#isHeld || !this.#storage.capabilities.durable;
  }

  /** Says that this process appends. A store that cannot say so can still be written: that is no reason to fail. */
  async hold() {
    if (this.isHeld) return;
    this.#isHeld = true;
    const holder = { ...thisProcess(), since: nowText() };
    await this.#storage.append(`${this.#folder}/${this.#mine}`, toBytes(holder)).catch(unlessBug);
  }

  /** This process holds one. */
  get isMine() {
    return this.#isHeld;
  }

  /** Who else holds one. @returns {Promise<Holder[]>} */
  async others() {
    return (await this.#all()).filter(({ holder }) => holder && !isGone(holder)).map(({ holder }) => /** @type {Holder} */ (holder));
  }

  /** Those that are gone, and did not release theirs; told once, since they are cleared away. @returns {Promise<Holder[]>} */
  async left() {
    const gone = await this.#gone();
    for (const { path } of gone) await this.#storage.remove(path).catch(unlessBug);
    return gone.flatMap(({ holder }) => holder ?? []);
  }

  /** How many are of processes that are gone, or of nobody. They stay. */
  async countLeft() {
    return (await this.#gone()).length;
  }

  async #gone() {
    return (await this.#all()).filter(({ holder }) => !holder || isGone(holder));
  }

  async #all() {
    const found = [];
    for (const { name, kind } of (await this.#storage.list(this.#folder)) ?? []) {
      if (name === this.#mine || kind !== "file") continue;
      const path = `${this.#folder}/${name}`;
      found.push({ path, holder: await this.#read(path) });
    }
    return found;
  }

  /** Says that this process appends no longer. */
  async release() {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    await this.#storage.remove(`${this.#folder}/${this.#mine}`).catch(unlessBug);
  }

  /** @param {string} path @returns {Promise<Holder | undefined>} */
  async #read(path) {
    const bytes = await this.#storage.read(path);
    return bytes ? /** @type {Holder | undefined} */ (called((core) => core.readLease(textOf(bytes)))) : undefined;
  }
}
