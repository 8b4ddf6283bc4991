// @ts-check
/** The only file that prints. */

import { LeftoffError } from "../error.js";

/**
 * A command that answers with what to print: text for a person, and a value for `--json`.
 * Exit 0 done, 1 failed (a sentence and a code on standard error), 2 wrong usage.
 * @param {(args: any) => Promise<{ text: string, value: unknown, failed?: boolean }>} command
 */
export function printed(command) {
  return async (/** @type {{ args: any }} */ { args }) => {
    try {
      const { text, value, failed } = await command(args);
      process.stdout.write(args.json ? `${JSON.stringify(value)}\n` : safe(text));
      if (failed) process.exitCode = 1;
    } catch (error) {
      if (!(error instanceof LeftoffError)) throw error;
      process.stderr.write(`leftoff: ${safe(error.message)} (${error.code})\n`);
      process.exitCode = error.code === "usage" || error.code === "ambiguous" ? 2 : 1;
    }
  };
}

/** A note for the person at the terminal. @param {string} text */
export function note(text) {
  process.stderr.write(`leftoff: ${safe(text)}\n`);
}

// Stored text must not steer the terminal: whole escape sequences go first, then single controls and bidi marks.
/** @param {string} text */
function safe(text) {
  return text
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "");
}
