// @ts-check
// Running one step of the set-up or of the tests: its name before it, its time behind it.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Runs a command and shows its output. Ends the process where it fails.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, cwd?: string, quiet?: boolean }} [options] `quiet` shows output only of a failure
 * @returns {string} what it printed, where it was quiet
 */
export function run(command, args, { env = {}, cwd = root, quiet = false } = {}) {
  const stdio = quiet ? "pipe" : "inherit";
  const done = spawnSync(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", stdio, stdio],
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
  });
  if (done.error || done.status !== 0) {
    process.stderr.write(`${done.stdout ?? ""}${done.stderr ?? ""}`);
    console.error(`\nfailed: ${command} ${args.join(" ")} (${done.error?.message ?? `exit ${done.status ?? done.signal}`})`);
    process.exit(1);
  }
  return `${done.stdout ?? ""}${done.stderr ?? ""}`;
}

/**
 * What a command prints, or null where it fails or is not there.
 * @param {string} command
 * @param {string[]} args
 * @param {{ env?: Record<string, string>, timeoutMs?: number }} [options]
 */
export function ask(command, args, { env = {}, timeoutMs } = {}) {
  const done = spawnSync(command, args, {
    cwd: root,
    env: { ...process.env, ...env },
    encoding: "utf8",
    timeout: timeoutMs,
  });
  return done.error || done.status !== 0 ? null : done.stdout.trim();
}

/**
 * A step with its name and its time. A step that has nothing to do answers `false`.
 * @param {string} name
 * @param {() => boolean | void | Promise<boolean | void>} work
 */
export async function step(name, work) {
  const start = performance.now();
  const did = await work();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(did === false ? `  ${name}: there already` : `  ${name}: ${seconds} s`);
}
