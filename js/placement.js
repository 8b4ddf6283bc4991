// @ts-check
/** The two places where sessions lie: below the home, or beside a conversation of a workspace. */

import { basename, dirname, join } from "node:path";

import { core } from "./core.js";

/** @import { Entry, Storage } from "./storage/contract.js" */

/**
 * Where one session lies.
 * @typedef {object} Place
 * @property {Storage} storage
 * @property {string} path the folder of its logs
 * @property {"home" | "workspace"} placement
 */

/** @typedef {Place & { log: import("./storage/contract.js").Stat | null }} FoundPlace `log`: what its messages are like */

/** What the folder of a conversation holds of its session. */
export const SESSION_FOLDER = ".session";
const CONVERSATIONS = "conversations";
const LOG = "messages.jsonl";

/** The document about a session in each placement: its file, what an event calls it, and what the core does. */
export const DOCUMENTS = {
  home: { file: "metadata.json", key: "metadataJson", name: () => core().DocumentName.MetadataJson },
  workspace: { file: "session.json", key: "sessionJson", name: () => core().DocumentName.SessionJson },
};

/** The sessions below a home: `sessions/projects/<project hash>/session-<uuid>`. */
export class Home {
  #storage;
  #root;

  /** @param {{ storage: Storage, home: string }} parts */
  constructor({ storage, home }) {
    this.#storage = storage;
    this.#root = join(home, "sessions", "projects");
  }

  /** The hashes of all projects. @returns {Promise<string[]>} */
  async projects() {
    return folders(await this.#storage.list(this.#root)).map(({ name }) => name);
  }

  /** @param {string} project its hash @returns {Promise<FoundPlace[]>} */
  async sessions(project) {
    const found = folders(await this.#storage.list(join(this.#root, project), { files: [LOG] }));
    return found.filter(({ name }) => name.startsWith("session-")).map(({ name, files }) => ({
      ...this.place(project, name.slice("session-".length)),
      log: files?.[0] ?? null,
    }));
  }

  /** @param {string} project its hash @param {string} id @returns {Place} */
  place(project, id) {
    return { storage: this.#storage, path: join(this.#root, project, `session-${id}`), placement: "home" };
  }
}

/** The sessions of a workspace: `conversations/<day>/<name>/.session`, beside the conversation itself. */
export class Workspace {
  #storage;
  #root;

  /** @param {{ storage: Storage, root: string }} parts `root`: the workspace's folder */
  constructor({ storage, root }) {
    this.#storage = storage;
    this.#root = join(root, CONVERSATIONS);
    this.root = root;
  }

  /** @returns {Promise<FoundPlace[]>} */
  async sessions() {
    const found = [];
    for (const { name: day } of folders(await this.#storage.list(this.#root))) {
      for (const { name } of folders(await this.#storage.list(join(this.#root, day)))) {
        const inside = folders(await this.#storage.list(join(this.#root, day, name), { files: [LOG] }));
        const session = inside.find((entry) => entry.name === SESSION_FOLDER);
        if (session) found.push({ ...this.place(day, name), log: session.files?.[0] ?? null });
      }
    }
    return found;
  }

  /** @param {string} day @param {string} name @returns {Place} */
  place(day, name) {
    return { storage: this.#storage, path: join(this.#root, day, name, SESSION_FOLDER), placement: "workspace" };
  }

  /**
   * The name of a new conversation: the day's next number, its type and the words of its title.
   * @param {string} day @param {{ type: string, title?: string }} about
   */
  async newName(day, { type, title }) {
    const names = folders(await this.#storage.list(join(this.#root, day))).map(({ name }) => name);
    const numbers = names.map((name) => Number(/^(\d{1,6})(?:-|$)/.exec(name)?.[1] ?? 0));
    const next = String(Math.max(0, ...numbers) + 1).padStart(3, "0");
    return [next, type, words(title ?? "")].map(words).filter(Boolean).join("-");
  }
}

/** The conversation of a session's folder in a workspace: its folder, its name, its day, its workspace. @param {string} path */
export function conversationOf(path) {
  const folder = dirname(path);
  const day = dirname(folder);
  return { folder, name: basename(folder), day: basename(day), workspace: dirname(dirname(day)) };
}

/** @param {Entry[] | null} entries */
function folders(entries) {
  // A link put there by others must not cost the rest of the list.
  return (entries ?? []).filter(({ kind }) => kind === "folder");
}

// What any filesystem takes, and what is an id that a person may give.
/** @param {string} text */
function words(text) {
  const LONGEST = 40;
  const plain = text.normalize("NFKD").replace(/\p{Mark}/gu, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+/, "").slice(0, LONGEST).replace(/-+$/, "");
}
