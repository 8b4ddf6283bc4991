// @ts-check
/** The MCP servers of an agent's client, as its files name them. Which files these are, the core says. */

import { readFile } from "node:fs/promises";
import { normalize } from "node:path";

import { parse } from "jsonc-parser";

import { codeOf } from "../storage/folders.js";
import { agents } from "../wasm/agents.js";
import { queryClients } from "./clients.js";
import { userEnvironment } from "./homes.js";

/** @import { Env } from "./homes.js" */

/**
 * The names of those that are turned on.
 * @param {string} agent @param {{ project: string, env?: Env }} where
 * @returns {Promise<string[] | undefined>} nothing where nobody can tell: of another client, or where a file cannot be read
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

// What else stands there is nobody's concern here, and may be what JSON cannot hold.
/** @param {unknown} found */
function serversIn(found) {
  const flag = (/** @type {unknown} */ value) => (typeof value === "boolean" ? value : undefined);
  const servers = typeof found === "object" && found !== null && !Array.isArray(found) ? Object.entries(found) : [];
  return servers.map(([name, server]) => ({ name, enabled: flag(server?.enabled), disabled: flag(server?.disabled) }));
}

/** What the tools of a server are called by, in a session. @param {string} server */
export function toolPrefixOf(server) {
  return queryClients("server.tool", [server]);
}

/** What a file says; no words where there is none. @param {string} path @returns {Promise<object | undefined>} */
async function readConfigFile(path) {
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
