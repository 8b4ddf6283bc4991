// @ts-check
/** The MCP servers of an agent's client, as its files name them. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { parse } from "jsonc-parser";

import { codeOf } from "../storage/folders.js";
import { agentHome, userHome } from "./homes.js";

/** @import { Env } from "./homes.js" */

/**
 * The files of a client, and where servers stand in them, by the keys that lead there.
 * @type {Record<string, (where: { project: string, home: string, user: string, env: Env }) => [path: string, ...keys: string[]][]>}
 */
const FILES = {
  "claude-code": ({ project, user, env }) => {
    const own = join(env.CLAUDE_CONFIG_DIR || user, ".claude.json");
    return [[join(project, ".mcp.json"), "mcpServers"], [own, "mcpServers"], [own, "projects", project, "mcpServers"]];
  },
  codex: ({ project, home }) => [[join(home, "config.toml"), "mcp_servers"], [join(project, ".codex", "config.toml"), "mcp_servers"]],
  gemini: ({ project, home }) => [[join(home, "settings.json"), "mcpServers"], [join(project, ".gemini", "settings.json"), "mcpServers"]],
  opencode: ({ project, user, env }) => {
    const folders = [join(env.XDG_CONFIG_HOME || join(user, ".config"), "opencode"), project];
    return folders.flatMap((folder) => ["opencode.json", "opencode.jsonc"].map((name) => /** @type {[string, string]} */ ([join(folder, name), "mcp"])));
  },
};

/**
 * The names of those that are turned on.
 * @param {string} agent @param {{ project: string, env?: Env }} where
 * @returns {Promise<string[] | undefined>} nothing where nobody can tell: of another client, or where a file cannot be read
 */
export async function mcpServers(agent, { project, env = process.env }) {
  const files = FILES[agent]?.({ project, home: await agentHome(agent, env), user: userHome(env), env });
  if (!files) return undefined;
  const names = new Set();
  for (const [path, ...keys] of files) {
    const read = await fileOf(path);
    if (!read) return undefined;
    const servers = keys.reduce((/** @type {any} */ value, key) => value?.[key], read);
    for (const [name, server] of Object.entries(Array.isArray(servers) ? {} : servers ?? {})) {
      if (server?.enabled !== false && server?.disabled !== true) names.add(name);
    }
  }
  return [...names];
}

/** What a file says; no words where there is none. @param {string} path @returns {Promise<Record<string, any> | undefined>} */
async function fileOf(path) {
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
