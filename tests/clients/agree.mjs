// @ts-check
/** Two accounts of one conversation, compared. */

import assert from "node:assert/strict";
import { pathInProject } from "./facts-in-context.mjs";

/** @import { Raw } from "./raw.mjs" */
/** @import { SessionState } from "../../js/types/index.js" */

// What is longer is kept by its beginning alone.
const TASK = 1000;
const COMMAND = 290;

/**
 * Fails where they differ: a file, a command or a task that one has and the other has not, or has otherwise.
 * @param {Raw} found @param {Raw} known
 * @param {{ what: string, project: string }} of a file within the project may be named from there
 */
export function agree(found, known, { what, project }) {
  const sorted = (/** @type {Map<string, any>} */ map) =>
    [...map]
      .map(([name, value]) => [pathInProject(name, project).slice(0, COMMAND), value])
      .sort(([a], [b]) => (a < b ? -1 : 1));
  assert.equal(found.task.slice(0, TASK), known.task.slice(0, TASK), `${what}: the task`);
  assert.deepEqual(sorted(found.files), sorted(known.files), `${what}: files`);
  assert.deepEqual(sorted(found.failed), sorted(known.failed), `${what}: failed commands`);
  assert.deepEqual(found.open, known.open, `${what}: open tasks`);
}

/** @param {SessionState} state @returns {Raw} */
export function ofState({ originalTask, modifiedFiles, failedCommands, openTasks }) {
  return {
    task: originalTask,
    files: new Map(modifiedFiles.map(({ path, action }) => [path, action])),
    failed: new Map(failedCommands.map(({ command, failures, hasPassed }) => [command, { failures, hasPassed }])),
    open: openTasks,
  };
}
