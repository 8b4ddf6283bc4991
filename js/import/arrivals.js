// @ts-check
/**
 * Where a session of an agent lies in the store, or begins: in the home, with the project that its agent names, else with
 * none; one that a command of the workspace began, beside its conversation, once that is there.
 */

import { join } from "node:path";

import { called } from "../wasm/core.js";
import { unlessBug } from "../error.js";
import { idOf } from "../session/handle.js";
import { names, projectHash } from "../placement/placement.js";

/** @import { OpenSessions } from "../store/open-sessions.js" */
/** @import { Place } from "../placement/placement.js" */
/** @import { Places } from "../placement/places.js" */
/** @import { Session } from "../session/session.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { ReadSession } from "../session/transcript.js" */
/** @import { Command } from "../types/index.js" */
/** @import { CoreStore } from "../wasm/store.js" */

/**
 * The messages of an agent's session, from one up to another.
 * @typedef {(from: number, to: number) => any[]} Said
 *
 * Asked of a session that is new here.
 * @typedef {(said: Said) => Promise<Command | undefined>} Begun
 */

/** So much of a uuid is its time. */
const TIME = "00000000-0000-".length;

/** The type of the conversations that a command begins; nothing where it is none of the workspace. @param {string | undefined} name */
export function typeOf(name) {
  return called((core) => core.commandType(name ?? ""));
}

export class Arrivals {
  #project;
  #places;
  #core;
  #storage;
  #open;
  /** @type {Promise<Map<string, string>> | undefined} the workspace's sessions, by what their ids end with */
  #inWorkspace;
  /** @type {Promise<Map<string, string>> | undefined} the home's */
  #inHome;

  /** @param {{ project: string, places: Places, core: CoreStore, storage: Storage, open: OpenSessions }} parts */
  constructor({ project, places, core, storage, open }) {
    this.#project = project;
    this.#places = places;
    this.#core = core;
    this.#storage = storage;
    this.#open = open;
  }

  /**
   * Where it lies already. It may have been relocated since; and a client that takes a session up again in another process
   * may begin another file of it, at another time.
   * @param {Place} place where it would begin @param {string} id
   * @returns {Promise<Place | undefined>}
   */
  async #known(place, id) {
    const isThere = (/** @type {string} */ path) => this.#storage.stat(join(path, names().logs[1]));
    if (await isThere(place.path)) return place;
    this.#inHome ??= this.#lookedHome();
    const path = (await this.#inHome).get(tailOf(id));
    if (path && (await isThere(path))) return { ...place, path };
    this.#inWorkspace ??= this.#looked();
    const workspace = (await this.#inWorkspace).get(tailOf(id));
    return workspace ? this.#places.of({ path: workspace, placement: "workspace" }) : undefined;
  }

  async #lookedHome() {
    /** @type {Map<string, string>} */
    const found = new Map();
    const { home } = this.#places;
    for (const hash of await home.projects()) for (const path of await home.paths(hash)) found.set(tailOf(idOf(path)), path);
    return found;
  }

  // Not by a list: that pauses what rests, and whoever imports changes no other session.
  async #looked() {
    /** @type {Map<string, string>} */
    const ids = new Map();
    for (const place of await this.#core.run("places")) {
      if (place.placement === "workspace") await this.#open.look(this.#places.of(place), ({ id }) => void ids.set(tailOf(id), place.path)).catch(unlessBug);
    }
    return ids;
  }

  /**
   * The session that one of an agent's goes into.
   * @param {ReadSession} one @param {Said} said @param {Begun} [begun] of one that goes on there
   * @returns {Promise<Session>}
   */
  async session(one, said, begun) {
    // What goes on there is told by who is in that folder.
    const project = one.folder ?? (begun && this.#project);
    const { home } = this.#places;
    const place = home.place(project === undefined ? names().noProject : projectHash(project), one.id);
    const known = await this.#known(place, one.id);
    if (known) return this.#open.at(known);
    const { name, hash } = (await begun?.(said)) ?? {};
    // It goes on where it came from; here it rests since then.
    const timestamp = one.lastTimestamp ?? one.created;
    this.#inHome?.then((ids) => ids.set(tailOf(one.id), place.path));
    return this.#open.begin(place, {
      timestamp: one.created,
      id: one.id,
      type: one.parent ? "subagent" : (typeOf(name) ?? "chat"),
      project,
      title: one.title ?? undefined,
      parent: one.parent ?? undefined,
      agent: agentOf({ command: name, systemPromptHash: hash, model: one.model ?? undefined, tools: one.tools }),
      imported: { agent: one.agent, sourceId: one.sourceId },
      then: [...(one.fork ? [{ type: "fork", ...one.fork }] : []), ...(begun ? [] : [{ type: "status", status: "paused", timestamp }])],
    });
  }
}

/** What is imported has an id that begins with the time of its source; the rest names the source alone. @param {string} id */
function tailOf(id) {
  return id.slice(TIME);
}

/** Nothing where it says nothing. @param {import("../records.js").Agent} agent */
function agentOf({ tools = [], ...agent }) {
  const said = { ...agent, ...(tools.length > 0 && { tools }) };
  return Object.values(said).some((value) => value !== undefined) ? said : undefined;
}

/**
 * The conversation that messages name: a folder with Markdown, without a session; the first that is there.
 * @param {AsyncIterable<object>} messages @param {{ storage: Storage, workspace: string }} where
 * @returns {Promise<{ day: string, name: string } | undefined>}
 */
export async function conversationNamed(messages, { storage, workspace }) {
  const seen = new Set();
  for await (const message of messages) {
    const found = called((core) => core.conversationsIn(JSON.stringify(message)));
    for (let at = 0; at < found.length; at += 2) {
      const [day = "", name = ""] = found.slice(at);
      const folder = join(workspace, names().conversations, day, name);
      if (seen.has(folder)) continue;
      seen.add(folder);
      const entries = (await storage.list(folder).catch(unlessBug)) ?? [];
      const isFree = !entries.some((entry) => entry.name === names().sessionFolder);
      if (isFree && entries.some((entry) => entry.kind === "file" && entry.name.endsWith(".md"))) return { day, name };
    }
  }
  return undefined;
}
