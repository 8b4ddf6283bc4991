// @ts-check
/** A repository's own history: what each commit made of which file, so that a session can do the same work again. */

import { spawnSync } from "node:child_process";

// A client shows a file of this size whole.
const LARGEST = 40_000;

/**
 * @typedef {{ path: string, before: string | null, after: string | null }} Change texts; null where there is no such
 *   file
 * @typedef {{ id: string, subject: string, changes: Change[] }} Commit
 */

/** @param {string} folder @param {string[]} args */
export function git(folder, args) {
  const done = spawnSync("git", ["-C", folder, ...args], { encoding: "buffer", maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`git ${args.join(" ")}: ${done.error ?? done.stderr}`);
  return done.stdout;
}

/** The commits of a repository, oldest first. @param {string} folder */
export function commits(folder) {
  return git(folder, ["log", "--first-parent", "--no-merges", "--reverse", "--format=%H"])
    .toString()
    .trim()
    .split("\n");
}

/** What a commit did to files that are text. @param {string} folder @param {string} id @returns {Commit} */
export function commit(folder, id) {
  const subject = git(folder, ["log", "-1", "--format=%s", id]).toString().trim();
  const named = git(folder, ["diff-tree", "-r", "-z", "--no-commit-id", "--no-renames", "--name-status", `${id}~1`, id])
    .toString()
    .split("\0");
  const changes = [];
  for (let at = 0; at + 1 < named.length; at += 2) {
    const [status, path = ""] = [named[at], named[at + 1]];
    const before = status === "A" ? null : textAt(folder, `${id}~1`, path);
    const after = status === "D" ? null : textAt(folder, id, path);
    if (before === undefined || after === undefined || before === after) continue;
    changes.push({ path, before, after });
  }
  return { id, subject, changes };
}

/**
 * A file at a commit; `undefined` where it is no text of a size that a client shows.
 * @param {string} folder
 * @param {string} id
 * @param {string} path
 */
function textAt(folder, id, path) {
  const shown = spawnSync("git", ["-C", folder, "show", `${id}:${path}`], { encoding: "buffer", maxBuffer: 1 << 28 });
  const text = shown.stdout.toString();
  const isText =
    shown.status === 0 &&
    text.length > 0 &&
    text.length < LARGEST &&
    Buffer.from(text).equals(shown.stdout) &&
    !/[\0\r]/.test(text);
  // Claude Code writes the character where it was given the escape of one.
  const isAsWritten = !/\\u[0-9a-fA-F]{4}/.test(text);
  return isText && isAsWritten && text.split("\n").every((line) => line.length < 2000) ? text : undefined;
}
