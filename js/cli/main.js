// @ts-check
/** Runs the command that was typed. Wrong usage is refused before anything is done, with exit status 2. */

import { setFlagsFromString } from "node:v8";

import { parseArgs } from "citty";

import { queryClients } from "../agents/clients.js";
import { LeftoffError } from "../error.js";
import { fromSystemError } from "../storage/system-errors.js";
import { GLOBAL_OPTIONS, NUMBER_HINT, OPTION_VALUES, flagOf, listValues, parseWholeNumber } from "./arguments.js";
import { commandHelp, mainHelp } from "./help.js";
import { didYouMean, nearestWords } from "./nearest.js";
import { print, printError, writeForProgram } from "./print.js";

/** @import { Arguments, Commands, CommandDefinition } from "./arguments.js" */

/**
 * A command's function. It answers a text for a person, and a value for `--json`; none where it printed as it went.
 * @typedef {(args: Record<string, any>) => Promise<{ text: string, screen?: string, value: unknown, failed?: boolean }>} Command
 *   `screen`: replaces the text where standard output is a terminal; its only control sequences are colors
 */

/** Flags that stand for commands. @type {Record<string, string[]>} */
export const FLAGS = {
  "-c": ["resume", "last"],
  "--continue": ["resume", "last"],
  "-r": ["resume"],
  "--resume": ["resume"],
  "-n": ["new"],
  "--new": ["new"],
};

/** Other names of commands, as shells have them. @type {Record<string, string>} */
const ALIASES = { ls: "list", rm: "delete" };
const GLOBAL_FLAGS = ["--version", "--help", "--continue", "--resume", "--new"];

/**
 * Has V8 optimize only functions that have run for long. Most commands end before its optimizing compiler has earned
 * its cost, half of their processor time. V8 prints flags it doesn't know on standard error, so they are set only where
 * that was tried.
 */
function optimizeLater() {
  const { v8, bun, deno } = process.versions;
  if (!bun && !deno && /^1[1-4]\./.test(v8)) setFlagsFromString("--wasm-tiering-budget=100000000");
}

/**
 * @param {{ version: string, about: string, commands: Commands, groups: Record<string, string[]> }} all
 * @param {string[]} words as they were typed
 */
export async function runMain(all, words) {
  optimizeLater();
  const { commands, version } = all;
  const typed = moveCommandFirst(words, commands);
  const end = typed.indexOf("--");
  const asked = end < 0 ? typed : typed.slice(0, end);
  const helps = (/** @type {string} */ word) => word === "--help" || word === "-h";
  const isHelp = asked.some(helps) || typed[0] === "help";
  // "leftoff help list" is the same as "leftoff list --help".
  const [first = "", ...others] = typed[0] === "help" || helps(typed[0] ?? "") ? typed.slice(1) : typed;
  const [name = "", ...rest] = [...(Object.hasOwn(FLAGS, first) ? (FLAGS[first] ?? []) : [first]), ...others];
  const command = findCommand(commands, name);
  writeForProgram(asked.includes("--json"));
  try {
    if (isHelp && (command || !name || helps(name))) return print(command ? commandHelp(command) : mainHelp(all));
    if (name === "--version" || name === "-v") return print(`${version}\n`);
    if (name.startsWith("-"))
      throw usageError(`unknown option "${name}"${didYouMean(nearestWords(name, GLOBAL_FLAGS))}`);
    if (!command)
      throw usageError(
        name ? `unknown command "${name}"${didYouMean(nearestWords(name, Object.keys(commands)))}` : "no command given",
      );
    await runTyped(command, rest);
  } catch (error) {
    const missing = isParserError(error) && error.message.match(/^Missing required positional argument: (.*)$/);
    const hint = missing ? command?.args[missing[1]?.toLowerCase() ?? ""]?.valueHint : undefined;
    printError(
      isParserError(error)
        ? usageError(hint ? `${hint.replace("...", "")} is missing` : error.message, command)
        : withFlagNames(fromSystemError(error), command),
    );
  }
}

/** @param {Commands} commands @param {string} typed its name, or another one of it */
function findCommand(commands, typed) {
  const name = Object.hasOwn(ALIASES, typed) ? (ALIASES[typed] ?? typed) : typed;
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

/**
 * Moves options that every command takes from before the command to after it: they may be typed first, as with git.
 * @param {string[]} words
 * @param {Commands} commands
 */
function moveCommandFirst(words, commands) {
  const known = Object.values(commands)[0]?.args ?? {};
  let count = 0;
  while (count < words.length) {
    const [, name = "", value] = /^--(?:no-)?([a-z-]+)(=.*)?$/s.exec(words[count] ?? "") ?? [];
    if (!GLOBAL_OPTIONS.includes(name)) break;
    count += known[name]?.type === "string" && value === undefined ? 2 : 1;
  }
  const [first, ...rest] = words.slice(count);
  return first === undefined ? words : [first, ...words.slice(0, count), ...rest];
}

/** Replaces `-o` by `--output` where the command has it. @param {CommandDefinition} command @param {string[]} typed */
function withLongNames(command, typed) {
  const end = typed.indexOf("--");
  return command.args.output
    ? typed.map((word, place) => (word === "-o" && (end < 0 || place < end) ? "--output" : word))
    : typed;
}

/** @param {CommandDefinition} command @param {string[]} words */
async function runTyped(command, words) {
  const typed = withLongNames(command, words);
  rejectIgnoredArguments(command, typed);
  const args = parseArgs(typed, command.args);
  writeForProgram(args.json === true);
  checkArguments(command, args);
  // A title is taken as typed: it needs no quotes.
  if (command.args.session?.valueHint === "SESSION..." && args._.length > 0)
    Object.assign(args, { session: args._.join(" ") });
  const { text, screen, value, failed } = await command.run(args);
  if (screen !== undefined) await (await import("./pager.js")).showPaged(screen, { canPage: args.pager !== false });
  else if (value !== undefined || !args.json)
    print(args.json ? `${JSON.stringify(value)}\n` : text, { isSafe: args.json });
  if (failed) process.exitCode = 1;
}

// Rejects unknown arguments, which the parser takes: a mistyped flag must not silently change what a command does.
/** @param {CommandDefinition} command @param {Record<string, any> & { _: string[] }} args */
function checkArguments(command, args) {
  const { args: spec } = command;
  for (const [typed, asTyped] of Object.entries(args)) {
    if (typed === "_") continue;
    let value = asTyped;
    // The parser gives a name of two words in both spellings.
    const name = Object.hasOwn(spec, typed) ? typed : toDashed(typed);
    const known = Object.hasOwn(spec, name) ? spec[name] : undefined;
    if (!known) throw unknownOptionError(command, name);
    if (known.type !== "boolean" && value === false) throw unknownOptionError(command, `no-${name}`);
    if (known.type === "string" && value === "") throw usageError(`--${name} needs a value`, command);
    if (known.valueHint === NUMBER_HINT && value !== undefined) parseWholeNumber(value, name);
    const shown = known.type === "positional" ? known.valueHint : `--${name}`;
    const isAgent = known.values === OPTION_VALUES.natives || known.values === OPTION_VALUES.agents;
    if (isAgent && typeof value === "string") args[typed] = value = queryClients("client.meant", [value]) ?? value;
    const values = known.values && value !== undefined ? listValues(known.values) : [value];
    if (values.includes(value)) continue;
    const refused =
      known.values === OPTION_VALUES.settings
        ? `unknown setting "${value}"`
        : `${shown} takes ${values.join(", ")}, not "${value}"`;
    throw usageError(`${refused}${didYouMean(nearestWords(String(value), values))}`, command);
  }
  const places = Object.values(spec).filter(({ type }) => type === "positional");
  const most = places.some(({ valueHint }) => valueHint?.endsWith("...")) ? Infinity : places.length;
  if (args._.length > most)
    throw usageError(
      `too many arguments: "${args._.join(" ")}"; ${command.meta.name} takes ${most === 0 ? "none" : `at most ${most}`}`,
      command,
    );
}

/** A name of two words as it is typed, with a dash. @param {string} name */
function toDashed(name) {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** @param {CommandDefinition} command @param {string} name that it does not know */
function unknownOptionError(command, name) {
  const known = optionNames(command.args);
  return usageError(
    `unknown option ${name.length > 1 ? "--" : "-"}${name}${didYouMean(nearestWords(`--${name}`, known))}`,
    command,
  );
}

// Rejects what the parser ignores: it drops the values of flags, so that one denied by its value would hold; and it
// takes the name of an argument for an option, whose value it then drops.
/** @param {CommandDefinition} command @param {string[]} typed */
function rejectIgnoredArguments(command, typed) {
  const words = typed.includes("--") ? typed.slice(0, typed.indexOf("--")) : typed;
  for (const [place, word] of words.entries()) {
    const [, typedAs = "", value] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const name = toDashed(typedAs);
    const own = name.replace(/^no-/, "");
    const kind = (/** @type {string} */ key) =>
      Object.hasOwn(command.args, key) ? command.args[key]?.type : undefined;
    // A value may look like anything but an option of this command: then the value was forgotten.
    const before = /^--([^=]+)$/.exec(words[place - 1] ?? "")?.[1] ?? "";
    if (kind(toDashed(before)) === "string") {
      if (kind(name))
        throw usageError(
          `--${before} needs a value, but "${word}" follows it; as a value it is typed --${before}=${word}`,
          command,
        );
      continue;
    }
    if (own === "_" || kind(own) === "positional") throw unknownOptionError(command, name);
    if (value !== undefined && [kind(name), kind(own)].includes("boolean"))
      throw usageError(`--${name} takes no value, not ${JSON.stringify(value)}`, command);
  }
}

/** @param {Arguments} spec */
function optionNames(spec) {
  return Object.entries(spec).flatMap(([name, argument]) =>
    argument.type === "positional" ? [] : [flagOf(name, argument)],
  );
}

/** @param {string} message @param {CommandDefinition} [command] whose help says more */
function usageError(message, command) {
  return new LeftoffError({
    code: "usage",
    message: `${message}; see 'leftoff ${command ? `${command.meta.name} ` : ""}--help'`,
  });
}

// Names flags in the parser's errors as they are typed.
/** @param {unknown} error @param {CommandDefinition} [command] */
function withFlagNames(error, command) {
  if (!(error instanceof LeftoffError) || error.code !== "invalid_request" || !command) return error;
  const isFlag = (/** @type {string} */ name) =>
    Object.hasOwn(command.args, name) && command.args[name]?.type !== "positional";
  error.message = error.message.replace(/\b(for|pass|and|or) "(\w+)"/g, (all, word, name) =>
    isFlag(name) ? `${word} --${name}` : all,
  );
  return error;
}

/** @param {unknown} error @returns {error is Error} */
function isParserError(error) {
  return error instanceof Error && error.name === "CLIError";
}
