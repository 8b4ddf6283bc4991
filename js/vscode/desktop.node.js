// @ts-check
/** The parts that need a disk and programs. */

import { registerFound } from "./found.node.js";
import { registerMcpServer } from "./mcp-server.node.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels } from "./session-panels.js" */

/** @param {ExtensionContext} context @param {{ opened: OpenedStore, panels: SessionPanels }} made */
export function registerDesktop(context, made) {
  registerFound(context, made);
  registerMcpServer(context);
}
