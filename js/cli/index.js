#!/usr/bin/env node
// @ts-check
/** The command line: all commands, whose code is loaded by those that are run. */

import { VERSION } from "../wasm/version.js";
import { OPTION_VALUES, command, flag, option, place } from "./arguments.js";
import { GROUPS } from "./groups.js";
import { runMain } from "./main.js";
import { SETTING_DESCRIPTIONS } from "./setting-descriptions.js";
import {
  SESSION_HINT,
  anyWords,
  asked,
  branches,
  here,
  listed,
  made,
  message,
  needed,
  paged,
  sent,
  session,
} from "./shared-options.js";

/** @import { Commands } from "./arguments.js" */
/** @import { Command } from "./main.js" */

const contexts = () => import("./commands.js");
const lifecycle = () => import("./lifecycle.js");

/**
 * A command whose code is loaded once it runs.
 * @template {string} Name
 * @param {() => Promise<Record<Name, (args: any) => Promise<any>>>} load
 * @param {Name} name
 * @returns {Command}
 */
const commandOf = (load, name) => async (args) => (await load())[name](args);

/**
 * The same for one that answers with its refusals where an agent runs it.
 * @template {string} Name
 * @param {() => Promise<Record<Name, (args: any) => Promise<any>>>} load
 * @param {Name} name
 * @returns {Command}
 */
const agentCommandOf = (load, name) => async (args) => {
  const { withRefusalAnswered } = await import("./in-agent.js");
  return withRefusalAnswered((await load())[name])(args);
};

/** @type {Commands} */
const commands = {
  import: command(
    commandOf(() => import("./import.js"), "importFiles"),
    "import",
    "import other agents' sessions",
    {
      paths: place("PATH...", "session files, or folders that contain them"),
      from: option("AGENT", "the agent that wrote them (default: detected)", OPTION_VALUES.agents),
      all: flag("import from every known agent on this machine"),
      verbose: flag("list every session, and every field that was not imported"),
      "dry-run": flag("import nothing: list the sessions that are new or have more messages, last changed first"),
      limit: option("N", "with --dry-run: list at most N sessions, and read no more files than that needs"),
    },
    [
      ["leftoff import --all", "import everything; run it again to add what is new"],
      ["leftoff import --all --dry-run", "what that would import"],
      ["leftoff import ~/.codex/sessions", "one agent's folder"],
    ],
  ),
  list: command(
    commandOf(() => import("./find.js"), "listCommand"),
    "list",
    "list sessions, last active first",
    {
      ...listed,
      sort: option("KEY", "the order (default: active)", OPTION_VALUES.sorts),
      ...paged,
    },
    [
      ["leftoff list", "sessions of the current project"],
      ["leftoff list --all --limit 20", "the latest sessions of all projects"],
      ["leftoff list --all --agent codex --since 2w", "one agent's sessions of the last two weeks"],
      ["leftoff list --sort messages", "longest sessions first"],
      ["leftoff list --status archived", "archived sessions, which lists hide"],
      [
        "leftoff list | cut -f1,8",
        "in a pipe: id, agent, project, last active, messages, status, title, summary, with tabs between",
      ],
    ],
  ),
  search: command(
    commandOf(() => import("./search.js"), "search"),
    "search",
    "search messages, best matches first",
    {
      words: place("WORDS...", 'a question, words, part of a name, an error; "double quotes" match exactly'),
      regex: flag("WORDS are a regular expression; reads every message"),
      file: option("PATH", "find sessions that read or changed this file: a path, or the end of one"),
      command: option("WORDS", "find sessions that ran a command with these words, and its exit code"),
      error: option(
        "TEXT",
        "find sessions with this error, ignoring numbers and paths, and the command that later ran without it",
      ),
      role: option("ROLE", "only messages of this role", ["user", "assistant", "tool"]),
      ...listed,
      ...paged,
    },
    [
      ["leftoff search why is croniter pinned", "a question, in this project"],
      ["leftoff search --all --since 7d parseConfig", "a name, everywhere"],
      ["leftoff search '\"exit code 101\"'", "an exact phrase"],
      ["leftoff search --file src/parser.rs", "sessions that changed or read a file"],
      [
        "leftoff search croniter | cut -f1,5,12",
        "in a pipe, with tabs between: id, agent, project, last active, message number, role, time, match, matched words, missing words, title, text",
      ],
    ],
  ),
  recall: command(
    commandOf(() => import("./find.js"), "recall"),
    "recall",
    "quote other sessions on a question, with sources, for a model to read",
    {
      question: place("QUESTION...", "the question", { isNeeded: true }),
      all: listed.all,
      project: listed.project,
      "max-tokens": option("N", "at most N tokens (default: 800)"),
    },
    [
      ["leftoff recall why did we pin croniter", "quotes from this project, or a line that says there are none"],
      ["leftoff recall --all --max-tokens 300 how are payments retried", "quotes from all projects, in fewer tokens"],
    ],
  ),
  new: command(
    commandOf(lifecycle, "begin"),
    "new",
    "start a session",
    {
      type: option("TYPE", "the kind of conversation (default: chat)"),
      title: option("TITLE", "the session's title"),
      name: option("NAME", "the conversation's name in the workspace (default: generated)"),
      here: flag("store it in the workspace, in conversations/, instead of the home"),
      ...made,
      record: /** @type {const} */ ({ type: "boolean", default: true, description: "--no-record: store nothing" }),
    },
    [
      ['leftoff new --title "API design"', "a session in the home"],
      ["leftoff new --type brainstorm --here", "a session in the project's folder, committed with it"],
      ["leftoff new --command /review --prompt review.md --tools Read,Bash", "resume later reports what changed"],
    ],
  ),
  append: command(
    commandOf(() => import("./append.js"), "append"),
    "append",
    "append JSON lines from standard input to a session; prints each message's id once it is on disk",
    {
      ...session,
      operation: option("NAME", "a name for this append: all lines are appended together, and only once if repeated"),
      expected: option(
        "MESSAGE",
        "append all lines together, only if this is the last message's id (none: an empty session)",
      ),
    },
    [
      ['echo \'{"role":"user","content":"go on"}\' | leftoff append', "append to the current session"],
      ["leftoff append last --json < messages.jsonl", "prints JSON; stops at the first rejected line and names it"],
      ["leftoff append last --operation step-7 < messages.jsonl", "safe to repeat after a failure"],
    ],
  ),
  stop: command(
    agentCommandOf(lifecycle, "stop"),
    "stop",
    "save and pause a session",
    {
      ...session,
      ...here,
      summary: option("TEXT", "a sentence on where it stopped"),
      ...made,
      commit: flag("also commit the conversation with git"),
    },
    [['leftoff stop --summary "leaning toward REST"', "pause the current session with a summary"]],
  ),
  complete: command(commandOf(lifecycle, "complete"), "complete", "mark a session as done", {
    ...session,
    summary: option("TEXT", "a sentence on how it ended"),
  }),
  archive: command(commandOf(lifecycle, "archive"), "archive", "hide a session from lists; no file moves", {
    ...session,
  }),
  unarchive: command(commandOf(lifecycle, "unarchive"), "unarchive", "show an archived session in lists again", {
    ...session,
  }),
  rename: command(commandOf(lifecycle, "rename"), "rename", "give a session a title", {
    ...needed,
    title: place("TITLE...", "the new title", { isNeeded: true }),
  }),
  pin: command(commandOf(lifecycle, "pin"), "pin", "keep a message of a session in every context", {
    ...needed,
    ...message,
  }),
  unpin: command(commandOf(lifecycle, "unpin"), "unpin", "stop keeping a message in every context", {
    ...needed,
    ...message,
  }),
  fork: command(commandOf(lifecycle, "fork"), "fork", "start a new session as a copy of another", {
    ...session,
    at: option("MESSAGE", "copy up to this message id"),
  }),
  delete: command(
    commandOf(() => import("./trash.js"), "remove"),
    "delete",
    "move a session to the trash; asks first at a terminal",
    {
      ...anyWords,
      purge: flag("delete for good; needs --yes outside a terminal"),
      yes: flag("do not ask"),
    },
  ),
  trash: command(
    commandOf(() => import("./trash.js"), "trash"),
    "trash",
    "list deleted sessions, or restore one",
    {
      do: place("ACTION", "what to do (default: list)", { values: OPTION_VALUES.trash }),
      session: place("SESSION", "for restore: the number 'leftoff trash' showed, an id, or its unique beginning"),
    },
    [
      ["leftoff trash", "the trash, last deleted first"],
      ["leftoff trash restore 1", "restore the first; overwrites nothing"],
    ],
  ),
  relocate: command(
    commandOf(lifecycle, "relocate"),
    "relocate",
    "assign a moved project's sessions to its new folder",
    {
      old: place("OLD", "the project's old folder", { isNeeded: true }),
      new: place("NEW", "the project's new folder", { isNeeded: true }),
    },
  ),
  commit: command(commandOf(lifecycle, "commit"), "commit", "commit a conversation with git", { ...session }),
  export: command(
    commandOf(() => import("./export.js"), "exportSession"),
    "export",
    "write a session as a document or a page, as one file for another leftoff, or for another agent",
    {
      ...session,
      to: option(
        "TO",
        "the format (default: markdown): html a page, leftoff one file, both for 'leftoff import'; for an agent, where its client looks",
        OPTION_VALUES.exports,
      ),
      output: option("PATH", "write to this new file (short: -o)"),
      ...branches,
    },
    [
      ["leftoff export last --output talk.md", "a Markdown file"],
      ["leftoff export last --to html --output talk.html", "a page that needs no network, for a colleague"],
      ["leftoff export last --to leftoff --output talk.jsonl", "the whole session, for another machine"],
      ["leftoff export last --to codex", "a session that Codex can resume"],
    ],
  ),
  show: command(
    commandOf(contexts, "show"),
    "show",
    "print a conversation",
    {
      ...session,
      ...branches,
      last: option("N", "only the last N messages"),
      at: option("N", "start at message number N"),
      ...paged,
    },
    [["leftoff show last --at 12", "from message 12 on"]],
  ),
  info: command(
    commandOf(() => import("./info.js"), "info"),
    "info",
    "print a session's sizes, counts, branches and problems",
    { ...session },
  ),
  context: command(
    commandOf(contexts, "context"),
    "context",
    "build the messages a model call would get",
    {
      ...session,
      ...sent,
      recall: option(
        "SHARE",
        "share of the budget for older messages that match the newest user message (default: 0.2; 0: none)",
      ),
      explain: flag("explain why each message is there"),
      last: flag("describe the last context, without its texts"),
      full: flag("with --last: rebuild and verify its messages"),
      compare: flag("compare with the last context"),
    },
    [
      ["leftoff context last --window 8000 --explain", "the context, and why each message is there"],
      ["leftoff context last --model gpt-5 --format anthropic --json", "a request body's messages"],
      ["leftoff context last --last --full", "the messages that were sent last time"],
    ],
  ),
  compact: command(
    commandOf(contexts, "compact"),
    "compact",
    "replace older messages with a summary in contexts; only a preview without --apply",
    {
      ...session,
      ...sent,
      keep: option("N", "tokens to keep (default: half of the budget)"),
      apply: flag("compact; stored messages stay"),
      undo: flag("undo: contexts start at the first message again"),
    },
  ),
  doctor: command(commandOf(contexts, "doctor"), "doctor", "find and repair damage", {
    session: place("SESSION...", `${SESSION_HINT} (default: all sessions and the store)`),
    fix: flag("repair what can be repaired; complete log lines stay as they are"),
    secrets: flag("also look for secrets; exits with 1 if there are any"),
    agents: flag(
      "instead: sessions that an agent soon deletes and that are not imported; exits with 1 if there are any",
    ),
  }),
  settings: Object.assign(
    command(
      commandOf(() => import("./settings.js"), "settings"),
      "settings",
      "show or change settings",
      {
        key: place("KEY", "the setting, one of those below", { values: OPTION_VALUES.settings }),
        value: place("VALUE", "the new value"),
        project: flag("change the project's file instead of the home's"),
        unset: flag("remove the setting from the file"),
      },
      [
        ["leftoff settings", "show all settings"],
        ["leftoff settings redact replace", "replace secrets, in all projects"],
        ["leftoff settings agent codex --project", "this project's default agent"],
        ["leftoff settings agent --unset --project", "remove that setting again"],
      ],
    ),
    { settings: SETTING_DESCRIPTIONS },
  ),
  resume: command(
    agentCommandOf(() => import("./resume.js"), "resume"),
    "resume",
    "continue a session, in any agent",
    {
      words: place("SESSION...", `${SESSION_HINT} (default: choose from a list)`),
      ...asked,
      tools: option(
        "FILE",
        "a JSON file of the current tool definitions; reports which of the session's tools are gone",
      ),
      with: option(
        "AGENT",
        "continue in this agent's client (default: the session's agent, else the setting agent, else the only one installed, else asks)",
        OPTION_VALUES.natives,
      ),
      print: flag("print the handover text instead of starting a client; with --from the session becomes active again"),
      from: option("AGENT", "print the text for the conversation open in this agent's client", OPTION_VALUES.agents),
      plugin: here.plugin,
      list: flag("list sessions to resume"),
      override: flag("resume a session even if it is marked complete"),
      ...listed,
    },
    [
      ["leftoff resume", "choose one; Ctrl+N begins a new one"],
      ["leftoff resume api design", "the session with these words in its title, summary or messages"],
      ["leftoff resume last --with codex", "the last one, in Codex"],
      ["leftoff resume 2 --print", "the second of the list, as text to paste elsewhere"],
    ],
  ),
  ask: command(
    commandOf(() => import("./ask/index.js"), "ask"),
    "ask",
    "ask an agent a question in a fresh session, and keep the answer",
    {
      question: place("QUESTION...", "the question", { isNeeded: true }),
      resume: flag("continue the last conversation"),
      engine: option(
        "ENGINE",
        "claude, gemini, codex, opencode, ollama, or a command that reads a prompt on standard input (default: the first one installed)",
      ),
      model: option("NAME", "the engine's model"),
      prompt: option("FILE", "a file with instructions (default: those of a search agent)"),
      window: option("N", "the engine's context window in tokens"),
      timeout: option("N", "stop after N seconds"),
    },
    [
      ["leftoff ask where are payments retried", "the answer is kept as a session"],
      ["leftoff ask --resume and who calls it", "includes the earlier questions and answers"],
      ["leftoff ask --engine 'ollama run llama3.2' what does this folder do", "any command"],
    ],
  ),
  init: command(
    commandOf(() => import("./init.js"), "init"),
    "init",
    "set up an agent: adds commands and recording hooks, and lists the files",
    {
      agent: place("AGENT", "the agent", { isNeeded: true, values: OPTION_VALUES.setUp }),
      plugin: option("DIR", "write a plugin or extension into this folder only"),
      remove: flag("remove the set-up"),
    },
    [
      ["leftoff init claude-code", "adds /workspace.resume and records each turn"],
      ["leftoff init claude-code --remove", "remove it again"],
    ],
  ),
  hook: command(
    commandOf(() => import("./hook.js"), "hook"),
    "hook",
    "run by agents at each turn, after init",
    {
      // Whatever is wrong with an argument, the client goes on.
      agent: place("AGENT", "the agent", { isNeeded: true }),
      plugin: here.plugin,
    },
  ),
  typed: command(
    agentCommandOf(() => import("./slash-commands.js"), "runSlashCommand"),
    "typed",
    "run by agents for /sessions, /session, /compact and /debug context",
    {
      words: place("WORDS...", "the command and its arguments; - reads them from standard input", { isNeeded: true }),
      ...here,
      apply: flag("as in compact"),
    },
  ),
  mcp: command(
    commandOf(() => import("./mcp.js"), "mcp"),
    "mcp",
    "serve this project's conversations to an MCP client, on standard input and output",
    {},
    [["claude mcp add leftoff -- leftoff mcp", "in a project's folder"]],
  ),
  view: command(
    commandOf(() => import("./view.js"), "view"),
    "view",
    "open a session in the browser, served to this machine alone; Ctrl+C ends, or the end of standard input",
    {
      ...session,
      search: option("WORDS", "open on the sessions with these words, of all projects"),
      open: /** @type {const} */ ({
        type: "boolean",
        default: true,
        description: "--no-open: print the address, and start no browser",
      }),
    },
    [
      ["leftoff view", "the current session"],
      ["leftoff view average bug", "the session with these words in its title"],
      ["leftoff view --search 'average bug'", "the sessions with these words, each with its hits"],
    ],
  ),
  usage: command(
    commandOf(() => import("./usage.js"), "usage"),
    "usage",
    "sum tokens and cost of model calls, as the providers counted them",
    {
      by: option("KEYS", "what to sum by, separated by commas: day, session, project, agent, model (default: day)"),
      all: flag("calls of all projects"),
      agent: option("AGENT", "only calls of this agent", OPTION_VALUES.agents),
      project: listed.project,
      since: option("TIME", "only calls since then: 2026-11-20, 2026-11-20T09:30, 3d, 2 weeks, yesterday"),
      until: option("TIME", "only calls before then"),
      ...paged,
    },
    [
      ["leftoff usage", "this project, by day"],
      ["leftoff usage --all --by model --since 30d", "what each model cost in a month"],
      ["leftoff usage --all --by day,agent", "each agent's share of each day"],
      [
        "leftoff usage --by model | cut -f1,8",
        "in a pipe, with tabs between: keys, calls, input, output, cache writes, cache reads, reasoning, cost",
      ],
    ],
  ),
  completions: command(
    async (args) => (await import("./completions.js")).completions(args, commands),
    "completions",
    "print a shell's completion script",
    {
      shell: place("SHELL", "the shell", { isNeeded: true, values: OPTION_VALUES.shells }),
      words: place("WORD...", "after --: the words typed so far; prints what may come next"),
      comma: flag("also define a shell function named , as short for 'leftoff ask --resume'"),
    },
    [
      ["source <(leftoff completions bash)", "in ~/.bashrc"],
      ["source <(leftoff completions zsh)", "in ~/.zshrc, after compinit"],
      ["leftoff completions fish | source", "in ~/.config/fish/config.fish"],
    ],
  ),
};

await runMain(
  {
    version: VERSION,
    about: "Keeps AI agents' conversations and continues them where they stopped.",
    commands,
    groups: GROUPS,
  },
  process.argv.slice(2),
);
