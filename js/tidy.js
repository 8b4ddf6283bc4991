// @ts-check
/** Archives sessions of a project that are too many, or inactive for too long; deletes none. */

import { unlessBug } from "./error.js";

/** @import { Listed } from "./types/index.js" */

const DAY_MS = 24 * 60 * 60_000;

/**
 * Which of them are to be archived. What lies in a workspace is the user's, and in git: it is left alone, and so are
 * a session of which nothing can be read, the current one, and those of sub-agents, which lists do not have.
 * @param {Listed[]} listed those of a project, last active first
 * @param {{ maxSessionsPerProject: number, autoArchiveAfterDays: number, nowMs: number, currentId?: string }} limits
 */
export function tooOld(listed, { maxSessionsPerProject, autoArchiveAfterDays, nowMs, currentId }) {
  const oldest = nowMs - autoArchiveAfterDays * DAY_MS;
  const mine = listed.filter(({ placement, status }) => placement === "home" && status !== "unreadable");
  const old = mine.filter((one, place) => place >= maxSessionsPerProject || Date.parse(one.lastActive) < oldest);
  return old.filter(({ id }) => id !== currentId);
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
