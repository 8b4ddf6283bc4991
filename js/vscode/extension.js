// @ts-check
/** The extension of VS Code: what it registers. Nothing is read before a view is opened, or a command is run. */

import { registerCommands } from "./commands.js";
import { OpenedStore } from "./opened-store.js";
import { SessionPanels } from "./session-panels.js";
import { registerSessions } from "./sessions-tree.js";

/** @import { ExtensionContext } from "vscode" */

/** @param {ExtensionContext} context */
export function activate(context) {
  const opened = new OpenedStore(context);
  const panels = new SessionPanels(context, opened);
  const tree = registerSessions(context, opened);
  registerCommands(context, { opened, panels, tree });
  context.subscriptions.push(panels);
  ending = () => opened.close();
}

/** @type {() => Promise<void>} */
let ending = async () => {};

/** What was appended is on disk already; what is derived from it is written now. */
export const deactivate = () => ending();
