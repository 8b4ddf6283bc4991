// @ts-check
/** Runs git as a process, as one of the core's operations asks. */

import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import process from "node:process";

import { LeftoffError } from "../error.js";
import { isRefused } from "../host/permissions.js";

/**
 * A call of git.
 * @typedef {{ folder: string, arguments: string[], variables: [name: string, value: string][], without: string[], limitMs: number }} GitRequest
 */
/**
 * Git's result; `status`: nothing where git was killed.
 * @typedef {{ status: number | null, out: Uint8Array, words: string, isLate: boolean }} GitResponse
 */

/** How long a process told to end may take, and how long processes it left behind may hold its pipes. */
const GRACE_MS = 500;
const MAX_STDERR_CHARS = 4_000;

/**
 * Runs git; nothing where there is none, or no folder.
 * @param {GitRequest} asked
 * @param {Uint8Array} input what it reads
 * @returns {Promise<GitResponse | undefined>}
 */
export async function runGit(asked, input) {
  const git = statSync(asked.folder, { throwIfNoEntry: false })?.isDirectory() ? findGit() : undefined;
  return git === undefined ? undefined : run(git, asked, input);
}

/** @param {string} git @param {GitRequest} asked @param {Uint8Array} input @returns {Promise<GitResponse>} */
function run(git, { folder, arguments: args, variables, without, limitMs }, input) {
  const env = { ...process.env };
  for (const name of without) delete env[name];
  Object.assign(env, Object.fromEntries(variables));
  return new Promise((answer, reject) => {
    const child = spawn(git, args, { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"], windowsHide: true });
    /** @type {Buffer[]} */
    const out = [];
    let words = "";
    let isLate = false;
    /** @type {NodeJS.Timeout[]} */
    const timers = [];
    const finish = () => {
      timers.forEach(clearTimeout);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
      answer({ status: child.exitCode, out: Buffer.concat(out), words: words.trim(), isLate });
    };
    const end = () => {
      isLate = true;
      // On SIGTERM git removes its locks.
      child.kill("SIGTERM");
      timers.push(setTimeout(() => child.kill("SIGKILL"), GRACE_MS));
    };
    timers.push(setTimeout(end, limitMs));
    child.stdout.on("data", (bytes) => out.push(bytes));
    child.stderr.setEncoding("utf8").on("data", (text) => (words = (words + text).slice(-MAX_STDERR_CHARS)));
    child.on("error", (cause) => {
      timers.forEach(clearTimeout);
      reject(
        isRefused(cause)
          ? cause
          : new LeftoffError({ code: "git_failed", message: `"${git}" could not be started: ${cause.message}`, cause }),
      );
    });
    // What a hook leaves running keeps the pipes; git itself has answered.
    child.on("exit", () => timers.push(setTimeout(finish, GRACE_MS)));
    child.on("close", finish);
    // A process that ends before reading all of its input says why by its status.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/**
 * Finds git. Relative folders on the PATH are skipped: they would lead into the repository; so would Windows, which
 * looks there first.
 */
function findGit() {
  const name = process.platform === "win32" ? "git.exe" : "git";
  const paths = (process.env.PATH ?? "")
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return statSync(path).isFile();
    } catch {
      return false; // What cannot be looked at cannot be run either.
    }
  });
}
