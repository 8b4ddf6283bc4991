// @ts-check
/** All that is printed, except questions, which prompts.js asks. */

import { once } from "node:events";

import { LeftoffError } from "../error.js";
import { cut } from "./width.js";

/**
 * Prints a command's answer on standard output.
 * @param {string} text
 * @param {{ isSafe?: boolean }} [options] `isSafe`: it is JSON, in which what steers a terminal can be escaped
 */
export function print(text, { isSafe = false } = {}) {
  writeStdout(isSafe ? escapeControls(text) : stripControls(text));
}

/**
 * Prints a piece of an answer; resolves once there is room for more, or nobody reads any longer.
 * @param {string} text
 */
export async function printPiece(text) {
  if (!writeStdout(stripControls(text))) await once(process.stdout, "drain").catch(() => {});
}

/** @param {string} text */
function writeStdout(text) {
  endWorking();
  if (!process.stdout.listeners("error").includes(onStdoutError)) process.stdout.on("error", onStdoutError);
  return isUnheard || process.stdout.write(text);
}

let isUnheard = false;

// A reader may stop early, as "head" does; a full disk is an error.
/** @param {NodeJS.ErrnoException} error */
function onStdoutError(error) {
  const isFirst = !isUnheard;
  isUnheard = true;
  if (isFirst && error.code !== "EPIPE")
    printError(
      new LeftoffError({
        code: "storage_failed",
        message: `could not write the answer: ${error.message}`,
        cause: error,
      }),
    );
}

/**
 * Prints why nothing was done: a sentence and a code on standard error. Exit status 1, or 2 where the usage is wrong.
 * @param {unknown} error
 */
export function printError(error) {
  if (!(error instanceof LeftoffError)) throw error;
  const { code, message } = error;
  tell(`${message} (${code})`, { error: { code, message } });
  process.exitCode = error.code === "usage" || error.code === "ambiguous" ? 2 : 1;
}

/** Whether a person can be asked. */
export function isTerminal() {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Prints a note for the person at the terminal. @param {string} text */
export function note(text) {
  tell(text, { note: { message: text } });
}

/** Notes for after the answer, each once. @type {Set<string>} */
const later = new Set();

/** Keeps a note to be printed after the answer, once. @param {string} text */
export function noteLater(text) {
  if (later.size === 0) process.once("exit", printNotes);
  later.add(text);
}

/** Prints the notes that wait for the answer. */
export function printNotes() {
  for (const text of later) note(text);
  later.clear();
}

let isForProgram = false;

/** Sets whether a program reads: then each line on standard error is a JSON value, too. @param {boolean} is */
export function writeForProgram(is) {
  isForProgram = is;
}

/** @param {string} text @param {object} value the same for a program */
function tell(text, value) {
  endWorking();
  process.stderr.write(
    isForProgram ? `${escapeControls(JSON.stringify(value))}\n` : `leftoff: ${stripControls(text)}\n`,
  );
}

const SECOND_MS = 1000;
/** Clears the line that shows the current work. */
let endShown = () => {};

/**
 * Shows, after the first second, what goes on, in a line on a terminal, until something else is printed.
 * @param {string} doing
 */
export function showWorking(doing) {
  endWorking();
  if (!process.stderr.isTTY || isForProgram) return;
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    process.stderr.write(`\r\u001b[K${doing}, ${seconds} s`);
  }, SECOND_MS);
  timer.unref();
  endShown = () => {
    clearInterval(timer);
    if (seconds > 0) process.stderr.write("\r\u001b[K");
  };
}

/** Removes that line. */
export function endWorking() {
  endShown();
  endShown = () => {};
}

/**
 * Shows progress in one line that is rewritten; only on a terminal.
 * @param {string} doing
 * @param {string} what what is counted, one of it
 */
export function progress(doing, what) {
  const { isTTY, columns } = process.stderr;
  let shown = "";
  /** @typedef {import("../types/index.js").DoctorProgress & { bytes?: number, totalBytes?: number }} Shown */
  return {
    onProgress: (/** @type {Shown} */ { path, done, total, bytes = 0, totalBytes = 0 }) => {
      if (!isTTY) return;
      endWorking();
      const share = totalBytes > 0 ? `${Math.floor((100 * bytes) / totalBytes)}% of ${formatSize(totalBytes)}, ` : "";
      const line = cut(
        `${doing} ${share}${what} ${done + 1} of ${total}: ${stripControls(path).replace(/\s/g, " ")}`,
        (columns || 80) - 1,
      );
      if (line !== shown) process.stderr.write(`\r\u001b[K${line}`);
      shown = line;
    },
    end: () => void (isTTY && process.stderr.write("\r\u001b[K")),
  };
}

/** A line for a pipe: columns separated by tabs, nothing cut. @param {readonly unknown[]} cells */
export function columnsText(cells) {
  return `${cells
    .map((cell) =>
      String(cell ?? "")
        .replace(/\s+/g, " ")
        .trim(),
    )
    .join("\t")}\n`;
}

/** @param {number} count @param {string} what one of them is called */
export function formatCount(count, what) {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** @param {number} bytes */
export function formatSize(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1024 ** 2 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

/**
 * Removes what could steer a terminal: first whole escape sequences, then single controls and bidi marks.
 * @param {string} text
 */
export function stripControls(text) {
  return text
    .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\p{Bidi_Control}/gu, "");
}

/**
 * Escapes what JSON leaves as it is: controls above ASCII, which some terminals obey, and direction marks.
 * @param {string} json
 */
export function escapeControls(json) {
  return json.replace(
    /[\u007f-\u009f\u2028\u2029]|\p{Bidi_Control}/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
