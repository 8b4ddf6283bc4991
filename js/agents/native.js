// @ts-check
/** A session on its way into another agent: written where its client looks for it, as one of its own. */

import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

import { agents } from "../wasm/agents.js";
import { nowMs, randomId } from "../wasm/clock.js";
import { bytesOf, fromBytes, newId, toBytes } from "../wasm/core.js";
import { LeftoffError } from "../error.js";
import { NodeStorage } from "../storage/node.js";
import { parse } from "../session/transcript.js";
import { geminiPlace } from "./gemini-place.js";
import { agentHomes, userHome } from "./homes.js";
import { openCodeModel } from "./opencode-model.js";

/** @import { Session } from "../session/session.js" */
/** @import { ReadSession } from "../session/transcript.js" */
/** @import { Env } from "./homes.js" */
/** @import { ContextRequest, ResumeForAgent, WriteForAgent, WrittenForAgent } from "../types/index.js" */

/**
 * @typedef {object} Client how an agent's client is called, and where it keeps what it has
 * @property {string} program
 * @property {string} install
 * @property {(id: string) => string[]} resumes the arguments by which it resumes a session
 * @property {(env: Env) => string} [inbox] the folder that its files are left in, where it keeps none itself; else its home
 * @property {(env: Env, folder: string) => Promise<string | undefined>} [model] the model that it is set to, where a session has to name one
 * @property {(file: string) => string[]} [takes] the arguments by which it takes a file in, where it keeps no files
 * @property {() => string} [newId] an id that it takes, where it refuses those with a time in them
 * @property {(home: string, folder: string) => Promise<string | undefined>} [place] how it calls a folder that it works in; by the path alone unless given
 */

/** @type {Record<string, Client>} */
const CLIENTS = {
  "claude-code": {
    program: "claude",
    install: "npm install -g @anthropic-ai/claude-code",
    resumes: (id) => ["--resume", id],
  },
  codex: {
    program: "codex",
    install: "npm install -g @openai/codex",
    resumes: (id) => ["resume", id],
  },
  opencode: {
    program: "opencode",
    install: "npm install -g opencode-ai",
    resumes: (id) => ["--session", id],
    inbox: (env) => join(env.XDG_CACHE_HOME || join(userHome(env), ".cache"), "leftoff", "opencode"),
    takes: (file) => ["import", file],
    model: openCodeModel,
  },
  pi: {
    program: "pi",
    install: "npm install -g @earendil-works/pi-coding-agent",
    resumes: (id) => ["--session", id],
  },
  copilot: {
    program: "copilot",
    install: "npm install -g @github/copilot",
    resumes: (id) => [`--resume=${id}`],
  },
  gemini: {
    program: "gemini",
    install: "npm install -g @google/gemini-cli",
    resumes: (id) => ["--resume", id],
    place: geminiPlace,
  },
  qwen: {
    program: "qwen",
    install: "npm install -g @qwen-code/qwen-code",
    resumes: (id) => ["--resume", id],
    newId: randomId,
    place: async (_, folder) => (process.platform === "win32" ? folder.toLowerCase().replace(/[^a-z0-9]/g, "-") : undefined),
  },
};

/**
 * @param {Session} session @param {WriteForAgent & { folder: string, noted: (written: ReadSession, last: string) => Promise<void> }} writeForAgent
 *   `noted`: is told what was written, as it is read back, and its last message
 * @returns {Promise<WrittenForAgent>}
 */
export async function writtenForAgent(session, { agent, folder, noted, resume, env = process.env, ...request }) {
  const format = agents.called(({ formatOf }) => formatOf(agent));
  const { metadata } = session;
  const asked = /** @type {ContextRequest} */ ({ ...request, assumes: true, format, stored: true });
  const { context, first, warnings } = resume ? await resumed(session, asked, resume) : { context: await session.context(asked) };
  if (context.originalMessageCount === 0) throw new LeftoffError({ code: "empty_file", message: `expected a session in which something was said, but nothing was said in "${session.id}"` });
  const client = clientOf(agent);
  const home = client.inbox?.(env) ?? agentHomes(env)[/** @type {"pi"} */ (agent)];
  const place = await client.place?.(home, folder);
  const model = request.model ?? (await client.model?.(env, folder));
  const about = { id: client.newId?.() ?? newId(), folder, place, title: metadata.display.title, model, first, nowMs: nowMs() };
  const native = fromBytes(agents.called(({ writeNative }) => writeNative(agent, toBytes(context.messages), toBytes(about))));
  const path = join(home, ...native.path.split("/"));
  const bytes = bytesOf(native.text);
  await written(path, bytes);
  await readBack(bytes, { path, agent, noted });
  return {
    id: native.id,
    agent,
    path,
    folder,
    command: [client.program, ...client.resumes(native.id)],
    ...(client.takes && { takes: [client.program, ...client.takes(path)] }),
    messageCount: context.originalMessageCount,
    included: context.includedMessageCount,
    losses: native.losses,
    ...(warnings && { warnings }),
    ...(context.report.assumed && { assumed: context.report.assumed }),
    ...(context.secrets && { secrets: context.secrets }),
  };
}

/** What the next run is told before the history. @param {Session} session @param {ContextRequest} request @param {ResumeForAgent} how */
async function resumed(session, request, { command, ...how }) {
  const { block, context, warnings, ...resumed } = await session.resume({ ...request, ...how });
  const begins = command ?? resumed.command;
  return { context, first: begins ? `${begins}\n\n${block}` : block, warnings };
}

/** @param {Uint8Array} bytes @param {{ path: string, agent: string, noted: (written: ReadSession, last: string) => Promise<void> }} of */
async function readBack(bytes, { path, agent, noted }) {
  const { sessions: [one], handle, free } = parse(bytes, path, agent);
  try {
    const [last] = one ? fromBytes(agents.called(() => handle.messages(0, one.messageCount - 1, one.messageCount))) : [];
    if (one && last) await noted(one, last.id);
  } finally {
    free();
  }
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
