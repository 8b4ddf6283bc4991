#!/usr/bin/env node
// @ts-check
/** The command line. */

import { defineCommand, runMain } from "citty";

import { context, importFiles, list, resume, show } from "./commands.js";
import { printed } from "./print.js";

const everywhere = /** @type {const} */ ({
  home: { type: "string", description: "the store's folder; else $LEFTOFF_HOME, else ~/.leftoff", valueHint: "DIR" },
  workspace: { type: "string", description: "the project's folder; else the current one", valueHint: "DIR" },
  json: { type: "boolean", description: "one JSON value on standard output, nothing else there" },
});
const asked = /** @type {const} */ ({
  window: { type: "string", description: "the model's limit, in tokens", valueHint: "N" },
  reserve: { type: "string", description: "kept for the answer, in tokens; a quarter of the window unless given", valueHint: "N" },
  encoding: { type: "string", description: "o200k_base or estimate-1", valueHint: "E" },
  format: { type: "string", description: "leftoff or ai-sdk", valueHint: "F" },
});
const session = /** @type {const} */ ({
  session: { type: "positional", required: false, description: "an id, a unique beginning of one, or last", valueHint: "SESSION" },
});

const main = defineCommand({
  meta: { name: "leftoff", version: "0.1.0", description: "Keeps AI agents' conversations, and takes them up where they were left off" },
  subCommands: {
    import: defineCommand({
      meta: { description: "read other agents' sessions into the store" },
      args: { path: { type: "positional", required: true, description: "the session files", valueHint: "PATH..." }, ...everywhere },
      run: printed(importFiles),
    }),
    list: defineCommand({
      meta: { description: "the sessions, last active first" },
      args: { all: { type: "boolean", description: "of all projects" }, limit: { type: "string", description: "at most so many", valueHint: "N" }, type: { type: "string", description: "only of this type", valueHint: "T" }, ...everywhere },
      run: printed(list),
    }),
    show: defineCommand({
      meta: { description: "the conversation, readable" },
      args: { ...session, last: { type: "string", description: "only the last messages", valueHint: "N" }, ...everywhere },
      run: printed(show),
    }),
    context: defineCommand({
      meta: { description: "what a model call would get" },
      args: { ...session, ...asked, system: { type: "string", description: "a file with the system prompt", valueHint: "FILE" }, tools: { type: "string", description: "a file with the tool definitions, JSON", valueHint: "FILE" }, explain: { type: "boolean", description: "why these messages" }, ...everywhere },
      run: printed(context),
    }),
    resume: defineCommand({
      meta: { description: "print what hands a session to the next run" },
      args: { ...session, ...asked, print: { type: "boolean", description: "print it; starting the agent comes with a later version" }, ...everywhere },
      run: printed(resume),
    }),
  },
});

await runMain(main);
