// @ts-check
/** The project that is worked in: its folder, its hash, and by what else it is known when its folder is another. */

import { basename } from "node:path";

import { called } from "./core.js";
import { aliasesOf, isSameProject } from "./git.js";

/** @import { Entry } from "./listing.js" */
/** @typedef {{ remote?: string, firstCommit?: string, folder?: string }} Aliases */

export class Project {
  /** @type {Promise<Aliases> | undefined} */
  #aliases;

  /** @param {string} path its real path */
  constructor(path) {
    this.path = path;
    this.hash = projectHash(path);
  }

  /** What its repository says; asked once. @returns {Promise<Aliases>} */
  aliases() {
    this.#aliases ??= aliasesOf(this.path);
    return this.#aliases;
  }

  /** What a session says of it that is begun. */
  async created() {
    return { project: this.path, ...(await this.aliases()) };
  }

  /** What events say of it. @returns {Promise<import("./records.js").Project>} */
  async described() {
    return { path: this.path, hash: this.hash, name: basename(this.path), ...(await this.aliases()) };
  }

  /** Whether it is known by more than its folder. */
  async hasAliases() {
    const { remote, firstCommit } = await this.aliases();
    return Boolean(remote || firstCommit);
  }

  /**
   * Whether one of these is of the same repository in another folder: renamed, moved, cloned again, or another worktree.
   * @param {Entry[]} entries
   */
  async isIn(entries) {
    const others = entries.filter((one) => one.remote || one.firstCommit);
    if (others.length === 0) return false;
    const mine = await this.aliases();
    return others.some((one) => isSameProject(mine, one));
  }
}

/** The hash of a project's folder. @param {string} path */
export function projectHash(path) {
  return called((core) => core.projectHash(path.normalize("NFC")));
}
