// @ts-check
/** The view of what agents keep on this machine and the store has not. */

import { commands, EventEmitter, ThemeColor, ThemeIcon, TreeItem, TreeItemCollapsibleState, window } from "vscode";

import { formatAge, formatCount, formatDay, joinFacts, nowDate, sayAge, sayFacts } from "./texts.js";
import { tooltipOf } from "./tooltip.js";
import { arrangeFound } from "./found-rows.js";

/** @import { TreeDataProvider } from "vscode" */
/** @import { ImportableSession } from "../index.js" */
/** @import { FoundAgent, FoundRow } from "./found-rows.js" */
/** @typedef {FoundAgent | FoundRow} FoundNode */
/** @typedef {ImportableSession & { expires: string }} ExpiringSession */

/** @implements {TreeDataProvider<FoundNode>} */
export class FoundTree {
  #search;
  #changed = new EventEmitter();
  /** @type {Promise<void> | undefined} */
  #searching;
  /** @type {ImportableSession[]} */
  #found = [];
  /** @type {readonly ExpiringSession[]} */
  #expiring = [];

  onDidChangeTreeData = this.#changed.event;

  /** @param {() => Promise<ImportableSession[]>} search */
  constructor(search) {
    this.#search = search;
  }

  /** Searches again once the view is seen. */
  refresh() {
    this.#searching = undefined;
    this.#changed.fire(undefined);
  }

  /** Marks the sessions that their client soon deletes. @param {readonly ExpiringSession[]} expiring */
  markExpiring(expiring) {
    this.#expiring = expiring;
    this.#changed.fire(undefined);
  }

  /** Takes out what was imported. @param {readonly string[]} paths */
  remove(paths) {
    this.#found = this.#found.filter(({ path }) => !paths.includes(path));
    this.#changed.fire(undefined);
  }

  /** @returns {Promise<FoundAgent[]>} */
  async agents() {
    this.#searching ??= this.#search().then(
      (found) => {
        this.#found = found;
        void commands.executeCommand("setContext", "leftoff.isSearched", true);
      },
      (error) => {
        this.#searching = undefined;
        throw error;
      },
    );
    await this.#searching;
    return arrangeFound(this.#found, this.#expiring);
  }

  /** @param {FoundNode} [node] @returns {Promise<FoundNode[]>} */
  async getChildren(node) {
    if (node) return "rows" in node ? node.rows : [];
    try {
      return await this.agents();
    } catch (error) {
      void window.showErrorMessage(`leftoff: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }

  /** @param {FoundNode} node */
  getTreeItem(node) {
    return "rows" in node ? agentItem(node) : foundItem(node);
  }

  dispose() {
    this.#changed.dispose();
  }
}

/** @param {FoundAgent} agent */
function agentItem({ agent, rows }) {
  const item = new TreeItem(agent, TreeItemCollapsibleState.Expanded);
  item.id = `agent:${agent}`;
  item.description = String(rows.length);
  item.contextValue = "foundAgent";
  item.accessibilityInformation = { label: `${agent}, ${formatCount(rows.length, "session")} not imported` };
  return item;
}

/** @param {FoundRow} row */
function foundItem(row) {
  const { agent, id, path, title, changed, expires } = row;
  const item = new TreeItem(title || "Untitled", TreeItemCollapsibleState.None);
  const deletion = expires && `deleted from ${formatDay(expires)} on`;
  const [age, spoken] = changed ? [formatAge(changed, nowDate()), sayAge(changed, nowDate())] : [];
  item.id = `${agent}:${id}:${path}`;
  item.description = joinFacts(deletion, age, countOf(row));
  item.iconPath = expires
    ? new ThemeIcon("warning", new ThemeColor("list.warningForeground"))
    : new ThemeIcon(row.isNew ? "cloud-download" : "diff-added");
  item.contextValue = "found";
  item.tooltip = tooltipOf(factsOf(row));
  item.command = { command: "leftoff.openFound", title: "Import and Open", arguments: [row] };
  item.accessibilityInformation = {
    label: sayFacts(title || "Untitled", agent, deletion, spoken, countOf(row)),
  };
  return item;
}

/** @param {FoundRow} row */
function countOf({ isNew, messageCount, newMessages }) {
  const all = formatCount(messageCount, "message");
  return isNew ? all : `${newMessages.toLocaleString()} new of ${all}`;
}

/** What is known of a row. @param {FoundRow} row */
function factsOf(row) {
  const { title, folder, path, paths, changed, expires, isNew } = row;
  return [
    title || "Untitled",
    isNew ? `${countOf(row)}, not imported` : `${countOf(row)}: the rest is imported`,
    expires && `Deleted by its agent's client from ${formatDay(expires)} on`,
    changed && `Last changed ${new Date(changed).toLocaleString()}`,
    folder,
    path,
    paths.length > 1 && `With ${formatCount(paths.length - 1, "sub-agent")}`,
  ];
}
