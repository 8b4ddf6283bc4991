// @ts-check
/** Two accounts of one conversation, compared. */

import assert from "node:assert/strict";

/** @import { SessionState } from "../../js/context.js" */
/** @import { Raw } from "./raw.mjs" */

// What is longer is kept by its beginning alone.
const TASK = 1000;
const COMMAND = 290;

/**
 * Fails where they differ: a file, a command or a task that one has and the other has not, or has otherwise.
 * @param {Raw} found @param {Raw} known @param {string} what
 */
export function agree(found, known, what) {
  const sorted = (/** @type {Map<string, any>} */ map) => [...map].map(([name, value]) => [name.slice(0, COMMAND), value]).sort(([a], [b]) => (a < b ? -1 : 1));
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
