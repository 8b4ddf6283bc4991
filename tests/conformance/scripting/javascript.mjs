// @ts-check
/** The JavaScript host under scripts: what each operation is in its public surface. */

import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";

import * as leftoff from "../../../js/index.js";
import { Between } from "./between.mjs";
import { FOREIGN } from "./foreign.mjs";
import { given } from "./given.mjs";
import { FOLDERS } from "./masks.mjs";
import { OF_SESSIONS, OF_STORES, PLAIN } from "./operations.mjs";

/** @import { Stamps } from "./stamps.mjs" */
/** @import { Step } from "./run.mjs" */

/** What would say where somebody's agents keep their sessions, or which git is whose. */
const OURS = /^(?:LEFTOFF_|CLAUDE|CODEX_|GEMINI_|QWEN_|COPILOT_|CONTINUE_|NANOCODER_|PI_|XDG_|GIT_|HOME$)/;

export class Host {
  #env = { ...process.env };
  /** What was answered to steps that have a name. @type {Map<string, any>} */
  #answers = new Map();
  /** @type {Map<string, leftoff.Store>} */
  #stores = new Map();
  /** @type {Map<string, leftoff.Session>} */
  #sessions = new Map();

  #between = new Between();
  /** Texts that no file of scripts may have as they are. @type {string[]} */
  joined = [];
  /** What others did between an operation's calls. @type {Step[]} */
  came = [];

  /** @param {string} root @param {Stamps} stamps */
  constructor(root, stamps) {
    this.root = root;
    this.stamps = stamps;
    for (const name of Object.keys(process.env)) if (OURS.test(name)) delete process.env[name];
    const git = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1", GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@example.com", GIT_COMMITTER_NAME: "A", GIT_COMMITTER_EMAIL: "a@example.com" };
    const day = new Date(stamps.startMs).toISOString();
    Object.assign(process.env, git, { HOME: join(root, "user"), GIT_AUTHOR_DATE: day, GIT_COMMITTER_DATE: day });
  }

  /** What one step answers, or how it is refused. @param {Step} step @returns {Promise<unknown>} */
  async does({ ifThere, between, ...step }) {
    if (ifThere && !this.#isThere(step)) return null;
    this.#between.arm(between?.call, () => between?.steps.forEach((/** @type {Step} */ foreign) => this.#comesBetween(foreign)));
    try {
      // As it is now: some objects that the surface gives change later.
      const value = JSON.parse(JSON.stringify((await this.#done(step.op, this.#resolved(step))) ?? null));
      if (step.as !== undefined) this.#answers.set(step.as, value);
      return value;
    } catch (error) {
      // A bug is no behaviour to be held, nor is a mistake in the script.
      if (!(error instanceof leftoff.LeftoffError) || error.code === "internal") throw new Error(`step ${JSON.stringify(step).slice(0, 300)}`, { cause: error });
      return { error: { code: error.code, message: error.message } };
    }
  }

  /** @param {Step} foreign */
  #comesBetween({ op, ...asked }) {
    if (!this.#isThere({ op, ...asked })) return;
    FOREIGN[op]?.(this.#resolved(asked));
    this.came.push({ op, ...asked });
  }

  /** Whether the session is there that a step is about, or the file. @param {Step} step */
  #isThere({ session, file }) {
    return (session === undefined || this.#sessions.has(session)) && (file === undefined || existsSync(this.#resolved(file)));
  }

  /** @param {string} op @param {any} asked */
  async #done(op, { op: _, as, store = "store", session = "s", ...asked }) {
    if (op === "together") return Promise.all(asked.steps.map((/** @type {Step} */ step) => this.does(step)));
    if (op === "wait") return this.stamps.wait(asked.ms);
    const plain = PLAIN[op] ?? FOREIGN[op];
    if (plain) return plain(asked, this);
    if (op === "openStore") return this.#opened(as ?? store, asked);
    /** @type {unknown[]} */
    const requests = [];
    const ofSession = OF_SESSIONS[op];
    if (ofSession) {
      const answer = await ofSession(this.session(session), given(asked, requests));
      return asked.summarize ? { answer, requests } : answer;
    }
    const ofStore = OF_STORES[op];
    if (!ofStore) throw new Error(`expected an operation, but found "${op}" instead`);
    const value = await ofStore(this.store(store), given(asked, requests), this, session);
    return value instanceof leftoff.Session ? this.#named(as ?? session, value) : value;
  }

  /** @param {string} name @param {any} options */
  async #opened(name, { project = join(this.root, "project"), home = join(this.root, "home"), isInterrupted, ...options }) {
    const store = await leftoff.openStore({ project, home, ...options, ...(isInterrupted && { storage: this.#between.storage() }) });
    this.#stores.set(name, store);
    return store.problems.length > 0 ? { problems: store.problems } : undefined;
  }

  /** @param {string} name @param {leftoff.Session} session */
  #named(name, session) {
    this.#sessions.set(name, session);
    const { id, path, placement, metadata, notices } = session;
    return { id, path, placement, title: metadata.display.title, lifecycle: metadata.lifecycle, messageCount: metadata.stats.messageCount, notices };
  }

  /** @param {string} name */
  store(name) {
    return known(this.#stores, name, "store");
  }

  /** @param {string} name */
  session(name) {
    return known(this.#sessions, name, "session");
  }

  /** Lets go of all that is open. */
  async end() {
    for (const store of this.#stores.values()) await store.close().catch(() => {});
    this.#stores.clear();
    for (const name of Object.keys(process.env)) if (OURS.test(name)) delete process.env[name];
    Object.assign(process.env, this.#env);
    this.stamps.end();
  }

  /** With what stands for something put in: `$name.key` an earlier answer, `<name>` a folder. @param {any} value @returns {any} */
  #resolved(value) {
    if (Array.isArray(value)) return value.map((one) => this.#resolved(one));
    if (value !== null && typeof value === "object") {
      if (value.repeat !== undefined && value.text !== undefined && Object.keys(value).length === 2) return value.text.repeat(value.repeat);
      if (Array.isArray(value.joined) && Object.keys(value).length === 1) return this.#joined(value.joined.join(""));
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#resolved(one)]));
    }
    if (typeof value !== "string") return value;
    if (value.startsWith("$$")) return value.slice(1);
    if (/^\$[\w-]+(?:\.|$|:)/.test(value)) return this.#referred(value.slice(1));
    return value.replace(/<([\w-]+)(\.id)?>/g, (whole, name, isId) => (isId ? this.session(name).id : this.#folder(name)) ?? whole);
  }

  /** @param {string} text */
  #joined(text) {
    if (!this.joined.includes(text)) this.joined.push(text);
    return text;
  }

  /** @param {string} name */
  #folder(name) {
    if (name === "hostname") return hostname();
    if (this.#sessions.has(name)) return this.session(name).path;
    return FOLDERS.includes(name) ? join(this.root, name) : undefined;
  }

  /** `said.records.0.id`, or with `:8` behind it its first eight letters @param {string} path */
  #referred(path) {
    const [whole = "", length] = path.split(":");
    const [name = "", ...keys] = whole.split(".");
    let value = known(this.#answers, name, "answer");
    for (const key of keys) value = value?.[key];
    if (value === undefined) throw new Error(`expected an answer at "$${path}", but found none`);
    return length === undefined ? value : String(value).slice(0, Number(length));
  }
}

/** @template T @param {Map<string, T>} map @param {string} name @param {string} what @returns {T} */
function known(map, name, what) {
  if (!map.has(name)) throw new Error(`expected the ${what} "${name}", but found none`);
  return /** @type {T} */ (map.get(name));
}
