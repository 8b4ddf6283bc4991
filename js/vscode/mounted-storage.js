// @ts-check
/**
 * Two storages as one: below a home the browser's own, which is written; elsewhere the folders that are open. Sessions
 * of a home that lies in such a folder are found among the browser's, and are only read; so are its conversations.
 */

import { rejectWrite } from "../storage/read-only.js";

/** @import { Storage } from "../storage/contract.js" */

/** @implements {Storage} */
export class MountedStorage {
  #home;
  #own;
  #around;
  #folders;
  /** The folder of the home's sessions. */
  #projects;
  /** The folders of the sessions that they bring, by project and session. @type {Map<string, string>} */
  #found = new Map();

  /**
   * @param {string} home
   * @param {{ own: Storage, around: Storage, folders?: readonly string[] }} storages `own`: of what lies below the home;
   *   `folders`: those that are open. Of two that bring a session the first counts
   */
  constructor(home, { own, around, folders = [] }) {
    this.#home = home;
    this.#projects = projectsOf(home);
    this.#own = own;
    this.#around = around;
    this.#folders = folders;
    this.capabilities = own.capabilities;
  }

  /** Looks for the sessions that the folders bring. From then on each list of a project looks for its own again. */
  async findSessions() {
    for (const { name, kind } of (await this.list(this.#projects)) ?? [])
      if (kind === "folder") await this.list(`${this.#projects}/${name}`);
  }

  /** Whether what lies there can be changed. @param {string} path */
  isWritable(path) {
    return this.#findPlace(path).storage === this.#own;
  }

  /** The folder whose home brings the session at a path. @param {string} path */
  folderOf(path) {
    const [project, session] = this.#partsOf(path) ?? [];
    return this.#found.get(`${project}/${session}`);
  }

  /** @type {Storage["read"]} */
  read = async (path) => {
    const bytes = await this.#run(path, (storage, at) => storage.read(at));
    return path === `${this.#home}/workspaces.jsonl` ? this.#withFolders(bytes) : bytes;
  };

  /** @type {Storage["readRange"]} */
  readRange = (path, start, end, options) =>
    this.#run(path, (storage, at) => storage.readRange(at, start, end, options));

  /** @type {Storage["stat"]} */
  stat = (path) => this.#run(path, (storage, at) => storage.stat(at));

  /** @type {Storage["list"]} */
  list = async (path, options) => {
    const entries = await this.#run(path, (storage, at) => storage.list(at, options));
    const [project, ...deeper] = this.#partsOf(path) ?? [];
    if (project === undefined || deeper.length > 0) return entries;
    const all = new Map((entries ?? []).map((entry) => [entry.name, entry]));
    /** @type {Map<string, string>} */
    const found = new Map();
    for (const folder of this.#folders)
      for (const entry of (await this.#around.list(this.#pathIn(folder, path), options)) ?? []) {
        if (entry.kind !== "folder" || all.has(entry.name)) continue;
        all.set(entry.name, entry);
        found.set(`${project}/${entry.name}`, folder);
      }
    if (project !== "") this.#replaceFound(project, found);
    if (!entries && all.size === 0) return null;
    return [...all.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  };

  /** @param {string} project @param {Map<string, string>} found all that folders bring of it */
  #replaceFound(project, found) {
    const others = [...this.#found].filter(([session]) => !session.startsWith(`${project}/`));
    this.#found = new Map([...others, ...found]);
  }

  /** @type {Storage["append"]} */
  append = (path, bytes, options) => this.#run(path, (storage, at) => storage.append(at, bytes, options));

  /** @type {Storage["replace"]} */
  replace = (path, bytes, options) => this.#run(path, (storage, at) => storage.replace(at, bytes, options));

  /** @type {Storage["move"]} */
  move = (from, to) =>
    this.isWritable(to) ? this.#run(from, (storage, at) => storage.move(at, to)) : rejectWrite("move", from);

  /** @type {Storage["link"]} */
  link = (path, target) => this.#run(path, (storage, at) => storage.link(at, target));

  /** @type {Storage["remove"]} */
  remove = (path) => this.#run(path, (storage, at) => storage.remove(at));

  async close() {
    await Promise.all([this.#own.close(), this.#around.close()]);
  }

  /** @template T @param {string} path @param {(storage: Storage, at: string) => T} work */
  #run(path, work) {
    const { storage, at } = this.#findPlace(path);
    return work(storage, at);
  }

  /** @param {string} path */
  #findPlace(path) {
    if (path !== this.#home && !path.startsWith(`${this.#home}/`)) return { storage: this.#around, at: path };
    const folder = this.folderOf(path);
    if (folder === undefined) return { storage: this.#own, at: path };
    return { storage: this.#around, at: this.#pathIn(folder, path) };
  }

  /** Where a folder has what lies among the sessions. @param {string} folder @param {string} path */
  #pathIn(folder, path) {
    return `${projectsOf(`${folder}/.leftoff`)}${path.slice(this.#projects.length)}`;
  }

  /** The list of workspaces, with the folders: each may have conversations. @param {Uint8Array | null} bytes */
  #withFolders(bytes) {
    const lines = this.#folders.map((root) => JSON.stringify({ v: 1, root }));
    if (lines.length === 0) return bytes;
    return new TextEncoder().encode(`${new TextDecoder().decode(bytes ?? undefined)}\n${lines.join("\n")}\n`);
  }

  /** The names below the home's sessions: none for their folder itself. @param {string} path */
  #partsOf(path) {
    if (path === this.#projects) return [""];
    return path.startsWith(`${this.#projects}/`) ? path.slice(this.#projects.length + 1).split("/") : undefined;
  }
}

/** @param {string} home */
const projectsOf = (home) => `${home}/sessions/projects`;
