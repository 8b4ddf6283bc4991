// @ts-check
/** Sessions in other agents' folders: their view, what it imports, and the warning before their client deletes them. */

import { commands, window, workspace } from "vscode";

import { askCommandLine } from "./child.node.js";
import { tellErrors } from "./commands.js";
import { arrangeFound } from "./found-rows.js";
import { FoundTree } from "./found-tree.js";
import { formatCount, formatDay } from "./texts.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { FoundRow } from "./found-rows.js" */
/** @import { ExpiringSession } from "./found-tree.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels } from "./session-panels.js" */

const VIEW = "leftoff.found";
const WARNING_SETTING = "warnBeforeDeletion";

/** @typedef {{ context: ExtensionContext, opened: OpenedStore, panels: SessionPanels, tree: FoundTree, signal: AbortSignal }} FoundParts */

/** @param {ExtensionContext} context @param {{ opened: OpenedStore, panels: SessionPanels }} made */
export function registerFound(context, made) {
  const ending = new AbortController();
  const { signal } = ending;
  const tree = new FoundTree(() => askCommandLine(context, ["import", "--all", "--dry-run"], signal));
  const view = window.createTreeView(VIEW, { treeDataProvider: tree, showCollapseAll: true });
  /** @type {FoundParts} */
  const parts = { context, ...made, tree, signal };
  const register = (/** @type {string} */ name, /** @type {(row?: FoundRow) => Promise<unknown> | void} */ work) =>
    commands.registerCommand(`leftoff.${name}`, (row) => tellErrors(() => work(row)));
  const importChosen = async (/** @type {FoundRow | undefined} */ clicked) => {
    const row = clicked ?? (await chooseFound(tree));
    return row && { row, id: await importRows(parts, [row]) };
  };
  let isWarned = false;
  context.subscriptions.push(
    tree,
    view,
    { dispose: () => ending.abort() },
    register("openFound", async (clicked) => {
      const done = await importChosen(clicked);
      if (done?.id) parts.panels.show({ id: done.id, title: done.row.title });
    }),
    register("importFound", importChosen),
    register("refreshFound", () => tree.refresh()),
    register("checkDeletion", async () => {
      if (!(await warnOfDeletion(parts)))
        void window.showInformationMessage("Claude Code deletes no session soon that is not imported.");
    }),
    view.onDidChangeVisibility(({ visible }) => {
      if (!visible || isWarned || !workspace.getConfiguration("leftoff").get(WARNING_SETTING)) return;
      isWarned = true;
      // The view first: both read the same files.
      void tellErrors(() => tree.agents().then(() => warnOfDeletion(parts)));
    }),
  );
}

/** @param {FoundTree} tree @returns {Promise<FoundRow | undefined>} */
async function chooseFound(tree) {
  const rows = (await tree.agents()).flatMap((agent) => agent.rows);
  const items = rows.map((row) => ({
    label: row.title || "Untitled",
    description: row.agent,
    detail: row.folder,
    row,
  }));
  const placeHolder = rows.length > 0 ? "A session of another agent" : "Nothing to import";
  return (await window.showQuickPick(items, { placeHolder, matchOnDescription: true, matchOnDetail: true }))?.row;
}

/**
 * Imports sessions with their sub-agents, and gives the store's id of the first.
 * @param {FoundParts} parts @param {readonly FoundRow[]} rows
 */
async function importRows({ opened, tree }, rows) {
  const store = await opened.store();
  const paths = [...new Set(rows.flatMap((row) => row.paths))];
  const as = { location: { viewId: VIEW } };
  const imported = await window.withProgress(as, async () => {
    const results = [];
    for (const path of paths) results.push(...(await store.import(path)).imported);
    return results;
  });
  tree.remove(paths);
  opened.tellChange();
  const [first] = rows;
  // What was resumed elsewhere goes on in the session that it was resumed from.
  return imported.find(({ path }) => path === first?.path)?.id ?? first?.id;
}

/** Says which sessions their client soon deletes; false if none. @param {FoundParts} parts */
async function warnOfDeletion(parts) {
  const { context, tree, signal } = parts;
  /** @type {ExpiringSession[]} */
  const expiring = await askCommandLine(context, ["doctor", "--agents"], signal);
  tree.markExpiring(expiring);
  const rows = arrangeFound(expiring, expiring).flatMap((agent) => agent.rows);
  if (rows.length > 0) void tellErrors(() => askWhatToDo(parts, rows));
  return rows.length > 0;
}

/** @param {FoundParts} parts @param {FoundRow[]} rows those that are deleted first at first */
async function askWhatToDo(parts, rows) {
  const those = formatCount(rows.length, "session");
  const verb = rows.length === 1 ? "is" : "are";
  const day = formatDay(rows[0]?.expires ?? "");
  const text = `${those} will be deleted by Claude Code from ${day} on and ${verb} not imported.`;
  const [take, show, end] = ["Import", "Show", "Do Not Tell Again"];
  const answer = await window.showWarningMessage(text, take, show, end);
  if (answer === show) await commands.executeCommand(`${VIEW}.focus`);
  if (answer === end) await workspace.getConfiguration("leftoff").update(WARNING_SETTING, false, true);
  if (answer !== take) return;
  await importRows(parts, rows);
  void window.showInformationMessage(`Imported ${those}.`);
}
