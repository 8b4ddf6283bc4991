// @ts-check
/** What the browser's extension host has: the folders that are open, to be read, and the browser's own files. */

import { Uri, window, workspace } from "vscode";

import { LeftoffError, MemoryStorage, openStore } from "../index.js";
import { OpfsStorage } from "../storage/opfs.js";
import { IdleStorage } from "./idle-storage.js";
import { MountedStorage } from "./mounted-storage.js";
import { WASM_FILES, loadFiles } from "./wasm-files.js";
import { WorkspaceStorage } from "./workspace-storage.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { HostStore } from "./host.node.js" */

/** Where the browser keeps sessions. */
const HOME = "/leftoff";

/** The files that were chosen, by their paths. @type {Map<string, Uri>} */
const chosen = new Map();

export const IS_WEB_HOST = true;

/** @param {ExtensionContext} context @returns {Promise<HostStore>} */
export async function openHostStore(context) {
  await loadModules(context);
  const own = await openBrowserStorage();
  const storage = new MountedStorage(HOME, { own, around: new WorkspaceStorage(workspace.fs, uriOf) });
  const project = workspace.workspaceFolders?.[0]?.uri.path ?? "/project";
  await storage.findSessions(`${project}/.leftoff`);
  const store = await openStore({ storage, home: HOME, project });
  const folders = [HOME, `${store.workspace}/conversations`];
  return {
    store,
    roots: folders.map((root) => ({ folder: root, storage })),
    isReadOnly: ({ path }) => !storage.isWritable(path),
  };
}

/** @type {Promise<void> | undefined} */
let loading;

/** Loads the modules, once. @param {ExtensionContext} context */
export function loadModules(context) {
  const folder = Uri.joinPath(context.extensionUri, "dist");
  loading ??= loadFiles(async (name) => workspace.fs.readFile(Uri.joinPath(folder, WASM_FILES[name])));
  return loading;
}

/** @type {MemoryStorage | undefined} */
let memory;

/** The browser's files; where it has none for an extension, which is told, memory that lasts as long as the window. */
async function openBrowserStorage() {
  try {
    const storage = new IdleStorage(() => new OpfsStorage());
    await storage.stat("/");
    return storage;
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
    const told = "This browser keeps no files for extensions: what you import is gone once the window is closed.";
    if (!memory) void window.showWarningMessage(`leftoff: ${told}`);
    memory ??= Object.assign(new MemoryStorage(), { close: async () => {} });
    return memory;
  }
}

/** Where a path lies: in a folder that is open, or a file that was chosen. @param {string} path */
function uriOf(path) {
  const folders = (workspace.workspaceFolders ?? []).map(({ uri }) => uri);
  const within = folders.filter((uri) => path === uri.path || path.startsWith(`${uri.path}/`));
  return chosen.get(path) ?? within[0]?.with({ path });
}

/** The path of a file or a folder, as a store knows it. @param {Uri} uri */
export function pathOf(uri) {
  chosen.set(uri.path, uri);
  return uri.path;
}

/** The folder whose changes tell that sessions have changed. */
export const watchedFolder = () => workspace.workspaceFolders?.[0]?.uri ?? Uri.file(HOME);

/** @returns {never} */
export function runInTerminal() {
  throw new LeftoffError({ code: "missing_dependency", message: "a browser has no terminal: copy the resume block" });
}
