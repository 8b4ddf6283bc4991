// @ts-check
/** From a file to the sessions that changed it, and from a line to the edit that likely wrote it. */

import { CodeLens, commands, EventEmitter, languages, ProgressLocation, Range, Uri, window, workspace } from "vscode";

import { relative } from "../host/path.node.js";
import { tellErrors } from "./commands.js";
import { countSessions, findChanges } from "./file-edits.js";
import { pathOf } from "./host.node.js";
import { findWriters, formatWriter, isTelling } from "./line-writers.js";
import { formatAge, formatCount, joinFacts, nowDate } from "./texts.js";

/** @import { CodeLensProvider, Disposable, ExtensionContext, QuickPickItem, TextDocument, TextEditor } from "vscode" */
/** @import { Listed } from "../index.js" */
/** @import { ChangesOfFile, FileInFolder } from "./file-edits.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels } from "./session-panels.js" */

/** @typedef {QuickPickItem & { session: Listed, message: string }} MessageItem */

/** Of a longer selection only the first lines are looked for. */
const MAX_LINES = 500;
/** How long after sessions changed files are searched again for the line above them: agents write without end. */
const LENS_MS = 30_000;
const LENS_SETTING = "leftoff.codeLens";

/** @param {ExtensionContext} context @param {{ opened: OpenedStore, panels: SessionPanels }} parts */
export function registerFileSessions(context, { opened, panels }) {
  /** @param {string} name @param {(clicked: unknown) => unknown} work */
  const register = (name, work) => commands.registerCommand(name, (clicked) => tellErrors(() => work(clicked)));
  context.subscriptions.push(
    new FileLenses(opened),
    register("leftoff.fileSessions", (clicked) => {
      const uri = clicked instanceof Uri ? clicked : window.activeTextEditor?.document.uri;
      return uri && isTraced(uri) ? chooseSessionOf(opened, panels, uri) : tellNoFile();
    }),
    register("leftoff.lineSession", () => {
      const editor = window.activeTextEditor;
      return editor && isTraced(editor.document.uri) ? chooseWriter(opened, panels, editor) : tellNoFile();
    }),
  );
}

const tellNoFile = () => void window.showInformationMessage("Open a file first.");

/** Whether sessions may have changed it: a file of an open folder, wherever that lies, or one of a machine. @param {Uri} uri */
const isTraced = (uri) =>
  ["file", "vscode-remote"].includes(uri.scheme) || workspace.getWorkspaceFolder(uri) !== undefined;

/** @param {Uri} uri @returns {FileInFolder} */
function fileInFolder(uri) {
  const path = pathOf(uri);
  const open = workspace.getWorkspaceFolder(uri);
  const folder = open ? pathOf(open.uri) : "";
  return { path, folder, relative: folder ? relative(folder, path) : path };
}

/** Reads sessions, while the editor shows that it does. @param {OpenedStore} opened @param {FileInFolder} file */
function readChanges(opened, file) {
  const as = { location: ProgressLocation.Window, title: "Reading sessions" };
  return window.withProgress(as, async () => {
    const { store, folderOf } = await opened.open();
    return findChanges(store, file, folderOf);
  });
}

/** @param {OpenedStore} opened @param {SessionPanels} panels @param {Uri} uri */
async function chooseSessionOf(opened, panels, uri) {
  const file = fileInFolder(uri);
  const now = nowDate();
  const items = (await readChanges(opened, file)).map((changes) => itemOfSession(changes, now));
  if (items.length > 0)
    return openChosen(panels, items, `${formatCount(items.length, "session")} changed ${file.relative}`);
  void window.showInformationMessage(`No stored session changed ${file.relative}.`);
}

/** @param {ChangesOfFile} changes @param {Date} now @returns {MessageItem} */
function itemOfSession({ session, edits, messages }, now) {
  const age = formatAge(edits.at(-1)?.time ?? session.lastActive, now);
  return {
    label: session.title || "Untitled",
    description: joinFacts(session.agent, age, formatCount(messages.length, "change")),
    session,
    message: messages[messages.length - 1],
  };
}

/** @param {OpenedStore} opened @param {SessionPanels} panels @param {TextEditor} editor */
async function chooseWriter(opened, panels, { document, selection }) {
  const lines = linesOf(document, selection.start.line, selection.end.line).filter(isTelling);
  if (lines.length === 0) {
    void window.showInformationMessage("This line is too short to say who wrote it.");
    return;
  }
  const file = fileInFolder(document.uri);
  const edits = (await readChanges(opened, file)).flatMap((changes) => changes.edits);
  const writers = findWriters(lines, edits);
  if (writers.length === 0) {
    const what = lines.length === 1 ? "this line" : "these lines";
    const many =
      edits.length === 0 ? "no session changed the file" : `none of ${formatCount(edits.length, "edit")} has it`;
    void window.showInformationMessage(`No stored session wrote ${what}: ${many}.`);
    return;
  }
  const items = writers.map((writer) => ({
    label: writer.edit.session.title || "Untitled",
    detail: formatWriter(writer, lines.length),
    session: writer.edit.session,
    message: writer.edit.message,
  }));
  await openChosen(panels, items, "Who wrote this?");
}

/** @param {TextDocument} document @param {number} first @param {number} last */
function linesOf(document, first, last) {
  const count = Math.min(last - first + 1, MAX_LINES);
  return Array.from({ length: count }, (_, place) => document.lineAt(first + place).text);
}

/** @param {SessionPanels} panels @param {MessageItem[]} items @param {string} title */
async function openChosen(panels, items, title) {
  const placeHolder = "Open the session at this change";
  const chosen = await window.showQuickPick(items, {
    title,
    placeHolder,
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (chosen) panels.show(chosen.session, { message: chosen.message });
}

/**
 * The line above a file that sessions changed, where the setting wants it: nothing is read before.
 * @implements {CodeLensProvider}
 * @implements {Disposable}
 */
class FileLenses {
  #opened;
  #changed = new EventEmitter();
  /** @type {Disposable | undefined} */
  #registered;
  /** @type {Disposable[]} */
  #watching;
  /** The number of sessions by the file's address, until some time after a session changed. @type {Map<string, Promise<number>>} */
  #counts = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #forgetting;

  onDidChangeCodeLenses = this.#changed.event;

  /** @param {OpenedStore} opened */
  constructor(opened) {
    this.#opened = opened;
    this.#watching = [
      opened.onDidChange(() => {
        this.#forgetting ??= setTimeout(() => this.#forget(), LENS_MS);
      }),
      workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration(LENS_SETTING)) this.#follow();
      }),
    ];
    this.#follow();
  }

  /** @param {TextDocument} document */
  async provideCodeLenses({ uri }) {
    if (!isTraced(uri)) return [];
    const count = await this.#countOf(uri);
    if (count === 0) return [];
    const title = `${formatCount(count, "session")} changed this file`;
    return [new CodeLens(new Range(0, 0, 0, 0), { command: "leftoff.fileSessions", title, arguments: [uri] })];
  }

  dispose() {
    clearTimeout(this.#forgetting);
    this.#registered?.dispose();
    this.#changed.dispose();
    for (const one of this.#watching) one.dispose();
  }

  /** @param {Uri} uri */
  #countOf(uri) {
    const known = this.#counts.get(uri.toString()) ?? this.#count(uri);
    this.#counts.set(uri.toString(), known);
    return known;
  }

  /** @param {Uri} uri */
  async #count(uri) {
    const { store, folderOf } = await this.#opened.open();
    return countSessions(store, fileInFolder(uri), folderOf);
  }

  #forget() {
    this.#forgetting = undefined;
    this.#counts.clear();
    this.#changed.fire(undefined);
  }

  #follow() {
    const isOn = workspace.getConfiguration().get(LENS_SETTING) === true;
    if (isOn) this.#registered ??= languages.registerCodeLensProvider("*", this);
    else {
      this.#registered?.dispose();
      this.#registered = undefined;
    }
  }
}
