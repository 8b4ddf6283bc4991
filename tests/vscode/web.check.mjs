// @ts-check
// The extension in the browser's extension host: the folder's sessions are read, and others are kept in the browser.
// Tries: js/vscode/host.web.js, js/vscode/mounted-storage.js, js/vscode/workspace-storage.js, js/vscode/session-files.js,
// js/vscode/chat-participant.js

import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { installProbe } from "./install.mjs";
import {
  askChat,
  chooseInMenu,
  openWorkbench,
  panel,
  row,
  runCommand,
  shoot,
  showChat,
  showSessions,
} from "./workbench.mjs";

const REAL = join(root, "tests", "fixtures", "claude-code", "real", "2.1.197");
const TRANSCRIPT = "445adb5c-b44b-4625-86f4-77b2ace446f0.jsonl";

/** @import { Page } from "playwright-core" */

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "in a browser the folder's sessions are read, and imported ones are kept by the browser",
  isWebOnly: true,
  async prepare({ folder, home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project, workspace: project });
    const session = await store.create({ title: "The parser" });
    await session.append([
      { role: "user", content: "Rename the parser's entry point, please." },
      { role: "assistant", content: "It is **now** called `readTranscript`." },
    ]);
    await store.close();
    const inFolder = await openStore({ home: join(project, ".leftoff"), project });
    await inFolder.import(join(root, "tests", "fixtures", "codex", "real"));
    // The editor misses what happens below folders that are made at once, as those of a project's first session.
    await inFolder.create({ title: "An early one" });
    await inFolder.close();
    cpSync(join(REAL, TRANSCRIPT), join(project, "claude.jsonl"));
    installProbe({ folder, home }, { isWebOnly: true });
  },
  async run({ browser, url, home, project }) {
    const user = await browser.newContext();
    const page = await openWorkbench(user, url);
    await showSessions(page);
    await row(page, /codex/).waitFor();
    await row(page, /^The parser/).click();
    const shown = panel(page);
    await shown.locator("article", { hasText: "Rename the parser" }).waitFor();
    await shoot(page, "web");
    const store = await openStore({ home: join(home, ".leftoff"), project, workspace: project });
    const [{ id }] = await store.list();
    await (await store.session(id)).append({ role: "user", content: "And its tests?" });
    await store.close();
    await shown.locator("article", { hasText: "And its tests?" }).waitFor();

    await showChat(page);
    const answer = await askChat(page, "@leftoff what is the parser's entry point called now?");
    await answer.getByRole("link", { name: "The parser" }).waitFor();
    assert.match(readFileSync(join(project, "asked.json"), "utf8"), /user: Rename the parser's entry point, please\./);
    await shoot(page, "web-chat");
    await checkChanges(page, project);

    await runCommand(page, "leftoff: Search Sessions…");
    await page.locator(".quick-input-widget input[type=text]").first().fill("entry point");
    const hits = page.locator(".quick-input-list").getByRole("option");
    await hits.filter({ hasText: "Rename the parser" }).first().waitFor();
    await shoot(page, "web-search");
    await page.keyboard.press("Escape");

    await page.getByRole("tab", { name: "Explorer" }).first().click();
    const file = page.locator(".explorer-folders-view").getByRole("treeitem", { name: "claude.jsonl" });
    await chooseInMenu(file, "Open Session File…");
    await panel(page).locator("article", { hasText: "USETOOL" }).waitFor();
    await shoot(page, "web-file");
    await showSessions(page);
    await row(page, /^The parser/).waitFor();
    assert.equal(await row(page, /^USETOOL/).count(), 0, "a file that is only shown is kept nowhere");
    await page.getByRole("tab", { name: "Explorer" }).first().click();
    await chooseInMenu(file, "Import Session File…");
    await page.getByText("Imported 1 session.").first().waitFor();
    await showSessions(page);
    await row(page, /^USETOOL/).waitFor();
    await shoot(page, "web-imported");
    await checkMenus(page);
    await checkOtherWindow(page, url);
    // In another folder the editor has not been yet, so that it does not come back to the view by itself.
    await page.goto(`${url}%2F.leftoff`);
    await showSessions(page);
    await row(page, /^Renamed there/).click();
    await panel(page).locator("article", { hasText: "USETOOL" }).waitFor();
    await shoot(page, "web-restarted");
    await user.close();
  },
};

/** A session of the folder's home appears, grows and vanishes in the tree as on the disk. @param {Page} page @param {string} project */
async function checkChanges(page, project) {
  const store = await openStore({ home: join(project, ".leftoff"), project });
  const session = await store.create({ title: "A late one" });
  await session.append({ role: "user", content: "Where were we?" });
  await row(page, /^A late one, 1 message,/).waitFor();
  await session.append({ role: "assistant", content: "At the parser." });
  await row(page, /^A late one, 2 messages,/).waitFor();
  await store.delete(session);
  await row(page, /^A late one/).waitFor({ state: "detached" });
  await store.close();
}

/** What is kept can be changed, what the folder has cannot, and neither goes on in a terminal. @param {Page} page */
async function checkMenus(page) {
  const item = (/** @type {string} */ name) => page.getByRole("menuitem", { name });
  await row(page, /^USETOOL/).click({ button: "right" });
  await item("Rename…").waitFor();
  assert.equal(await item("Resume in Terminal…").count(), 0);
  await shoot(page, "web-menu");
  await page.keyboard.press("Escape");
  await row(page, /^The parser/).click({ button: "right" });
  await item("Fork").waitFor();
  assert.equal(await item("Rename…").count(), 0);
  await page.keyboard.press("Escape");
}

/** Another window of the same browser has what the first keeps, and may change it. @param {Page} page @param {string} url */
async function checkOtherWindow(page, url) {
  const other = await openWorkbench(page.context(), `${url}%2Fconversations`);
  await showSessions(other);
  await chooseInMenu(row(other, /^USETOOL/), "Rename…");
  await other.locator(".quick-input-widget input[type=text]").first().fill("Renamed there");
  await other.keyboard.press("Enter");
  await row(other, /^Renamed there/).waitFor();
  await shoot(other, "web-other-window");
  await other.close();
  await runCommand(page, "leftoff: Refresh");
  await row(page, /^Renamed there/).waitFor();
}
