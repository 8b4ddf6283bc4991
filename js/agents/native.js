// @ts-check
/**
 * Native export: writes a session as one of another agent's own, where its client looks for it, and starts the client.
 */

import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

import { LeftoffError } from "../error.js";
import { NodeStorage } from "../storage/node.js";
import { checkKind } from "../wasm/options.js";
import { nativeAgents, queryClients } from "./clients.js";

/** @import { Session } from "../session/session.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { Env } from "./homes.js" */
/** @import { ContextRequest, WriteForAgent, WrittenForAgent } from "../types/index.js" */

/**
 * @param {Session} session
 * @param {WriteForAgent & { folder: string, write: (asked: object, to: Storage) => Promise<WrittenForAgent> }}
 *   writeForAgent `write`: by the core
 * @returns {Promise<WrittenForAgent>}
 */
export async function writeNativeSession(
  session,
  { agent, folder, write, resume, previews, env = process.env, ...request },
) {
  const format = queryClients("client.format", [checkKind("agent", agent)]);
  const asked = /** @type {ContextRequest} */ ({ ...request, assumes: true, format, stored: true });
  const { command, ...how } = resume ?? {};
  const begun = resume
    ? { resumed: await session.resume({ ...asked, ...how }), command }
    : { context: await session.context(asked) };
  const {
    id,
    metadata: { display },
  } = session;
  const isFitted = Object.values(request).some((value) => value !== undefined);
  const storage = new NodeStorage();
  try {
    const where = { folder: resolve(folder), variables: { ...env } };
    return await write(
      { ...begun, agent, session: id, title: display.title, model: request.model, previews, isFitted, ...where },
      storage,
    );
  } finally {
    await storage.close();
  }
}

/** The name of an agent's client, and what installs it. @param {string} agent */
function clientOf(agent) {
  const [program = "", install = ""] = queryClients("client.program", [agent]);
  return { program, install };
}

/**
 * How many bytes of a command's output reach the model in a client; outside of one, all.
 * @param {string | undefined} agent
 * @returns {number}
 */
export function outputLimitOf(agent) {
  return (agent && queryClients("client.reads", [agent])) || Number.MAX_SAFE_INTEGER;
}

/** The agents whose clients are installed. @param {Env} [env] */
export function installedAgents(env = process.env) {
  return nativeAgents().filter((agent) => isOnPath(clientOf(agent).program, env));
}

/**
 * Refuses where the client is not installed.
 * @param {string} agent
 * @param {string} session as it was typed
 * @param {Env} [env]
 */
export function rejectUnlessInstalled(agent, session, env = process.env) {
  const { program, install } = clientOf(agent);
  if (isOnPath(program, env)) return;
  const others = installedAgents(env);
  const other = others.length > 0 ? `, or take another client by --with (installed: ${others.join(", ")})` : "";
  const message = `no "${program}" on the PATH: install it with '${install}'${other}; ${withoutClient(session, agent)}`;
  throw new LeftoffError({ code: "not_found", message });
}

/**
 * Refuses where no client is installed that a session could be written for.
 * @param {string} session as it was typed
 * @param {Env} [env]
 */
export function rejectUnlessAnyInstalled(session, env = process.env) {
  if (installedAgents(env).length > 0) return;
  const looked = nativeAgents().map((agent) => clientOf(agent).program);
  const names = `${looked.slice(0, -1).join(", ")} and ${looked.at(-1)}`;
  const way = `Install one, or name one with --with AGENT to see how; ${withoutClient(session, "AGENT")}`;
  throw new LeftoffError({
    code: "not_found",
    message: `no client is installed: looked on the PATH for ${names}. ${way}`,
  });
}

/** @param {string} session @param {string} agent */
function withoutClient(session, agent) {
  const prints = `'leftoff resume ${session} --print' prints the conversation`;
  return `${prints}, and 'leftoff export ${session} --to ${agent}' writes it for a client`;
}

/** Whether there is a program of this name. @param {string} program @param {Env} [env] */
export function isOnPath(program, env = process.env) {
  return folderOnPath(program, env) !== undefined;
}

/** The folder of the PATH in which a program is. @param {string} program @param {Env} [env] */
export function folderOnPath(program, env = process.env) {
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  const endings = process.platform === "win32" ? [".cmd", ".exe"] : [""];
  return folders.find((folder) => endings.some((ending) => isProgram(join(folder, program + ending))));
}

/** @param {string} path */
function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false; // For whatever reason, it cannot be started.
  }
}

/**
 * Starts the client, which takes over the terminal; answers its exit status.
 * @param {Pick<WrittenForAgent, "command" | "takes" | "folder">} writtenForAgent
 */
export async function startClient({ command, takes, folder }) {
  const taken = takes ? await runInTerminal(takes, folder) : 0;
  return taken === 0 ? runInTerminal(command, folder) : taken;
}

/** @param {string[]} command @param {string} folder @returns {Promise<number>} */
function runInTerminal([program = "", ...args], folder) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
    child.on("error", reject).on("close", (status) => resolve(status ?? 1));
  });
}
