// @ts-check
// The command line on a terminal: a real one, made by util-linux's "script". What is typed is typed when what it
// answers was seen, so that nothing waits for a time.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { fileURLToPath } from "node:url";
import { nodePath } from "./node-path.js";

export const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/** Why there is no terminal here, or false. */
export const noTerminal =
  !/util-linux/.test(spawnSync("script", ["--version"], { encoding: "utf8" }).stdout ?? "") &&
  "needs util-linux's script";

export const KEYS = {
  up: "\u001b[A",
  down: "\u001b[B",
  enter: "\r",
  escape: "\u001b",
  backspace: "\u007f",
  ctrlC: "\u0003",
  ctrlD: "\u0004",
  ctrlN: "\u000e",
};

/**
 * @typedef {object} Terminal
 * @property {(text: string | RegExp) => Promise<string>} see waits until the text is shown, behind what was typed last;
 *   gives what was shown since
 * @property {(keys: string) => void} type
 *
 * @typedef {{ status: number | null, shown: string, raw: string }} TerminalResult `raw`: with what steers the terminal
 */

const quoteWord = (/** @type {string} */ word) => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Runs leftoff on a terminal.
 * @param {string[]} args
 * @param {Parameters<typeof runOnTerminal>[1]} where
 * @param {(terminal: Terminal) => Promise<void>} work
 */
export function onTerminal(args, where, work) {
  return runOnTerminal([nodePath, entry, ...args], where, work);
}

/**
 * Runs a program on a terminal.
 * @param {string[]} words the program, and its arguments
 * @param {{ cwd: string, env: Record<string, string>, columns?: number, rows?: number, stdout?: string }} where
 *   `stdout`: a file that takes standard output
 * @param {(terminal: Terminal) => Promise<void>} work
 * @returns {Promise<TerminalResult>}
 */
export async function runOnTerminal(words, { cwd, env, columns = 80, rows = 24, stdout }, work) {
  const given = Object.entries({ TERM: "xterm", ...env }).map(([name, value]) => `${name}=${quoteWord(value)}`);
  const command = ["exec env -i", ...given, ...words.map(quoteWord), ...(stdout ? [`>${quoteWord(stdout)}`] : [])].join(
    " ",
  );
  const child = spawn("script", ["-qfec", `stty cols ${columns} rows ${rows}; ${command}`, "/dev/null"], {
    cwd,
    stdio: "pipe",
  });
  const closed = new Promise((resolve) => child.on("close", resolve));
  let raw = "";
  let from = 0;
  let look = () => {};
  const shown = () => stripVTControlCharacters(raw.slice(from));
  child.stdout.setEncoding("utf8").on("data", (text) => {
    raw += text;
    look();
  });
  /** @param {string | RegExp} text @returns {Promise<string>} */
  const see = (text) =>
    new Promise((resolve, reject) => {
      const isThere = () => (typeof text === "string" ? shown().includes(text) : text.test(shown()));
      look = () => void (isThere() && resolve(shown()));
      void closed.then(() =>
        reject(
          new assert.AssertionError({
            message: `expected "${text}" on the terminal, but found ${JSON.stringify(shown())} instead`,
          }),
        ),
      );
      look();
    });
  const type = (/** @type {string} */ keys) => {
    from = raw.length;
    child.stdin.write(keys);
  };
  // Where nothing of what is waited for comes, the test must end.
  const timer = setTimeout(() => child.kill(), 30_000);
  try {
    await work({ see, type });
    const status = await closed;
    return { status, shown: stripVTControlCharacters(raw), raw };
  } finally {
    clearTimeout(timer);
    child.kill();
  }
}
