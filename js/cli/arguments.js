// @ts-check
/** The definitions of commands: their arguments, and the values that these may have. */

import { defineCommand } from "citty";

import { nativeAgents, queryClients } from "../agents/clients.js";
import { callCore } from "../wasm/core.js";
import { LeftoffError } from "../error.js";
import { agentsToSetUp } from "../init/names.js";

/** @import { ArgDef, CommandDef } from "citty" */
/** @import { Command } from "./main.js" */

/**
 * An argument as the parser wants it, and beside that its `values`, which help and completion list and which typed ones
 * are checked against; without them, `valueHint` says which kind it is.
 * @typedef {ArgDef & { values?: Values }} Argument
 * @typedef {Record<string, Argument>} Arguments
 * @typedef {readonly string[] | (() => readonly string[])} Values a function where they are costly to find out
 *
 * @typedef {CommandDef<any> & { meta: { name: string, description: string }, args: Arguments, examples: [line: string, what: string][], settings?: [key: string, what: string][], run: Command }} CommandDefinition
 * @typedef {Record<string, CommandDefinition>} Commands
 */

/**
 * The formats of a session as one text; the first is the default.
 * @type {import("../types/index.js").ExportFormat[]}
 */
export const EXPORT_FORMATS = ["markdown", "json", "atif", "leftoff"];
/** The format that is written in pieces. */
export const HTML = "html";

/** @satisfies {Record<string, Values>} */
export const OPTION_VALUES = {
  agents: () => queryClients("client.all", []),
  natives: nativeAgents,
  encodings: ["o200k_base", "o200k_harmony", "cl100k_base", "estimate-1"],
  exports: () => [...EXPORT_FORMATS, HTML, ...nativeAgents()],
  formats: ["leftoff", "openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk", "ai-sdk-ui"],
  /** From the laxest to the strictest. */
  redact: ["off", "report", "replace"],
  settings: () => callCore((core) => core.settingKeys()),
  setUp: agentsToSetUp,
  shells: ["bash", "zsh", "fish"],
  sorts: ["active", "created", "title", "messages", "agent", "project"],
  statuses: ["active", "paused", "completed", "archived", "unreadable"],
  trash: ["list", "restore"],
};

/** The hint of an option that takes a whole number. */
export const NUMBER_HINT = "N";

/** Parses a number that need not be whole. @param {string} text @param {string} name of the option */
export function parseFraction(text, name) {
  if (/^(?:\d+|\d*\.\d+)$/.test(text)) return Number(text);
  throw new LeftoffError({ code: "usage", message: `--${name} takes a number, not "${text}"` });
}

/** Parses a whole number. @param {string} text @param {string} name of the option */
export function parseWholeNumber(text, name) {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new LeftoffError({ code: "usage", message: `--${name} takes a whole number, not "${text}"` });
}

/** @param {Values} values */
export function listValues(values) {
  return typeof values === "function" ? values() : values;
}

/**
 * The flag as it is typed: one that is on by default is only typed to turn it off.
 * @param {string} name
 * @param {Argument} argument
 */
export function flagOf(name, { type, default: given }) {
  return `--${type === "boolean" && given === true ? "no-" : ""}${name}`;
}

/** @param {string} description */
export const flag = (description) => /** @type {const} */ ({ type: "boolean", description });

/** @param {string} valueHint @param {string} description @param {Values} [values] */
export const option = (valueHint, description, values) =>
  /** @type {const} */ ({ type: "string", valueHint, description, ...(values && { values }) });

/**
 * @param {string} valueHint `WORDS...` where there may be many
 * @param {string} description
 * @param {{ isNeeded?: boolean, values?: Values }} [options]
 */
export const place = (valueHint, description, { isNeeded = false, values } = {}) =>
  /** @type {const} */ ({ type: "positional", valueHint, description, required: isNeeded, ...(values && { values }) });

const everywhere = {
  home: option("DIR", "the store's folder (default: $LEFTOFF_HOME, else ~/.leftoff)"),
  workspace: option("DIR", "the project's folder (default: the current one)"),
  redact: option("MODE", "how to treat secrets in output (default: the setting redact)", OPTION_VALUES.redact),
  json: flag("print one JSON value"),
  color: /** @type {const} */ ({
    type: "boolean",
    default: true,
    description: "--no-color: no colors; NO_COLOR does the same",
  }),
};

/** The names of the options that every command takes. */
export const GLOBAL_OPTIONS = Object.keys(everywhere);

/**
 * @param {Command} run
 * @param {string} name
 * @param {string} description
 * @param {Arguments} args
 * @param {[line: string, what: string][]} [examples]
 * @returns {CommandDefinition}
 */
export function command(run, name, description, args, examples = []) {
  const defined = defineCommand({
    meta: { name, description },
    args: { ...args, ...everywhere },
    run: (typed) => run(/** @type {any} */ (typed)),
  });
  return /** @type {any} */ ({ ...defined, examples });
}
