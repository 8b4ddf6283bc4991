// @ts-check
/** Rust under scripts: a program that has the store of the feature `fs`, and is asked by lines of JSON. */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { exampleOf } from "../../../scripts/examples.mjs";

import { secretsIn } from "./secrets.mjs";

/** @import { Surface } from "./host.mjs" */
/** @import { Stamps } from "./stamps.mjs" */

/** A refusal of the store's. */
class Refusal extends Error {
  /** @param {{ code: string, message: string }} error */
  constructor({ code, message }) {
    super(message);
    this.code = code;
  }
}

/** What the program cannot do. */
class NotThere extends Error {}

/**
 * Builds the program; gives what makes one of it, as `ran` takes it.
 * @returns {(host: { root: string, stamps: Stamps }) => Surface}
 */
export function inRust() {
  // Not later: scripts have another HOME, where no toolchain is.
  const program = exampleOf("scripted");
  return (host) => new Rust(host, program);
}

/** As JavaScript has it. @param {any} told @returns {any} */
function toResumeResponse({ answer, requests, ...told }) {
  if (answer) return { answer: toResumeResponse(answer), requests };
  const { id, command, block, warnings, context, notices: _, ...text } = told;
  return { id, command, block, history: context.messages, warnings, context, ...text };
}

/** @implements {Surface} */
class Rust {
  /** @type {Map<string, { id: string, path: string }>} */
  #sessions = new Map();
  #child;
  #lines;
  /** The last step that was asked. @type {Promise<unknown>} */
  #last = Promise.resolve();
  #stderr = "";

  /** @param {{ root: string, stamps: Stamps }} host @param {string} program */
  constructor({ root, stamps }, program) {
    this.root = root;
    this.stamps = stamps;
    this.#child = spawn(program, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stderr.setEncoding("utf8").on("data", (text) => (this.#stderr += text));
    this.#child.stdin.on("error", () => {}); // Of one that has ended, `#asked` says it.
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  // Nothing comes between its calls.
  arm() {}

  /** @param {unknown} error */
  refusal(error) {
    return error instanceof Refusal && error.code !== "internal" ? error : undefined;
  }

  /** @param {string} op @param {any} asked @param {{ as?: string, store: string, session: string }} names */
  async does(op, asked, { as, store, session }) {
    const folders = op === "openStore" && { project: join(this.root, "project"), home: join(this.root, "home") };
    const value = await this.#sendStep({ ...folders, ...asked, op, as, store, session });
    if (op === "follow") return this.#follow(session, asked);
    if (value?.metadata && value.id) return this.#addSession(as ?? session, value);
    if (op === "append") for (const record of value.records) for (const key of ["v", "crc"]) delete record[key];
    if (op === "appendTool") delete value.lines;
    if (op === "resume") return toResumeResponse(value);
    if (op === "listSettings") return value.all;
    if (op === "settings") delete value.all;
    return value;
  }

  /** What comes to who follows, until there are so many. @param {string} session @param {{ most?: number }} asked */
  async #follow(session, { most = 0 }) {
    const all = [];
    while (all.length < most) {
      const asking = this.#sendStep({ op: "look", session });
      const last = this.#last;
      const page = await asking;
      if (page) all.push(...page);
      else if (this.#last === last)
        throw new Error(`expected ${most} messages to come, but found ${all.length}, and nobody who appends more`);
    }
    return all.slice(0, most);
  }

  /** One after another. @param {object} step @returns {Promise<any>} */
  #sendStep(step) {
    const { ms: nowMs, offsetMinutes, seed } = this.stamps.currentStamp();
    const mine = this.#last.then(async () => {
      this.#child.stdin.write(`${JSON.stringify({ step, nowMs, offsetMinutes, seed })}\n`);
      const { value, error, mistake } = await this.#answer(step);
      if (mistake !== undefined) throw new NotThere(mistake);
      if (error) throw new Refusal(error);
      return value;
    });
    this.#last = mine.catch(() => {});
    return mine;
  }

  /**
   * What the program says to a step, once it has been told where secrets stand.
   * @param {object} step
   * @returns {Promise<any>}
   */
  async #answer(step) {
    for (;;) {
      const { value: line, done } = await this.#lines.next();
      if (done)
        throw new Error(`expected an answer to ${JSON.stringify(step)}, but the program has ended: ${this.#stderr}`);
      const said = JSON.parse(line);
      if (!said.asks) return said;
      this.#child.stdin.write(`${JSON.stringify(await secretsIn(said.asks))}\n`);
    }
  }

  /** @param {string} name @param {any} opened */
  #addSession(name, { id, path, placement, metadata, notices }) {
    this.#sessions.set(name, { id, path });
    return {
      id,
      path,
      placement,
      title: metadata.display.title,
      lifecycle: metadata.lifecycle,
      messageCount: metadata.stats.messageCount,
      notices,
    };
  }

  /** @param {string} name */
  session(name) {
    return this.#sessions.get(name);
  }

  async end() {
    await this.#last;
    this.#child.stdin.end();
    if (this.#child.exitCode === null && this.#child.signalCode === null)
      await new Promise((resolve) => this.#child.once("close", resolve));
  }
}
