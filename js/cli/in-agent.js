// @ts-check
/** Commands typed in an agent's client: recording the conversation there, and the command that began a session. */

import { text } from "node:stream/consumers";

import {
  argumentsOf,
  findStartingCommand,
  findAgentCommand,
  readCurrentCommand as currentCommand,
  fillArguments,
  conversationTypeOf,
} from "../agents/commands.js";
import { findOpenConversation } from "../agents/open-conversation.js";
import { mcpServers, toolPrefixOf } from "../agents/mcp.js";
import { NodeStorage } from "../storage/node.js";
import { unlessBug } from "../error.js";
import { LeftoffError } from "../index.js";
import { promptHashOf } from "./input-files.js";
import { printError } from "./print.js";

/** @typedef {import("../session/session.js").Session} Session */
/** @typedef {import("../store/store.js").Store} Store */

/**
 * Reads the words typed after a command: `-` stands for standard input, and OpenCode puts quotes around it.
 * @param {string[]} words
 */
export async function readTypedWords(words) {
  const typed = words.join(" ");
  return (typed === "-" ? await text(process.stdin) : typed).trim().replace(/^"(.*)"$/s, "$1");
}

/**
 * Records the conversation that goes on in an agent's client, up to now.
 * @param {Store} store @param {string} agent @returns {Promise<Session>}
 */
export async function recordOpenConversation(store, agent) {
  const storage = new NodeStorage();
  const at = await findOpenConversation(agent, { storage, project: store.project }).finally(() => storage.close());
  const session = await recordConversation(store, { agent, ...at });
  if (session) return session;
  const why = store.settings.record
    ? "nothing was said yet"
    : "recording is off; 'leftoff settings record true' turns it on";
  throw new LeftoffError({ code: "not_found", message: `no conversation of ${agent} to use: ${why}` });
}

/**
 * Makes a command answer with its refusals: in a client the model reads what is printed, and a person sees only what
 * the model says.
 * @template {Record<string, any>} Args
 * @param {(args: Args) => Promise<any>} command
 * @returns {(args: Args) => Promise<any>}
 */
export function withRefusalAnswered(command) {
  return async (args) => {
    try {
      return await command(args);
    } catch (error) {
      if (!(error instanceof LeftoffError) || !args.from || args.json) throw error;
      printError(error);
      return { text: `${error.message}\n`, value: undefined };
    }
  };
}

/**
 * Records a conversation; nothing if nothing was said yet.
 * @param {Store} store
 * @param {{ agent: string, path: string, only?: import("../agents/opencode.js").FolderFilter }} at
 */
export function recordConversation(store, { agent, ...at }) {
  const commandOf = async (/** @type {import("../agents/commands.js").MessageReader} */ said) => {
    // Servers that cannot be read are no reason not to record.
    const servers = (await mcpServers(agent, store).catch(unlessBug)) ?? [];
    const command = await findStartingCommand(agent, said, { project: store.project }).catch(unlessBug);
    return { ...command, tools: servers.map(toolPrefixOf) };
  };
  const recorded = store.record({ agent, ...at, commandOf });
  return recorded.catch((error) => {
    // Clients make the file first, and write into it once something is said.
    if (error instanceof LeftoffError && error.code === "empty_file") return undefined;
    throw error;
  });
}

/**
 * Reads the command that began a session as it is now.
 * @param {Store} store
 * @param {Session} session
 * @param {string} [from] the client that it goes on in
 * @returns {ReturnType<typeof currentCommand>}
 */
export async function currentCommandOf(store, session, from) {
  const {
    agent: { command: name, systemPromptHash: kept, promptFile },
    imported,
  } = session.metadata;
  if (promptFile !== undefined) return { promptHash: await promptHashOf(promptFile) };
  return name
    ? currentCommand(
        { name, kept, own: imported?.agent, from, first: await firstMessages(session) },
        { project: store.project },
      )
    : {};
}

/** @param {Session} session */
async function firstMessages(session) {
  const FIRST_MESSAGES = 6;
  const messages = [];
  for await (const message of session.messages()) if (messages.push(message) === FIRST_MESSAGES) break;
  return messages;
}

/**
 * Moves a stopped session that a command of the workspace began into the workspace, even if nobody wrote Markdown for
 * it.
 * @param {Store} store @param {Session} session @param {string} agent
 */
export async function settleInWorkspace(store, session, agent) {
  const { command: name = "" } = session.metadata.agent;
  if (session.placement === "workspace" || !conversationTypeOf(name)) return session;
  const command = await findAgentCommand(agent, name, { project: store.project });
  const title = command && argumentsOf(agent, command, await firstMessages(session));
  const placed = await store.move(session, { to: "workspace", title });
  // In a client that sends the command's text alone, that text would become the conversation's name.
  const shown = placed.metadata.display.title.replace(/…$/, "");
  if (command && title && fillArguments(command, title).trimStart().startsWith(shown)) await placed.rename(title);
  await store.point(placed);
  return placed;
}

/**
 * Waits after printing for Gemini CLI, which is slow to read a program's output and loses the rest when the program
 * ends.
 * @param {string | undefined} agent
 * @param {string} text
 */
export function linger(agent, text) {
  const MIN_LINGER_MS = 500;
  const BYTES_PER_MS = 20;
  if (agent === "gemini") setTimeout(() => {}, MIN_LINGER_MS + Buffer.byteLength(text) / BYTES_PER_MS);
}
