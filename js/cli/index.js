#!/usr/bin/env node
// @ts-check
/** The command line. */

import { defineCommand } from "citty";

import { compact, context, doctor, importFiles, show } from "./commands.js";
import { list, search } from "./find.js";
import { hook } from "./hook.js";
import { info } from "./info.js";
import { init } from "./init.js";
import { append, archive, begin, commit, complete, exportSession, fork, pin, relocate, remove, rename, stop, unarchive, unpin } from "./lifecycle.js";
import { runMain } from "./main.js";
import { resume } from "./resume.js";
import { settings } from "./settings.js";
import { typed } from "./typed.js";

/** @import { ArgsDef } from "citty" */
/** @import { Command } from "./main.js" */

/** @param {string} description */
const flag = (description) => /** @type {const} */ ({ type: "boolean", description });
/** @param {string} valueHint @param {string} description */
const option = (valueHint, description) => /** @type {const} */ ({ type: "string", valueHint, description });

const session = /** @type {const} */ ({
  session: { type: "positional", required: false, description: "an id, a unique beginning of one, or last", valueHint: "SESSION" },
});
const here = {
  from: option("AGENT", "the conversation that goes on in this agent's client, here; taken in first"),
  plugin: flag("which has leftoff's commands from a plugin"),
};
const needed = /** @type {const} */ ({ session: { ...session.session, required: true } });
const message = /** @type {const} */ ({ message: { type: "positional", description: "the message's id", valueHint: "MESSAGE" } });
const listed = {
  all: flag("of all projects"),
  limit: option("N", "at most so many"),
  status: option("S", "only active, paused, completed, unreadable or archived ones"),
  type: option("T", "only of this type"),
};
const asked = {
  window: option("N", "the model's limit, in tokens; that of the model unless given"),
  model: option("NAME", "whose window and encoding hold; the session's own unless given"),
  reserve: option("N", "kept for the answer, in tokens; a quarter of the window unless given"),
  encoding: option("E", "o200k_base, cl100k_base or estimate-1"),
  format: option("F", "leftoff, openai-chat, openai-responses, anthropic, gemini, ai-sdk or ai-sdk-ui"),
};
const sent = {
  ...asked,
  system: option("FILE", "a file with the system prompt"),
  tools: option("FILE", "a file with the tool definitions, JSON"),
};
const everywhere = {
  home: option("DIR", "the store's folder; else $LEFTOFF_HOME, else ~/.leftoff"),
  workspace: option("DIR", "the project's folder; else the current one"),
  redact: option("MODE", "secrets in what is printed or handed over: off, report or replace; else the setting of that name"),
  json: flag("one JSON value on standard output, nothing else there"),
  color: /** @type {const} */ ({ type: "boolean", default: true, description: "--no-color: questions without colours; also where NO_COLOR is set" }),
};

/** @param {Command} run @param {string} name @param {string} description @param {ArgsDef} args */
function command(run, name, description, args) {
  return defineCommand({ meta: { name, description }, args: { ...args, ...everywhere }, run: (typed) => run(/** @type {any} */ (typed)) });
}

const main = defineCommand({
  meta: { name: "leftoff", version: "0.1.0", description: "Keeps AI agents' conversations, and takes them up where they were left off" },
  subCommands: {
    import: command(importFiles, "import", "read other agents' sessions into the store", {
      paths: { type: "positional", required: false, description: "session files, or folders with some", valueHint: "PATH..." },
      from: option("AGENT", "the agent that wrote them; their content tells unless given"),
      all: flag("whatever the known agents keep on this machine"),
    }),
    list: command(list, "list", "the sessions, last active first", { ...listed }),
    search: command(search, "search", "sessions by words of their titles and summaries, best first", {
      words: { type: "positional", required: true, description: "what to look for", valueHint: "WORDS..." },
      "full-text": flag("in what was said: messages that have all words, newest first"),
      ...listed,
    }),
    new: command(begin, "new", "start a session", {
      type: option("T", "what sort of conversation; chat unless given"),
      title: option("TITLE", "what it is called"),
      name: option("NAME", "the name of the conversation in the workspace; one is made unless given"),
      here: flag("in the workspace, below conversations/, not in the home"),
      record: /** @type {const} */ ({ type: "boolean", default: true, description: "--no-record: nothing is stored" }),
    }),
    append: command(append, "append", "append messages, given as JSON lines on standard input", { ...session }),
    stop: command(stop, "stop", "save and pause it", {
      ...session,
      ...here,
      summary: option("TEXT", "where it stopped"),
      commit: flag("and commit it with its conversation"),
    }),
    complete: command(complete, "complete", "mark it as done", { ...session, summary: option("TEXT", "how it ended") }),
    archive: command(archive, "archive", "hide it from lists; nothing is moved", { ...session }),
    unarchive: command(unarchive, "unarchive", "put it back into lists", { ...session }),
    rename: command(rename, "rename", "give it a title", { ...needed, title: { type: "positional", description: "what it is called", valueHint: "TITLE" } }),
    pin: command(pin, "pin", "keep a message in every context", { ...needed, ...message }),
    unpin: command(unpin, "unpin", "keep it in every context no longer", { ...needed, ...message }),
    fork: command(fork, "fork", "a new session that begins as a copy", { ...session, at: option("MESSAGE", "the id of the last message to take over") }),
    delete: command(remove, "delete", "put it in the trash", {
      ...needed,
      purge: flag("delete it for good, after a question"),
      yes: flag("do not ask"),
    }),
    relocate: command(relocate, "relocate", "a project was moved: its sessions belong to the new folder", {
      old: { type: "positional", description: "the folder as it was", valueHint: "OLD" },
      new: { type: "positional", description: "the folder as it is", valueHint: "NEW" },
    }),
    commit: command(commit, "commit", "commit a conversation and its session with git", { ...session }),
    export: command(exportSession, "export", "out again, as one text", {
      ...session,
      to: option("F", "markdown or json"),
      output: option("PATH", "into this file, not over one that is there"),
    }),
    show: command(show, "show", "the conversation, readable", { ...session, last: option("N", "only the last messages") }),
    info: command(info, "info", "what there is to know of one: sizes, counts, branches, problems", { ...session }),
    context: command(context, "context", "what a model call would get", {
      ...session,
      ...sent,
      explain: flag("why these messages"),
      last: flag("what the last one was made of, without its texts"),
      compare: flag("what differs from the last one"),
    }),
    compact: command(compact, "compact", "what compaction would do: a summary stands in contexts for older messages", {
      ...session,
      ...sent,
      keep: option("N", "down to so many tokens; half of the budget unless given"),
      apply: flag("do it; no message is touched"),
      undo: flag("take it back: contexts begin with the first message again"),
    }),
    doctor: command(doctor, "doctor", "what is damaged, with byte ranges", { ...session, fix: flag("and mend what can be mended; no complete line of a log is touched"), secrets: flag("and which secrets are in the files; exit status 1 where there are some") }),
    settings: command(settings, "settings", "what holds, and which file says so; or set it", {
      key: { type: "positional", required: false, description: "as autoPersist.debounceMs", valueHint: "KEY" },
      value: { type: "positional", required: false, description: "set it to this", valueHint: "VALUE" },
      project: flag("in the project's file, not in the home's"),
    }),
    init: command(init, "init", "set an agent up: commands to stop, find and resume, hooks that record; each file is named", {
      agent: { type: "positional", description: "claude-code, opencode, gemini or codex", valueHint: "AGENT" },
      plugin: option("DIR", "as a plugin, or an extension, in this folder, and nothing elsewhere"),
      remove: flag("take it away again"),
    }),
    hook: command(hook, "hook", "what agents run at each turn, once they are set up", {
      agent: { type: "positional", description: "whose client it is", valueHint: "AGENT" },
      plugin: here.plugin,
    }),
    typed: command(typed, "typed", "what agents run for /sessions, /session, /compact and /debug context", {
      words: { type: "positional", description: "the command, and what was typed behind it; - reads that from standard input", valueHint: "WORDS..." },
      ...here,
      apply: flag("as in compact"),
    }),
    resume: command(resume, "resume", "hand a session to the next run, in any agent", {
      words: { type: "positional", required: false, description: "an id, the beginning of one, a number of the list, or words of the title; without, the list", valueHint: "SESSION..." },
      ...asked,
      with: option("AGENT", "write it as this agent keeps its own, and start its client with it; the session's own agent unless given, else that of the settings"),
      print: flag("start nothing: print what hands it over"),
      from: option("AGENT", "as a text for the conversation that goes on in this agent's client"),
      plugin: here.plugin,
      list: flag("what can be resumed"),
      override: flag("also one that was marked complete"),
      ...listed,
    }),
  },
});

await runMain(main, process.argv.slice(2));
