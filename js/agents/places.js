// @ts-check
/** Where each agent keeps its sessions, and which of the files there are some. */

import { join } from "node:path";

import { agentHomes, userHome } from "./homes.js";

/**
 * @typedef {object} Kept sessions of an agent
 * @property {string} [agent] the content tells where it is not known
 * @property {string} path a folder, or a file
 * @property {(path: string) => boolean} is whether a file in it, named from there with `/`, holds a session
 */

/**
 * The places of all agents, whether they are there or not.
 * @param {{ project: string, env?: Record<string, string | undefined>, home?: string, platform?: string }} where
 * @returns {Kept[]}
 */
export function keptSessions({ project, env = process.env, home = userHome(env), platform = process.platform }) {
  const homes = agentHomes(env, home);
  const isRollout = (/** @type {string} */ path) => /(^|\/)rollout-[^/]*\.jsonl(\.zst)?$/.test(path);
  const isSession = (/** @type {string} */ path) => path.endsWith(".json") && path !== "sessions.json";
  const tasks = globalStorage(home, platform).map((folder) => join(folder, "saoudrizwan.claude-dev", "tasks"));
  return [
    { agent: "claude-code", path: join(homes["claude-code"], "projects"), is: ends(".jsonl") },
    { agent: "codex", path: join(homes.codex, "sessions"), is: isRollout },
    { agent: "codex", path: join(homes.codex, "archived_sessions"), is: isRollout },
    // Its older folders are taken as one file.
    { agent: "opencode", path: homes.opencode, is: (path) => /^opencode[^/]*\.db$/.test(path) },
    { agent: "gemini", path: join(homes.gemini, "tmp"), is: (path) => /(^|\/)chats\/.*\.jsonl?$/.test(path) },
    { agent: "qwen", path: join(homes.qwen, "projects"), is: (path) => /(^|\/)chats\/.*\.jsonl$/.test(path) },
    { agent: "copilot", path: join(homes.copilot, "session-state"), is: (path) => /(^|\/)events\.jsonl$/.test(path) },
    { agent: "cline", path: join(homes.cline, "data", "sessions"), is: ends(".messages.json") },
    ...tasks.map((path) => ({ agent: "cline", path, is: ends("/api_conversation_history.json") })),
    { agent: "continue", path: join(homes.continue, "sessions"), is: isSession },
    { agent: "nanocoder", path: join(homes.nanocoder, "sessions"), is: isSession },
    { agent: "pi", path: join(homes.pi, "sessions"), is: ends(".jsonl") },
    { agent: "aider", path: join(project, ".aider.chat.history.md"), is: () => true },
  ];
}

/** @param {string} ending */
function ends(ending) {
  return (/** @type {string} */ path) => path.endsWith(ending);
}

// Where an editor keeps what extensions store.
/** @param {string} home @param {string} platform */
function globalStorage(home, platform) {
  const base = { darwin: join(home, "Library", "Application Support"), win32: join(home, "AppData", "Roaming") }[platform] ?? join(home, ".config");
  return ["Code", "Code - Insiders", "VSCodium", "Cursor"].map((editor) => join(base, editor, "User", "globalStorage"));
}
