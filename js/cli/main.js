// @ts-check
/** Runs the command that was typed. Wrong usage is refused before anything is done, with exit status 2. */

import { parseArgs, renderUsage } from "citty";

import { LeftoffError } from "../error.js";
import { print, refuse } from "./print.js";

/** @import { ArgsDef, CommandDef } from "citty" */

/**
 * What a command answers: a text for a person, and a value for `--json`.
 * @typedef {(args: Record<string, any>) => Promise<{ text: string, value: unknown, failed?: boolean }>} Command
 */

/** Document 004's flags, and the commands that they stand for. @type {Record<string, string[]>} */
const FLAGS = { "-c": ["resume", "last"], "--continue": ["resume", "last"], "-r": ["resume"], "--resume": ["resume"], "-n": ["new"], "--new": ["new"] };

/**
 * @param {CommandDef<any>} main
 * @param {string[]} typed
 */
export async function runMain(main, typed) {
  const commands = /** @type {Record<string, CommandDef>} */ (main.subCommands);
  const [first = "", ...others] = typed;
  const [name = "", ...rest] = [...(Object.hasOwn(FLAGS, first) ? (FLAGS[first] ?? []) : [first]), ...others];
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  try {
    if (typed.includes("--help") || typed.includes("-h")) return print(`${await renderUsage(command ?? main, command && main)}\n`);
    if (name === "--version" || name === "-v") return print(`${/** @type {any} */ (main.meta).version}\n`);
    if (!command) throw usage(name ? `expected a command, but found "${name}" instead` : "expected a command, but found none");
    await runTyped(command, rest);
  } catch (error) {
    refuse(isOfParser(error) ? usage(error.message) : error);
  }
}

/** @param {CommandDef<any>} command @param {string[]} typed */
async function runTyped(command, typed) {
  const args = parseArgs(typed, /** @type {ArgsDef} */ (command.args));
  check(/** @type {ArgsDef} */ (command.args), args);
  const { text, value, failed } = await /** @type {any} */ (command).run(args);
  print(args.json ? `${JSON.stringify(value)}\n` : text, { isSafe: args.json });
  if (failed) process.exitCode = 1;
}

// The parser takes what it does not know. A mistyped flag must not change what a command does without a word.
/** @param {ArgsDef} spec @param {Record<string, any> & { _: string[] }} args */
function check(spec, args) {
  for (const [typed, value] of Object.entries(args)) {
    if (typed === "_") continue;
    // The parser gives a name of two words in both ways.
    const name = Object.hasOwn(spec, typed) ? typed : typed.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (!Object.hasOwn(spec, name)) throw usage(`expected ${names(spec)}, but found --${name} instead`);
    if (spec[name]?.type === "string" && value === "") throw usage(`expected a value for --${name}, but found none`);
  }
  const places = Object.values(spec).filter((one) => one.type === "positional");
  const most = places.some((one) => one.valueHint?.endsWith("...")) ? Infinity : places.length;
  if (args._.length > most) throw usage(`expected ${most} argument${most === 1 ? "" : "s"} at most, but found "${args._.join(" ")}" instead`);
}

/** @param {ArgsDef} spec */
function names(spec) {
  return Object.entries(spec).filter(([, one]) => one.type !== "positional").map(([name]) => `--${name}`).join(", ");
}

/** @param {string} message */
function usage(message) {
  return new LeftoffError({ code: "usage", message: `${message}; see 'leftoff --help'` });
}

/** @param {unknown} error @returns {error is Error} */
function isOfParser(error) {
  return error instanceof Error && error.name === "CLIError";
}
