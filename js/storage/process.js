// @ts-check
/** Identifies this process, and tells whether another one still lives: for Node, Deno and Bun. */

import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename } from "node:path";
import process from "node:process";

import { tryAllowed } from "../host/permissions.js";

/**
 * A process, described so that another on the same machine can tell whether it still lives.
 * @typedef {object} ProcessName
 * @property {number} pid
 * @property {string} host
 * @property {string} boot names the time since the machine was started; empty where the system does not tell
 * @property {string} start when the process began, in the system's own words; empty where it does not tell
 * @property {string} program
 */

/** @returns {ProcessName} */
export function thisProcess() {
  return describeProcess(process.pid);
}

/** Describes a process of this program. @param {number} pid @returns {ProcessName} */
export function describeProcess(pid) {
  const program = basename(process.argv[1] ?? process.argv0);
  return { pid, host: hostName(), boot: bootId(), start: startOf(pid), program };
}

/**
 * Whether a process is certainly gone. One on another host cannot be checked from here; without a host only its number
 * is known.
 * @param {ProcessName} other
 */
export function isGone({ pid, host, boot, start }) {
  if (host === "") return !isAlive(pid);
  if (host !== hostName()) return false;
  if (boot !== bootId()) return true;
  if (!isAlive(pid)) return true;
  // The system reuses numbers: then it is another process.
  return startOf(pid) !== start;
}

/**
 * The host's name; "unknown" where the runtime hides it, which equals no host's, so that its processes cannot be
 * checked.
 */
const hostName = () => tryAllowed(hostname) ?? "unknown";

function bootId() {
  return fileText("/proc/sys/kernel/random/boot_id").trim();
}

/** @param {number} pid */
function startOf(pid) {
  // The name, the second field, may hold blanks and brackets; the start time is the twentieth word after it.
  const stat = fileText(`/proc/${pid}/stat`);
  const [state, ...words] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // One that has ended, and waits for its parent to notice, did not start as far as anybody cares.
  return state === "Z" ? "" : (words[18] ?? "");
}

/** Whether there is a process of this number. @param {number} pid */
export function isAlive(pid) {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Not being allowed to signal it means that it lives, or that nobody here can tell.
    return error instanceof Error && (("code" in error && error.code === "EPERM") || error.name === "NotCapable");
  }
}

/** @param {string} path of a file that only Linux has */
function fileText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
