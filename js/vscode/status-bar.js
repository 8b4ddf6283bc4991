// @ts-check
/** The current session in the status bar: the one whose panel has the focus, else the project's. */

import { StatusBarAlignment, window, workspace } from "vscode";

/** @import { ExtensionContext } from "vscode" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels } from "./session-panels.js" */

const MAX_TITLE_CHARS = 40;
const SETTING = "leftoff.statusBar";

/** @param {ExtensionContext} context @param {{ opened: OpenedStore, panels: SessionPanels }} made */
export function registerStatusBar(context, { opened, panels }) {
  const item = window.createStatusBarItem("leftoff.current", StatusBarAlignment.Left);
  item.name = "leftoff: Current Session";
  let asked = 0;
  const update = async () => {
    const own = (asked += 1);
    const isOn = workspace.getConfiguration().get(SETTING);
    // Nothing is read for it that is not read already.
    const current = isOn && opened.isOpen ? await findCurrent(opened, panels).catch(() => undefined) : undefined;
    if (own !== asked) return;
    if (!current) return item.hide();
    const { title } = current;
    const shown = title.length > MAX_TITLE_CHARS ? `${title.slice(0, MAX_TITLE_CHARS - 1)}…` : title;
    // "$(" begins an icon here.
    item.text = `$(comment-discussion) ${shown.replaceAll("$(", "$ (")}`;
    item.tooltip = title;
    item.accessibilityInformation = { label: `Open the session ${title}`, role: "button" };
    item.command = { command: "leftoff.open", title: "Open", arguments: [current] };
    item.show();
  };
  context.subscriptions.push(
    item,
    opened.onDidChange(update),
    opened.onDidOpen(update),
    window.tabGroups.onDidChangeTabs(update),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration(SETTING)) void update();
    }),
  );
}

/** @param {OpenedStore} opened @param {SessionPanels} panels */
async function findCurrent(opened, { current: id }) {
  const store = await opened.store();
  const session = await (id ? store.session(id) : store.current());
  if (!session) return undefined;
  const current = { id: session.id, title: session.metadata.display.title || "Untitled" };
  await session.close();
  return current;
}
