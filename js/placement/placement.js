// @ts-check
/** The two places where sessions lie: below the home, or beside a conversation of a workspace. */

import { basename, dirname, join } from "node:path";

import { called } from "../wasm/core.js";
import { unlessBug } from "../error.js";

/** @import { Entry, Storage } from "../storage/contract.js" */

/**
 * Where one session lies.
 * @typedef {object} Place
 * @property {Storage} storage
 * @property {string} path the folder of its logs
 * @property {"home" | "workspace"} placement
 */

/** @type {ReturnType<import("../wasm/core.js").Core["layoutNames"]> | undefined} */
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

  /** Where a project's sessions lie. @param {string} project its hash */
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

/** The conversation of a session's folder in a workspace: its folder, its name, its day, its workspace. @param {string} path */
export function conversationOf(path) {
  const folder = dirname(path);
  const day = dirname(folder);
  return { folder, name: basename(folder), day: basename(day), workspace: dirname(dirname(day)) };
}

// One that cannot be read must not cost the rest of the list.
/** @param {Storage} storage @param {string} folder */
async function listed(storage, folder) {
  return (await storage.list(folder).catch(unlessBug)) ?? null;
}

/** @param {Entry[] | null} entries */
function folders(entries) {
  // A link put there by others must not cost the rest of the list.
  return (entries ?? []).filter(({ kind }) => kind === "folder");
}

/** The hash of a project's folder. @param {string} path */
export function projectHash(path) {
  return called((core) => core.projectHash(path.normalize("NFC")));
}
