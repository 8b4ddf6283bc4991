// @ts-check
/** Agents' sessions of which the store lacks something. */

import { join } from "node:path";

import { unlessBug } from "../error.js";
import { layoutNames } from "../placement/placement.js";
import { parseTranscript } from "../session/transcript.js";
import { fromBytes, toBytes } from "../wasm/core.js";
import { readerModule } from "../wasm/module-choice.js";
import { readConfigFile } from "./mcp.js";
import { documents, listAgentFiles } from "./files.js";
import { readCompanion } from "./open-conversation.js";

/** @import { Store } from "../store/store.js" */
/** @import { ReadMessage, Turn } from "../types/index.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { AgentFile } from "./files.js" */
/** @import { TranscriptLocation } from "./transcript-locations.js" */

/**
 * A session of which the store lacks something. `id`: the agent's own of it; `session`: the store's, unless it is new
 * there; `parent`: the agent's id of the session whose sub-agent it is; `newMessages`: those that the store lacks.
 * @typedef {object} MissingSession
 * @property {string} agent
 * @property {string} id
 * @property {string} title
 * @property {string} [folder]
 * @property {string} [session]
 * @property {string} [parent]
 * @property {number} messageCount
 * @property {number} newMessages
 *
 * @typedef {ReturnType<typeof parseTranscript>} ReadFile
 */

const MAX_TITLE_CHARS = 80;
/** So many messages are searched for the user's first before all are. */
const FIRST_MESSAGES = 20;

/**
 * Lists agents' files that are not imported as they are now, those that changed last at first.
 * @param {Store} store @param {Storage} storage @param {TranscriptLocation[]} places
 */
export async function listChangedFiles(store, storage, places) {
  // A cache of the core's: `imported_files.rs`.
  const cached = await readConfigFile(join(store.home, layoutNames().cache, "imported.json"));
  const imported = /** @type {Record<string, string>} */ (Reflect.get(cached ?? {}, "files") ?? {});
  /** @type {Map<string, AgentFile & { agent?: string }>} */
  const found = new Map();
  for (const { path, is, agent } of places)
    for await (const file of listAgentFiles(storage, path, is))
      if (imported[file.path] !== `${file.size} ${agent ?? ""}`) found.set(file.path, { ...file, agent });
  return [...found.values()].sort((one, other) => other.mtimeMs - one.mtimeMs);
}

/**
 * Finds what the store lacks of the sessions in a file; nothing where it lacks nothing, or the file is no session.
 * @param {Store} store @param {Storage} storage @param {string} path @param {string} [agent]
 * @returns {AsyncGenerator<MissingSession>}
 */
export async function* findMissing(store, storage, path, agent) {
  const companion = await readCompanion(storage, path);
  for await (const { bytes, error } of documents(storage, path)) {
    if (error) throw error;
    const read = parseTranscript(bytes, path, agent, companion);
    try {
      for (const place of read.sessions.keys()) {
        const missing = await compareSession(store, read, place);
        if (missing) yield missing;
      }
    } finally {
      read.free();
    }
  }
}

/** @param {Store} store @param {ReadFile} read @param {number} place the session's in the file */
async function compareSession(store, read, place) {
  const about = /** @type {ReadFile["sessions"][number]} */ (read.sessions[place]);
  const { agent, sourceId: id, messageCount, folder, parent } = about;
  const messagesTo = (/** @type {number} */ end) =>
    /** @type {ReadMessage[]} */ (fromBytes(read.module.call(() => read.handle.messages(place, 0, end))));
  const stored = await readStored(store, { agent, id });
  const newMessages = stored
    ? messagesTo(messageCount).filter(
        // What came before the newest that is stored was left out by the import: commands, and what has no text.
        (message) => !stored.ids.has(message.id) && (message.timestamp ?? "") >= stored.newest,
      ).length
    : messageCount;
  if (newMessages === 0) return undefined;
  const prompt = async () =>
    (await findPrompt(store, messagesTo(FIRST_MESSAGES))) || findPrompt(store, messagesTo(messageCount));
  /** @type {MissingSession} */
  const missing = {
    agent,
    id,
    title: about.title ? await cutTitle(store, about.title) : await prompt(),
    ...(folder && { folder }),
    ...(stored && { session: stored.id }),
    ...(parent && { parent: parent.session }),
    messageCount,
    newMessages,
  };
  return missing;
}

/** What was asked first, by one who is no client. @param {Store} store @param {ReadMessage[]} messages */
async function findPrompt(store, messages) {
  for (const message of messages) {
    if (message.role !== "user" || Reflect.get(message.source ?? {}, "isMeta")) continue;
    // Before it is cut: half a secret is not known for one.
    const { value } = await store.redacted(message);
    /** @type {Turn[]} */
    const [turn] = fromBytes(readerModule().call((module) => module.outline(toBytes([value]))));
    if (turn?.title) return turn.title;
  }
  return "";
}

/** A title on one line, without the secrets that are to be replaced. @param {Store} store @param {string} title */
async function cutTitle(store, title) {
  const { value } = await store.redacted(title);
  return value.trim().replaceAll(/\s+/g, " ").slice(0, MAX_TITLE_CHARS);
}

/** @param {Store} store @param {{ agent: string, id: string }} source */
async function readStored(store, source) {
  const session = await store.session({ source }).catch(unlessBug);
  if (!session) return undefined;
  const ids = new Set();
  let newest = "";
  for await (const { id, timestamp = "" } of session.messages({ allBranches: true })) {
    ids.add(id);
    if (timestamp > newest) newest = timestamp;
  }
  await session.close();
  return { id: session.id, ids, newest };
}
