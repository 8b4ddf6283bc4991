// @ts-check
/** All places of a store where sessions lie: its home, and the workspaces that were met; each behind a storage of its own. */

import { join } from "node:path";

import { called } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { Home, Workspace, conversationOf } from "./placement.js";

/** @import { Entry, Listing } from "./listing.js" */
/** @import { FoundPlace, Place } from "./placement.js" */
/** @import { Project } from "./project.js" */
/** @import { Storage } from "./storage/contract.js" */

export class Places {
  #storage;
  #storageAt;
  #workspace;
  /** Where it is written which workspaces were met. */
  #path;
  /** @type {Map<string | undefined, Storage>} by their roots */
  #storages = new Map();

  /**
   * @param {{ home: string, workspace: string, storage: Storage, storageAt: (root?: string) => Storage }} parts
   *   `storage`: of the home
   */
  constructor({ home, workspace, storage, storageAt }) {
    this.#storage = storage;
    this.#storageAt = storageAt;
    this.#workspace = workspace;
    this.#path = join(home, "workspaces.jsonl");
    this.home = new Home({ storage, home });
  }

  /** A storage that does not leave a folder; or, without one, of all files. @param {string} [root] */
  storageOf(root) {
    const storage = this.#storages.get(root) ?? this.#storageAt(root);
    this.#storages.set(root, storage);
    return storage;
  }

  /** @param {{ path: string, placement: "home" | "workspace" }} one @returns {Place} */
  of({ path, placement }) {
    const storage = placement === "home" ? this.#storage : this.storageOf(conversationOf(path).workspace);
    return { storage, path, placement };
  }

  /** Of all projects. @returns {Promise<FoundPlace[]>} */
  async all() {
    const places = [];
    for (const hash of await this.home.projects()) places.push(...(await this.home.sessions(hash)));
    for (const root of new Set([this.#workspace, ...(await this.#met())])) places.push(...(await this.#conversations(root)));
    return places;
  }

  /**
   * Of one project, in whatever folder it was.
   * @param {Project} project @param {Listing} listing @param {Entry[]} known
   */
  async ofProject(project, listing, known) {
    // Of a project that the index does not know, its sessions have to say by what else it is known.
    const hashes = new Set([project.hash, ...known.map((entry) => entry.projectHash)]);
    const entries = [...known];
    for (const hash of await this.home.projects()) {
      if (!hashes.has(hash)) entries.push(...(await listing.entries(await this.home.sessions(hash))).map(({ entry }) => entry));
    }
    const places = [];
    for (const hash of await project.hashes(entries)) places.push(...(await this.home.sessions(hash)));
    places.push(...(await this.#conversations(this.#workspace)));
    return places;
  }

  /**
   * For a new conversation in the workspace.
   * @param {{ type: string, title?: string, name?: string }} about
   */
  async newConversation({ type, title, name }) {
    const workspace = this.#workspaceAt(this.#workspace);
    const now = new Date();
    // A day is one of local time.
    const day = new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
    if (name !== undefined) called((core) => core.checkId(name));
    const place = workspace.place(day, name ?? (await workspace.newName(day, { type, title })));
    if (await place.storage.stat(place.path)) {
      throw new LeftoffError({ code: "already_exists", message: `expected no session in "${conversationOf(place.path).folder}", but found one` });
    }
    return place;
  }

  /** Lists have the sessions of this one's workspace from now on, wherever they are asked for. @param {Place} place */
  async meet({ path, placement }) {
    if (placement === "home") return;
    const root = conversationOf(path).workspace;
    if ((await this.#met()).includes(root)) return;
    await this.#storage.append(this.#path, new TextEncoder().encode(`${JSON.stringify({ v: 1, root })}\n`)).catch(unlessBug);
  }

  /** Lets go of all files; gives what went wrong. */
  async close() {
    return Promise.allSettled([this.#storage, ...this.#storages.values()].map((storage) => storage.close()));
  }

  /** @returns {Promise<string[]>} */
  async #met() {
    const bytes = await this.#storage.read(this.#path).catch(unlessBug);
    const lines = bytes ? new TextDecoder().decode(bytes).split("\n") : [];
    return lines.map(rootOf).filter((root) => root !== undefined);
  }

  // A workspace that is gone, or may not be looked into, must not cost the rest of the list.
  /** @param {string} root */
  async #conversations(root) {
    return (await this.#workspaceAt(root).sessions().catch(unlessBug)) ?? [];
  }

  /** @param {string} root */
  #workspaceAt(root) {
    return new Workspace({ storage: this.storageOf(root), root });
  }
}

/** @param {string} line */
function rootOf(line) {
  try {
    const { root } = JSON.parse(line);
    return typeof root === "string" ? root : undefined;
  } catch {
    return undefined; // Torn, or somebody's words: a workspace is met again.
  }
}
