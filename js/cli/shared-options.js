// @ts-check
/** The arguments that several commands have. */

import { OPTION_VALUES, flag, option, place } from "./arguments.js";

export const SESSION_HINT =
  "an id or its unique beginning, a name, a number from the last list, words of a title, or last";
export const session = {
  session: place("SESSION...", `${SESSION_HINT} (default: the current session of this project)`),
};
export const branches = { "all-branches": flag("include messages of other branches, marked") };
export const here = {
  from: option("AGENT", "the conversation open in this agent's client; imports it first", OPTION_VALUES.agents),
  plugin: flag("the client runs leftoff as a plugin"),
};
export const needed = { session: place("SESSION", SESSION_HINT, { isNeeded: true }) };
export const anyWords = { session: place("SESSION...", SESSION_HINT, { isNeeded: true }) };
export const message = { message: place("MESSAGE", "the message's id, as show --json prints it", { isNeeded: true }) };
export const listed = {
  all: flag("sessions of all projects"),
  agent: option("AGENT", "only sessions imported from this agent", OPTION_VALUES.agents),
  project: option("DIR", "only sessions of this project: its folder, or the folder's name"),
  since: option("TIME", "only sessions active since then: 2026-11-20, 2026-11-20T09:30, 3d, 2 weeks, yesterday"),
  until: option("TIME", "only sessions last active before then"),
  limit: option("N", "show at most N sessions"),
  status: option("STATUS", "only sessions with this status", OPTION_VALUES.statuses),
  type: option("TYPE", "only sessions of this type, such as chat; subagent: those of sub-agents, which lists hide"),
};
export const paged = {
  pager: /** @type {const} */ ({ type: "boolean", default: true, description: "--no-pager: print without a pager" }),
};
export const asked = {
  window: option("N", "the model's context window in tokens (default: the model's own)"),
  model: option("NAME", "the model to build for (default: the session's)"),
  reserve: option("N", "tokens reserved for the answer (default: a quarter of the window)"),
  encoding: option("ENCODING", "how tokens are counted (default: the model's encoding)", OPTION_VALUES.encodings),
  format: option("FORMAT", "the format of the messages", OPTION_VALUES.formats),
};
export const sent = {
  ...asked,
  system: option("FILE", "a file with the system prompt"),
  tools: option("FILE", "a file with the tool definitions, JSON"),
};
export const made = {
  command: option("NAME", "the slash command that started it, such as /brainstorm"),
  prompt: option("FILE", "the prompt's file; its hash is stored to notice changes"),
  model: option("NAME", "the session's model"),
  tools: option("NAMES", "the session's tools, separated by commas"),
};
