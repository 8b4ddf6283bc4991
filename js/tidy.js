// @ts-check
/** Archives sessions of a project that are too many, or inactive for too long; deletes none. */

import { called, toBytes } from "./core.js";
import { unlessBug } from "./error.js";

/** @import { Listed } from "./types/index.js" */

/**
 * Which of them are to be archived; those of sub-agents, which lists do not have, are left alone.
 * @param {Listed[]} listed those of a project, last active first
 * @param {{ maxSessionsPerProject: number, autoArchiveAfterDays: number, nowMs: number, currentId?: string }} limits
 */
export function tooOld(listed, { maxSessionsPerProject, autoArchiveAfterDays, nowMs, currentId }) {
  const about = toBytes(listed.map(({ id, placement, status, lastActive }) => ({ id, placement, isReadable: status !== "unreadable", lastActive })));
  const old = called((core) => core.tooOld(about, maxSessionsPerProject, autoArchiveAfterDays, nowMs, currentId));
  return Array.from(old, (place) => /** @type {Listed} */ (listed[place]));
}

/**
 * Archives them one after another; one that somebody has open, or that cannot be written, is left as it is.
 * @param {Listed[]} old
 * @param {(one: Listed) => Promise<boolean>} archive whether it did
 * @returns {Promise<string[]>} the ids of those that were archived
 */
export async function archiveAll(old, archive) {
  const ids = [];
  for (const one of old) if (await archive(one).catch(unlessBug)) ids.push(one.id);
  return ids;
}
