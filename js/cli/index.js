#!/usr/bin/env node
// @ts-check
/** The command line. */

import { VERSION } from "../wasm/version.js";
import { append } from "./append.js";
import { ask } from "./ask/index.js";
import { VALUES, command, flag, option, place } from "./arguments.js";
import { compact, context, doctor, importFiles, show } from "./commands.js";
import { completions } from "./completions.js";
import { exportSession } from "./export.js";
import { list, recall, search } from "./find.js";
import { hook } from "./hook.js";
import { info } from "./info.js";
import { archive, begin, commit, complete, fork, pin, relocate, rename, stop, unarchive, unpin } from "./lifecycle.js";
import { runMain } from "./main.js";
import { resume } from "./resume.js";
import { settings } from "./settings.js";
import { remove, trash } from "./trash.js";
import { typed } from "./typed.js";

/** @import { Commands } from "./arguments.js" */

const WHICH = "an id, a unique beginning of one, a name, a number of the list that was shown last, words of a title, or last";
const session = { session: place("SESSION...", `${WHICH}; the current one of this project unless given`) };
const branches = { "all-branches": flag("also what lies on other branches than the current one, marked") };
const here = {
  from: option("AGENT", "the conversation that goes on in this agent's client, here; taken in first", VALUES.agents),
  plugin: flag("which has leftoff's commands from a plugin"),
};
const needed = { session: place("SESSION", WHICH, { isNeeded: true }) };
const anyWords = { session: place("SESSION...", WHICH, { isNeeded: true }) };
const message = { message: place("MESSAGE", "the message's id; show --json has it", { isNeeded: true }) };
const listed = {
  all: flag("of all projects"),
  agent: option("AGENT", "only those that were imported from it", VALUES.agents),
  project: option("DIR", "only those of this project, wherever one is: its folder, or the name of that"),
  since: option("TIME", "only those that were active since: 2026-11-20, 2026-11-20T09:30, 3d, 2 weeks, yesterday"),
  until: option("TIME", "only those that were active last until then"),
  limit: option("N", "at most so many"),
  status: option("STATUS", "only those that are", VALUES.statuses),
  type: option("TYPE", "only of this type, as chat or subagent"),
};
const asked = {
  window: option("N", "the model's limit, in tokens; that of the model unless given"),
  model: option("NAME", "whose window and encoding hold; the session's own unless given"),
  reserve: option("N", "kept for the answer, in tokens; a quarter of the window unless given"),
  encoding: option("ENCODING", "what tokens are counted by; that of the model unless given", VALUES.encodings),
  format: option("FORMAT", "the shape of the messages", VALUES.formats),
};
const sent = {
  ...asked,
  system: option("FILE", "a file with the system prompt"),
  tools: option("FILE", "a file with the tool definitions, JSON"),
};
const made = {
  command: option("NAME", "the slash command that began it, as /brainstorm"),
  prompt: option("FILE", "the file with the prompt; its hash is kept, to say when it has changed"),
  model: option("NAME", "the model that it is held with"),
  tools: option("NAMES", "the tools that it has, with commas between them"),
};
/** How they are listed; those that are named nowhere come last. */
const groups = {
  "Take in and find": ["import", "list", "search", "recall", "show", "info"],
  "Go on": ["resume", "ask", "context", "compact"],
  "Record": ["new", "append", "stop", "complete", "commit"],
  "Keep in order": ["rename", "pin", "unpin", "fork", "archive", "unarchive", "delete", "trash", "relocate", "export", "doctor"],
  "leftoff itself": ["init", "settings", "completions"],
  "Run by agents": ["hook", "typed"],
};

/** @type {Commands} */
const commands = {
  import: command(importFiles, "import", "take in other agents' sessions", {
    paths: place("PATH...", "session files, or folders with some"),
    from: option("AGENT", "the agent that wrote them; their content tells unless given", VALUES.agents),
    all: flag("whatever the known agents keep on this machine"),
    verbose: flag("also of many sessions tell each one's id, and what was not taken over"),
  }, [
    ["leftoff import --all", "all there is; again, what is new"],
    ["leftoff import ~/.codex/sessions", "one agent's folder"],
  ]),
  list: command(list, "list", "the sessions, last active first", { ...listed, sort: option("KEY", "what comes first; the last active one unless given", VALUES.sorts) }, [
    ["leftoff list", "those of the project in this folder"],
    ["leftoff list --all --limit 20", "the last ones of all projects"],
    ["leftoff list --all --agent codex --since 2w", "of one agent, in the last two weeks"],
    ["leftoff list --sort messages", "the longest ones first"],
    ["leftoff list --status archived", "those that lists hide"],
  ]),
  search: command(search, "search", "sessions that answer a question or have some words, best first, with what was said", {
    words: place("WORDS...", 'a question, words, a part of a name, an error; in "double quotes" what has to stand there exactly'),
    regex: flag("WORDS are a regular expression, for which all that was said is read"),
    file: option("PATH", "instead of words: who read or changed this file; a path, or the end of one"),
    command: option("WORDS", "instead of words: who ran a command with these, and how it ended"),
    error: option("TEXT", "instead of words: who met this error, whatever its numbers and paths, and what ran without it afterwards"),
    role: option("ROLE", "only what this role said: user, assistant, tool", ["user", "assistant", "tool"]),
    ...listed,
  }, [
    ["leftoff search why is croniter pinned", "a question, in this project"],
    ["leftoff search --all --since 7d parseConfig", "a name, everywhere"],
    ["leftoff search '\"exit code 101\"'", "exactly that"],
    ["leftoff search --file src/parser.rs", "who changed it, and who read it"],
  ]),
  recall: command(recall, "recall", "what other sessions say to a question, quoted with sources, for a model to read", {
    question: place("QUESTION...", "what is to be known", { isNeeded: true }),
    all: listed.all,
    project: listed.project,
    "max-tokens": option("N", "in at most so many tokens; 800 unless given"),
  }, [
    ["leftoff recall why did we pin croniter", "what sessions of this project say, or a line that none does"],
    ["leftoff recall --all --max-tokens 300 how are payments retried", "of all projects, in fewer tokens"],
  ]),
  new: command(begin, "new", "start a session", {
    type: option("TYPE", "what sort of conversation; chat unless given"),
    title: option("TITLE", "what it is called"),
    name: option("NAME", "the name of the conversation in the workspace; one is made unless given"),
    here: flag("in the workspace, below conversations/, not in the home"),
    ...made,
    record: /** @type {const} */ ({ type: "boolean", default: true, description: "--no-record: nothing is stored" }),
  }, [
    ['leftoff new --title "API design"', "in the home"],
    ["leftoff new --type brainstorm --here", "in the project's folder, to be committed with it"],
    ["leftoff new --command /review --prompt review.md --tools Read,Bash", "what to compare with when it goes on"],
  ]),
  append: command(append, "append", "append messages to a session, given as JSON lines on standard input; the id of each is printed once it is durable", {
    ...session,
    operation: option("NAME", "your own name for this append: all lines are one, and count once however often it is made"),
    expected: option("MESSAGE", "all lines are one append, refused unless this is the id of the last message; none where there is none"),
  }, [
    ["echo '{\"role\":\"user\",\"content\":\"go on\"}' | leftoff append", "to the current session"],
    ["leftoff append last --json < messages.jsonl", "prints a line of JSON for each; a line that is refused ends it, and is told by its number"],
    ["leftoff append last --operation step-7 < messages.jsonl", "again after a failure, it appends nothing twice"],
  ]),
  stop: command(stop, "stop", "save a session and pause it", {
    ...session,
    ...here,
    summary: option("TEXT", "where it stopped"),
    ...made,
    commit: flag("and commit it with its conversation"),
  }, [['leftoff stop --summary "leaning toward REST"', "the current one, with words to find it by"]]),
  complete: command(complete, "complete", "mark a session as done", { ...session, summary: option("TEXT", "how it ended") }),
  archive: command(archive, "archive", "hide a session from lists; nothing is moved", { ...session }),
  unarchive: command(unarchive, "unarchive", "put an archived session back into lists", { ...session }),
  rename: command(rename, "rename", "give a session a title", { ...needed, title: place("TITLE...", "what it is called", { isNeeded: true }) }),
  pin: command(pin, "pin", "keep a message of a session in every context", { ...needed, ...message }),
  unpin: command(unpin, "unpin", "keep a message in every context no longer", { ...needed, ...message }),
  fork: command(fork, "fork", "begin a new session as a copy of one", { ...session, at: option("MESSAGE", "the id of the last message to take over") }),
  delete: command(remove, "delete", "put a session in the trash; on a terminal after a question", {
    ...anyWords,
    purge: flag("delete it for good; where nobody can be asked, with --yes alone"),
    yes: flag("do not ask"),
  }),
  trash: command(trash, "trash", "what was deleted, and back again", {
    do: place("DO", "list unless given; restore puts a session back where it was, as it was", { values: VALUES.trash }),
    session: place("SESSION", "for restore: the id, or a unique beginning of it"),
  }, [["leftoff trash", "what lies there, deleted last first"], ["leftoff trash restore 019aab01", "nothing is written over"]]),
  relocate: command(relocate, "relocate", "a project was moved: its sessions belong to the new folder", {
    old: place("OLD", "the folder as it was", { isNeeded: true }),
    new: place("NEW", "the folder as it is", { isNeeded: true }),
  }),
  commit: command(commit, "commit", "commit a conversation and its session with git", { ...session }),
  export: command(exportSession, "export", "write a session as one text, or for another agent", {
    ...session,
    to: option("TO", "what it is written as, markdown unless given; leftoff: one file that 'leftoff import' takes; an agent: where that agent finds it", VALUES.exports),
    output: option("PATH", "into this file, not over one that is there"),
    ...branches,
  }, [["leftoff export last --to markdown --output talk.md", "to read it anywhere"], ["leftoff export last --to leftoff --output talk.jsonl", "the whole session, for another machine"], ["leftoff export last --to codex", "to go on in Codex"]]),
  show: command(show, "show", "a conversation, readable", { ...session, ...branches, last: option("N", "only the last messages") }),
  info: command(info, "info", "what there is to know of a session: sizes, counts, branches, problems", { ...session }),
  context: command(context, "context", "what a model call would get of a session", {
    ...session,
    ...sent,
    recall: option("SHARE", "of the budget, for older messages that match the newest user message: 0.2 unless given, 0 for none"),
    explain: flag("why these messages"),
    last: flag("what the last one was made of, without its texts"),
    full: flag("with --last: its messages, built again from the session as it was then, and checked"),
    compare: flag("what differs from the last one"),
  }, [
    ["leftoff context last --window 8000 --explain", "and why each message is there"],
    ["leftoff context last --model gpt-5 --format anthropic --json", "ready to be sent"],
    ["leftoff context last --last --full", "the messages that were sent last"],
  ]),
  compact: command(compact, "compact", "have a summary stand in contexts for older messages; first only what it would do", {
    ...session,
    ...sent,
    keep: option("N", "down to so many tokens; half of the budget unless given"),
    apply: flag("do it; no message is touched"),
    undo: flag("take it back: contexts begin with the first message again"),
  }),
  doctor: command(doctor, "doctor", "what is damaged, with byte ranges; and mend it", { session: place("SESSION...", `${WHICH}; all, and the store itself, unless given`),
    fix: flag("and mend what can be mended; no complete line of a log is touched"),
    secrets: flag("and which secrets are in the files; exit status 1 where there are some"),
  }),
  settings: command(settings, "settings", "what holds, and which file says so; or set it", {
    key: place("KEY", "only this one", { values: VALUES.settings }),
    value: place("VALUE", "set it to this"),
    project: flag("in the project's file, not in the home's"),
    unset: flag("take it out of the file: what holds without it holds again"),
  }, [
    ["leftoff settings", "all of them"],
    ["leftoff settings redact replace", "for all projects"],
    ["leftoff settings agent codex --project", "for this one"],
    ["leftoff settings agent --unset --project", "no longer"],
  ]),
  resume: command(resume, "resume", "hand a session to the next run, in any agent", {
    words: place("SESSION...", `${WHICH}; without, a list to choose from`),
    ...asked,
    tools: option("FILE", "a file with the definitions of the tools there are now, JSON: which of the session's are gone is told"),
    with: option("AGENT", "write it as this agent keeps its own, and start its client with it; the session's own agent unless given, else that of the settings, else the only one that is installed, else a question", VALUES.natives),
    print: flag("start nothing, change nothing: print what hands it over; with --from it is active again, for its text goes on in that client"),
    from: option("AGENT", "as a text for the conversation that goes on in this agent's client", VALUES.agents),
    plugin: here.plugin,
    list: flag("what can be resumed"),
    override: flag("also one that was marked complete"),
    ...listed,
  }, [
    ["leftoff resume", "choose one; Ctrl+N begins a new one"],
    ["leftoff resume api design", "the one that has these words in its title or summary"],
    ["leftoff resume last --with codex", "the last one, in Codex"],
    ["leftoff resume 2 --print", "the second of the list, as a text to be handed over by hand"],
  ]),
  ask: command(ask, "ask", "ask an agent that remembers nothing, and keep what is said", {
    question: place("QUESTION...", "what to ask", { isNeeded: true }),
    resume: flag("go on with the conversation that was asked last"),
    engine: option("ENGINE", "who answers: claude, gemini, codex, opencode, ollama, or a command that reads a prompt on standard input; the first that is installed unless given"),
    model: option("NAME", "the model of one of these"),
    prompt: option("FILE", "a file with the instructions; those for a search agent unless given"),
    window: option("N", "how much the engine reads, in tokens"),
    timeout: option("N", "end it after so many seconds"),
  }, [
    ["leftoff ask where are payments retried", "and what is said is a session as any other"],
    ["leftoff ask --resume and who calls it", "the earlier questions and answers go along"],
    ["leftoff ask --engine 'ollama run llama3.2' what does this folder do", "any command"],
  ]),
  // What edits other programs' files is loaded by this one alone.
  init: command(async (args) => (await import("./init.js")).init(args), "init", "set an agent up: commands to stop, find and resume, hooks that record; each file is named", {
    agent: place("AGENT", "which one", { isNeeded: true, values: VALUES.setUp }),
    plugin: option("DIR", "as a plugin, or an extension, in this folder, and nothing elsewhere"),
    remove: flag("take it away again"),
  }, [
    ["leftoff init claude-code", "then /workspace.resume is there, and each turn is recorded"],
    ["leftoff init claude-code --remove", "as it was before"],
  ]),
  hook: command(hook, "hook", "what agents run at each turn, once they are set up", {
    // Whatever is wrong with it, the client goes on.
    agent: place("AGENT", "whose client it is", { isNeeded: true }),
    plugin: here.plugin,
  }),
  typed: command(typed, "typed", "what agents run for /sessions, /session, /compact and /debug context", {
    words: place("WORDS...", "the command, and what was typed behind it; - reads that from standard input", { isNeeded: true }),
    ...here,
    apply: flag("as in compact"),
  }),
  completions: command((args) => completions(args, commands), "completions", "the script that has a shell complete what is typed", {
    shell: place("SHELL", "which one", { isNeeded: true, values: VALUES.shells }),
    words: place("WORD...", "behind --: what was typed so far; then what may come next is printed"),
  }, [
    ["source <(leftoff completions bash)", "in ~/.bashrc"],
    ["source <(leftoff completions zsh)", "in ~/.zshrc, behind compinit"],
    ["leftoff completions fish | source", "in ~/.config/fish/config.fish"],
  ]),
};

await runMain({ version: VERSION, about: "Keeps AI agents' conversations, and takes them up where they were left off.", commands, groups }, process.argv.slice(2));
