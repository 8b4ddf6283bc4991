// @ts-check
/** leftoff's MCP server, told to the editor: its agents search and recall sessions without being set up. */

import { EventEmitter, lm, McpStdioServerDefinition, workspace } from "vscode";

import { storeArguments } from "./child.node.js";
import { commandLine } from "./host.node.js";

/** @import { ExtensionContext } from "vscode" */

/** @param {ExtensionContext} context */
export function registerMcpServer(context) {
  // Editors that follow VS Code late have no such servers.
  if (typeof lm?.registerMcpServerDefinitionProvider !== "function") return;
  const changed = new EventEmitter();
  context.subscriptions.push(
    changed,
    workspace.onDidChangeWorkspaceFolders(() => changed.fire(undefined)),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("leftoff.home")) changed.fire(undefined);
    }),
    lm.registerMcpServerDefinitionProvider("leftoff", {
      onDidChangeMcpServerDefinitions: /** @type {import("vscode").Event<void>} */ (changed.event),
      provideMcpServerDefinitions: () => [defineServer(context)],
    }),
  );
}

/** @param {ExtensionContext} context */
function defineServer(context) {
  const { path, env } = commandLine(context);
  const { version } = context.extension.packageJSON;
  const args = [path, "mcp", ...storeArguments()];
  return new McpStdioServerDefinition("leftoff", process.execPath, args, env, version);
}
