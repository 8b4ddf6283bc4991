// @ts-check
/** The project that is worked in: its folder, its hash, and by what else it is known when its folder is another. */

import { basename } from "node:path";

import { called } from "./core.js";
import { aliasesOf } from "./git.js";

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
    // Those of one folder say the same, and they may be thousands.
    const others = new Set();
    for (const { remote, firstCommit, folder } of entries) if (remote || firstCommit) others.add(JSON.stringify({ remote, firstCommit, folder }));
    if (others.size === 0) return false;
    const mine = JSON.stringify(await this.aliases());
    return called((core) => core.isAnySame(`[${[mine, ...others].join()}]`));
  }
}

/** The hash of a project's folder. @param {string} path */
export function projectHash(path) {
  return called((core) => core.projectHash(path.normalize("NFC")));
}
