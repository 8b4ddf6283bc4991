// @ts-check
/** Questions to a person at a terminal. Loaded only where one is asked. */

import { confirm, isCancel, select } from "@clack/prompts";

import { Picker } from "./picker.js";
import { endWorking, stripControls } from "./print.js";
import { Screen } from "./screen.js";

/** @typedef {Record<string, any>} Args */
/** @typedef {{ input: typeof process.stdin, output: Screen, signal: AbortSignal }} Terminal */

/**
 * Asks yes or no; no where the person gives no answer.
 * @param {Args} args
 * @param {string} question
 * @returns {Promise<boolean>}
 */
export async function askYesNo(args, question) {
  return (
    (await runPrompt(args, (terminal) =>
      confirm({ ...terminal, message: stripControls(question), initialValue: false }),
    )) ?? false
  );
}

/**
 * Asks for one of a few values.
 * @param {Args} args @param {string} question @param {string[]} values
 * @returns {Promise<string | undefined>} nothing where the person gives no answer
 */
export function chooseOne(args, question, values) {
  return runPrompt(args, (terminal) =>
    select({
      ...terminal,
      message: stripControls(question),
      options: values.map((value) => ({ value, label: stripControls(value) })),
    }),
  );
}

/**
 * Asks for one of many sessions, or a new one.
 * @param {Args} args @param {import("./picker.js").Choice} choice
 * @returns {Promise<number | "new" | undefined>} its place in the list
 */
export function pickSession(args, choice) {
  return runPrompt(args, (terminal) => new Picker({ ...choice, ...terminal }).prompt());
}

// Runs a prompt. Closing the input counts as no answer; the library would wait for ever.
/**
 * @template T
 * @param {Args} args
 * @param {(terminal: Terminal) => Promise<T>} work
 * @returns {Promise<Exclude<T, symbol> | undefined>}
 */
async function runPrompt(args, work) {
  endWorking();
  const output = new Screen(args);
  const input = process.stdin;
  const given = new AbortController();
  const end = () => given.abort();
  const key = (
    /** @type {string} */ _,
    /** @type {{ name?: string, ctrl?: boolean } | undefined} */ { name, ctrl } = {},
  ) => void (ctrl && name === "d" && end());
  input.on("keypress", key).once("end", end);
  try {
    const answer = await work({ input, output, signal: given.signal });
    return isCancel(answer) ? undefined : /** @type {Exclude<T, symbol>} */ (answer);
  } finally {
    input.off("keypress", key).off("end", end);
    output.destroy();
  }
}
