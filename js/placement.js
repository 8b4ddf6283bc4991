// @ts-check
/** The two places where sessions lie: below the home, or beside a conversation of a workspace. */

import { basename, dirname, join, sep } from "node:path";

import { called } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";

/** @import { Entry, Stat, Storage } from "./storage/contract.js" */

/**
 * Where one session lies.
 * @typedef {object} Place
 * @property {Storage} storage
 * @property {string} path the folder of its logs
 * @property {"home" | "workspace"} placement
 */

/**
 * What a file was like; null where there was none.
 * @typedef {[size: number, ctimeMs: number] | null} Print
 *
 * `files`: what its messages are like; or all of its files, as `prints` has them. What is no file, or may not be looked
 * at, is undefined.
 * @typedef {Place & { files: (Print | undefined)[] }} FoundPlace
 */

/** @type {ReturnType<import("./core.js").Core["layoutNames"]> | undefined} */
let known;

/** What the core calls files and folders; asked once. */
export function names() {
  known ??= called((core) => core.layoutNames());
  return known;
}

/** The sessions below a home: `sessions/projects/<project hash>/session-<uuid>`. */
export class Home {
  #storage;
  #root;

  /** @param {{ storage: Storage, home: string }} parts */
  constructor({ storage, home }) {
    this.#storage = storage;
    this.#root = join(home, names().projects);
  }

  /** The hashes of all projects. @returns {Promise<string[]>} */
  async projects() {
    return folders(await listed(this.#storage, this.#root)).map(({ name }) => name);
  }

  /** @param {string} project its hash @param {Looking} [looking] @returns {Promise<FoundPlace[]>} */
  async sessions(project, looking) {
    const folder = join(this.#root, project);
    const found = folders(await listed(this.#storage, folder, filesOf("home", looking)));
    const sessions = found.filter(({ name }) => name.startsWith(names().sessionPrefix));
    const storage = this.#storage;
    return sessions.map(({ name, files }) => ({ storage, placement: "home", path: folder + sep + name, files: files?.map(print) ?? [undefined] }));
  }

  /** Where a project's sessions lie, without a look at their files. @param {string} project its hash */
  async paths(project) {
    const folder = join(this.#root, project);
    const found = folders(await listed(this.#storage, folder)).filter(({ name }) => name.startsWith(names().sessionPrefix));
    return found.map(({ name }) => join(folder, name));
  }

  /** @param {string} project its hash @param {string} id @returns {Place} */
  place(project, id) {
    return { storage: this.#storage, path: join(this.#root, project, names().sessionPrefix + id), placement: "home" };
  }
}

/** The sessions of a workspace: `conversations/<day>/<name>/.session`, beside the conversation itself. */
export class Workspace {
  #storage;
  #root;

  /** @param {{ storage: Storage, root: string }} parts `root`: the workspace's folder */
  constructor({ storage, root }) {
    this.#storage = storage;
    this.#root = join(root, names().conversations);
    this.root = root;
  }

  /** @param {Looking} [looking] @returns {Promise<FoundPlace[]>} */
  async sessions(looking) {
    const found = [];
    for (const { name: day } of folders(await listed(this.#storage, this.#root))) {
      for (const { name } of folders(await listed(this.#storage, join(this.#root, day)))) {
        const inside = await listed(this.#storage, join(this.#root, day, name), filesOf("workspace", looking));
        const session = folders(inside).find((entry) => entry.name === names().sessionFolder);
        if (!session) continue;
        const place = this.place(day, name);
        const files = session.files?.map(print) ?? [undefined];
        if (looking?.isWhole) files.push((await markdown(place).catch(unlessBug)) ?? null);
        found.push({ ...place, files });
      }
    }
    return found;
  }

  /** The folders of its conversations. @returns {Promise<Place[]>} */
  async conversations() {
    /** @type {Place[]} */
    const found = [];
    for (const { name: day } of folders(await listed(this.#storage, this.#root))) {
      const names = folders(await listed(this.#storage, join(this.#root, day)));
      found.push(...names.map(({ name }) => /** @type {Place} */ ({ storage: this.#storage, placement: "workspace", path: join(this.#root, day, name) })));
    }
    return found;
  }

  /** @param {string} day @param {string} name @returns {Place} */
  place(day, name) {
    return { storage: this.#storage, path: join(this.#root, day, name, names().sessionFolder), placement: "workspace" };
  }

  /**
   * The name of a new conversation: the day's next number, its type and the words of its title.
   * @param {string} day @param {{ type: string, title?: string }} about
   */
  async newName(day, { type, title }) {
    const taken = folders(await this.#storage.list(join(this.#root, day))).map(({ name }) => name);
    return called((core) => core.conversationName(taken, decomposed(type), decomposed(title ?? "")));
  }
}

/** The conversation of a session's folder in a workspace: its folder, its name, its day, its workspace. @param {string} path */
export function conversationOf(path) {
  const folder = dirname(path);
  const day = dirname(folder);
  return { folder, name: basename(folder), day: basename(day), workspace: dirname(dirname(day)) };
}

/** What the files of a session are like, all that lists show something of. @param {Place} place @returns {Promise<Print[]>} */
export async function prints(place) {
  const { storage, path, placement } = place;
  const stats = filesOf(placement, { isWhole: true }).map(async (name) => {
    const file = join(path, name);
    const found = print(await storage.stat(file));
    if (found !== undefined) return found;
    throw new LeftoffError({ code: "not_a_file", message: `expected a file at "${file}", but found something else instead` });
  });
  return Promise.all(placement === "workspace" ? [...stats, markdown(place)] : stats);
}

// A conversation's heading is its title where nobody gave it one; which of its files has it is another question.
/** @param {Place} place @returns {Promise<Print>} all of them as one */
async function markdown({ storage, path }) {
  const { folder } = conversationOf(path);
  /** @type {Print} */
  let all = null;
  for (const { name, kind } of (await storage.list(folder)) ?? []) {
    if (kind !== "file" || !name.endsWith(".md")) continue;
    const { size, ctimeMs } = (await storage.stat(join(folder, name))) ?? { size: 0, ctimeMs: 0 };
    all = [(all?.[0] ?? 0) + size, (all?.[1] ?? 0) + ctimeMs];
  }
  return all;
}

/** @typedef {{ isWhole?: boolean }} Looking at all files, or at the messages only */

/** @param {"home" | "workspace"} placement @param {Looking} [looking] */
function filesOf(placement, { isWhole = false } = {}) {
  const { logs: [messages, events] } = names();
  return isWhole ? [messages, events, names()[placement].file] : [messages];
}

/** @param {Stat | null} stat @returns {Print | undefined} */
function print(stat) {
  if (!stat) return null;
  return stat.kind === "file" ? [stat.size, stat.ctimeMs] : undefined;
}

// One that cannot be read must not cost the rest of the list.
/** @param {Storage} storage @param {string} folder @param {string[]} [files] */
async function listed(storage, folder, files) {
  const found = files && (await storage.list(folder, { files }).catch(unlessBug));
  return found ?? (await storage.list(folder).catch(unlessBug)) ?? null;
}

/** @param {Entry[] | null} entries */
function folders(entries) {
  // A link put there by others must not cost the rest of the list.
  return (entries ?? []).filter(({ kind }) => kind === "folder");
}

// The core has no tables of Unicode for it.
/** @param {string} text */
export function decomposed(text) {
  return text.normalize("NFKD").replace(/\p{Mark}/gu, "");
}
