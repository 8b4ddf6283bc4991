// @ts-check
/** The two placements of sessions: below the home, or beside a conversation of a workspace. */

import { basename, dirname } from "../host/path.node.js";

import { callCore } from "../wasm/core.js";

/** @import { Storage } from "../storage/contract.js" */

/**
 * The place of one session.
 * @typedef {object} SessionPlace
 * @property {Storage} storage
 * @property {string} path the folder of its logs
 * @property {"home" | "workspace"} placement
 */

/** @type {ReturnType<import("../wasm/core.js").Core["layoutNames"]> | undefined} */
let known;

/** The core's names of files and folders; asked once. */
export function layoutNames() {
  known ??= callCore((core) => core.layoutNames());
  return known;
}

/**
 * The conversation that a session's folder in a workspace belongs to: its folder, name, day and workspace.
 * @param {string} path
 */
export function conversationOf(path) {
  const folder = dirname(path);
  const day = dirname(folder);
  return { folder, name: basename(folder), day: basename(day), workspace: dirname(dirname(day)) };
}
