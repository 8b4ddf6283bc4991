// @ts-check
/** Where each agent keeps its sessions, and which files there are sessions. */

import { normalize } from "node:path";

import { agents } from "../wasm/agents.js";
import { queryClients } from "./clients.js";
import { userEnvironment } from "./homes.js";

/** @import { Env } from "./homes.js" */

/**
 * @typedef {object} TranscriptLocation sessions of an agent
 * @property {string} [agent] detected from the content where it is not given
 * @property {string} path a folder, or a file
 * @property {(path: string) => boolean} is whether a file in it, named from there with `/`, holds a session
 */

/**
 * Lists the transcript locations of all agents, whether they are there or not.
 * @param {{ project: string, env?: Env, platform?: string }} where @returns {Promise<TranscriptLocation[]>}
 */
export async function transcriptLocations({ project, env = process.env, platform = process.platform }) {
  await agents.ready();
  /** @type {{ agent: string, path: string, names: string }[]} */
  const all = queryClients("place.all", [{ ...userEnvironment(env), project, system: platform }]);
  return all.map(({ agent, path, names }) => ({
    agent,
    path: normalize(path),
    is: (below) => queryClients("place.is", [names, below]),
  }));
}
