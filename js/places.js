// @ts-check
/** All places of a store where sessions lie: its home, and the workspaces that were met; each behind a storage of its own. */

import { basename, dirname, isAbsolute, join, sep } from "node:path";

import { nowMs, offsetMinutes } from "./clock.js";
import { bytesOf, called, newId, textOf, toBytes } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { idOf } from "./live.js";
import { Moves } from "./moving.js";
import { Home, Workspace, conversationOf, names } from "./placement.js";
import { thisProcess } from "./process.js";

/** @import { Entry, Listing } from "./listing.js" */
/** @import { FoundPlace, Looking, Place } from "./placement.js" */
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
    this.#path = join(home, names().workspaces);
    this.home = new Home({ storage, home });
    this.moves = new Moves({ storage, home, of: (named) => this.of(named) });
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

  /**
   * Where a project's pointer leads to; nothing where a session of the project cannot lie there.
   * @param {string} path @param {Project} project
   */
  ofPointer(path, project) {
    const { day, name } = conversationOf(path);
    const mine = [this.home.place(project.hash, idOf(path)), this.#workspaceAt(this.#workspace).place(day, name)];
    return mine.find((place) => place.path === path);
  }

  /** Of all projects. @param {Looking} [looking] @returns {Promise<FoundPlace[]>} */
  async all(looking) {
    const places = [];
    for (const hash of await this.home.projects()) places.push(await this.home.sessions(hash, looking));
    return this.#shown([...places.flat(), ...(await this.inWorkspaces(looking))]);
  }

  /** In the workspaces that were met. @param {Looking} [looking] @returns {Promise<FoundPlace[]>} */
  async inWorkspaces(looking) {
    const places = [];
    for (const root of await this.#roots()) places.push(await this.#workspaceAt(root).sessions(looking));
    return places.flat();
  }

  /** The folders that have the folders of sessions in them. @returns {Promise<Place[]>} */
  async around() {
    const hashes = await this.home.projects();
    /** @type {Place[]} */
    const found = hashes.map((hash) => ({ storage: this.#storage, placement: "home", path: dirname(this.home.place(hash, "").path) }));
    for (const root of await this.#roots()) found.push(...(await this.#workspaceAt(root).conversations()));
    return found;
  }

  // Where a session is on its way to, none lies yet.
  /** @param {FoundPlace[]} places */
  async #shown(places) {
    const hidden = await this.moves.hidden();
    return hidden.size > 0 ? places.filter(({ path }) => !hidden.has(path)) : places;
  }

  /**
   * Of one project, in whatever folder it was.
   * @param {Project} project @param {Listing} listing @param {Looking} [looking]
   */
  async ofProject(project, listing, looking) {
    const places = [await this.home.sessions(project.hash, looking), await this.#workspaceAt(this.#workspace).sessions(looking)];
    const others = (await this.home.projects()).filter((hash) => hash !== project.hash);
    // What is no repository is known by its folder alone.
    if (others.length > 0 && (await project.hasAliases())) {
      for (const hash of others) {
        if (await project.isIn(await listing.told(await this.home.sessions(hash)))) places.push(await this.home.sessions(hash, looking));
      }
    }
    return this.#shown(places.flat());
  }

  /** Of entries those of one project, as far as they say themselves where it was. @param {Project} project @param {Entry[]} entries */
  async entriesOf(project, entries) {
    const workspace = join(this.#workspace, names().conversations) + sep;
    /** @type {Map<string, Entry[]>} */
    const folders = new Map();
    for (const entry of entries) {
      const folder = entry.placement === "home" ? basename(dirname(entry.path)) : entry.path.startsWith(workspace) ? project.hash : "";
      folders.set(folder, [...(folders.get(folder) ?? []), entry]);
    }
    const of = [...(folders.get(project.hash) ?? [])];
    for (const [hash, some] of folders) if (hash !== "" && hash !== project.hash && (await project.isIn(some))) of.push(...some);
    return of;
  }

  /** Ends what was cut off on its way to a conversation of the workspace, so that it can be taken. @param {string} name @param {string} [day] */
  async freed(name, day = today()) {
    await this.moves.freed(this.#workspaceAt(this.#workspace).place(day, name));
  }

  /** In the home, for a session that comes there. @param {string} project its hash @param {string} id */
  async newHome(project, id) {
    const place = this.home.place(project, id);
    await this.moves.freed(place);
    if (await taken(place, join(dirname(place.path), called((core) => core.takingName(newId()))), { [names().taken]: toBytes(thisProcess()) })) return place;
    throw new LeftoffError({ code: "already_exists", message: `expected no session in "${place.path}", but found one` });
  }

  /** Lists have the sessions of this one's workspace from now on, wherever they are asked for. @param {Place} place */
  async meet({ path, placement }) {
    if (placement === "home") return;
    const root = conversationOf(path).workspace;
    if ((await this.#met()).includes(root)) return;
    await this.#storage.append(this.#path, bytesOf(`${JSON.stringify({ v: 1, root })}\n`)).catch(unlessBug);
  }

  /** Lets go of all files; gives what went wrong. */
  async close() {
    return Promise.allSettled([this.#storage, ...this.#storages.values()].map((storage) => storage.close()));
  }

  /** Of its own workspace, and of those that were met. */
  async #roots() {
    return new Set([this.#workspace, ...(await this.#met())]);
  }

  /** @returns {Promise<string[]>} */
  async #met() {
    const bytes = await this.#storage.read(this.#path).catch(unlessBug);
    const lines = bytes ? textOf(bytes).split("\n") : [];
    return lines.map(rootOf).filter((root) => root !== undefined);
  }

  /** @param {string} root */
  #workspaceAt(root) {
    return new Workspace({ storage: this.storageOf(root), root });
  }
}

/**
 * Takes a place for a session, unless it is taken: by the one thing that only one of two processes can do, a move to
 * where nothing is.
 * @param {Place} place @param {string} own a folder of its own @param {Record<string, Uint8Array>} files what it begins with
 */
async function taken({ storage, path }, own, files) {
  if (await storage.stat(path)) return false;
  for (const [name, bytes] of Object.entries(files)) await storage.replace(join(own, name), bytes);
  try {
    await storage.move(own, path);
    return true;
  } catch (error) {
    await storage.remove(own).catch(unlessBug);
    if (error instanceof LeftoffError && error.code === "already_exists") return false;
    throw error;
  }
}

// A day is one of local time.
function today() {
  const ms = nowMs();
  return new Date(ms + offsetMinutes(ms) * 60_000).toISOString().slice(0, 10);
}

/** @param {string} line */
function rootOf(line) {
  try {
    const { root } = JSON.parse(line);
    return typeof root === "string" && isAbsolute(root) ? root : undefined;
  } catch {
    return undefined; // Torn, or somebody's words: a workspace is met again.
  }
}
