// @ts-check
/** What all drivers share: a client's process, in a group of its own, ended with all that it leaves running. */

import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** @import { Look } from "./install.mjs" */
/** @import { Call } from "./model/script.mjs" */

/**
 * Where a client runs: its program, a HOME of its own, the project's folder; and with the fake model server.
 * @typedef {{ program: string, home: string, project: string }} Seat
 * @typedef {Seat & { url: string }} Place
 *
 * @typedef {object} Turn
 * @property {string} prompt
 * @property {string} [id] the session's; some clients take one for a new session, too
 * @property {boolean} resumes
 *
 * What a script asks a client for, in that one's words. Paths are absolute.
 * @typedef {object} Tools
 * @property {(command: string) => Omit<Call, "id">} shell
 * @property {(path: string) => Omit<Call, "id">} read
 * @property {(path: string, text: string) => Omit<Call, "id">} write
 *
 * A client's driver.
 * @typedef {object} Client
 * @property {string} name
 * @property {string} agent what leftoff calls it
 * @property {string} package npm's
 * @property {(look: Look) => string | null} program `null` where there is none for this machine
 * @property {() => string} [node] the Node that it is run with, where it brings none along
 * @property {(place: Place) => void} prepare writes its settings into the HOME
 * @property {(place: Place, turn: Turn) => Promise<string>} ask sends one prompt, waits until it was answered; the
 *   session's id
 * @property {(at: Seat, id: string) => Promise<string>} fileOf the file of a session
 * @property {(at: Seat, file: string) => Promise<void>} [take] takes a file in that others wrote; else it lies where it
 *   is found
 * @property {Tools} tools
 * @property {boolean} [repeatsResults] what it wrote itself it resumes with each result twice or three times
 */

// The groups of the clients that run. Whoever interrupts this process ends them, too.
/** @type {Set<number>} */
const groups = new Set();
process.on("exit", () => groups.forEach(endGroup));

// Nobody answers whom it could ask, so a turn that takes this long hangs.
const LONGEST_MS = 300_000;

/**
 * Runs a client until it has ended.
 * @param {string} name
 * @param {{ program: string, args: string[], project: string, home: string, env?: Record<string, string>, input?: string }} how
 * @returns {Promise<string>} what it printed
 */
export async function runProgram(name, { program, args, project, home, env = {}, input }) {
  const options = { cwd: project, env: { PATH: process.env.PATH, HOME: home, ...env } };
  // In a group of its own, so that whatever it leaves running can be ended with it.
  const child = spawn(program, args, { ...options, stdio: ["pipe", "pipe", "pipe"], detached: true });
  child.stdin.on("error", ignoreError).end(input);
  let [output, errors, isLate] = ["", "", false];
  child.stdout.setEncoding("utf8").on("data", (text) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const group = child.pid ?? 0;
  const end = () => endGroup(group);
  if (group) groups.add(group);
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, LONGEST_MS);
  // What the client leaves running may hold its output open, so the group is ended when the client itself is.
  child.on("exit", end);
  const status = await new Promise((resolve, reject) => child.on("close", resolve).on("error", reject)).finally(() => {
    clearTimeout(timer);
    groups.delete(group);
  });
  if (isLate || status !== 0)
    throw new Error(
      `expected ${name} to answer, but found ${isLate ? "nothing in time" : `exit ${status}`} instead: ${errors}${output}`.slice(
        0,
        4000,
      ),
    );
  return output;
}

/**
 * The files below a folder whose paths end so.
 * @param {string} folder
 * @param {string} ending
 * @returns {[string, ...string[]]}
 */
export function findFiles(folder, ending) {
  const [first, ...others] = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((one) =>
    one.endsWith(ending),
  );
  if (!first) throw new Error(`expected a file *${ending} under ${folder}, but found none`);
  return [join(folder, first), ...others.map((name) => join(folder, name))];
}

/** The field of the first line that has it. @param {string} output lines of JSON @param {string} field */
export function findField(output, field) {
  for (const line of output.split("\n").filter((one) => one.startsWith("{"))) {
    const value = JSON.parse(line)[field];
    if (value !== undefined) return value;
  }
  throw new Error(`expected "${field}" in a line of what the client printed, but found: ${output.slice(0, 2000)}`);
}

// Who does not read its input may have closed it.
function ignoreError() {}

/** @param {number} pid `0` where there is none */
function endGroup(pid) {
  if (pid === 0) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== "ESRCH") throw error;
  }
}
