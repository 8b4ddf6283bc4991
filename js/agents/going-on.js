// @ts-check
/** The conversation that goes on in an agent's client: where its record lies. */

import { sep } from "node:path";

import { LeftoffError, unlessBug } from "../error.js";
import { parse } from "../session/transcript.js";
import { realAsFar } from "../storage/real-path.js";
import { ofClients } from "./clients.js";
import { documents, found } from "./files.js";
import { keptSessions } from "./places.js";

/** @import { Storage } from "../storage/contract.js" */
/** @import { Env } from "./homes.js" */
/** @import { Only } from "./opencode.js" */

/** So many of the newest are looked at for one of the folder. */
const LOOKED = 50;

/**
 * The one that the environment names, else the newest of the folder.
 * @param {string} agent @param {{ storage: Storage, project: string, env?: Env }} where
 * @returns {Promise<{ path: string, only?: Only }>}
 */
export async function goingOn(agent, { storage, project, env = process.env }) {
  const files = [];
  for (const { path, is } of (await keptSessions({ project, env })).filter((one) => one.agent === agent)) for await (const file of found(storage, path, is)) files.push(file);
  const newest = files.sort((a, b) => b.mtimeMs - a.mtimeMs).map(({ path }) => path);
  // A database has those of all folders.
  const path = agent === "opencode" ? newest[0] : await chosen(agent, newest, { storage, project, env });
  if (path) return agent === "opencode" ? { path, only: { folder: project } } : { path };
  throw new LeftoffError({ code: "not_found", message: `no conversation of ${agent} in "${project}"` });
}

/** @param {string} agent @param {string[]} newest @param {{ storage: Storage, project: string, env: Env }} where */
async function chosen(agent, newest, { storage, project, env }) {
  const named = ofClients("client.goingOn", [agent, env]);
  if (named) return newest.find((path) => path.includes(named));
  for (const path of newest.slice(0, LOOKED)) if (await isOf(project, { storage, path, agent })) return path;
  return undefined;
}

/** @param {string} project @param {{ storage: Storage, path: string, agent: string }} file */
async function isOf(project, { storage, path, agent }) {
  const beside = await besideOf(storage, path);
  for await (const { bytes } of documents(storage, path)) {
    try {
      const { sessions: [first], free } = parse(bytes, path, agent, beside);
      free();
      const { folder } = first ?? {};
      if (folder && ofClients("client.isSameFolder", [agent, realAsFar(folder), project, process.platform])) return true;
    } catch (error) {
      // Another file of the client's, or one without a message yet.
      unlessBug(error);
    }
  }
  return false;
}

/** What the agent says of it in another file. @param {Storage} storage @param {string} path */
async function besideOf(storage, path) {
  for (const place of ofClients("place.beside", [path.split(sep).join("/")])) {
    const bytes = await storage.read(place).catch(unlessBug);
    if (bytes) return bytes;
  }
  return undefined;
}
