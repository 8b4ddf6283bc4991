// @ts-check
/** The two places where sessions lie: below the home, or beside a conversation of a workspace. */

import { basename, dirname } from "../host/path.node.js";

import { callCore } from "../wasm/core.js";

/** @import { Storage } from "../storage/contract.js" */

/**
 * Where one session lies.
 * @typedef {object} SessionPlace
 * @property {Storage} storage
 * @property {string} path the folder of its logs
 * @property {"home" | "workspace"} placement
 */

/** @type {ReturnType<import("../wasm/core.js").Core["layoutNames"]> | undefined} */
let known;

/** What the core calls files and folders; asked once. */
export function layoutNames() {
  known ??= callCore((core) => core.layoutNames());
  return known;
}

/** The conversation of a session's folder in a workspace: its folder, its name, its day, its workspace. @param {string} path */
export function conversationOf(path) {
  const folder = dirname(path);
  const day = dirname(folder);
  return { folder, name: basename(folder), day: basename(day), workspace: dirname(dirname(day)) };
}
