// @ts-check
/**
 * The host functions of Node, Deno and Bun, which have what a page lacks: a disk, processes, git, other agents' folders
 * and clients.
 */

import { createHash } from "node:crypto";
import { readFile as read, stat } from "node:fs/promises";
import { resolve } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";

import { LeftoffError } from "../error.js";
import { codeOf } from "../storage/folders.js";
import { NodeStorage } from "../storage/node.js";
import { ownFolder, rejectUnlessFolder } from "../storage/real-path.js";
import { tryAllowed, unlessRefused } from "./permissions.js";

/** @import { Session } from "../session/session.js" */

export { transcriptLocations } from "../agents/transcript-locations.js";
export { isGone, thisProcess } from "../storage/process.js";
export { beforeSignals, cancelBeforeSignals } from "../storage/signals.js";
export { realPathAsFar, realPath, workingFolder } from "../storage/real-path.js";
export { temporaryPathFor } from "../storage/whole-file.js";

/**
 * Resolves after so many milliseconds, or throws once the signal aborts.
 * @param {number} ms
 * @param {AbortSignal} [signal]
 */
export const pause = (ms, signal) => setTimeout(ms, undefined, { signal });

/** SHA-256 as lower-case hex. @param {Uint8Array} bytes */
export const sha256 = async (bytes) => createHash("sha256").update(bytes).digest("hex");

/** The user's home folder; empty where the runtime does not let us know it. */
export const userFolder = () =>
  tryAllowed(ownFolder) ?? tryAllowed(() => process.env.HOME || process.env.USERPROFILE) ?? "";

/** The store's folder, unless another is given; empty where the runtime does not let us know it. */
export function defaultHome() {
  const user = userFolder();
  return tryAllowed(() => process.env.LEFTOFF_HOME) || (user && resolve(user, ".leftoff"));
}

/** The storages of a store that was given none: one for each root. @param {string} home */
export async function storages(home) {
  // A store in whatever the working folder is would never be found again.
  if (!home)
    throw new LeftoffError({
      code: "not_found",
      message:
        'this process may not look up your home folder: pass the store\'s folder as "home", or allow it, in Deno by --allow-env=LEFTOFF_HOME,HOME',
    });
  rejectUnlessFolder(home);
  return (/** @type {string | undefined} */ root) => new NodeStorage({ root });
}

/** Runs git; nothing where there is none, or it may not be run. @type {typeof import("../placement/git.js").runGit} */
export async function runGit(asked, input) {
  const git = await import("../placement/git.js");
  return git.runGit(asked, input).catch(unlessRefused);
}

/** @param {Session} session @param {Parameters<typeof import("../agents/native.js").writeNativeSession>[1]} how */
export async function writeNativeSession(session, how) {
  const native = await import("../agents/native.js");
  return native.writeNativeSession(session, how);
}

/** Reads a file that a caller names. @param {string} path @returns {Promise<Uint8Array>} */
export async function readFile(path) {
  const refused = (
    /** @type {import("../storage/contract.js").Code | "not_found"} */ code,
    /** @type {string} */ found,
    /** @type {unknown} */ cause,
  ) => new LeftoffError({ code, message: `expected a file at "${path}", but ${found}`, cause });
  try {
    const found = await stat(path);
    if (found.isDirectory())
      throw refused("not_a_file", "found a folder: store.import reads all that is in one", undefined);
    // Opening a pipe would wait for a writer.
    if (!found.isFile()) throw refused("not_a_file", "found something else", undefined);
    return await read(path);
  } catch (cause) {
    if (cause instanceof LeftoffError) throw cause;
    const code = codeOf(cause);
    if (code === "ENOENT") throw refused("not_found", "found none", cause);
    if (code === "EACCES") throw refused("permission_denied", "it may not be read", cause);
    throw refused("storage_failed", `it could not be read: ${/** @type {Error} */ (cause).message}`, cause);
  }
}
