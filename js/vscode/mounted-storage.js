// @ts-check
/**
 * Two storages as one: below a home the browser's own, which is written; elsewhere the folders that are open. Sessions
 * of a home that lies in such a folder are found among the browser's, and are only read.
 */

import { rejectWrite } from "../storage/read-only.js";

/** @import { Storage } from "../storage/contract.js" */

/** @implements {Storage} */
export class MountedStorage {
  #home;
  #own;
  #around;
  /** The folder of the home's sessions, and of those that a folder brings. */
  #projects;
  #foundAt = "";
  /** Those that a folder brings, by project and session. @type {Set<string>} */
  #found = new Set();

  /** @param {string} home @param {{ own: Storage, around: Storage }} storages `own`: of what lies below the home */
  constructor(home, { own, around }) {
    this.#home = home;
    this.#projects = projectsOf(home);
    this.#own = own;
    this.#around = around;
    this.capabilities = own.capabilities;
  }

  /** Looks for the sessions of another home, unless the browser has them. @param {string} home in a folder that is open */
  async findSessions(home) {
    this.#foundAt = projectsOf(home);
    for (const project of (await this.#around.list(this.#foundAt)) ?? []) {
      if (project.kind !== "folder") continue;
      for (const { name } of (await this.#around.list(`${this.#foundAt}/${project.name}`)) ?? []) {
        const session = `${project.name}/${name}`;
        if (!(await this.#own.stat(`${this.#projects}/${session}`))) this.#found.add(session);
      }
    }
  }

  /** Whether what lies there can be changed. @param {string} path */
  isWritable(path) {
    return this.#findPlace(path).storage === this.#own;
  }

  /** @type {Storage["read"]} */
  read = (path) => this.#run(path, (storage, at) => storage.read(at));

  /** @type {Storage["readRange"]} */
  readRange = (path, start, end, options) =>
    this.#run(path, (storage, at) => storage.readRange(at, start, end, options));

  /** @type {Storage["stat"]} */
  stat = (path) => this.#run(path, (storage, at) => storage.stat(at));

  /** @type {Storage["list"]} */
  list = async (path, options) => {
    const entries = await this.#run(path, (storage, at) => storage.list(at, options));
    const [project, ...deeper] = this.#partsOf(path) ?? [];
    if (project === undefined || deeper.length > 0 || this.#found.size === 0) return entries;
    const isFound = (/** @type {string} */ name) =>
      project === ""
        ? [...this.#found].some((one) => one.startsWith(`${name}/`))
        : this.#found.has(`${project}/${name}`);
    const found = (await this.#around.list(`${this.#foundAt}${path.slice(this.#projects.length)}`, options)) ?? [];
    const names = new Set(entries?.map(({ name }) => name));
    const all = [...(entries ?? []), ...found.filter(({ name }) => isFound(name) && !names.has(name))];
    return all.sort((one, other) => (one.name < other.name ? -1 : 1));
  };

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
    const [project, session] = this.#partsOf(path) ?? [];
    if (session === undefined || !this.#found.has(`${project}/${session}`)) return { storage: this.#own, at: path };
    return { storage: this.#around, at: `${this.#foundAt}${path.slice(this.#projects.length)}` };
  }

  /** The names below the home's sessions: none for their folder itself. @param {string} path */
  #partsOf(path) {
    if (path === this.#projects) return [""];
    return path.startsWith(`${this.#projects}/`) ? path.slice(this.#projects.length + 1).split("/") : undefined;
  }
}

/** @param {string} home */
const projectsOf = (home) => `${home}/sessions/projects`;
