// @ts-check
/** What the desktop's extension host has: a disk, and programs. */

import { join } from "node:path";

import { userHome } from "../agents/homes.js";
import { NodeStorage, openStore } from "../index.js";
import { RelativePattern, ThemeIcon, Uri, window, workspace } from "vscode";

/** @import { ExtensionContext } from "vscode" */
/** @import { Listed, Store } from "../index.js" */
/** @import { Storage } from "../storage/contract.js" */

/**
 * @typedef {object} HostStore
 * @property {Store} store
 * @property {{ folder: string, storage: Storage }[]} roots the folders whose files a page may read
 * @property {(session: Listed) => boolean} [isReadOnly] whether it is only read, where that is so of any
 * @property {(session: Listed) => string | undefined} [folderOf] the open folder that brings it, where one does
 */

/**
 * Opens the store: of the first folder on this disk that is open, else of the user's.
 * @param {ExtensionContext} _context
 * @returns {Promise<HostStore>}
 */
export async function openHostStore(_context) {
  const home = workspace.getConfiguration("leftoff").get("home") || undefined;
  const store = await openStore({ home, project: openFolder() });
  const folders = [store.home, join(store.workspace, "conversations")];
  return { store, roots: folders.map((root) => ({ folder: root, storage: new NodeStorage({ root }) })) };
}

/** The first folder on this disk that is open, else the user's: another one's path names nothing here. */
export const openFolder = () =>
  workspace.workspaceFolders?.find(({ uri }) => uri.scheme === "file")?.uri.fsPath ?? userHome(process.env);

/** Whether this is a browser's extension host, which has no disk and no programs. */
export const IS_WEB_HOST = false;

/** What the modules are, is found beside the bundle. @param {ExtensionContext} _context */
export async function loadModules(_context) {}

/** The path of a file or a folder, as a store knows it. @param {Uri} uri */
export const pathOf = (uri) => uri.fsPath;

/** The files whose changes tell that sessions have changed, and the folders that go with them. @param {Store} store */
export const watchedPatterns = ({ home, workspace: folder }) => [
  new RelativePattern(Uri.file(home), "**/{messages.jsonl,events.jsonl,session-*}"),
  new RelativePattern(Uri.file(folder), "conversations/**/{messages,events}.jsonl"),
];

/**
 * Runs leftoff's command line in a terminal, which is shown.
 * @param {ExtensionContext} context @param {string[]} args @param {{ name: string, folder?: string }} as
 */
export function runInTerminal(context, args, { name, folder }) {
  const { path, env } = commandLine(context);
  const terminal = window.createTerminal({
    name,
    cwd: folder,
    shellPath: process.execPath,
    shellArgs: [path, ...args],
    env,
    iconPath: new ThemeIcon("bookmark"),
  });
  terminal.show();
}

/** How leftoff's command line is started here: by the editor's own Node. @param {ExtensionContext} context */
export function commandLine(context) {
  return { path: join(context.extensionPath, "dist", "cli.mjs"), env: { ELECTRON_RUN_AS_NODE: "1" } };
}
