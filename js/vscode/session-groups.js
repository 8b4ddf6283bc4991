// @ts-check
/** Sessions in groups, the one with the last active session first. */

import { basename } from "../host/path.node.js";

/** @import { Listed } from "../index.js" */

/** @typedef {"day" | "agent" | "project" | "status"} GroupKey */
/** @typedef {{ id: string, label: string, place: number, sessions: Listed[] }} Group `place`: which group it is, from 0 */

const DAY_MS = 86_400_000;

/**
 * @param {readonly Listed[]} listed the last active first
 * @param {GroupKey} key
 * @param {Date} now
 * @returns {Group[]}
 */
export function groupSessions(listed, key, now) {
  /** @type {Map<string, Listed[]>} */
  const groups = new Map();
  for (const one of listed) {
    const label = labelOf(one, key, now);
    const group = groups.get(label);
    if (group) group.push(one);
    else groups.set(label, [one]);
  }
  return [...groups].map(([label, sessions], place) => ({ id: `${key}:${label}`, label, place, sessions }));
}

/** @param {Listed} listed @param {GroupKey} key @param {Date} now */
function labelOf({ lastActive, agent, project, status }, key, now) {
  if (key === "agent") return agent ?? "leftoff";
  if (key === "project") return project ? basename(project) : "No project";
  if (key === "status") return `${status[0].toUpperCase()}${status.slice(1)}`;
  return labelOfDay(new Date(lastActive), now);
}

/** @param {Date} date @param {Date} now */
function labelOfDay(date, now) {
  const days = Math.round((startOfDay(now) - startOfDay(date)) / DAY_MS);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return date.toLocaleDateString(undefined, { weekday: "long" });
  const isThisYear = date.getFullYear() === now.getFullYear();
  return date.toLocaleDateString(undefined, { month: "long", ...(!isThisYear && { year: "numeric" }) });
}

/** Midnight where the user is. @param {Date} date */
const startOfDay = (date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
