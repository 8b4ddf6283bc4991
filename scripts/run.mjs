// @ts-check
// Runs one step of the set-up or of the tests, and prints its name, its output and its time.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

const rustupHome = findRustup();

/**
 * The environment in which rustup and the programs of npm's packages are found.
 * @param {Record<string, string>} [env]
 */
function environment(env = {}) {
  const path = env.PATH ?? process.env.PATH ?? "";
  return { ...process.env, ...rustupHome, ...env, PATH: [join(root, "node_modules", ".bin"), path].join(delimiter) };
}

/**
 * Finds rustup's toolchains. With another HOME rustup looks for them there and finds none, even though cargo is on
 * PATH. If they lie beside that cargo, as rustup lays them out, they are used.
 */
function findRustup() {
  if (process.env.RUSTUP_HOME || existsSync(join(homedir(), ".rustup", "toolchains"))) return {};
  const folders = (process.env.PATH ?? "").split(delimiter).filter((folder) => existsSync(join(folder, "cargo")));
  const found = folders
    .map((folder) => join(folder, "..", "..", ".rustup"))
    .find((home) => existsSync(join(home, "toolchains")));
  return found ? { RUSTUP_HOME: found } : {};
}

/**
 * Runs a command. Ends the process where it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string, quiet?: boolean }} [options] `quiet` shows output only of a
 *   failure
 * @returns {string} what it printed on stdout, where it was quiet
 */
export function run(command, args, { env, cwd = root, quiet = false } = {}) {
  const stdio = quiet ? "pipe" : "inherit";
  const done = spawnSync(command, args, {
    cwd,
    env: environment(env),
    stdio: ["ignore", stdio, stdio],
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  if (done.error || done.status !== 0) {
    process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}`);
    fail(`${command} ${args.join(" ")} (${done.error?.message ?? `exit ${done.status ?? done.signal}`})`);
  }
  return done.stdout ?? "";
}

/**
 * Returns what a command prints, or null where it fails, takes too long or is missing.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, timeoutMs?: number }} [options]
 */
export function ask(command, args, { env, timeoutMs } = {}) {
  const done = spawnSync(command, args, { cwd: root, env: environment(env), encoding: "utf8", timeout: timeoutMs });
  return done.error || done.status !== 0 ? null : done.stdout.trim();
}

/**
 * Runs a command, shows its output while it comes, and keeps it.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, quiet?: boolean, limitMs?: number }} [options] `quiet` shows nothing;
 *   `limitMs`: it is ended after so long
 * @returns {Promise<{ ok: boolean, output: string }>}
 */
export function watch(command, args, { env, quiet = false, limitMs } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: environment(env),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: limitMs,
      killSignal: "SIGKILL",
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (!quiet) process.stdout.write(text);
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
      if (!quiet) process.stderr.write(text);
    });
    child.on("error", (error) => {
      console.error(`${command}: ${error.message}`);
      resolve({ ok: false, output });
    });
    child.on("close", (status) => resolve({ ok: status === 0, output }));
  });
}

/**
 * Runs a command like `run`, quietly and asynchronously, beside other work.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string> }} [options]
 */
export async function runQuietly(command, args, options) {
  const { ok, output } = await watch(command, args, { ...options, quiet: true });
  if (ok) return;
  process.stderr.write(output);
  fail(`${command} ${args.join(" ")}`);
}

/**
 * Runs a step and prints its name and its time. A step that had nothing to do answers `false`.
 * @param {string} name
 * @param {() => boolean | void | Promise<boolean | void>} work
 */
export async function step(name, work) {
  const start = performance.now();
  const did = await work();
  console.log(did === false ? `  ${name}: skipped: already there` : `  ${name}: ${seconds(start)}`);
}

/** Formats the time since `start` for people. @param {number} start milliseconds, of `performance.now()` */
export function seconds(start) {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

/** Prints why, and ends the process. @param {string} why @returns {never} */
export function fail(why) {
  console.error(`\nfailed: ${why}`);
  process.exit(1);
}
