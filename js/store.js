// @ts-check
/** A store: the sessions of a home folder, and of workspaces. */

import { realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, resolve } from "node:path";

import { called, entropy } from "./core.js";
import { derived } from "./derived.js";
import { LeftoffError, unlessBug } from "./error.js";
import { ATTRIBUTES, commit } from "./git.js";
import { appendAll, notYetIn } from "./importing.js";
import { Listing, isWanted, later, prints, shown } from "./listing.js";
import { DOCUMENTS, conversationOf } from "./placement.js";
import { Places } from "./places.js";
import { pointAt, pointed } from "./pointer.js";
import { Project, projectHash } from "./project.js";
import { Session } from "./session.js";
import { NodeStorage } from "./storage/node.js";
import { parse } from "./transcript.js";
import { copied, toTrash } from "./trash.js";

/** @import { Entry, Found, Listed, ListOptions } from "./listing.js" */
/** @import { Place } from "./placement.js" */
/** @import { Agent } from "./records.js" */
/** @import { Storage } from "./storage/contract.js" */

/** Without activity for so long, a session is paused by whoever looks next. */
const IDLE_MS = 5 * 60_000;

/**
 * Opens a store.
 * @param {{ project?: string, home?: string, workspace?: string, storage?: Storage, isCounted?: boolean, idleMs?: number }} [options]
 *   `project`: the folder that is worked in; `home`: `$LEFTOFF_HOME`, else `~/.leftoff`; `workspace`: the folder with
 *   `conversations/`: new sessions begin there, where it is given; else the project's is read; `isCounted`: whether
 *   messages are counted when they are appended, which saves counting them in each context; true unless given;
 *   `idleMs`: after so long without activity a session is paused by whoever looks next
 */
export async function openStore({ project, home, workspace, storage, isCounted = true, idleMs = IDLE_MS } = {}) {
  const folder = resolve(home || process.env.LEFTOFF_HOME || join(homedir(), ".leftoff"));
  if (!storage && statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new LeftoffError({ code: "not_a_folder", message: `expected a folder at "${folder}", but found a file instead` });
  }
  const path = realPath(project ?? workingFolder());
  return new Store({
    project: path,
    home: folder,
    workspace: workspace === undefined ? undefined : realPath(workspace),
    storage: storage ?? new NodeStorage({ root: folder }),
    // One with a root for each workspace; what is imported lies outside of all.
    storageAt: (root) => storage ?? new NodeStorage({ root }),
    isCounted,
    idleMs,
  });
}

export class Store {
  #storage;
  #isCounted;
  #idleMs;
  #project;
  #places;
  #listing;
  /** Where new sessions begin. @type {"home" | "workspace"} */
  #placement;
  /** @type {Map<string, Session>} by their folders */
  #open = new Map();
  /** @type {Map<string, Promise<Session>>} those that are being opened, by their folders */
  #opening = new Map();
  /** What happened to sessions when they were listed. @type {Map<string, import("./session.js").Notice[]>} by their folders */
  #unheard = new Map();
  /** @type {Promise<any>} the last `continue` */
  #continuing = Promise.resolve();

  /**
   * @param {{ project: string, home: string, workspace?: string, storage: Storage,
   *   storageAt: (root?: string) => Storage, isCounted: boolean, idleMs: number }} parts
   */
  constructor({ project, home, workspace, storage, storageAt, isCounted, idleMs }) {
    this.#storage = storage;
    this.#isCounted = isCounted;
    this.#idleMs = idleMs;
    this.#project = new Project(project);
    this.#places = new Places({ home, workspace: workspace ?? project, storage, storageAt });
    this.#placement = workspace === undefined ? "home" : "workspace";
    this.#listing = new Listing({ storage, home, open: (place) => this.#looked(place) });
    this.project = project;
    this.home = home;
    this.workspace = workspace ?? project;
  }

  /**
   * The last session of the project that goes on, or a new one.
   * @param {{ model?: string }} [options]
   * @returns {Promise<Session>}
   */
  continue({ model } = {}) {
    // Who asks meanwhile goes on with the same one.
    this.#continuing = this.#continuing.catch(() => {}).then(async () => {
      const last = await this.#last();
      const session = last ? await this.#at(last) : await this.create({ model });
      if (last) await this.point(session);
      return session;
    });
    return this.#continuing;
  }

  /**
   * A new session of the project.
   * @param {{ type?: string, title?: string, name?: string, placement?: "home" | "workspace", model?: string, agent?: Agent }} [options]
   *   `name`: of a conversation in the workspace; one is made unless given
   */
  async create({ type = "chat", title, name, placement = this.#placement, model, agent } = {}) {
    if (placement !== "home" && placement !== "workspace") {
      throw new LeftoffError({ code: "invalid_request", message: `expected the placement "home" or "workspace", but found ${JSON.stringify(placement)} instead` });
    }
    const id = called((core) => core.newId(Date.now(), entropy()));
    const place = placement === "home" ? this.#places.home.place(this.#project.hash, id) : await this.#places.newConversation({ type, title, name });
    const made = { ...agent, ...(model && { model }) };
    const session = await this.#begin(place, {
      id,
      type,
      title,
      // What lies in a workspace is the workspace's, wherever it is checked out; and a commit publishes it.
      ...(placement === "home" ? { name, ...(await this.#ofProject()) } : { name: conversationOf(place.path).name }),
      agent: Object.keys(made).length > 0 ? made : undefined,
    });
    await this.point(session);
    return session;
  }

  /**
   * Opens a session by its id, a unique beginning of one, or its name in a workspace.
   * @param {string} id
   */
  async session(id) {
    const known = [...this.#open.values()].find((session) => session.id === id);
    if (known) return known;
    const all = await this.list({ all: true, type: null, archived: null });
    const named = all.filter((one) => id && (one.id === id || one.name === id || `${conversationOf(one.path).day}/${one.name}` === id));
    const found = named.length > 0 ? named : all.filter((one) => id && one.id.startsWith(id));
    const [exact] = found;
    if (!exact || found.length > 1) {
      const some = found.length ? `${found.length} sessions: ${found.map(({ path }) => path).join(", ")}` : "none";
      throw new LeftoffError({ code: found.length ? "ambiguous" : "not_found", message: `expected one session "${id}", but found ${some}` });
    }
    return this.#at(this.#places.of(exact));
  }

  /**
   * The sessions, last active first: those of the project, or all.
   * @param {ListOptions} [options]
   * @returns {Promise<Listed[]>}
   */
  async list({ limit = Infinity, verify = true, ...wanted } = {}) {
    const known = await this.#listing.known();
    if (!verify) return known.filter((entry) => isWanted(entry, wanted)).sort(later).slice(0, limit).map(shown);
    const places = wanted.all ? await this.#places.all() : await this.#places.ofProject(this.#project, this.#listing, known);
    const found = await this.#listing.entries(places);
    /** @type {Entry[]} */
    const listed = [];
    found.sort((a, b) => later(a.entry, b.entry));
    for (const one of found) {
      if (listed.length >= limit) break;
      // Nobody looks whether a sub-agent's session has become another.
      if (one.entry.type === "subagent" && wanted.type === undefined) continue;
      for (const sure of await this.#listing.verified(one)) {
        const { entry } = await this.#restingSince(sure);
        if (isWanted(entry, wanted)) listed.push(entry);
      }
    }
    await this.#listing.save();
    return listed.map(shown);
  }

  /**
   * Reads an agent's file into the store. Importing it again adds only what is new.
   * @param {string} path
   */
  async import(path) {
    const file = await this.#places.storageOf().read(resolve(path));
    if (!file) throw new LeftoffError({ code: "not_found", message: `expected a file at "${path}", but found none` });
    const { sessions, problems } = parse(file, path);
    const imported = [];
    for (const { messages, losses, ...one } of sessions) {
      const session = await this.#imported(one, messages);
      const fresh = await notYetIn(this.#storage, session, messages);
      if (fresh.length > 0) await appendAll(session, fresh);
      await this.#letGo(session);
      imported.push({ id: one.id, agent: one.agent, messageCount: messages.length, added: fresh.length, parent: one.parent ?? undefined, losses });
    }
    return { imported, problems };
  }

  /**
   * A new session that begins as a copy of another one, up to a message.
   * @param {Session} session
   * @param {{ at?: string }} [options] the id of the last message to take over; the last one there is unless given
   */
  async fork(session, { at } = {}) {
    const { type, display, agent, provider } = session.metadata;
    const messages = [];
    let last;
    for await (const message of session.messages()) {
      messages.push(message);
      last = message.id;
      if (last === at) break;
    }
    if (!last || (at !== undefined && last !== at)) {
      throw new LeftoffError({ code: "not_found", message: `expected a message ${at ? `"${at}"` : ""} to fork at, but found none` });
    }
    const id = called((core) => core.newId(Date.now(), entropy()));
    const then = [{ type: "fork", session: session.id, messageId: last }];
    const model = provider.model || undefined;
    const created = { id, type, title: display.title, ...(await this.#ofProject()), agent: { ...agent, model }, then };
    const fork = await this.#begin(this.#places.home.place(this.#project.hash, id), created);
    await appendAll(fork, messages);
    return fork;
  }

  /**
   * Deletes a session: it lies in the trash then, whole. With `purge` it is gone for good.
   * @param {Session} session
   * @param {{ purge?: boolean }} [options]
   * @returns {Promise<{ trash: string | null }>} where it lies now
   */
  async delete(session, { purge = false } = {}) {
    await refuseIfOpen(session);
    const place = this.#places.of(session);
    await session.close();
    this.#open.delete(session.path);
    const trash = purge ? null : await toTrash(place, { storage: this.#storage, home: this.home, name: nameOf(place) });
    if (purge) {
      await place.storage.remove(place.path);
      await this.#listing.forget(place.path);
    }
    for (const ending of [".json", ".open"]) await this.#storage.remove(`${join(this.home, "cache", session.id)}${ending}`).catch(unlessBug);
    return { trash };
  }

  /**
   * The sessions of a folder belong to another one from now on: a project was moved.
   * @param {string} from
   * @param {string} to
   * @returns {Promise<{ count: number }>}
   */
  async relocate(from, to) {
    const [old, path] = [resolve(from), realPath(to)];
    const [hash, next] = [projectHash(old), projectHash(path)];
    const project = await new Project(path).described();
    let count = 0;
    for (const place of await this.#places.home.sessions(hash)) {
      const session = await this.#at(place);
      await refuseIfOpen(session);
      await session.relocate({ project });
      await this.#letGo(session);
      await this.#storage.move(place.path, this.#places.home.place(next, session.id).path);
      count += 1;
    }
    return { count };
  }

  /**
   * Puts a session into the other placement, with all that is known of it; where it lay before, it goes to the trash.
   * @param {Session} session
   * @param {{ to: "home" | "workspace", name?: string }} options `name`: of the conversation, one is made unless given
   * @returns {Promise<Session>} the session in its new place
   */
  async move(session, { to, name }) {
    if (session.placement === to) return session;
    await refuseIfOpen(session);
    const from = this.#places.of(session);
    await session.flush();
    const { id, metadata } = session;
    const about = { type: metadata.type, title: metadata.display.title, name };
    const place = to === "home" ? this.#places.home.place(this.#project.hash, id) : await this.#places.newConversation(about);
    const old = DOCUMENTS[from.placement];
    const document = await derived(from.storage, join(from.path, old.file));
    await session.close();
    this.#open.delete(session.path);
    await copied(from, place, { but: [old.file, ".gitattributes"] });
    const moved = await this.#at(place);
    const where = to === "home" ? { project: await this.#project.described() } : { name: conversationOf(place.path).name };
    await moved.relocate({ ...where, [old.key]: document });
    if (to === "workspace") await this.#attribute(place);
    await this.#places.meet(place);
    await toTrash(from, { storage: this.#storage, home: this.home, name: nameOf(from) });
    return moved;
  }

  /**
   * Commits a conversation with its session, or the session alone where only that changed, with git itself.
   * @param {Session} session
   * @returns {Promise<import("./git.js").Committed>}
   */
  async commit(session) {
    if (session.placement === "home") {
      throw new LeftoffError({ code: "not_in_workspace", message: `expected a session of a workspace, but found one in the home: "${session.path}" is in no repository` });
    }
    await session.flush();
    return commit({ folder: conversationOf(session.path).folder, title: session.metadata.display.title });
  }

  /** Makes a session the project's current one. @param {Session} session */
  async point(session) {
    await pointAt(this.#places.storageOf(this.project), this.project, session);
  }

  /** The project's current session: the one that is pointed to, else the last active one. @returns {Promise<Session | undefined>} */
  async current() {
    const pointer = await pointed(this.#places.storageOf(this.project), this.project);
    const listed = await this.list({ type: null, archived: null });
    const one = listed.find(({ id, path }) => id === pointer?.id && path === pointer.path) ?? listed.find(({ status }) => status !== "unreadable");
    return one && this.#at(this.#places.of(one));
  }

  /** Writes what is derived, and lets go of all files. */
  async close() {
    const sessions = [...this.#open.values()];
    const closed = await Promise.allSettled(sessions.map((session) => this.#letGo(session)));
    closed.push(...(await Promise.allSettled([this.#listing.save()])));
    closed.push(...(await this.#places.close()));
    // One that could not be closed must not keep the others open.
    const failed = closed.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
  }

  async [Symbol.asyncDispose]() {
    await this.close();
  }

  /** The last session that `continue` goes on with: not one of another folder that is still there. */
  async #last() {
    const pointer = await pointed(this.#places.storageOf(this.project), this.project);
    const listed = (await this.list()).filter((one) => one.status === "active" || one.status === "paused");
    const mine = listed.filter(({ project, placement }) => placement === "workspace" || !project || project === this.project || !isFolder(project));
    const last = mine.find(({ id, path }) => id === pointer?.id && path === pointer.path) ?? mine[0];
    return last && this.#places.of(last);
  }

  /** @param {Place} place @param {Record<string, any> & { id: string }} created */
  async #begin(place, created) {
    const session = await Session.begin({ ...this.#parts(place), created });
    if (place.placement === "workspace") await this.#attribute(place);
    await this.#places.meet(place);
    this.#open.set(session.path, session);
    return session;
  }

  // How git merges it.
  /** @param {Place} place */
  async #attribute({ storage, path }) {
    await storage.replace(join(path, ".gitattributes"), new TextEncoder().encode(ATTRIBUTES));
  }

  /** @param {Place} place */
  #parts(place) {
    return { ...place, cache: { storage: this.#storage, folder: join(this.home, "cache") }, isCounted: this.#isCounted };
  }

  // One object for each folder, whoever asks meanwhile.
  /** @param {Place} place @returns {Promise<Session>} */
  async #at(place) {
    const { path } = place;
    const known = this.#open.get(path);
    if (known) return known;
    const opening = this.#opening.get(path) ?? this.#opened(place);
    this.#opening.set(path, opening);
    return opening.finally(() => this.#opening.delete(path));
  }

  /** @param {Place} place */
  async #opened(place) {
    const session = await Session.open(this.#parts(place));
    await session.findLeftOpen();
    await session.pauseIfIdle(this.#idleMs).catch(unlessBug);
    // What was said when it was listed, its opener has not heard.
    session.notices.push(...(this.#unheard.get(place.path) ?? []));
    this.#unheard.delete(place.path);
    await this.#places.meet(place);
    this.#open.set(place.path, session);
    return session;
  }

  // To look at it only.
  /** @param {Place} place */
  async #looked(place) {
    return this.#open.get(place.path) ?? Session.open(this.#parts(place));
  }

  /** The same; where it rests for long, paused. @param {Found} one */
  async #restingSince(one) {
    const { entry, place } = one;
    if (entry.lifecycle !== "active" || !(Date.now() - Date.parse(entry.lastAccessedAt) > this.#idleMs)) return one;
    const session = await this.#looked(place).catch(unlessBug);
    const hasPaused = await session?.pauseIfIdle(this.#idleMs).catch(unlessBug);
    if (!session || !hasPaused) return one;
    this.#unheard.set(place.path, session.notices.splice(0));
    const [again] = await this.#listing.looked(place);
    return again ?? one;
  }

  async #ofProject() {
    return { project: this.project, ...(await this.#project.aliases()) };
  }

  /** @param {Session} session */
  async #letGo(session) {
    this.#open.delete(session.path);
    const hasChanged = session.isStale;
    await session.close();
    if (hasChanged) this.#listing.add(session, await prints(this.#places.of(session)));
  }

  /** @param {any} one @param {any[]} messages */
  async #imported(one, messages) {
    const project = one.folder ?? this.project;
    const place = this.#places.home.place(projectHash(project), one.id);
    if (await this.#storage.stat(join(place.path, "events.jsonl"))) return this.#at(place);
    // It goes on where it came from; here it rests since then.
    const timestamp = messages.findLast((message) => message.timestamp)?.timestamp;
    return this.#begin(place, {
      id: one.id,
      type: one.parent ? "subagent" : "chat",
      project,
      title: one.title ?? undefined,
      parent: one.parent ?? undefined,
      agent: one.model ? { model: one.model } : undefined,
      imported: { agent: one.agent, sourceId: one.sourceId },
      then: [{ type: "status", status: "paused", timestamp }],
    });
  }
}

// What another process appends meanwhile would go where nobody looks.
/** @param {Session} session */
async function refuseIfOpen(session) {
  const [other] = await session.others();
  if (!other) return;
  const { program, pid, host, since } = other;
  throw new LeftoffError({ code: "open_elsewhere", message: `expected a session that nobody else has open, but found ${program}, process ${pid} on ${host}, at it since ${since}` });
}

/** What a session's folder is called in the trash. @param {Place} place */
function nameOf({ path, placement }) {
  return placement === "home" ? basename(path) : `${conversationOf(path).name}${basename(path)}`;
}

/** @param {string} path */
function isFolder(path) {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
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
