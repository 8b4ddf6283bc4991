// @ts-check
/** The commands, on the session that was clicked, else on the one whose panel has the focus, else on one that is chosen. */

import { commands, env, ProgressLocation, window, workspace } from "vscode";

import { nativeAgents } from "../agents/clients.js";
import { historyText, LeftoffError } from "../index.js";
import { agents } from "../wasm/agents.js";
import { runInTerminal } from "./host.node.js";
import { searchSessions } from "./search.js";
import { exportSession } from "./session-export.js";
import { formatAge, formatCount, joinFacts, nowDate } from "./texts.js";

/** @import { ExtensionContext } from "vscode" */
/** @import { Listed } from "../index.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels } from "./session-panels.js" */
/** @import { SessionsTree } from "./sessions-tree.js" */

/**
 * @typedef {{ context: ExtensionContext, opened: OpenedStore, panels: SessionPanels, tree: SessionsTree }} Parts
 * @typedef {(parts: Parts, listed: Listed) => Promise<unknown> | void} SessionCommand
 */

/** @type {Record<string, SessionCommand>} */
const ON_SESSION = {
  open: ({ panels }, listed) => panels.show(listed),
  resume: resumeInTerminal,
  copyBlock,
  rename: async ({ opened }, { id, title }) => {
    const value = await window.showInputBox({ prompt: "The session's title", value: title });
    if (value !== undefined) await opened.change(id, (session) => session.rename(value));
  },
  stop: async ({ opened }, { id }) => {
    const prompt = "Where it stopped, for whoever goes on; may be empty";
    const summary = await window.showInputBox({ prompt });
    if (summary !== undefined) await opened.change(id, (session) => session.stop(summary ? { summary } : {}));
  },
  complete: ({ opened }, { id }) => opened.change(id, (session) => session.complete()),
  pin: pinMessage,
  archive: ({ opened }, { id }) => opened.change(id, (session) => session.archive()),
  unarchive: ({ opened }, { id }) => opened.change(id, (session) => session.unarchive()),
  fork: ({ opened, panels }, { id }) =>
    opened.change(id, async (session) => {
      const fork = await session.fork();
      panels.show({ id: fork.id, title: fork.metadata.display.title });
    }),
  export: exportSession,
  delete: async ({ opened }, { id, title }) => {
    const detail = "It goes to leftoff's trash, from where 'leftoff trash' restores it.";
    const answer = await window.showWarningMessage(`Delete "${title}"?`, { modal: true, detail }, "Delete");
    if (answer) await opened.change(id, (session, store) => store.delete(session));
  },
};

/** @param {ExtensionContext} context @param {Omit<Parts, "context">} made */
export function registerCommands(context, made) {
  const parts = { context, ...made };
  const { opened, panels, tree } = parts;
  const register = (/** @type {string} */ name, /** @type {(...args: any[]) => unknown} */ work) =>
    context.subscriptions.push(
      commands.registerCommand(`leftoff.${name}`, (...args) => tellErrors(() => work(...args))),
    );
  for (const [name, work] of Object.entries(ON_SESSION))
    register(name, async (/** @type {Listed | object | undefined} */ clicked) => {
      // The title of an editor gives what it is itself.
      const listed = clicked && "lastActive" in clicked ? clicked : await chooseSession(parts);
      if (listed) await work(parts, listed);
    });
  register("search", () => searchSessions(opened, panels));
  register("searchInSession", () => panels.ask("search"));
  register("inspect", () => panels.ask("inspect"));
  register("refresh", () => opened.tellChange());
  register("showAllProjects", () => tree.show(true));
  register("showThisProject", () => tree.show(false));
  register("groupBy", chooseGroups);
  register("importAll", () => importAll(opened));
}

/** Shows an error as the editor does. @param {() => unknown} work */
export async function tellErrors(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof LeftoffError)) throw error;
    void window.showErrorMessage(`leftoff: ${error.message}`);
  }
}

/** @param {Parts} parts @returns {Promise<Listed | undefined>} */
async function chooseSession({ opened, panels }) {
  const store = await opened.store();
  const listed = await store.list({ all: true });
  const shown = listed.find(({ id }) => id === panels.current);
  if (shown) return shown;
  const now = nowDate();
  const items = listed.map((one) => ({
    label: one.title || "Untitled",
    description: joinFacts(one.agent, formatAge(one.lastActive, now)),
    one,
  }));
  return (await window.showQuickPick(items, { placeHolder: "A session", matchOnDescription: true }))?.one;
}

/** @param {Parts} parts @param {Listed} listed */
async function resumeInTerminal({ context }, { id, title, agent, status, project }) {
  await agents.ready();
  const known = nativeAgents();
  const all = agent && known.includes(agent) ? [agent, ...known.filter((one) => one !== agent)] : known;
  const items = all.map((one) => ({ label: one, description: one === agent ? "where it was held" : undefined }));
  const chosen = await window.showQuickPick(items, { placeHolder: `Go on with "${title}" in` });
  if (!chosen) return;
  const args = ["resume", id, "--with", chosen.label];
  if (status === "completed") {
    const detail = "It was marked as completed.";
    if (!(await window.showWarningMessage(`Resume "${title}"?`, { modal: true, detail }, "Resume"))) return;
    args.push("--override");
  }
  runInTerminal(context, args, { name: title || "leftoff", folder: project });
}

/** @param {Parts} parts @param {Listed} listed */
async function copyBlock({ opened }, { id }) {
  const store = await opened.store();
  const session = await store.session(id);
  const { block, history, warnings } = await session.resume({ override: true, revives: false, assumes: true });
  await session.close();
  await env.clipboard.writeText(`${block}\n${historyText(history)}`);
  const told = warnings.map((/** @type {unknown} */ warning) => String(warning)).join(" ");
  void window.showInformationMessage(`The resume block is copied: paste it into any agent. ${told}`.trim());
}

/** @param {Parts} parts @param {Listed} listed */
async function pinMessage({ opened }, { id }) {
  await opened.change(id, async (session) => {
    const pins = new Set(await session.pins());
    const items = [];
    for await (const message of session.messages())
      if (message.role === "user" || message.role === "assistant")
        items.push({
          label: message.content.trim().replaceAll(/\s+/g, " ").slice(0, 200) || "(no text)",
          description: message.role,
          picked: pins.has(message.id),
          id: message.id,
        });
    const placeHolder = "Messages that are kept in every context";
    const chosen = await window.showQuickPick(items, { placeHolder, canPickMany: true });
    if (!chosen) return;
    const wanted = new Set(chosen.map((one) => one.id));
    for (const one of wanted) if (!pins.has(one)) await session.pin(one);
    for (const one of pins) if (!wanted.has(one)) await session.unpin(one);
  });
}

async function chooseGroups() {
  const items = [
    { label: "Day", key: "day" },
    { label: "Agent", key: "agent" },
    { label: "Project", key: "project" },
    { label: "Status", key: "status" },
  ];
  const chosen = await window.showQuickPick(items, { placeHolder: "Group sessions by" });
  if (chosen) await workspace.getConfiguration("leftoff").update("groupBy", chosen.key, true);
}

/** @param {OpenedStore} opened */
async function importAll(opened) {
  const store = await opened.store();
  const as = { location: ProgressLocation.Notification, title: "Importing agents' sessions" };
  const { imported, problems } = await window.withProgress(as, (progress) => {
    let told = 0;
    return store.importAll({
      onProgress: ({ done, total }) => {
        progress.report({ message: `${done} of ${total} files`, increment: ((done - told) * 100) / total });
        told = done;
      },
    });
  });
  opened.tellChange();
  await commands.executeCommand("leftoff.refreshFound");
  const told = problems.length > 0 ? `; ${formatCount(problems.length, "file")} could not be read` : "";
  void window.showInformationMessage(`Imported ${formatCount(imported.length, "session")}${told}.`);
}
