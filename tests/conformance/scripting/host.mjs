// @ts-check
/** A host under scripts, whichever it is: what its steps say, what stands for something in them, and what others do. */

import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import process from "node:process";

import { FOREIGN } from "./foreign.mjs";
import { FOLDERS } from "./masks.mjs";

/** @import { Stamps } from "./stamps.mjs" */
/** @import { Step } from "./run.mjs" */

/** What would say where somebody's agents keep their sessions, or which git is whose. */
const OURS = /^(?:LEFTOFF_|CLAUDE|CODEX_|GEMINI_|QWEN_|COPILOT_|CONTINUE_|NANOCODER_|PI_|XDG_|GIT_|HOME$)/;

/**
 * What is tried: JavaScript's public surface, or another one.
 * @typedef {object} Surface
 * @property {(op: string, asked: any, names: { as?: string, store: string, session: string }) => Promise<unknown>} does
 *   what an operation
 *   answers
 * @property {(error: unknown) => { code: string, message: string } | undefined} refusal what an operation is refused
 *   by; nothing where that is
 *   a bug, or a mistake in the script
 * @property {(name: string) => { id: string, path: string } | undefined} session one that was opened under this name
 * @property {(comes?: () => void, call?: number) => void} arm something comes before the n-th call of the next
 *   operation
 * @property {() => Promise<void>} end lets go of all that is open
 */

export class Host {
  #env = { ...process.env };
  #surface;
  /** What was answered to steps that have a name. @type {Map<string, any>} */
  #answers = new Map();
  /** Texts that no file of scripts may have as they are. @type {string[]} */
  joined = [];
  /** What others did between an operation's calls. @type {Step[]} */
  came = [];

  /** @param {string} root @param {Stamps} stamps @param {(host: { root: string, stamps: Stamps }) => Surface} made */
  constructor(root, stamps, made) {
    this.root = root;
    this.stamps = stamps;
    for (const name of Object.keys(process.env)) if (OURS.test(name)) delete process.env[name];
    const git = {
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "A",
      GIT_AUTHOR_EMAIL: "a@example.com",
      GIT_COMMITTER_NAME: "A",
      GIT_COMMITTER_EMAIL: "a@example.com",
    };
    const day = new Date(stamps.startMs).toISOString();
    Object.assign(process.env, git, { HOME: join(root, "user"), GIT_AUTHOR_DATE: day, GIT_COMMITTER_DATE: day });
    this.#surface = made(this);
  }

  /** What one step answers, or how it is refused. @param {Step} step @returns {Promise<unknown>} */
  async does({ ifThere, between, ...step }) {
    if (ifThere && !this.#isThere(step)) return null;
    this.#surface.arm(
      between && (() => between.steps.forEach((/** @type {Step} */ foreign) => this.#comesBetween(foreign))),
      between?.call,
    );
    try {
      // As it is now: some objects that the surface gives change later.
      const value = JSON.parse(JSON.stringify((await this.#runStep(step.op, this.#resolveReferences(step))) ?? null));
      if (step.as !== undefined) this.#answers.set(step.as, value);
      return value;
    } catch (error) {
      const refusal = this.#surface.refusal(error);
      if (!refusal) throw new Error(`step ${JSON.stringify(step).slice(0, 300)}`, { cause: error });
      return { error: { code: refusal.code, message: refusal.message } };
    }
  }

  /** @param {Step} foreign */
  #comesBetween({ op, ...asked }) {
    if (!this.#isThere({ op, ...asked })) return;
    FOREIGN[op]?.(this.#resolveReferences(asked));
    this.came.push({ op, ...asked });
  }

  /** Whether the session is there that a step is about, or the file. @param {Step} step */
  #isThere({ session, file }) {
    return (
      (session === undefined || this.#surface.session(session) !== undefined) &&
      (file === undefined || existsSync(this.#resolveReferences(file)))
    );
  }

  /** @param {string} op @param {any} asked */
  async #runStep(op, { op: _, as, store = "store", session = "s", ...asked }) {
    if (op === "together") return Promise.all(asked.steps.map((/** @type {Step} */ step) => this.does(step)));
    if (op === "wait") return this.stamps.wait(asked.ms);
    if (FOREIGN[op]) return FOREIGN[op](asked);
    return this.#surface.does(op, asked, { as, store, session });
  }

  /** Lets go of all that is open. */
  async end() {
    await this.#surface.end();
    for (const name of Object.keys(process.env)) if (OURS.test(name)) delete process.env[name];
    Object.assign(process.env, this.#env);
    this.stamps.end();
  }

  /**
   * With what stands for something put in: `$name.key` an earlier answer, `<name>` a folder.
   * @param {any} value
   * @returns {any}
   */
  #resolveReferences(value) {
    if (Array.isArray(value)) return value.map((one) => this.#resolveReferences(one));
    if (value !== null && typeof value === "object") {
      if (value.repeat !== undefined && value.text !== undefined && Object.keys(value).length === 2)
        return value.text.repeat(value.repeat);
      if (Array.isArray(value.joined) && Object.keys(value).length === 1)
        return this.#noteJoined(value.joined.join(""));
      return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.#resolveReferences(one)]));
    }
    if (typeof value !== "string") return value;
    if (value.startsWith("$$")) return value.slice(1);
    if (/^\$[\w-]+(?:\.|$|:)/.test(value)) return this.#resolveReference(value.slice(1));
    return value.replace(
      /<([\w-]+)(\.id)?>/g,
      (whole, name, isId) => (isId ? this.#findSession(name).id : this.#folder(name)) ?? whole,
    );
  }

  /** @param {string} text */
  #noteJoined(text) {
    if (!this.joined.includes(text)) this.joined.push(text);
    return text;
  }

  /** @param {string} name */
  #folder(name) {
    if (name === "hostname") return hostname();
    return this.#surface.session(name)?.path ?? (FOLDERS.includes(name) ? join(this.root, name) : undefined);
  }

  /** @param {string} name */
  #findSession(name) {
    const session = this.#surface.session(name);
    if (!session) throw new Error(`expected the session "${name}", but found none`);
    return session;
  }

  /** `said.records.0.id`, or with `:8` behind it its first eight letters @param {string} path */
  #resolveReference(path) {
    const [whole = "", length] = path.split(":");
    const [name = "", ...keys] = whole.split(".");
    if (!this.#answers.has(name)) throw new Error(`expected the answer "${name}", but found none`);
    let value = this.#answers.get(name);
    for (const key of keys) value = value?.[key];
    if (value === undefined) throw new Error(`expected an answer at "$${path}", but found none`);
    return length === undefined ? value : String(value).slice(0, Number(length));
  }
}
