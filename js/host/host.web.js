// @ts-check
/**
 * The host functions of a page, a worker and workerd, which have no disk, processes, git or agents' folders: each of
 * `host.node.js`.
 */

import { LeftoffError } from "../error.js";
import { MemoryStorage } from "../storage/memory.js";
import { randomId } from "../wasm/clock.js";
import { basename, dirname, join, resolve } from "./path.web.js";

export { isGone, thisProcess } from "../storage/page-process.js";

/** @param {number} ms @param {AbortSignal} [signal] @returns {Promise<void>} */
export function pause(ms, signal) {
  return new Promise((go, refuse) => {
    const end = () => refuse(signal?.reason);
    if (signal?.aborted) return end();
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      go();
    }, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), end()), { once: true });
  });
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
export async function sha256(bytes) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** No signal ends a page. @type {(work: () => Promise<unknown>) => void} */
export const beforeSignals = () => {};
export const cancelBeforeSignals = beforeSignals;

export const userFolder = () => "/";
export const defaultHome = () => "/leftoff";
export const workingFolder = () => "/project";
/** No storage here has links. @param {string} folder */
export const realPath = (folder) => resolve("/", folder);
export const realPathAsFar = (/** @type {string} */ path) => path;

/** @param {string} path */
export const temporaryPathFor = (path) => join(dirname(path), `.${basename(path)}.${randomId()}.tmp`);

/** Storages in memory, lost with the page; `leftoff/storage/opfs` keeps files, in a worker. */
export async function storages() {
  const storage = new MemoryStorage();
  return () => storage;
}

/** There is no git. @returns {Promise<undefined>} */
export const runGit = async () => undefined;
/** @returns {Promise<import("../agents/transcript-locations.js").TranscriptLocation[]>} */
export const transcriptLocations = async () => [];

/** @returns {Promise<never>} */
export async function writeNativeSession() {
  throw new LeftoffError({ code: "missing_dependency", message: "a page cannot start an agent's client" });
}

/** @param {string} path @returns {Promise<never>} */
export async function readFile(path) {
  throw new LeftoffError({
    code: "not_found",
    message: `a page cannot read the path "${path}": pass the file as bytes or a Blob`,
  });
}
