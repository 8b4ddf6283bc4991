// @ts-check
/** Slash commands as clients keep them, and which of them began a conversation. */

import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { join, sep } from "node:path";

import { called } from "../wasm/core.js";
import { agentHome, userHome } from "./homes.js";

/** @import { Env } from "./homes.js" */
/** @import { Command } from "../types/index.js" */

/** The messages of an agent's session, from one up to another. @typedef {(from: number, to: number) => any[]} Said */

/**
 * A command as its file has it now: `text` is what the client sends for it, with the places of its arguments. `hash` is that of
 * the text, the same in every client; `hashes` are all by which it may have been kept: also that of the file.
 * @typedef {{ agent: string, name: string, path: string, hash: string, hashes: string[], text: string }} KeptCommand
 *
 * @typedef {{ project: string, env?: Env }} Where
 *
 * @typedef {object} Kind how a client keeps them
 * @property {(where: { project: string, home: string, config: string }) => string[]} folders what the project has counts before the user's own
 * @property {(path: string) => string | undefined} name of a file, from its folder on; nothing where it is no command
 * @property {(file: string) => string | Promise<string>} text
 * @property {(said: string) => string | undefined} [named] the command that a user's message names
 * @property {(said: string) => string | undefined} [behind] and what stands behind it there
 */

/** @param {string} separator @param {RegExp} [ending] */
const named = (separator, ending = /\.md$/) => (/** @type {string} */ path) => (ending.test(path) ? `/${path.replace(ending, "").split(sep).join(separator)}` : undefined);
const skill = (/** @type {string} */ path) => (/^[^/\\]+[/\\]SKILL\.md$/.test(path) ? `$${path.split(sep)[0]}` : undefined);
const markdown = (/** @type {string} */ file) => file.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "");

/** @type {Record<string, Kind>} */
const KINDS = {
  "claude-code": {
    folders: ({ project, home }) => [join(project, ".claude", "commands"), join(home, "commands")],
    name: named(":"),
    text: markdown,
    named: (said) => /<command-name>(\/[^<\s]+)<\/command-name>/.exec(said)?.[1],
    behind: (said) => /<command-args>([\s\S]*?)<\/command-args>/.exec(said)?.[1],
  },
  opencode: {
    folders: ({ project, config }) => [join(project, ".opencode"), join(config, "opencode")].flatMap((at) => [join(at, "command"), join(at, "commands")]),
    name: named("/"),
    text: markdown,
  },
  gemini: {
    folders: ({ project, home }) => [join(project, ".gemini", "commands"), join(home, "commands")],
    name: named(":", /\.toml$/),
    text: async (file) => String((await import("smol-toml")).parse(file).prompt ?? ""),
  },
  codex: {
    folders: ({ project, home }) => [join(project, ".agents", "skills"), join(home, "skills")],
    name: skill,
    text: markdown,
    named: (said) => /^\s*(\$[\w.:-]+)/.exec(said)?.[1],
    behind: (said) => /^\s*\$[\w.:-]+\s+([\s\S]*\S)/.exec(said)?.[1],
  },
};

/** The type of the conversations that a command begins; nothing where it is none of the workspace. @param {string | undefined} name */
export function typeOf(name) {
  return called((core) => core.commandType(name ?? ""));
}

/** The agents whose commands are known. */
export const commandAgents = Object.keys(KINDS);

/** A command by its name, or that begins the same type in another client's spelling; nothing where there is no such file. @param {string} agent @param {string} name @param {Where} where */
export async function commandNamed(agent, name, where) {
  const type = typeOf(name);
  for await (const command of kept(agent, where)) {
    if (command.name === name || (type && typeOf(command.name) === type)) return command;
  }
  return undefined;
}

/**
 * Which command began a conversation: the client's record names it, or the first of the user's messages has its text.
 * @param {string} agent @param {Said} said @param {Where} where @returns {Promise<Command | undefined>}
 */
export async function commandBehind(agent, said, where) {
  const FIRST = 12;
  const texts = said(0, FIRST).flatMap(({ role, content }) => (role === "user" && typeof content === "string" ? [content] : []));
  const name = texts.map((text) => KINDS[agent]?.named?.(text)).find(Boolean);
  if (name) return { name, hash: (await commandNamed(agent, name, where))?.hash };
  if (!KINDS[agent] || KINDS[agent].named) return undefined;
  for await (const command of kept(agent, where)) {
    if (typeOf(command.name) && texts.some((text) => argumentsIn(command, text) !== undefined)) return { name: command.name, hash: command.hash };
  }
  return undefined;
}

/** A command's text with what it was called with. @param {Pick<KeptCommand, "text">} command @param {string} args */
export function filled({ text }, args) {
  return text.replaceAll("$ARGUMENTS", () => args).replaceAll("{{args}}", () => args);
}

// What a client puts in the place of these, nobody knows beforehand.
const PLACES = /(\$ARGUMENTS|\$\d|\{\{args\}\}|!`[^`]*`|!\{[^}]*\}+|@\{[^}]*\})/;

/**
 * What a command was called with, where a message is its text.
 * @param {Pick<KeptCommand, "text">} command @param {string} said
 * @returns {string | undefined}
 */
export function argumentsIn({ text }, said) {
  const parts = text.trim().split(PLACES);
  let rest = said.trim();
  let args = "";
  for (let at = 0; at < parts.length; at += 2) {
    const literal = parts[at] ?? "";
    const isLast = at === parts.length - 1;
    const place = isLast ? rest.length - literal.length : rest.indexOf(literal);
    const isThere = place >= 0 && rest.startsWith(literal, place) && (at > 0 || place === 0);
    if (!isThere) return undefined;
    if (["$ARGUMENTS", "{{args}}"].includes(parts[at - 1] ?? "")) args ||= rest.slice(0, place).trim();
    rest = rest.slice(place + literal.length);
  }
  return args;
}

/** What a command of the client's was called with, as the first messages say. @param {string} agent @param {Pick<KeptCommand, "text">} command @param {any[]} first */
export function argumentsOf(agent, command, first) {
  for (const { role, content } of first) {
    if (role !== "user" || typeof content !== "string") continue;
    const args = KINDS[agent]?.behind?.(content) ?? argumentsIn(command, content);
    if (args !== undefined) return args;
  }
  return "";
}

/** @param {string} agent @param {Where} where @returns {AsyncGenerator<KeptCommand>} */
async function* kept(agent, { project, env = process.env }) {
  const kind = KINDS[agent];
  if (!kind) return;
  const home = await agentHome(agent, env);
  const config = env.XDG_CONFIG_HOME || join(userHome(env), ".config");
  for (const folder of kind.folders({ project, home, config })) {
    for (const path of (await filesBelow(folder)).sort()) {
      const name = kind.name(path);
      const bytes = name && (await readFile(join(folder, path)).catch(() => undefined));
      if (!name || !bytes) continue;
      const text = await readable(kind, bytes.toString("utf8"));
      if (text === undefined) continue;
      const [hash = "", ...hashes] = [text.trim().replaceAll("{{args}}", "$ARGUMENTS"), text, bytes].map(hashOf);
      yield { agent, name, path: join(folder, path), hash, hashes: [hash, ...hashes], text };
    }
  }
}

/** @param {string | Buffer} said */
function hashOf(said) {
  return `sha256:${createHash("sha256").update(said).digest("hex")}`;
}

// A file of somebody else's that is broken is no command.
/** @param {Kind} kind @param {string} file */
async function readable(kind, file) {
  try {
    return await kind.text(file);
  } catch {
    return undefined;
  }
}

/** @param {string} folder @returns {Promise<string[]>} */
async function filesBelow(folder) {
  return readdir(folder, { recursive: true }).catch(() => []);
}
