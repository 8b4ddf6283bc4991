// @ts-check
// A whole visit without a mouse, from the empty editor to the closed panel: where the focus is after each step, and that
// a key is either the viewer's or the editor's.
// Tries: js/vscode/webview/page.js, js/vscode/manifest.json, js/vscode/sessions-tree.js, js/viewer/elements/viewer.js

import { equal } from "../browser/viewer.mjs";
import { storeRichSession } from "./rich-session.mjs";
import { openWorkbench, panel, row, shoot } from "./workbench.mjs";

/** @import { Page } from "playwright-core" */

/** What would open if a letter that is typed in the field were a key of the viewer's or the editor's. */
const LETTERS = "jkowe?/1x";

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "a session is found, read, searched, renamed and closed by keys alone",
  prepare: storeRichSession,
  async run({ browser, url }) {
    const page = await openWorkbench(browser, url);
    await openByKeys(page);
    await readByKeys(page);
    await searchByKeys(page);
    await checkEditorKeys(page);
    await checkParts(page);
    await changeByKeys(page);
    await page.keyboard.press("Control+1");
    await waitInPanel(page, "article");
    await page.keyboard.press("Control+w");
    await page.locator("iframe.webview").waitFor({ state: "detached" });
    await page.keyboard.press("Control+0");
    await waitInTree(page, "Mend it");
    await page.close();
  },
};

/** Waits until an element of the panel has the focus. @param {Page} page @param {string} selector */
const waitInPanel = (page, selector) => panel(page).locator(`${selector}:focus`).waitFor();

/** Waits until a row of the tree has the focus. @param {Page} page @param {string} name a part of its name: its time goes on */
const waitInTree = (page, name) =>
  page.locator(`.sidebar .monaco-list:focus .monaco-list-row.focused[aria-label*="${name}"]`).waitFor();

/** Waits until the editor's input has the focus. @param {Page} page */
const waitInInput = (page) => page.locator(".quick-input-widget input:focus").waitFor();

/** Runs a command by the palette. @param {Page} page @param {string} name */
async function enterCommand(page, name) {
  await page.keyboard.press("F1");
  await waitInInput(page);
  await page.keyboard.type(name);
  await page.locator(`.quick-input-list .monaco-list-row.focused[aria-label^="${name}"]`).waitFor();
  await page.keyboard.press("Enter");
}

/** @param {Page} page */
async function openByKeys(page) {
  await enterCommand(page, "leftoff: Show All Projects");
  await enterCommand(page, "leftoff: Focus on Sessions View");
  await row(page, /^Mend the calculator/).waitFor();
  // The editor itself takes the focus from a view that it shows for the first time: the tree is gone through below.
  await page.keyboard.press("F1");
  await waitInInput(page);
  await page.keyboard.type("leftoff: Open");
  const command = page.locator('.quick-input-list .monaco-list-row.focused[aria-label^="leftoff: Open"]');
  await page.locator(".quick-input-list").getByRole("option", { name: "leftoff: Open Session File" }).waitFor();
  while ((await command.count()) === 0) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator('.quick-input-list .monaco-list-row[aria-label^="Another session"]').waitFor();
  await page.keyboard.type("Mend the");
  await page.locator('.quick-input-list .monaco-list-row.focused[aria-label^="Mend the calculator"]').waitFor();
  await page.keyboard.press("Enter");
  await waitInPanel(page, 'article[aria-posinset="1"]');
}

/** Goes through messages to one with an edit, and opens its call. @param {Page} page */
async function readByKeys(page) {
  const shown = panel(page);
  await page.keyboard.press("j");
  await waitInPanel(page, 'article[aria-posinset="2"]');
  await page.keyboard.press("k");
  await waitInPanel(page, 'article[aria-posinset="1"]');
  const edit = shown.locator("article:focus .s-head", { hasText: "Edit" });
  for (let place = 2; (await edit.count()) === 0; place += 1) {
    await page.keyboard.press("j");
    await waitInPanel(page, `article[aria-posinset="${place}"]`);
  }
  await shown.locator('article:focus .s-head[aria-expanded="true"]').first().waitFor();
  await page.keyboard.press("o");
  await shown.locator('article:focus .s-head[aria-expanded="false"]').first().waitFor();
  await shown.locator("article:focus .diff").waitFor({ state: "detached" });
  while ((await shown.locator(".s-head:focus", { hasText: "Edit" }).count()) === 0) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await shown.locator("article:focus-within .diff").waitFor();
  await waitInPanel(page, ".s-head");
  await shoot(page, "keyboard-edit");
}

/** Searches by the key that the editor has for it. @param {Page} page */
async function searchByKeys(page) {
  const shown = panel(page);
  await page.keyboard.press("Control+f");
  await waitInPanel(page, "input");
  equal("the editor's own fields", await page.locator(".find-widget.visible, .simple-find-part.visible").count(), 0);
  await page.keyboard.type(LETTERS);
  equal("what is typed", await shown.locator("input").inputValue(), LETTERS);
  equal("what letters open", await shown.locator("dialog, .insp, .left[data-open]").count(), 0);
  // One by one: the editor answers to Ctrl+A a moment later, when other letters stand there.
  for (const _ of LETTERS) await page.keyboard.press("Backspace");
  await page.keyboard.type("test");
  const place = await shown.getByText(/^\d+ of \d+$/).innerText();
  await page.keyboard.press("Enter");
  await shown
    .getByText(
      place.replace(/^\d+/, (number) => String(Number(number) + 1)),
      { exact: true },
    )
    .waitFor();
  await waitInPanel(page, "input");
}

/** Presses what is the editor's while the viewer's field has the focus, which it gets back. @param {Page} page */
async function checkEditorKeys(page) {
  for (const key of ["F1", "Control+p", "Control+Shift+p"]) {
    await page.keyboard.press(key);
    await waitInInput(page);
    await page.keyboard.press("Escape");
    await waitInPanel(page, "input");
  }
  await page.keyboard.press("Control+b");
  await page.locator(".part.sidebar").waitFor({ state: "hidden" });
  await page.keyboard.press("Control+b");
  await page.locator(".part.sidebar").waitFor();
  await waitInPanel(page, "input");
  equal("the search", await panel(page).locator("input").inputValue(), "test");
}

/** Closes a part of the viewer, which gives the focus to the messages. @param {Page} page @param {string} part @param {"detached" | "hidden"} [state] */
async function closePart(page, part, state = "detached") {
  await page.keyboard.press("Escape");
  await panel(page).locator(part).waitFor({ state });
  await waitInPanel(page, "article");
}

/** Opens the viewer's parts, each of which gets the focus, and closes one at a time. @param {Page} page */
async function checkParts(page) {
  const shown = panel(page);
  await closePart(page, "input");
  await page.keyboard.press("w");
  await waitInPanel(page, ".insp .tab");
  await page.keyboard.press("?");
  await waitInPanel(page, "dialog");
  await closePart(page, "dialog");
  await shown.locator(".insp").waitFor();
  await closePart(page, ".insp");
  await page.keyboard.press("1");
  await waitInPanel(page, ".left .tab");
  await closePart(page, ".left", "hidden");
  await page.keyboard.press("m");
  await waitInPanel(page, "[role=slider]");
  await page.keyboard.press("Escape");
  await waitInPanel(page, "article");
  await page.keyboard.press("/");
  await waitInPanel(page, "input");
  await page.keyboard.press("Escape");
  await waitInPanel(page, "article");
}

/** Chooses from the menu of the row that has the focus. @param {Page} page @param {string} name */
async function enterInMenu(page, name) {
  await page.keyboard.press("Shift+F10");
  await page.getByRole("menuitem", { name }).waitFor();
  const chosen = page.locator("[role=menuitem]:focus", { hasText: name });
  while ((await chosen.count()) === 0) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}

/** Goes back to the tree, whose keys are its own, and renames and resumes a session there. @param {Page} page */
async function changeByKeys(page) {
  await page.keyboard.press("Control+0");
  await page.locator(".sidebar .monaco-list:focus .monaco-list-row").first().waitFor();
  await page.keyboard.press("Home");
  await waitInTree(page, ", 2 sessions");
  await page.keyboard.press("ArrowDown");
  await waitInTree(page, "Mend the calculator, claude-code, 17 messages, active, ");
  await page.keyboard.press("Control+f");
  await page.keyboard.press("Control+Alt+f");
  await page.locator(".sidebar input:focus").waitFor();
  equal("the viewer's field", await panel(page).locator("input").count(), 0);
  await page.keyboard.press("Escape");
  await waitInTree(page, "Mend the calculator");
  await enterInMenu(page, "Rename…");
  await waitInInput(page);
  await page.keyboard.press("Control+a");
  await page.keyboard.type("Mend it");
  await page.keyboard.press("Enter");
  await waitInTree(page, "Mend it, claude-code");
  await enterInMenu(page, "Resume in Terminal…");
  await waitInInput(page);
  await page.locator('.quick-input-list .monaco-list-row.focused[aria-label^="claude"]').waitFor();
  await page.keyboard.press("Escape");
  await waitInTree(page, "Mend it");
}
