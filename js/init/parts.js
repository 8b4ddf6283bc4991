// @ts-check
/** What an agent's client is given: command files, and hooks in its settings; or both as a folder of its own. */

import { stringify } from "smol-toml";

import { texts } from "./texts.js";

/** @import { Text } from "./texts.js" */

/**
 * @typedef {{ path: string, text: string }} OwnFile
 *
 * One more element of an array in a file of JSON that is the user's, too.
 * @typedef {{ path: string, at: string[], value: object }} Entry
 *
 * @typedef {object} Parts
 * @property {OwnFile[]} files
 * @property {Entry[]} entries
 * @property {[name: string, description: string][]} commands as they are typed there
 * @property {string[]} notes what else the user has to know
 */

/** What shells take as it is. */
const PLAIN = /^[\w@%+=:,./-]+$/;
const VERSION = "0.1.0";
const ABOUT = "Keeps conversations, and takes them up where they were left off";

/** @param {string[]} words */
export function shellWords(words) {
  return words.map((word) => (PLAIN.test(word) ? word : `"${word.replace(/["\\$`]/g, "\\$&")}"`)).join(" ");
}

/** What the commands are called, where a client has none of its own of that name. */
const NAMES = { resume: "workspace.resume", stop: "workspace.stop-conversation", sessions: "sessions", session: "session", compact: "compact-session", debug: "debug-context" };
/** OpenCode has `/sessions` itself. */
const NAMES_OPENCODE = { ...NAMES, sessions: "list-sessions" };

/** @param {string} name */
const sanitized = (name) => name.replaceAll(".", "-");

// What is typed goes in as it is, whatever quotes are in it.
/** @param {string} program @param {Text} text */
const heredoc = (program, { runs, hint }) => (hint ? `!\`${program} ${runs} - <<'LEFTOFF'\n$ARGUMENTS\nLEFTOFF\`` : `!\`${program} ${runs}\``);

/** @param {string} program @param {Text} text */
function markdown(program, { description, hint, ...text }) {
  const hints = hint ? `argument-hint: ${JSON.stringify(hint)}\n` : "";
  return `---\ndescription: ${description}\n${hints}allowed-tools: Bash(${program}:*)\n---\n${heredoc(program, { description, hint, ...text })}\n\n${text.then}\n`;
}

/** @param {string} program @param {Text} text */
function toml(program, { description, hint, runs, then }) {
  return stringify({ description, prompt: `!{${program} ${runs}${hint ? " {{args}}" : ""}}\n\n${then}\n` });
}

/** @param {string} program @param {string} name @param {Text} text */
function skill(program, name, { description, hint, runs, then }) {
  const typed = hint ? " <what the user typed behind the name>" : "";
  return `---\nname: ${name}\ndescription: ${description}; only when the user asks for it by its name\n---\nRun \`${program} ${runs}${typed}\` and read all of it.\n\n${then.replace("Above is", "That is")}\n`;
}

/** @param {string} command @param {string[]} events @param {object} [beside] */
function hooks(command, events, beside = {}) {
  return events.map((event) => ({ event, value: { hooks: [{ type: "command", command, ...beside }] } }));
}

const EVENTS = {
  "claude-code": ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd"],
  codex: ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd"],
  // One at the start whose answer is told to the model would keep slash commands from being read.
  gemini: ["BeforeAgent", "AfterAgent", "SessionEnd"],
};

/** The agents that get something. @type {Record<string, (program: string, as: { plugin?: boolean }) => Parts>} */
const AGENTS = {
  "claude-code"(program, { plugin }) {
    const folder = plugin ? "commands" : ".claude/commands";
    const told = Object.entries(texts(program, "claude-code", { plugin }));
    const command = `${program} hook claude-code${plugin ? " --plugin" : ""}`;
    const each = hooks(command, EVENTS["claude-code"]);
    return {
      files: [
        ...told.map(([key, text]) => ({ path: `${folder}/${named(key)}.md`, text: markdown(program, text) })),
        ...(plugin ? [{ path: ".claude-plugin/plugin.json", text: json({ name: "leftoff", version: VERSION, description: ABOUT }) }, hooksFile(each)] : []),
      ],
      entries: plugin ? [] : entries(".claude/settings.json", each),
      commands: told.map(([key, { description }]) => [`/${plugin ? "leftoff:" : ""}${named(key)}`, description]),
      notes: plugin ? ["claude --plugin-dir DIR loads it"] : [],
    };
  },

  opencode(program) {
    const told = Object.entries(texts(program, "opencode"));
    const name = (/** @type {string} */ key) => NAMES_OPENCODE[/** @type {"stop"} */ (key)];
    return {
      files: told.map(([key, text]) => ({ path: `.opencode/command/${name(key)}.md`, text: markdown(program, text) })),
      entries: [],
      commands: told.map(([key, { description }]) => [`/${name(key)}`, description]),
      notes: ["it has no hooks of this kind: what is said is taken in when one of these commands is run, and by 'leftoff import --all'"],
    };
  },

  gemini(program, { plugin }) {
    const folder = plugin ? "commands" : ".gemini/commands";
    const told = Object.entries(texts(program, "gemini", { plugin }));
    const each = hooks(`${program} hook gemini`, EVENTS.gemini, { name: "leftoff" });
    return {
      files: [
        ...told.map(([key, text]) => ({ path: `${folder}/${named(key)}.toml`, text: toml(program, text) })),
        ...(plugin ? [{ path: "gemini-extension.json", text: json({ name: "leftoff", version: VERSION, description: ABOUT }) }, hooksFile(each)] : []),
      ],
      entries: plugin ? [] : entries(".gemini/settings.json", each),
      commands: told.map(([key, { description }]) => [`/${named(key)}`, description]),
      notes: plugin ? ["gemini extensions link DIR installs it"] : ["the folder has to be trusted: else Gemini CLI runs neither its commands nor its hooks"],
    };
  },

  codex(program) {
    const { resume, stop } = texts(program, "codex");
    const told = Object.entries({ resume, stop });
    return {
      files: told.map(([key, text]) => {
        const name = sanitized(named(key));
        return { path: `.agents/skills/${name}/SKILL.md`, text: skill(program, name, text) };
      }),
      entries: entries(".codex/hooks.json", hooks(`${program} hook codex`, EVENTS.codex)),
      commands: told.map(([key, { description }]) => [`$${sanitized(named(key))}`, description]),
      notes: ["Codex has no slash commands of projects: these are skills, which the model runs itself", "the folder has to be trusted, and the hooks reviewed, which Codex asks for when it starts"],
    };
  },
};

/** @param {string} key */
function named(key) {
  return NAMES[/** @type {"stop"} */ (key)];
}

/** @param {string} path @param {{ event: string, value: object }[]} each @returns {Entry[]} */
function entries(path, each) {
  return each.map(({ event, value }) => ({ path, at: ["hooks", event], value }));
}

/** @param {{ event: string, value: object }[]} each */
function hooksFile(each) {
  return { path: "hooks/hooks.json", text: json({ hooks: Object.fromEntries(each.map(({ event, value }) => [event, [value]])) }) };
}

/** @param {object} value */
function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Those that can be set up; with a folder of their own where `plugin` says so. */
export const agentsToSetUp = Object.keys(AGENTS);
export const agentsWithPlugin = ["claude-code", "gemini"];

/** @param {string} agent @param {{ program: string, plugin?: boolean }} how `program`: as a shell takes it */
export function partsFor(agent, { program, plugin = false }) {
  return AGENTS[agent]?.(program, { plugin });
}
