// @ts-check
/**
 * The names of the commands that agents get, and how they are typed. The core tells them from what else a user says.
 */

/** @typedef {"resume" | "stop" | "sessions" | "session" | "compact" | "debug"} Key */

/** The commands' names, chosen so that none replaces a client's own. @type {Record<Key, string>} */
const COMMAND_NAMES = {
  resume: "workspace.resume",
  stop: "workspace.stop-conversation",
  sessions: "sessions",
  session: "session",
  compact: "compact-session",
  debug: "debug-context",
};
/** Names that differ for one agent. @type {Record<string, Partial<Record<Key, string>>>} */
const AGENT_NAMES = { opencode: { sessions: "list-sessions" } };

/** The agents that can be set up, and those that take a folder of their own. */
export const agentsToSetUp = ["claude-code", "opencode", "gemini", "codex"];
export const agentsWithPlugin = ["claude-code", "gemini"];

/** The mark in each command's text by which a client's record shows what it was. The core looks for it, too. */
export const ANSWER_PHRASE = "leftoff's answer";

/** The name of a command's file. @param {string} agent @param {Key} key */
export function nameIn(agent, key) {
  const name = AGENT_NAMES[agent]?.[key] ?? COMMAND_NAMES[key];
  // Skills have no dots.
  return agent === "codex" ? name.replaceAll(".", "-") : name;
}

/**
 * The command as it is typed in the agent's client.
 * @param {string} agent
 * @param {Key} key
 * @param {{ plugin?: boolean }} [as]
 */
export function typedIn(agent, key, { plugin = false } = {}) {
  const before = agent === "codex" ? "$" : plugin && agent === "claude-code" ? "/leftoff:" : "/";
  return `${before}${nameIn(agent, key)}`;
}
