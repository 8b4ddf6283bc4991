// @ts-check
/** What the browser's extension host has: the folders that are open, to be read, and the browser's own files. */

import { RelativePattern, Uri, window, workspace } from "vscode";

import { LeftoffError, MemoryStorage, openStore } from "../index.js";
import { OpfsStorage } from "../storage/opfs.js";
import { FolderPaths } from "./folder-paths.js";
import { IdleStorage } from "./idle-storage.js";
import { MountedStorage } from "./mounted-storage.js";
import { WASM_FILES, loadFiles } from "./wasm-files.js";
import { WorkspaceStorage } from "./workspace-storage.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { HostStore } from "./host.node.js" */

/** Where the browser keeps sessions. */
const HOME = "/leftoff";

/** The files that were chosen outside the folders, by their paths. @type {Map<string, Uri>} */
const chosen = new Map();

const currentPaths = () => new FolderPaths(workspace.workspaceFolders ?? [], { taken: HOME, chosen });

export const IS_WEB_HOST = true;

/** @param {ExtensionContext} context @returns {Promise<HostStore>} */
export async function openHostStore(context) {
  await loadModules(context);
  const own = await openBrowserStorage();
  const paths = currentPaths();
  const { folders } = paths;
  const around = new WorkspaceStorage(workspace.fs, (path) => paths.uriOf(path));
  const storage = new MountedStorage(HOME, { own, around, folders });
  await storage.findSessions();
  const store = await openStore({ storage, home: HOME, project: folders[0] ?? "/project" });
  return {
    store,
    roots: [HOME, ...folders.map((one) => `${one}/conversations`)].map((folder) => ({ folder, storage })),
    isReadOnly: ({ path }) => !storage.isWritable(path),
    folderOf: ({ path }) => storage.folderOf(path),
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

/** The path of a file or a folder, as a store knows it. @param {Uri} uri */
export const pathOf = (uri) => currentPaths().pathOf(uri);

/** The files whose changes tell that sessions have changed, and the folders that go with them. */
export const watchedPatterns = () =>
  (workspace.workspaceFolders ?? []).map(
    ({ uri }) => new RelativePattern(uri, "{.leftoff,.leftoff/**,conversations,conversations/**}"),
  );

/** @returns {never} */
export function runInTerminal() {
  throw new LeftoffError({ code: "missing_dependency", message: "a browser has no terminal: copy the resume block" });
}
