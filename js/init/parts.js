// @ts-check
/** The parts that an agent's client gets: command files, and hooks in its settings; or both as a folder of its own. */

import { stringify } from "smol-toml";

import { VERSION } from "../wasm/version.js";
import { nameIn, typedIn } from "./names.js";
import { texts } from "./texts.js";

/** @import { Key } from "./names.js" */
/** @import { Text } from "./texts.js" */

/**
 * @typedef {{ path: string, text: string }} OwnFile
 *
 * An element to add to an array in a JSON file that is the user's, too.
 * @typedef {{ path: string, at: string[], value: object }} Entry
 *
 * @typedef {object} Parts
 * @property {OwnFile[]} files
 * @property {Entry[]} entries
 * @property {{ name: string, description: string, path: string }[]} commands each as it is typed there, and its file
 * @property {string[]} notes further notes for the user
 */

const PLUGIN_DESCRIPTION = "Keeps conversations and continues them where they stopped";
/** What Claude Code wants to know of a plugin beside that. */
const ABOUT_CLAUDE = { author: { name: "leftoff" }, license: "MIT" };

// The typed words go in as they are, whatever quotes are in them.
/** @param {string} program @param {Text} text */
function markdown(program, { description, hint, runs, then }) {
  const hints = hint ? `argument-hint: ${JSON.stringify(hint)}\n` : "";
  const typed = hint ? " - <<'LEFTOFF'\n$ARGUMENTS\nLEFTOFF" : "";
  return `---\ndescription: ${description}\n${hints}allowed-tools: Bash(${program}:*)\n---\n!\`${program} ${runs}${typed}\`\n\n${then}\n`;
}

/** @param {string} program @param {Text} text */
function toml(program, { description, hint, runs, then }) {
  return stringify({ description, prompt: `!{${program} ${runs}${hint ? " {{args}}" : ""}}\n\n${then}\n` });
}

/** @param {string} program @param {string} name @param {Text} text */
function skill(program, name, { description, hint, runs, then }) {
  const typed = hint ? " <what the user typed after the name>" : "";
  return `---\nname: ${name}\ndescription: ${description}; only when the user asks for it by its name\n---\nRun \`${program} ${runs}${typed}\` and read all of it.\n\n${then.replace("Above is", "That is")}\n`;
}

// By the package's name where it can be found from the project: then others can use the file, too.
/** @param {string} module where the plugin lies */
function pluginLoader(module) {
  const here = JSON.stringify(module);
  const about = "Loads leftoff, which records the conversations held here. 'leftoff init opencode' wrote this file.";
  return `// ${about}\nexport default (await import("leftoff/opencode").catch(() => import(${here}))).default;\n`;
}

/** How long a client waits for a hook before it goes on without one; else some wait for ten minutes. */
const HOOK_TIMEOUT_S = 30;
/** The timeout of the last hook in Codex, which gives no more, and warns at each start where more is asked for. */
const CODEX_END_TIMEOUT_S = 3;
/** Hook timeouts in each client's own unit. @type {Record<string, (event: string) => number>} */
const TIMEOUTS = {
  "claude-code": () => HOOK_TIMEOUT_S,
  gemini: () => HOOK_TIMEOUT_S * 1000,
  codex: (event) => (event === "SessionEnd" ? CODEX_END_TIMEOUT_S : HOOK_TIMEOUT_S),
};

/** @param {string} agent @param {string} command @param {string[]} events @param {object} [beside] */
function hooks(agent, command, events, beside = {}) {
  return events.map((event) => ({
    event,
    value: { hooks: [{ type: "command", command, timeout: TIMEOUTS[agent]?.(event), ...beside }] },
  }));
}

const HOOK_EVENTS = ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd"];
/** Gemini's hooks; none at the start: its answer to the model would keep slash commands from being read. */
const GEMINI_EVENTS = ["BeforeAgent", "AfterAgent", "SessionEnd"];

/** A command's text with its key. @typedef {Text & { key: Key }} NamedText */

/**
 * How a client starts a server of the Model Context Protocol, without a shell.
 * @typedef {{ command: string, args: string[] }} Server
 *
 * @typedef {{ plugin: boolean, anywhere: string, module: string, servers: { mcpServers: Record<string, Server> } }}
 *   PartsContext how leftoff is installed
 */
/**
 * @type {Record<string, (program: string, told: NamedText[], as: PartsContext) => Omit<Parts, "commands">>}
 */
const AGENT_PARTS = {
  "claude-code"(program, told, { plugin, anywhere, servers }) {
    const each = hooks("claude-code", `${anywhere} hook claude-code${plugin ? " --plugin" : ""}`, HOOK_EVENTS);
    const files = commandFiles("claude-code", told, (name, text) => [
      `${plugin ? "" : ".claude/"}commands/${name}.md`,
      markdown(program, text),
    ]);
    if (plugin)
      return {
        ...inFolder(
          [...files, { path: ".mcp.json", text: json(servers) }],
          ".claude-plugin/plugin.json",
          each,
          ABOUT_CLAUDE,
        ),
        notes: ["claude --plugin-dir DIR loads it, with the tools of leftoff mcp"],
      };
    return { files, entries: entries(".claude/settings.json", each), notes: [] };
  },

  opencode(program, told, { module }) {
    const files = commandFiles("opencode", told, (name, text) => [
      `.opencode/command/${name}.md`,
      markdown(program, text),
    ]);
    const notes = ["a plugin records the conversations: it is loaded when OpenCode starts the next time"];
    return {
      files: [...files, { path: ".opencode/plugin/leftoff.js", text: pluginLoader(module) }],
      entries: [],
      notes,
    };
  },

  gemini(program, told, { plugin, anywhere, servers }) {
    const each = hooks("gemini", `${anywhere} hook gemini`, GEMINI_EVENTS, { name: "leftoff" });
    const files = commandFiles("gemini", told, (name, text) => [
      `${plugin ? "" : ".gemini/"}commands/${name}.toml`,
      toml(program, text),
    ]);
    if (plugin)
      return {
        ...inFolder(files, "gemini-extension.json", each, servers),
        notes: ["gemini extensions link DIR installs it, with the tools of leftoff mcp"],
      };
    return {
      files,
      entries: entries(".gemini/settings.json", each),
      notes: ["trust the folder in Gemini CLI: otherwise it runs neither commands nor hooks"],
    };
  },

  codex(_, told, { anywhere }) {
    const files = commandFiles("codex", told, (name, text) => [
      `.agents/skills/${name}/SKILL.md`,
      skill(anywhere, name, text),
    ]);
    const notes = [
      "Codex has no project slash commands: these are skills, which the model runs itself",
      "trust the folder and approve the hooks when Codex asks at its next start",
    ];
    return {
      files,
      entries: entries(".codex/hooks.json", hooks("codex", `${anywhere} hook codex`, HOOK_EVENTS)),
      notes,
    };
  },
};

/**
 * @param {string} agent
 * @param {NamedText[]} told
 * @param {(name: string, text: Text) => [path: string, text: string]} written
 * @returns {OwnFile[]}
 */
function commandFiles(agent, told, written) {
  return told.map(({ key, ...text }) => {
    const [path, file] = written(nameIn(agent, key), text);
    return { path, text: file };
  });
}

/**
 * A plugin, or an extension: all of it in one folder.
 * @param {OwnFile[]} files
 * @param {string} about
 * @param {{ event: string, value: object }[]} each
 * @param {object} beside what else the file `about` says
 */
function inFolder(files, about, each, beside) {
  return {
    files: [
      ...files,
      { path: about, text: json({ name: "leftoff", version: VERSION, description: PLUGIN_DESCRIPTION, ...beside }) },
      hooksFile(each),
    ],
    entries: [],
  };
}

/** @param {string} path @param {{ event: string, value: object }[]} each @returns {Entry[]} */
function entries(path, each) {
  return each.map(({ event, value }) => ({ path, at: ["hooks", event], value }));
}

/** @param {{ event: string, value: object }[]} each */
function hooksFile(each) {
  return {
    path: "hooks/hooks.json",
    text: json({ hooks: Object.fromEntries(each.map(({ event, value }) => [event, [value]])) }),
  };
}

/** @param {object} value */
function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/**
 * @param {string} agent that can be set up
 * @param {{ program: string, module?: string, anywhere?: string, server?: Server, plugin?: boolean }} how `program`: as
 *   a shell takes it; `module`: the address of OpenCode's plugin; `anywhere`: the program where the shell has another
 *   PATH; `server`: starts `leftoff mcp`
 * @returns {Parts | undefined}
 */
export function partsFor(agent, how) {
  const { program, module = "leftoff/opencode", anywhere = program, plugin = false } = how;
  const servers = { mcpServers: { leftoff: how.server ?? { command: program, args: ["mcp"] } } };
  // Codex runs what a skill says in a shell of its own.
  const all = Object.entries(texts(agent === "codex" ? anywhere : program, agent, { plugin }));
  const every = /** @type {NamedText[]} */ (all.map(([key, text]) => ({ key, ...text })));
  // Codex puts its skills into every prompt, so it gets only two.
  const told = agent === "codex" ? every.filter(({ key }) => key === "resume" || key === "stop") : every;
  const parts = AGENT_PARTS[agent]?.(program, told, { plugin, anywhere, module, servers });
  // The commands' files come first, in this order.
  return (
    parts && {
      ...parts,
      commands: told.map(({ key, description }, place) => ({
        name: typedIn(agent, key, { plugin }),
        description,
        path: parts.files[place]?.path ?? "",
      })),
    }
  );
}
