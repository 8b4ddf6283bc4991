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

  /** What events say of it. @returns {Promise<import("./records.js").Project>} */
  async described() {
    return { path: this.path, hash: this.hash, name: basename(this.path), ...(await this.aliases()) };
  }

  /**
   * The hashes under which this project's sessions lie: its own, and those of the same repository in another folder:
   * renamed, moved, cloned again, or another worktree.
   * @param {Entry[]} entries
   */
  async hashes(entries) {
    const hashes = new Set([this.hash]);
    const others = entries.filter((one) => one.projectHash && one.projectHash !== this.hash && (one.remote || one.firstCommit));
    if (others.length > 0) {
      const mine = await this.aliases();
      for (const one of others) if (isSameProject(mine, one)) hashes.add(one.projectHash);
    }
    return hashes;
  }
}

/** The hash of a project's folder. @param {string} path */
export function projectHash(path) {
  return called((core) => core.projectHash(path.normalize("NFC")));
}
