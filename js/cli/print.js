// @ts-check
/** What is printed; questions alone are asked elsewhere, in ask.js. */

import { LeftoffError } from "../error.js";
import { cut } from "./width.js";

/**
 * What a command answers, on standard output.
 * @param {string} text
 * @param {{ isSafe?: boolean }} [options] `isSafe`: it is JSON, in which what steers a terminal can be escaped
 */
export function print(text, { isSafe = false } = {}) {
  // Whoever reads it may have had enough, as "head" has; a full disk is another matter.
  process.stdout.once("error", (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== "EPIPE") refuse(new LeftoffError({ code: "storage_failed", message: `could not write the answer: ${error.message}`, cause: error }));
  });
  process.stdout.write(isSafe ? escaped(text) : safe(text));
}

/**
 * Why nothing was done: a sentence and a code on standard error. Exit status 1, or 2 where the usage is wrong.
 * @param {unknown} error
 */
export function refuse(error) {
  if (!(error instanceof LeftoffError)) throw error;
  note(`${error.message} (${error.code})`);
  process.exitCode = error.code === "usage" || error.code === "ambiguous" ? 2 : 1;
}

/** Whether somebody can be asked. */
export function isTerminal() {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** A note for the person at the terminal. @param {string} text */
export function note(text) {
  process.stderr.write(`leftoff: ${safe(text)}\n`);
}

/** How far something is, in one line that is written again and again; nowhere but on a terminal. @param {string} doing */
export function progress(doing) {
  const { isTTY, columns } = process.stderr;
  return {
    onProgress: (/** @type {import("../importing.js").Progress} */ { path, done, total }) => {
      if (!isTTY) return;
      const line = `${doing} ${done + 1} of ${total}: ${safe(path).replace(/\s/g, " ")}`;
      process.stderr.write(`\r\u001b[K${cut(line, (columns || 80) - 1)}`);
    },
    end: () => void (isTTY && process.stderr.write("\r\u001b[K")),
  };
}

/** Stored text that cannot steer a terminal: whole escape sequences go first, then single controls and bidi marks. @param {string} text */
export function safe(text) {
  return text
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Bidi_Control}/gu, "");
}

/** JSON leaves as they are the controls above ASCII, which some terminals obey, and the marks of direction. @param {string} json */
export function escaped(json) {
  return json.replace(/[\u007f-\u009f\u2028\u2029]|\p{Bidi_Control}/gu, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
