// @ts-check
/** Agents' own files: shown without being kept, or taken into the store. */

import { commands, Uri, window, workspace } from "vscode";

import { MemoryStorage, openStore } from "../index.js";
import { basename } from "../host/path.node.js";
import { tellErrors } from "./commands.js";
import { loadModules, pathOf } from "./host.node.js";
import { formatCount } from "./texts.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { Listed } from "../index.js" */
/** @import { HostStore } from "./host.node.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels, SessionSource } from "./session-panels.js" */

/** Where a file and its session lie in the storage in memory. */
const HOME = "/leftoff";
const FOLDER = "/file";

/**
 * The source of sessions that an agent's file has: read when it is first asked for, into a store in memory.
 * @param {ExtensionContext} context @param {Uri} uri
 * @returns {SessionSource}
 */
export function fileSource(context, uri) {
  /** @type {Promise<HostStore> | undefined} */
  let reading;
  return {
    file: uri.toString(),
    open: () => (reading ??= readFile(context, uri)),
    close: async () => (await reading?.catch(() => undefined))?.store.close(),
  };
}

/** @param {ExtensionContext} context @param {Uri} uri @returns {Promise<HostStore>} */
async function readFile(context, uri) {
  await loadModules(context);
  const storage = new MemoryStorage();
  const path = `${FOLDER}/${basename(uri.path)}`;
  await storage.replace(path, await workspace.fs.readFile(uri));
  const store = await openStore({ storage, home: HOME, project: "/project" });
  await store.import(path);
  return { store, roots: [{ folder: HOME, storage }] };
}

/** @param {SessionSource} source @returns {Promise<Listed | undefined>} the file's session, or the one that was chosen */
async function chooseSession(source) {
  const { store } = await source.open();
  const all = await store.list({ all: true, type: null, archived: null });
  const own = all.filter(({ type }) => type !== "subagent");
  const sessions = own.length > 0 ? own : all;
  if (sessions.length <= 1) return sessions[0];
  const items = sessions.map((one) => ({ label: one.title || "Untitled", one }));
  return (await window.showQuickPick(items, { placeHolder: "The file has several sessions" }))?.one;
}

/** @param {Uri | undefined} clicked @returns {Promise<Uri | undefined>} */
async function chooseFile(clicked) {
  if (clicked) return clicked;
  const filters = { "Agents' sessions": ["jsonl", "json", "md", "html"] };
  const [folder] = workspace.workspaceFolders ?? [];
  return (await window.showOpenDialog({ filters, defaultUri: folder?.uri }))?.[0];
}

/** @param {ExtensionContext} context @param {{ opened: OpenedStore, panels: SessionPanels }} parts */
export function registerSessionFiles(context, { opened, panels }) {
  const register = (/** @type {string} */ name, /** @type {(uri: Uri) => Promise<unknown>} */ work) =>
    context.subscriptions.push(
      commands.registerCommand(name, (/** @type {Uri | undefined} */ clicked) =>
        tellErrors(async () => {
          const uri = await chooseFile(clicked);
          if (uri) await work(uri);
        }),
      ),
    );
  register("leftoff.openFile", async (uri) => {
    const source = fileSource(context, uri);
    const listed = await chooseSession(source);
    if (listed) panels.show(listed, {}, source);
  });
  register("leftoff.importFile", async (uri) => {
    const store = await opened.store();
    const { imported } = await store.import(pathOf(uri));
    opened.tellChange();
    void window.showInformationMessage(`Imported ${formatCount(imported.length, "session")}.`);
    const listed = await store.list({ all: true, type: null, archived: null });
    const shown = listed.find(({ id }) => id === imported[0]?.id);
    if (shown) panels.show(shown);
  });
}
