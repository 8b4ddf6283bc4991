// @ts-check
/** Finds the record of the conversation that goes on in an agent's client. */

import { sep } from "node:path";

import { LeftoffError, unlessBug } from "../error.js";
import { parseTranscript } from "../session/transcript.js";
import { realPathAsFar } from "../storage/real-path.js";
import { queryClients } from "./clients.js";
import { documents, listAgentFiles } from "./files.js";
import { transcriptLocations } from "./transcript-locations.js";

/** @import { Storage } from "../storage/contract.js" */
/** @import { Env } from "./homes.js" */
/** @import { FolderFilter } from "./opencode.js" */

/** How many of the newest records are searched for one of the folder. */
const MAX_SEARCHED_RECORDS = 50;

/**
 * Finds the conversation that the environment names, else the folder's newest.
 * @param {string} agent @param {{ storage: Storage, project: string, env?: Env }} where
 * @returns {Promise<{ path: string, only?: FolderFilter }>}
 */
export async function findOpenConversation(agent, { storage, project, env = process.env }) {
  const files = [];
  for (const { path, is } of (await transcriptLocations({ project, env })).filter((one) => one.agent === agent))
    for await (const file of listAgentFiles(storage, path, is)) files.push(file);
  const newest = files.sort((a, b) => b.mtimeMs - a.mtimeMs).map(({ path }) => path);
  // A database has the conversations of all folders.
  const path = agent === "opencode" ? newest[0] : await findConversationFile(agent, newest, { storage, project, env });
  if (path) return agent === "opencode" ? { path, only: { folder: project } } : { path };
  throw new LeftoffError({ code: "not_found", message: `no conversation of ${agent} in "${project}"` });
}

/** @param {string} agent @param {string[]} newest @param {{ storage: Storage, project: string, env: Env }} where */
async function findConversationFile(agent, newest, { storage, project, env }) {
  const named = queryClients("client.goingOn", [agent, env]);
  if (named) return newest.find((path) => path.includes(named));
  for (const path of newest.slice(0, MAX_SEARCHED_RECORDS))
    if (await isOfProject(project, { storage, path, agent })) return path;
  return undefined;
}

/** @param {string} project @param {{ storage: Storage, path: string, agent: string }} file */
async function isOfProject(project, { storage, path, agent }) {
  const beside = await readCompanion(storage, path);
  for await (const { bytes } of documents(storage, path)) {
    try {
      const {
        sessions: [first],
        free,
      } = parseTranscript(bytes, path, agent, beside);
      free();
      const { folder } = first ?? {};
      if (folder && queryClients("client.isSameFolder", [agent, realPathAsFar(folder), project, process.platform]))
        return true;
    } catch (error) {
      // Some other file of the client's, or a record without a message yet.
      unlessBug(error);
    }
  }
  return false;
}

/**
 * Reads the companion file, in which the agent says more of a conversation.
 * @param {Storage} storage
 * @param {string} path
 */
export async function readCompanion(storage, path) {
  for (const place of queryClients("place.beside", [path.split(sep).join("/")])) {
    const bytes = await storage.read(place).catch(unlessBug);
    if (bytes) return bytes;
  }
  return undefined;
}
