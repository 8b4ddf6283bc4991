// @ts-check
/** A session as a file: the formats, and how one is written, whole or not at all. */

import { commands, FileSystemError, Uri, window, workspace } from "vscode";

import { LeftoffError } from "../index.js";
import { basename } from "../host/path.node.js";
import { randomId } from "../wasm/clock.js";
import { askCommandLine } from "./child.node.js";
import { IS_WEB_HOST } from "./host.node.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { Listed } from "../index.js" */
/** @import { OpenedStore } from "./opened-store.js" */

/** The formats, with the ending of a file and what it is for. */
const FORMATS = /** @type {const} */ ({
  markdown: { ending: "md", label: "Markdown, to read" },
  html: { ending: "html", label: "HTML page, to send to a colleague" },
  json: { ending: "json", label: "JSON, for programs" },
  leftoff: { ending: "jsonl", label: "For another leftoff" },
});
/** @typedef {keyof typeof FORMATS} Format */

/** What the editor's errors mean here: some say nothing but an address. @type {Record<string, string>} */
const REASONS = {
  NoPermissions: "its folder may not be changed",
  FileNotFound: "its folder is not there",
  FileIsADirectory: "a folder has this name",
  Unavailable: "its folder cannot be reached",
};

/** @param {{ context: ExtensionContext, opened: OpenedStore }} parts @param {Listed} listed */
export async function exportSession({ context, opened }, { id, title }) {
  const items = Object.entries(FORMATS)
    .map(([format, { label }]) => ({ label, format: /** @type {Format} */ (format) }))
    .filter(({ format }) => format !== "html" || !IS_WEB_HOST);
  const chosen = await window.showQuickPick(items, { placeHolder: `Export "${title}" as` });
  if (!chosen) return;
  const { format } = chosen;
  const name = `${title.replaceAll(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60) || "session"}.${FORMATS[format].ending}`;
  const folders = workspace.workspaceFolders ?? [];
  const folder = folders.find(({ uri }) => isWritable(uri)) ?? folders[0];
  const uri = await window.showSaveDialog({ defaultUri: folder && Uri.joinPath(folder.uri, name) });
  if (!uri) return;
  const bytes = await (format === "html" ? makePage(context, id) : makeText(opened, id, format));
  await writeWhole(uri, bytes);
  const shown = uri.scheme === "file" ? uri.fsPath : uri.path;
  const answer = await window.showInformationMessage(`Exported to ${shown}`, "Open");
  if (answer) await commands.executeCommand("vscode.open", uri);
}

/** @param {Uri} uri */
const isWritable = ({ scheme }) => workspace.fs.isWritableFileSystem(scheme) !== false;

/** @param {OpenedStore} opened @param {string} id @param {Exclude<Format, "html">} format */
async function makeText(opened, id, format) {
  const session = await (await opened.store()).session(id);
  try {
    return new TextEncoder().encode(await session.export(format));
  } finally {
    await session.close();
  }
}

/**
 * The command line makes the page: it has the viewer and the modules in it, which are read and packed there.
 * @param {ExtensionContext} context @param {string} id
 */
async function makePage(context, id) {
  await workspace.fs.createDirectory(context.globalStorageUri);
  const made = Uri.joinPath(context.globalStorageUri, `${randomId()}.html`);
  const args = ["export", id, "--to", "html", "--output", made.fsPath];
  try {
    await askCommandLine(context, args, new AbortController().signal);
    return await workspace.fs.readFile(made);
  } finally {
    await removeIfThere(made);
  }
}

/**
 * Puts bytes in the place of a file, all of them or none: beside it first.
 * @param {Uri} uri @param {Uint8Array} bytes
 */
async function writeWhole(uri, bytes) {
  // A browser that is given one file on the disk writes it whole by itself, and nothing beside it.
  const isAlone = IS_WEB_HOST && uri.scheme === "file";
  const part = Uri.joinPath(uri, "..", `.${randomId()}.part`);
  try {
    await workspace.fs.writeFile(isAlone ? uri : part, bytes);
    if (!isAlone) await workspace.fs.rename(part, uri, { overwrite: true });
  } catch (error) {
    if (!isAlone) await removeIfThere(part);
    if (!(error instanceof FileSystemError)) throw error;
    const message = `${basename(uri.path)} was not written: ${REASONS[error.code] ?? error.message}`;
    throw new LeftoffError({ code: "storage_failed", message, cause: error });
  }
}

/** @param {Uri} uri */
async function removeIfThere(uri) {
  try {
    await workspace.fs.delete(uri);
  } catch (error) {
    if (!(error instanceof FileSystemError)) throw error;
  }
}
