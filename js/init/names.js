// @ts-check
/** What the commands are called that agents are given, and how they are typed. The core tells them from what else a user says. */

/** @typedef {"resume" | "stop" | "sessions" | "session" | "compact" | "debug"} Key */

/** Those about sessions are called so that they stand for none of a client's own. @type {Record<Key, string>} */
const NAMES = { resume: "workspace.resume", stop: "workspace.stop-conversation", sessions: "sessions", session: "session", compact: "compact-session", debug: "debug-context" };
/** Of these the agent's own name differs. @type {Record<string, Partial<Record<Key, string>>>} */
const OTHER = { opencode: { sessions: "list-sessions" } };

/** Those that can be set up, and those that take a folder of their own. */
export const agentsToSetUp = ["claude-code", "opencode", "gemini", "codex"];
export const agentsWithPlugin = ["claude-code", "gemini"];

/** It stands in the text of each command, so that a client's record shows what it was. The core looks for it, too. */
export const ANSWER = "leftoff's answer";

/** What a command's file is called. @param {string} agent @param {Key} key */
export function nameIn(agent, key) {
  const name = OTHER[agent]?.[key] ?? NAMES[key];
  // Skills have no dots.
  return agent === "codex" ? name.replaceAll(".", "-") : name;
}

/** How it is typed there. @param {string} agent @param {Key} key @param {{ plugin?: boolean }} [as] */
export function typedIn(agent, key, { plugin = false } = {}) {
  const before = agent === "codex" ? "$" : plugin && agent === "claude-code" ? "/leftoff:" : "/";
  return `${before}${nameIn(agent, key)}`;
}
