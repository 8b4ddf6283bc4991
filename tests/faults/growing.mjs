// @ts-check
/** Hooks and imports of one growing file at once, each a process of its own; and what they leave. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";

/** @import { chance } from "./tools.mjs" */

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
export const HOOKS = 20;
export const IMPORTS = 4;
const SESSION = "0199aaaa-0000-4000-8000-0000000000f1";
const EVENTS = ["Stop", "UserPromptSubmit", "SessionEnd"];

/**
 * All of them at once, then one that sees the end; refused unless what they leave is what one import of it leaves.
 * @param {string} folder an empty one @param {ReturnType<typeof chance>} random
 * @returns {Promise<number>} how many messages that is
 */
export async function raceReaders(folder, random) {
  const project = join(folder, "project");
  mkdirSync(project);
  const file = new Growing(join(folder, ".claude", "projects", "-project", `${SESSION}.jsonl`), { project, random });
  const env = { PATH: process.env.PATH ?? "", HOME: folder, CLAUDE_CODE_SESSION_ID: SESSION };
  const work = async (/** @type {boolean} */ isHook) => {
    const event = EVENTS[random.below(EVENTS.length)];
    const input = JSON.stringify({
      session_id: SESSION,
      transcript_path: file.path,
      cwd: project,
      hook_event_name: event,
      prompt: "go on",
    });
    const command = isHook ? ["hook", "claude-code"] : ["import", file.path, "--json"];
    const ended = run([entry, ...command], { cwd: project, env, input: isHook ? input : "" });
    // The file grows whenever one begins or ends, so each finds another state of it.
    file.grow();
    assert.deepEqual(await ended, { code: 0, stderr: "" });
    file.grow();
  };
  file.grow();
  await Promise.all(Array.from({ length: HOOKS + IMPORTS }, (_, place) => work(place % 6 !== 5)));
  assert.deepEqual(await run([entry, "import", file.path, "--json"], { cwd: project, env, input: "" }), {
    code: 0,
    stderr: "",
  });
  return equal({ folder, project, path: file.path });
}

/**
 * @param {string[]} args
 * @param {{ cwd: string, env: Record<string, string>, input: string }} options
 * @returns {Promise<{ code: number | null, stderr: string }>}
 */
function run(args, { input, ...options }) {
  const child = spawn(process.execPath, args, { ...options, stdio: ["pipe", "ignore", "pipe"] });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  child.stdin.on("error", () => {}).end(input);
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, stderr }));
  });
}

/** Claude Code's file of a conversation; its answers come in several records. */
class Growing {
  #random;
  #project;
  #number = 0;
  /** @type {string | null} */
  #last = null;

  /** @param {string} path @param {{ project: string, random: ReturnType<typeof chance> }} parts */
  constructor(path, { project, random }) {
    this.path = path;
    this.#project = project;
    this.#random = random;
    mkdirSync(dirname(path), { recursive: true });
  }

  grow() {
    for (let turns = 1 + this.#random.below(4); turns > 0; turns -= 1) {
      this.#say("user", `question ${this.#number}`, {});
      const id = `m${this.#number}`;
      for (let parts = 1 + this.#random.below(3); parts > 0; parts -= 1) {
        this.#say("assistant", [{ type: "text", text: `a part of the answer ${this.#number}` }], {
          id,
          stop_reason: parts === 1 ? "end_turn" : null,
        });
      }
    }
  }

  /** @param {string} role @param {unknown} content @param {object} more */
  #say(role, content, more) {
    const number = (this.#number += 1);
    const uuid = `${SESSION.slice(0, 24)}${String(number).padStart(12, "0")}`;
    const timestamp = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
    const record = {
      type: role,
      uuid,
      parentUuid: this.#last,
      sessionId: SESSION,
      cwd: this.#project,
      version: "2.1.329",
      timestamp,
      message: { role, content, ...more },
    };
    appendFileSync(this.path, `${JSON.stringify(record)}\n`);
    this.#last = uuid;
  }
}

/**
 * The session that all of them left, and that of one import into another home: how many messages.
 * @param {{ folder: string, project: string, path: string }} where
 */
async function equal({ folder, project, path }) {
  const raced = await openStore({ home: join(folder, ".leftoff"), project });
  const once = await openStore({ home: join(folder, "once"), project });
  try {
    const {
      imported: [one],
    } = await once.import(path);
    assert.ok(one);
    const [expected, found] = [await describeSession(once, one.id), await describeSession(raced, one.id)];
    assert.deepEqual(found, expected);
    // And importing it once more adds nothing.
    assert.equal((await raced.import(path)).imported[0]?.added, 0);
    return expected.oldest.length;
  } finally {
    await raced.close();
    await once.close();
  }
}

/**
 * What its readers say, both ways, and what a model gets of it.
 * @param {import("../../js/store/store.js").Store} store
 * @param {string} id
 */
async function describeSession(store, id) {
  const session = await store.session(id);
  /** Which revision it is, and its number, hang on who came first. @param {any} message */
  const plain = ({ rev, seq, tokens, ...message }) => message;
  /** @type {any[][]} */
  const [oldest = [], newest = []] = [[], []];
  for await (const message of session.messages()) oldest.push(plain(message));
  for await (const message of session.messages({ newestFirst: true })) newest.unshift(plain(message));
  const { messages } = await session.context({ window: 4000, encoding: "estimate-1" });
  const {
    display: { title },
    stats: { messageCount },
  } = session.metadata;
  return { oldest, newest, context: messages.map(({ role, content }) => ({ role, content })), title, messageCount };
}
