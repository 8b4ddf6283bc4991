// @ts-check
/** The view of sessions: in groups, of this project or of all. */

import { commands, EventEmitter, ThemeIcon, TreeItem, TreeItemCollapsibleState, window, workspace } from "vscode";

import { pathOf, IS_WEB_HOST } from "./host.node.js";
import { formatAge, formatCount, joinFacts, nowDate, sayAge, sayFacts } from "./texts.js";
import { tooltipOf } from "./tooltip.js";
import { groupSessions } from "./session-groups.js";

/** @import { ExtensionContext, TreeDataProvider } from "vscode" */
/** @import { Listed, Store } from "../index.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { Group, GroupKey } from "./session-groups.js" */

/** @typedef {Group | Listed} Node */

const ICONS = { active: "record", paused: "comment-discussion", completed: "pass", unreadable: "warning" };
const OPEN_GROUPS = 3;

/** @implements {TreeDataProvider<Node>} */
export class SessionsTree {
  #opened;
  #changed = new EventEmitter();
  /** @type {(session: Listed) => boolean} */
  #isReadOnly = () => false;
  #isAll = IS_WEB_HOST;

  onDidChangeTreeData = this.#changed.event;

  /** @param {OpenedStore} opened */
  constructor(opened) {
    this.#opened = opened;
  }

  /** Whether the sessions of all projects are shown. @param {boolean} isAll */
  async show(isAll) {
    this.#isAll = isAll;
    await commands.executeCommand("setContext", "leftoff.isAll", isAll);
    this.refresh();
  }

  refresh() {
    this.#changed.fire(undefined);
  }

  /** @param {Node} [node] @returns {Promise<Node[]>} */
  async getChildren(node) {
    if (node) return "sessions" in node ? node.sessions : [];
    const opened = await this.#opened.open();
    const { store, isReadOnly } = opened;
    if (isReadOnly) this.#isReadOnly = isReadOnly;
    const listed = await (this.#isAll ? store.list({ all: true }) : listHere(store));
    // Folders may have come meanwhile, and with them another store.
    if (opened !== (await this.#opened.open())) return this.getChildren();
    // Until then nobody knows that there is none, and what says so would take the focus with it when it goes.
    void commands.executeCommand("setContext", "leftoff.isListed", true);
    const key = /** @type {GroupKey} */ (workspace.getConfiguration("leftoff").get("groupBy") ?? "day");
    return groupSessions(listed, key, nowDate());
  }

  /** @param {Node} node */
  getTreeItem(node) {
    return "sessions" in node ? groupItem(node) : sessionItem(node, this.#isReadOnly(node));
  }
}

/**
 * Lists the sessions of the folders that are open.
 * @param {Store} store
 */
async function listHere(store) {
  const folders = (workspace.workspaceFolders ?? []).map(({ uri }) => pathOf(uri));
  const lists = [await store.list()];
  for (const folder of folders) if (folder !== store.project) lists.push(await store.list({ folder }));
  const known = new Map(lists.flat().map((one) => [one.id, one]));
  return [...known.values()].sort((one, other) => (one.lastActive < other.lastActive ? 1 : -1));
}

/** @param {Group} group */
function groupItem({ id, label, sessions, place }) {
  const state = place < OPEN_GROUPS ? TreeItemCollapsibleState.Expanded : TreeItemCollapsibleState.Collapsed;
  const item = new TreeItem(label, state);
  item.id = id;
  item.description = String(sessions.length);
  item.contextValue = "group";
  item.accessibilityInformation = { label: `${label}, ${formatCount(sessions.length, "session")}` };
  return item;
}

/** @param {Listed} listed @param {boolean} isReadOnly */
function sessionItem(listed, isReadOnly) {
  const { id, title, agent, messageCount, lastActive, status, archivedAt } = listed;
  const item = new TreeItem(title || "Untitled", TreeItemCollapsibleState.None);
  const age = formatAge(lastActive, nowDate());
  item.id = id;
  item.description = joinFacts(agent, age);
  item.iconPath = new ThemeIcon(archivedAt ? "archive" : ICONS[status]);
  item.contextValue = `session:${status}${archivedAt ? ":archived" : ""}${isReadOnly ? ":readOnly" : ""}`;
  item.tooltip = tooltipOf(factsOf(listed));
  item.command = { command: "leftoff.open", title: "Open", arguments: [listed] };
  item.accessibilityInformation = {
    label: sayFacts(
      title || "Untitled",
      agent,
      formatCount(messageCount, "message"),
      archivedAt ? "archived" : status,
      sayAge(lastActive, nowDate()),
    ),
  };
  return item;
}

/** What is known of a session. @param {Listed} listed */
const factsOf = ({ title, summary, agent, messageCount, totalTokens, project, status, lastActive, provider }) => [
  title || "Untitled",
  summary,
  sayFacts(agent, provider.model),
  `${formatCount(messageCount, "message")}, ${formatCount(totalTokens, "token")}`,
  `${status}, ${new Date(lastActive).toLocaleString()}`,
  project,
];

/** @param {ExtensionContext} context @param {OpenedStore} opened */
export function registerSessions(context, opened) {
  const tree = new SessionsTree(opened);
  // A session that was imported names a folder of the machine that it was held on, never one that is open in a browser.
  if (IS_WEB_HOST) void tree.show(true);
  const view = window.createTreeView("leftoff.sessions", { treeDataProvider: tree, showCollapseAll: true });
  context.subscriptions.push(
    view,
    // Not every folder's changes are told of.
    view.onDidChangeVisibility(({ visible }) => {
      if (visible) tree.refresh();
    }),
    opened.onDidChange(() => tree.refresh()),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("leftoff.groupBy")) tree.refresh();
    }),
  );
  return tree;
}
