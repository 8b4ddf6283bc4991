// @ts-check
/** The search over all sessions: hits as one types. */

import { ThemeIcon, window } from "vscode";

import { formatAge, joinFacts, nowDate } from "./texts.js";

/** @import { Found } from "../index.js" */
/** @import { OpenedStore } from "./opened-store.js" */
/** @import { SessionPanels } from "./session-panels.js" */

/** How long after the last key a search begins, and how many sessions it shows. */
const TYPING_MS = 150;
const MAX_SESSIONS = 20;
const MAX_CHARACTERS = 160;
const ICONS = /** @type {Record<string, string>} */ ({ user: "account", assistant: "hubot", tool: "tools" });

/**
 * @typedef {import("vscode").QuickPickItem & { found?: Found }} HitItem
 */

/** @param {OpenedStore} opened @param {SessionPanels} panels */
export function searchSessions(opened, panels) {
  /** @type {import("vscode").QuickPick<HitItem>} */
  const box = window.createQuickPick();
  box.placeholder = 'Words, or "an exact text", in all sessions of all projects';
  let asked = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let typing;
  box.onDidChangeValue((value) => {
    clearTimeout(typing);
    const own = (asked += 1);
    typing = setTimeout(async () => {
      box.busy = true;
      const items = await findHits(opened, value).catch((error) => [errorItem(error)]);
      if (own !== asked) return;
      box.items = items;
      box.busy = false;
    }, TYPING_MS);
  });
  box.onDidAccept(() => {
    const found = box.selectedItems[0]?.found;
    if (!found) return;
    box.hide();
    panels.show(found.session, { message: found.id, search: box.value });
  });
  box.onDidHide(() => {
    asked += 1;
    clearTimeout(typing);
    box.dispose();
  });
  box.show();
}

/** @param {OpenedStore} opened @param {string} words @returns {Promise<HitItem[]>} */
async function findHits(opened, words) {
  if (words.trim() === "") return [];
  const store = await opened.store();
  const now = nowDate();
  const items = [];
  for await (const found of store.search(words, { all: true, limit: MAX_SESSIONS })) items.push(hitItem(found, now));
  return items.length > 0 ? items : [{ label: "Nothing was found", alwaysShow: true }];
}

/** @param {Found} found @param {Date} now @returns {HitItem} */
function hitItem(found, now) {
  const { role = "", excerpt, session } = found;
  const { title, agent, lastActive } = session;
  const text = excerpt.map((piece) => piece.text).join("");
  return {
    label: text.trim().replaceAll(/\s+/g, " ").slice(0, MAX_CHARACTERS) || title,
    // An icon is not heard.
    description: joinFacts(role, title || "Untitled", agent, formatAge(lastActive, now)),
    iconPath: new ThemeIcon(ICONS[role] ?? "comment"),
    // Shown whatever the editor's own matching would leave out: these are hits already.
    alwaysShow: true,
    found,
  };
}

/** @param {unknown} error @returns {HitItem} */
const errorItem = (error) => ({ label: error instanceof Error ? error.message : String(error), alwaysShow: true });
