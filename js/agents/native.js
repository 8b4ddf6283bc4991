// @ts-check
/** A session on its way into another agent: written where its client looks for it, as one of its own. */

import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, sep } from "node:path";

import { agents } from "../wasm/agents.js";
import { entropy, nowMs } from "../wasm/clock.js";
import { bytesOf, fromBytes, toBytes } from "../wasm/core.js";
import { LeftoffError } from "../error.js";
import { NodeStorage } from "../storage/node.js";
import { geminiPlace } from "./gemini-place.js";
import { agentHomes, userHome } from "./homes.js";
import { openCodeModel } from "./opencode-model.js";

/** @import { Session } from "../session/session.js" */
/** @import { Env } from "./homes.js" */
/** @import { ContextRequest, WriteForAgent, WrittenForAgent } from "../types/index.js" */

/**
 * @typedef {object} Client how an agent's client is called, and where it keeps what it has
 * @property {string} program
 * @property {string} install
 * @property {(env: Env) => string} [inbox] the folder that its files are left in, where it keeps none itself; else its home
 * @property {(env: Env, folder: string) => Promise<string | undefined>} [model] the model that it is set to, where a session has to name one
 * @property {(home: string, folder: string) => Promise<string | undefined>} [place] how it calls a folder that it works in; by the path alone unless given
 */

/** @type {Record<string, Client>} */
const CLIENTS = {
  "claude-code": { program: "claude", install: "npm install -g @anthropic-ai/claude-code" },
  codex: { program: "codex", install: "npm install -g @openai/codex" },
  opencode: {
    program: "opencode",
    install: "npm install -g opencode-ai",
    inbox: (env) => join(env.XDG_CACHE_HOME || join(userHome(env), ".cache"), "leftoff", "opencode"),
    model: openCodeModel,
  },
  pi: { program: "pi", install: "npm install -g @earendil-works/pi-coding-agent" },
  copilot: { program: "copilot", install: "npm install -g @github/copilot" },
  gemini: { program: "gemini", install: "npm install -g @google/gemini-cli", place: geminiPlace },
  qwen: {
    program: "qwen",
    install: "npm install -g @qwen-code/qwen-code",
    place: async (_, folder) => (process.platform === "win32" ? folder.toLowerCase().replace(/[^a-z0-9]/g, "-") : undefined),
  },
};

/**
 * @param {Session} session @param {WriteForAgent & { folder: string, noted: (agent: string, sourceId: string, last: string) => Promise<void> }} writeForAgent
 *   `noted`: is told where what is said in the client goes on
 * @returns {Promise<WrittenForAgent>}
 */
export async function writtenForAgent(session, { agent, folder, noted, resume, env = process.env, ...request }) {
  const format = agents.called(({ formatOf }) => formatOf(agent));
  const asked = /** @type {ContextRequest} */ ({ ...request, assumes: true, format, stored: true });
  const { command, ...how } = resume ?? {};
  const begun = resume ? { resumed: await session.resume({ ...asked, ...how }), command } : { context: await session.context(asked) };
  const client = clientOf(agent);
  const home = client.inbox?.(env) ?? agentHomes(env)[/** @type {"pi"} */ (agent)];
  const place = await client.place?.(home, folder);
  const model = request.model ?? (await client.model?.(env, folder));
  const { id, metadata: { display } } = session;
  const given = toBytes({ ...begun, session: id, title: display.title, model, folder, home, place, separator: sep });
  const { path, text, continues, told } = fromBytes(agents.called(({ handOver }) => handOver(agent, given, nowMs(), entropy())));
  await written(path, bytesOf(text));
  if (continues) await noted(continues.agent, continues.sourceId, continues.last);
  return told;
}

/** Never over a file that is there. @param {string} path @param {Uint8Array} bytes */
async function written(path, bytes) {
  const storage = new NodeStorage();
  try {
    if (await storage.stat(path)) throw new LeftoffError({ code: "already_exists", message: `expected no file at "${path}", but found one` });
    await storage.replace(path, bytes);
  } finally {
    await storage.close();
  }
}

/** Of one that sessions are handed to. @internal @param {string} agent */
export function clientOf(agent) {
  return /** @type {Client} */ (CLIENTS[agent]);
}

/** The agents that sessions are handed to. */
export const nativeAgents = Object.keys(CLIENTS);

/** The agents whose clients are installed. @param {Env} [env] */
export function installedAgents(env = process.env) {
  return Object.entries(CLIENTS).flatMap(([agent, { program }]) => (isOnPath(program, env) ? [agent] : []));
}

/** Refuses where the client is not installed. @param {string} agent @param {Env} [env] */
export function refuseUnlessInstalled(agent, env = process.env) {
  agents.called(({ formatOf }) => formatOf(agent));
  const { program, install } = clientOf(agent);
  if (isOnPath(program, env)) return;
  throw new LeftoffError({ code: "not_found", message: `expected "${program}" on the PATH, but found none; '${install}' installs it, and --print gives the conversation as a text` });
}

/** Whether there is a program of this name. @param {string} program @param {Env} [env] */
export function isOnPath(program, env = process.env) {
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const endings = process.platform === "win32" ? [".cmd", ".exe"] : [""];
  return folders.some((folder) => endings.some((ending) => isProgram(join(folder, program + ending))));
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // Whatever the reason, it cannot be started.
  }
}

/** Starts the client, which takes over the terminal; its exit status. @param {Pick<WrittenForAgent, "command" | "takes" | "folder">} writtenForAgent */
export async function started({ command, takes, folder }) {
  const taken = takes ? await ran(takes, folder) : 0;
  return taken === 0 ? ran(command, folder) : taken;
}

/** @param {string[]} command @param {string} folder @returns {Promise<number>} */
function ran([program = "", ...args], folder) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
    child.on("error", reject).on("close", (status) => resolve(status ?? 1));
  });
}
