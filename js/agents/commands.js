// @ts-check
/**
 * Reads slash commands from clients' files. The core says where they lie, their names, and which of them began a
 * conversation.
 */

import { readFile, readdir } from "node:fs/promises";
import { join, normalize, sep } from "node:path";

import { agents } from "../wasm/agents.js";
import { queryClients } from "./clients.js";
import { userEnvironment } from "./homes.js";

/** @import { Env } from "./homes.js" */
/** @import { Command } from "../types/index.js" */

/**
 * A command as its file has it now: `text` is what the client sends for it, with placeholders for its arguments;
 * `hashes` are all under which it may have been stored, `hash` is the text's.
 * @typedef {{ name: string, text: string, hash: string, hashes: string[] }} CommandFile
 *
 * @typedef {{ project: string, env?: Env }} CommandScope
 *
 * Reads the messages of an agent's session from one place up to another.
 * @typedef {(from: number, to: number) => any[]} MessageReader
 */

/**
 * The type of the conversations that a command begins; nothing where it is no workspace command.
 * @param {string | undefined} name
 */
export function conversationTypeOf(name) {
  return queryClients("command.type", [name ?? ""]);
}

/**
 * Finds a command by its name, or one that begins the same type in another client's spelling; nothing where there is no
 * such file.
 * @param {string} agent
 * @param {string} name
 * @param {CommandScope} where
 * @returns {Promise<CommandFile | undefined>}
 */
export async function findAgentCommand(agent, name, where) {
  return queryClients("command.called", [name, await readCommands(agent, where)]);
}

/**
 * Finds the command that began a conversation: the client's record names it, or the first of the user's messages has
 * its text.
 * @param {string} agent @param {MessageReader} said @param {CommandScope} where @returns {Promise<Command | undefined>}
 */
export async function findStartingCommand(agent, said, where) {
  const FIRST_MESSAGES = 12;
  await agents.ready();
  const first = textsOf(said(0, FIRST_MESSAGES));
  if (!queryClients("command.mayHaveBegun", [agent, first])) return undefined;
  return queryClients("command.began", [agent, await readCommands(agent, where), first]);
}

/**
 * Reads a session's command as it is now: its text with the arguments it was called with, from the first client that
 * has it; and a hash to compare with the stored one.
 * @param {{ name: string, kept?: string, own?: string, from?: string, first: any[] }} session `own`: its agent; `from`:
 *   where it goes on
 * @param {CommandScope} where @returns {Promise<{ text?: string, promptHash?: string | null }>}
 */
export async function readCurrentCommand({ name, kept: hash, own, from, first }, where) {
  await agents.ready();
  /** @type {string[]} */
  const known = queryClients("command.agents", []);
  /** @type {[string, CommandFile[]][]} */
  const candidates = [];
  /** @type {{ text?: string, promptHash?: string | null }} */
  let now = {};
  for (const agent of new Set([from, own, ...known])) {
    if (!agent || !known.includes(agent)) continue;
    candidates.push([agent, await readCommands(agent, where)]);
    now = queryClients("command.now", [{ name, kept: hash, own, candidates }, textsOf(first)]);
    // Other clients are asked only while the stored command was not found.
    if (now.text !== undefined && (hash === undefined || now.promptHash === hash)) break;
  }
  return now;
}

/**
 * Finds in the first messages the arguments that a client's command was called with.
 * @param {string} agent
 * @param {CommandFile} command
 * @param {any[]} first
 */
export function argumentsOf(agent, command, first) {
  return queryClients("command.arguments", [agent, command, textsOf(first)]);
}

/** Fills arguments into a command's text. @param {Pick<CommandFile, "text">} command @param {string} args */
export function fillArguments({ text }, args) {
  return queryClients("command.filled", [text, args]);
}

/** @param {any[]} messages @returns {string[]} what the user says in them */
function textsOf(messages) {
  return messages.flatMap(({ role, content }) => (role === "user" && typeof content === "string" ? [content] : []));
}

/**
 * @param {string} agent
 * @param {CommandScope} where
 * @returns {Promise<CommandFile[]>} the project's before the user's own
 */
async function readCommands(agent, { project, env = process.env }) {
  await agents.ready();
  /** @type {string[]} */
  const folders = queryClients("command.folders", [agent, { ...userEnvironment(env), project }]);
  const all = [];
  for (const folder of folders.map(normalize)) {
    for (const path of (await filesBelow(folder)).sort()) {
      const below = path.split(sep).join("/");
      if (!queryClients("command.is", [agent, below])) continue;
      const bytes = await readFile(join(folder, path)).catch(() => undefined);
      const prompt = bytes && path.endsWith(".toml") ? await promptIn(bytes) : undefined;
      const command = bytes && queryClients("command.in", [agent, below, prompt], bytes);
      if (command) all.push(command);
    }
  }
  return all;
}

// Parses a command's file; a broken one, being someone else's, counts as no command.
/** @param {Buffer} file @returns {Promise<string | undefined>} */
async function promptIn(file) {
  const { parse } = await import("smol-toml");
  try {
    return String(parse(file.toString("utf8")).prompt ?? "");
  } catch {
    return undefined;
  }
}

/** @param {string} folder @returns {Promise<string[]>} */
async function filesBelow(folder) {
  return readdir(folder, { recursive: true }).catch(() => []);
}
