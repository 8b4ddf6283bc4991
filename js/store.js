// @ts-check
/** A store: the sessions of a home folder. */

import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { called, fromBytes, entropy, toBytes } from "./core.js";
import { derived } from "./derived.js";
import { LeftoffError, unlessBug } from "./error.js";
import { Log } from "./log.js";
import { Session, idOf } from "./session.js";
import { NodeStorage } from "./storage/node.js";
import { parse } from "./transcript.js";

/** @import { Storage } from "./storage/contract.js" */

/**
 * Opens a store.
 * @param {{ project?: string, home?: string, storage?: Storage, isCounted?: boolean }} [options]
 *   `project`: the folder that is worked in; `home`: `$LEFTOFF_HOME`, else `~/.leftoff`; `isCounted`: whether messages
 *   are counted when they are appended, which saves counting them in each context; true unless given
 */
export async function openStore({ project, home, storage, isCounted = true } = {}) {
  const folder = resolve(home || process.env.LEFTOFF_HOME || join(homedir(), ".leftoff"));
  if (!storage && statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new LeftoffError({ code: "not_a_folder", message: `expected a folder at "${folder}", but found a file instead` });
  }
  return new Store({
    project: realPath(project ?? workingFolder()),
    home: folder,
    storage: storage ?? new NodeStorage({ root: folder }),
    // What is imported lies outside.
    source: storage ?? new NodeStorage(),
    isCounted,
  });
}

export class Store {
  #storage;
  #source;
  #isCounted;
  /** @type {Map<string, Session>} */
  #open = new Map();
  /** @type {Promise<any>} the last `continue` */
  #continuing = Promise.resolve();
  /** @type {Map<string, Promise<Session>>} those that are being opened, by their folders */
  #opening = new Map();

  /** @param {{ project: string, home: string, storage: Storage, source: Storage, isCounted: boolean }} parts `source`: what imports are read from */
  constructor({ project, home, storage, source, isCounted }) {
    this.#storage = storage;
    this.#source = source;
    this.#isCounted = isCounted;
    this.project = project;
    this.home = home;
  }

  /**
   * The last session of the project that goes on, or a new one.
   * @param {{ model?: string }} [options]
   * @returns {Promise<Session>}
   */
  continue({ model } = {}) {
    // Who asks meanwhile goes on with the same one.
    this.#continuing = this.#continuing.catch(() => {}).then(async () => {
      const last = (await this.list()).find(({ status }) => status !== "unreadable");
      return last ? this.session(last.id) : this.create({ model });
    });
    return this.#continuing;
  }

  /**
   * A new session of the project.
   * @param {{ model?: string, type?: string, title?: string }} [options]
   */
  async create({ model, type, title } = {}) {
    return this.#begin({ type, title, project: this.project, agent: model ? { model } : undefined });
  }

  /**
   * Opens a session by its id, or a unique beginning of one.
   * @param {string} id
   */
  async session(id) {
    const known = this.#open.get(id);
    if (known) return known;
    const found = (await this.list({ all: true, type: null })).filter((one) => id && one.id.startsWith(id));
    const exact = found.find((one) => one.id === id) ?? (found.length === 1 ? found[0] : undefined);
    if (!exact) {
      const some = found.length ? `${found.length} sessions` : "none";
      throw new LeftoffError({ code: found.length ? "ambiguous" : "not_found", message: `expected one session "${id}", but found ${some}` });
    }
    return this.#at(exact.path);
  }

  /**
   * The sessions, last active first: those of the project, or all.
   * @param {{ all?: boolean, type?: string | null }} [options] `type`: only those, or null for all; without it all but
   *   sub-agents' are listed
   */
  async list({ all = false, type } = {}) {
    const root = join(this.home, "sessions", "projects");
    const projects = all ? await this.#folders(root) : [this.#hash(this.project)];
    const listed = [];
    for (const project of projects) {
      for (const name of await this.#folders(join(root, project))) {
        const one = name.startsWith("session-") ? await this.#listed(join(root, project, name)) : null;
        if (one && (type === null || (type ? one.type === type : one.type !== "subagent"))) listed.push(one);
      }
    }
    return listed.sort((a, b) => (a.lastActive < b.lastActive ? 1 : -1));
  }

  /**
   * Reads an agent's file into the store. Importing it again adds only what is new.
   * @param {string} path
   */
  async import(path) {
    const file = await this.#source.read(resolve(path));
    if (!file) throw new LeftoffError({ code: "not_found", message: `expected a file at "${path}", but found none` });
    const { sessions, problems } = parse(file, path);
    const imported = [];
    for (const { messages, losses, ...one } of sessions) {
      const session = await this.#imported(one);
      const fresh = await this.#fresh(session, messages);
      if (fresh.length > 0) await this.#appendAll(session, fresh);
      imported.push({ id: one.id, agent: one.agent, messageCount: messages.length, added: fresh.length, parent: one.parent ?? undefined, losses });
    }
    return { imported, problems };
  }

  /** Writes what is derived, and lets go of all files. */
  async close() {
    const sessions = [...this.#open.values()];
    this.#open.clear();
    const closed = await Promise.allSettled(sessions.map((session) => session.close()));
    closed.push(...(await Promise.allSettled([this.#storage.close(), this.#source.close()])));
    // One that could not be closed must not keep the others open.
    const failed = closed.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }

  // A link put there by others must not cost the rest of the list.
  /** @param {string} path */
  async #folders(path) {
    return ((await this.#storage.list(path)) ?? []).filter(({ kind }) => kind === "folder").map(({ name }) => name);
  }

  /** @param {Session} session */
  #keep(session) {
    this.#open.set(session.id, session);
    return session;
  }

  // One object for each folder, whoever asks meanwhile.
  /** @param {string} path @returns {Promise<Session>} */
  async #at(path) {
    const known = [...this.#open.values()].find((session) => session.path === path);
    if (known) return known;
    const opening = this.#opening.get(path) ?? this.#opened(path).then((session) => this.#keep(session));
    this.#opening.set(path, opening);
    return opening.finally(() => this.#opening.delete(path));
  }

  /** @param {string} path */
  #opened(path) {
    return Session.open({ storage: this.#storage, isCounted: this.#isCounted, path, cache: (uuid) => this.#cache(uuid) });
  }

  /** @param {string} uuid */
  #cache(uuid) {
    return join(this.home, "cache", uuid);
  }

  /** @param {string} project @param {string} id */
  #folder(project, id) {
    return join(this.home, "sessions", "projects", this.#hash(project), `session-${id}`);
  }

  /** @param {string} project */
  #hash(project) {
    return called((core) => core.projectHash(project.normalize("NFC")));
  }

  /** @param {Record<string, any>} created */
  async #begin(created) {
    const id = created.id ?? called((core) => core.newId(Date.now(), entropy()));
    const path = this.#folder(created.project, id);
    const session = await Session.begin({ storage: this.#storage, isCounted: this.#isCounted, path, cache: this.#cache(id), created: { ...created, id } });
    return this.#keep(session);
  }

  /** @param {any} one */
  async #imported(one) {
    const project = one.folder ?? this.project;
    const path = this.#folder(project, one.id);
    if (await this.#storage.stat(`${path}/events.jsonl`)) return this.#at(path);
    return this.#begin({
      id: one.id,
      type: one.parent ? "subagent" : "chat",
      project,
      title: one.title ?? undefined,
      parent: one.parent ?? undefined,
      agent: one.model ? { model: one.model } : undefined,
      imported: { agent: one.agent, sourceId: one.sourceId },
    });
  }

  // What the session does not hold yet, and answers that have grown since.
  /** @param {Session} session @param {any[]} messages @returns {Promise<any[]>} */
  async #fresh(session, messages) {
    const log = new Log({ storage: this.#storage, folder: session.path, name: "Messages" });
    const size = await log.size();
    if (size === 0) return messages;
    const fresh = called((core) => new core.Fresh(toBytes(messages)));
    for await (const bytes of log.pieces(0, size)) called(() => fresh.feed(bytes));
    return fromBytes(called(() => fresh.finish()));
  }

  /** @param {Session} session @param {any[]} messages */
  async #appendAll(session, messages) {
    const BATCH = 256;
    for (let start = 0; start < messages.length; start += BATCH) {
      const batch = messages.slice(start, start + BATCH);
      await session.append(batch, { durability: start + BATCH < messages.length ? "buffered" : "durable" });
    }
    await session.close();
  }

  // The document that is derived from the logs; nothing where it is not of this session, or not whole.
  /** @param {string} path @returns {Promise<any>} */
  async #document(path) {
    const place = `${path}/metadata.json`;
    const [log, found] = [await this.#storage.stat(`${path}/messages.jsonl`), await this.#storage.stat(place)];
    // Whoever appended may not have come to write it.
    if (!found || (log && log.mtimeMs > found.mtimeMs)) return undefined;
    const document = await derived(this.#storage, place);
    const { id, display, timestamps, stats } = document ?? {};
    const isWhole = typeof display?.title === "string" && typeof timestamps?.lastMessageAt === "string" && typeof stats?.messageCount === "number";
    return isWhole && id === idOf(path) ? document : undefined;
  }

  /** @param {string} path */
  async #listed(path) {
    const document = (await this.#document(path).catch(unlessBug)) ?? (await this.#opened(path).catch(unlessBug))?.metadata;
    // One that cannot be read must not cost the rest of the list.
    if (!document) return unreadable(path);
    // A folder that was made, and nothing in it: whoever made it did not come further than that.
    if (!document.asOf && document.stats.messageCount === 0) return null;
    return {
      id: document.id,
      type: document.type,
      title: document.display.title,
      status: document.lifecycle,
      lastActive: document.timestamps.lastMessageAt,
      summary: document.summary ?? null,
      messageCount: document.stats.messageCount,
      placement: "home",
      path,
    };
  }
}

/** @param {string} path */
function unreadable(path) {
  return { id: idOf(path), type: "chat", title: "", status: "unreadable", lastActive: "", summary: null, messageCount: 0, placement: "home", path };
}

function workingFolder() {
  try {
    return process.cwd();
  } catch (cause) {
    throw new LeftoffError({ code: "not_found", message: "expected to be in a folder, but found that it is gone", cause });
  }
}

/** @param {string} folder */
function realPath(folder) {
  try {
    return realpathSync(folder);
  } catch (cause) {
    throw new LeftoffError({ code: "not_found", message: `expected a folder at "${folder}", but found none`, cause });
  }
}
