// @ts-check
// Folders that lie on no disk, with the files of `content.json`: of `leftoff-open` each write is shown as an error, and
// `leftoff-closed` is only read and says neither when a file changed nor how long it is. Neither tells of changes.

const { commands, EventEmitter, FileSystemError, FileType, Uri, window, workspace } = require("vscode");

/** @import { ExtensionContext, FileSystemProvider, Uri as Address } from "vscode" */
/** @typedef {{ folder: string, path: string, base64: string }} Content `folder`: its scheme and authority */

/** @param {ExtensionContext} context */
exports.activate = (context) => {
  const file = Uri.joinPath(context.extensionUri, "content.json");
  const read = Promise.resolve(workspace.fs.readFile(file)).then((bytes) =>
    JSON.parse(new TextDecoder().decode(bytes)),
  );
  /** @type {Promise<Content[]>} */
  const shown = read.then(({ now }) => now);
  context.subscriptions.push(
    workspace.registerFileSystemProvider("leftoff-open", provide(shown, true), { isCaseSensitive: true }),
    workspace.registerFileSystemProvider("leftoff-closed", provide(shown, false), { isReadonly: true }),
    commands.registerCommand("leftoffVirtual.addLater", async () => (await shown).push(...(await read).later)),
  );
};

/** @param {Promise<Content[]>} shown @param {boolean} hasStats @returns {FileSystemProvider} */
function provide(shown, hasStats) {
  const below = async (/** @type {Address} */ { scheme, authority, path }) => {
    const folder = path.endsWith("/") ? path : `${path}/`;
    return (await shown).filter(
      (one) => one.folder === `${scheme}://${authority}` && `${one.path}/`.startsWith(folder),
    );
  };
  const refuse = (/** @type {Address} */ uri) => {
    void window.showErrorMessage(`Written: ${uri}`);
    throw FileSystemError.NoPermissions(uri);
  };
  const readFile = async (/** @type {Address} */ uri) => {
    const found = (await below(uri)).find(({ path }) => path === uri.path);
    if (!found) throw FileSystemError.FileNotFound(uri);
    return Uint8Array.from(atob(found.base64), (letter) => letter.charCodeAt(0));
  };
  return {
    onDidChangeFile: new EventEmitter().event,
    watch: () => ({ dispose() {} }),
    readFile,
    async stat(uri) {
      const found = await below(uri);
      if (found.length === 0) throw FileSystemError.FileNotFound(uri);
      if (found[0].path !== uri.path) return { type: FileType.Directory, ctime: 0, mtime: 0, size: 0 };
      return { type: FileType.File, ctime: 0, mtime: 0, size: hasStats ? (await readFile(uri)).length : 0 };
    },
    async readDirectory(uri) {
      const folder = uri.path.endsWith("/") ? uri.path : `${uri.path}/`;
      /** @type {Map<string, import("vscode").FileType>} */
      const entries = new Map();
      for (const { path } of await below(uri)) {
        const [name, ...deeper] = path.slice(folder.length).split("/");
        entries.set(name, deeper.length > 0 ? FileType.Directory : FileType.File);
      }
      return [...entries];
    },
    createDirectory: refuse,
    writeFile: refuse,
    delete: refuse,
    rename: refuse,
  };
}
