// @ts-check
/** The panels that show sessions, one for each session. */

import { Uri, ViewColumn, window } from "vscode";

import { LeftoffError } from "../index.js";

/** @import { Disposable, ExtensionContext, WebviewPanel } from "vscode" */
/** @import { Listed } from "../index.js" */
/** @import { Storage } from "../storage/contract.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { FromPage, Place, ToPage } from "./webview/messages.js" */

const VIEW_TYPE = "leftoff.session";
/** What the page loads, by the names that `loadWasm` has. */
const FILES = { leftoff: "leftoff.wasm", agents: "agents.wasm", o200k_base: "o200k_base.planes" };

/** @implements {Disposable} */
export class SessionPanels {
  #context;
  #opened;
  /** @type {Map<string, WebviewPanel>} by the session's id */
  #panels = new Map();

  /** @param {ExtensionContext} context @param {OpenedStore} opened */
  constructor(context, opened) {
    this.#context = context;
    this.#opened = opened;
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

  /** @param {Pick<Listed, "id" | "title">} listed @param {Place} [place] */
  show({ id, title }, place = {}) {
    const shown = this.#panels.get(id);
    if (shown) {
      shown.reveal();
      void send(shown, { kind: "go", place });
      return;
    }
    const panel = window.createWebviewPanel(VIEW_TYPE, title || "Untitled", ViewColumn.Active, {
      retainContextWhenHidden: true,
    });
    this.#fill(panel, id, place);
  }

  /** Does something in the panel that has the focus. @param {"search" | "inspect"} kind */
  ask(kind) {
    const panel = this.current && this.#panels.get(this.current);
    if (panel) void send(panel, { kind });
  }

  dispose() {
    for (const panel of this.#panels.values()) panel.dispose();
  }

  /** @param {WebviewPanel} panel @param {{ session?: string, place?: Place } | undefined} state */
  #restore(panel, state) {
    if (state?.session) this.#fill(panel, state.session, state.place ?? {});
    else panel.dispose();
  }

  /** @param {WebviewPanel} panel @param {string} id @param {Place} place */
  #fill(panel, id, place) {
    const { webview } = panel;
    const folder = Uri.joinPath(this.#context.extensionUri, "dist");
    this.#panels.set(id, panel);
    panel.onDidDispose(() => this.#panels.delete(id));
    panel.iconPath = Uri.joinPath(this.#context.extensionUri, "media", "leftoff.svg");
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    const uriOf = (/** @type {string} */ name) => webview.asWebviewUri(Uri.joinPath(folder, name)).toString();
    webview.onDidReceiveMessage(async (/** @type {FromPage} */ message) => {
      if (message.kind === "read") await send(panel, await this.#answer(message));
      else if (message.kind === "failed") void window.showErrorMessage(`leftoff: ${message.message}`);
      else {
        const { home, project } = await this.#opened.store();
        const files = Object.fromEntries(Object.entries(FILES).map(([name, file]) => [name, uriOf(file)]));
        await send(panel, { kind: "show", home, workspace: project, session: id, files, place });
      }
    });
    webview.html = pageOf(webview.cspSource, uriOf);
  }

  /** @param {FromPage & { kind: "read" }} asked @returns {Promise<ToPage>} */
  async #answer({ id, verb, path, args }) {
    try {
      const value = await readFrom(await this.#storageOf(path), verb, path, args);
      return { kind: "answer", id, value };
    } catch (error) {
      if (!(error instanceof LeftoffError)) throw error;
      return { kind: "answer", id, error: { code: error.code, message: error.message } };
    }
  }

  /** A page reads what belongs to sessions alone, whatever runs in it. @param {string} path */
  async #storageOf(path) {
    const { roots } = await this.#opened.open();
    const found = roots.find(({ folder }) => path === folder || path.startsWith(`${folder}/`));
    if (found) return found.storage;
    throw new LeftoffError({ code: "outside_store", message: `${path} belongs to no session` });
  }
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
