// @ts-check
/** Reads the MCP servers of an agent's client from its files. The core says which files these are. */

import { readFile } from "node:fs/promises";
import { normalize } from "node:path";

import { parse } from "jsonc-parser";

import { codeOf } from "../storage/folders.js";
import { agents } from "../wasm/agents.js";
import { queryClients } from "./clients.js";
import { userEnvironment } from "./homes.js";

/** @import { Env } from "./homes.js" */

/**
 * Lists the names of the servers that are turned on.
 * @param {string} agent @param {{ project: string, env?: Env }} where
 * @returns {Promise<string[] | undefined>} nothing where that is unknown: for another client, or where a file cannot be
 *   read
 */
export async function mcpServers(agent, { project, env = process.env }) {
  await agents.ready();
  /** @type {{ path: string, keys: string[] }[] | undefined} */
  const places = queryClients("server.places", [agent, { ...userEnvironment(env), project }]);
  if (!places) return undefined;
  const names = new Set();
  for (const { path, keys } of places) {
    const file = await readConfigFile(normalize(path));
    if (!file) return undefined;
    const found = keys.reduce((/** @type {any} */ value, key) => value?.[key], file);
    for (const name of queryClients("server.on", [serversIn(found)])) names.add(name);
  }
  return [...names];
}

// Picks only what matters of the servers: the rest may be what JSON cannot hold.
/** @param {unknown} found */
function serversIn(found) {
  const flag = (/** @type {unknown} */ value) => (typeof value === "boolean" ? value : undefined);
  const servers = typeof found === "object" && found !== null && !Array.isArray(found) ? Object.entries(found) : [];
  return servers.map(([name, server]) => ({ name, enabled: flag(server?.enabled), disabled: flag(server?.disabled) }));
}

/** The prefix of a server's tool names in a session. @param {string} server */
export function toolPrefixOf(server) {
  return queryClients("server.tool", [server]);
}

/**
 * Reads a configuration file; an empty object where there is none.
 * @param {string} path
 * @returns {Promise<object | undefined>}
 */
export async function readConfigFile(path) {
  try {
    const text = await readFile(path, "utf8");
    if (path.endsWith(".toml")) return (await import("smol-toml")).parse(text);
    /** @type {import("jsonc-parser").ParseError[]} */
    const errors = [];
    const value = parse(text, errors, { allowTrailingComma: true });
    return errors.length > 0 ? undefined : (value ?? {});
  } catch (error) {
    return codeOf(error) === "ENOENT" ? {} : undefined;
  }
}
