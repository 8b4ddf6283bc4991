#!/usr/bin/env node
// @ts-check
/** The command line. */

import { defineCommand } from "citty";

import { context, doctor, importFiles, list, resume, show } from "./commands.js";
import { runMain } from "./main.js";

/** @import { ArgsDef } from "citty" */
/** @import { Command } from "./main.js" */

/** @param {string} description */
const flag = (description) => /** @type {const} */ ({ type: "boolean", description });
/** @param {string} valueHint @param {string} description */
const option = (valueHint, description) => /** @type {const} */ ({ type: "string", valueHint, description });

const session = /** @type {const} */ ({
  session: { type: "positional", required: false, description: "an id, a unique beginning of one, or last", valueHint: "SESSION" },
});
const asked = {
  window: option("N", "the model's limit, in tokens"),
  reserve: option("N", "kept for the answer, in tokens; a quarter of the window unless given"),
  encoding: option("E", "o200k_base or estimate-1"),
  format: option("F", "leftoff or ai-sdk"),
};
const everywhere = {
  home: option("DIR", "the store's folder; else $LEFTOFF_HOME, else ~/.leftoff"),
  workspace: option("DIR", "the project's folder; else the current one"),
  json: flag("one JSON value on standard output, nothing else there"),
};

/** @param {Command} run @param {string} name @param {string} description @param {ArgsDef} args */
function command(run, name, description, args) {
  return defineCommand({ meta: { name, description }, args: { ...args, ...everywhere }, run: (typed) => run(/** @type {any} */ (typed)) });
}

const main = defineCommand({
  meta: { name: "leftoff", version: "0.1.0", description: "Keeps AI agents' conversations, and takes them up where they were left off" },
  subCommands: {
    import: command(importFiles, "import", "read other agents' sessions into the store", {
      paths: { type: "positional", description: "the session files", valueHint: "PATH..." },
    }),
    list: command(list, "list", "the sessions, last active first", {
      all: flag("of all projects"),
      limit: option("N", "at most so many"),
      type: option("T", "only of this type"),
    }),
    show: command(show, "show", "the conversation, readable", { ...session, last: option("N", "only the last messages") }),
    context: command(context, "context", "what a model call would get", {
      ...session,
      ...asked,
      system: option("FILE", "a file with the system prompt"),
      tools: option("FILE", "a file with the tool definitions, JSON"),
      explain: flag("why these messages"),
    }),
    doctor: command(doctor, "doctor", "what is damaged, with byte ranges", { ...session }),
    resume: command(resume, "resume", "print what hands a session to the next run", {
      ...session,
      ...asked,
      print: flag("print it; starting the agent comes with a later version"),
    }),
  },
});

await runMain(main, process.argv.slice(2));
