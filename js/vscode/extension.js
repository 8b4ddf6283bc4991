// @ts-check
/** The extension of VS Code: what it registers. Nothing is read before a view is opened, or a command is run. */

import { commands } from "vscode";

import { registerChatParticipant } from "./chat-participant.js";
import { registerCommands } from "./commands.js";
import { registerFileSessions } from "./file-sessions.js";
import { registerDesktop } from "./desktop.node.js";
import { registerLanguageTools } from "./language-tools.js";
import { IS_WEB_HOST } from "./host.node.js";
import { OpenedStore } from "./opened-store.js";
import { SessionPanels } from "./session-panels.js";
import { registerSessionFiles } from "./session-files.js";
import { registerSessions } from "./sessions-tree.js";
import { registerStatusBar } from "./status-bar.js";

/** @import { ExtensionContext } from "vscode" */

/** @param {ExtensionContext} context */
export function activate(context) {
  if (IS_WEB_HOST) void commands.executeCommand("setContext", "leftoff.isWebHost", true);
  const opened = new OpenedStore(context);
  const panels = new SessionPanels(context, opened);
  const tree = registerSessions(context, opened);
  registerCommands(context, { opened, panels, tree });
  registerFileSessions(context, { opened, panels });
  registerDesktop(context, { opened, panels });
  registerStatusBar(context, { opened, panels });
  registerLanguageTools(context, opened);
  registerChatParticipant(context, { opened, panels });
  registerSessionFiles(context, { opened, panels });
  context.subscriptions.push(panels);
  ending = () => opened.close();
}

/** @type {() => Promise<void>} */
let ending = async () => {};

/** What was appended is on disk already; what is derived from it is written now. */
export const deactivate = () => ending();
