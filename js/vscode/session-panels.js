// @ts-check
/** The panels that show sessions, one for each session. */

import { Uri, ViewColumn, window } from "vscode";

import { LeftoffError } from "../index.js";
import { fileSource } from "./session-files.js";
import { WASM_FILES } from "./wasm-files.js";

/** @import { Disposable, ExtensionContext, WebviewPanel } from "vscode" */
/** @import { Listed } from "../index.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { HostStore } from "./host.node.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { FromPage, Place, ToPage } from "./webview/messages.js" */

const VIEW_TYPE = "leftoff.session";

/**
 * Where a session is read: the store, unless it is an agent's file that is kept nowhere.
 * @typedef {{ file?: string, open: () => Promise<HostStore>, close?: () => Promise<unknown> }} SessionSource
 */

/** @implements {Disposable} */
export class SessionPanels {
  #context;
  /** @type {SessionSource} */
  #store;
  /** @type {Map<string, WebviewPanel>} by the session's id, and its file if it has one */
  #panels = new Map();

  /** @param {ExtensionContext} context @param {OpenedStore} opened */
  constructor(context, opened) {
    this.#context = context;
    this.#store = { open: () => opened.open() };
    context.subscriptions.push(
      window.registerWebviewPanelSerializer(VIEW_TYPE, {
        deserializeWebviewPanel: async (panel, state) => this.#restore(panel, /** @type {any} */ (state)),
      }),
    );
  }

  /** The id of the session whose panel has the focus. @returns {string | undefined} */
  get current() {
    return [...this.#panels].find(([, { active }]) => active)?.[0];
  }

  /** @param {Pick<Listed, "id"> & { title?: string }} listed @param {Place} [place] @param {SessionSource} [source] */
  show({ id, title }, place = {}, source = this.#store) {
    const shown = this.#panels.get(keyOf(id, source));
    if (shown) {
      shown.reveal();
      void send(shown, { kind: "go", place });
      return;
    }
    const panel = window.createWebviewPanel(VIEW_TYPE, title || "Untitled", ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
    this.#fill(panel, { id, place, source });
  }

  /** Does something in the panel that has the focus. @param {"search" | "inspect"} kind */
  ask(kind) {
    const panel = this.current && this.#panels.get(this.current);
    if (panel) void send(panel, { kind });
  }

  dispose() {
    for (const panel of this.#panels.values()) panel.dispose();
  }

  /** @param {WebviewPanel} panel @param {{ session?: string, file?: string } | undefined} state */
  #restore(panel, { session, file } = {}) {
    const source = file ? fileSource(this.#context, Uri.parse(file)) : this.#store;
    if (session) this.#fill(panel, { id: session, place: {}, source });
    else panel.dispose();
  }

  /** @param {WebviewPanel} panel @param {{ id: string, place: Place, source: SessionSource }} shown */
  #fill(panel, { id, place, source }) {
    const { webview } = panel;
    const folder = Uri.joinPath(this.#context.extensionUri, "dist");
    const key = keyOf(id, source);
    this.#panels.set(key, panel);
    panel.onDidDispose(() => {
      this.#panels.delete(key);
      void source.close?.();
    });
    const iconFor = (/** @type {string} */ theme) =>
      Uri.joinPath(this.#context.extensionUri, "media", `tab-${theme}.svg`);
    panel.iconPath = { light: iconFor("light"), dark: iconFor("dark") };
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    const uriOf = (/** @type {string} */ name) => webview.asWebviewUri(Uri.joinPath(folder, name)).toString();
    webview.onDidReceiveMessage(async (/** @type {FromPage} */ message) => {
      if (message.kind === "read") await send(panel, await answerRead(source, message));
      else if (message.kind === "failed") void window.showErrorMessage(`leftoff: ${message.message}`);
      else {
        const { home, workspace } = (await source.open()).store;
        const files = Object.fromEntries(Object.entries(WASM_FILES).map(([name, file]) => [name, uriOf(file)]));
        await send(panel, { kind: "show", home, workspace, session: id, files, place, file: source.file });
      }
    });
    webview.html = pageOf(webview.cspSource, uriOf);
  }
}

/** @param {string} id @param {SessionSource} source */
const keyOf = (id, { file = "" }) => id + file;

/** @param {SessionSource} source @param {FromPage & { kind: "read" }} asked @returns {Promise<ToPage>} */
async function answerRead(source, { id, verb, path, args }) {
  try {
    const value = await readFrom(await storageAt(source, path), verb, path, args);
    return { kind: "answer", id, value };
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
    return { kind: "answer", id, error: { code: error.code, message: error.message } };
  }
}

/** A page reads what belongs to sessions alone, whatever runs in it. @param {SessionSource} source @param {string} path */
async function storageAt(source, path) {
  const { roots } = await source.open();
  const found = roots.find(({ folder }) => path === folder || path.startsWith(`${folder}/`));
  if (found) return found.storage;
  throw new LeftoffError({ code: "outside_store", message: `${path} belongs to no session` });
}

/**
 * @param {Storage} storage @param {string} verb @param {string} path @param {any[]} args
 * @returns {Promise<unknown>}
 */
function readFrom(storage, verb, path, args) {
  if (verb === "read") return storage.read(path);
  if (verb === "readRange") return storage.readRange(path, args[0], args[1]);
  if (verb === "list") return storage.list(path, args[0]);
  if (verb === "stat") return storage.stat(path);
  throw new LeftoffError({ code: "read_only", message: `a page may not ${verb}` });
}

/** @param {WebviewPanel} panel @param {ToPage} message */
const send = ({ webview }, message) => webview.postMessage(message);

/** @param {string} source where the extension's own files come from @param {(name: string) => string} uriOf */
function pageOf(source, uriOf) {
  const policy = [
    "default-src 'none'",
    `script-src ${source} 'wasm-unsafe-eval'`,
    `style-src ${source}`,
    "img-src data: blob:",
    `connect-src ${source}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types lit-html dompurify",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <link rel="stylesheet" href="${uriOf("webview.css")}" />
    <script type="module" src="${uriOf("webview.js")}"></script>
  </head>
  <body></body>
</html>`;
}
