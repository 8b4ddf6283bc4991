// @ts-check
// What a screen reader is told: axe in a session's panel, in light, dark and both themes of high contrast, and the names
// of rows, buttons and hits in the editor's own parts.
// Tries: js/vscode/webview/page.js, js/viewer/styles/vscode.css, js/vscode/sessions-tree.js, js/vscode/search.js, js/vscode/status-bar.js

import { readFileSync } from "node:fs";
import { checkAxe, equal, expect } from "../browser/viewer.mjs";
import { storeRichSession } from "./rich-session.mjs";
import { openWorkbench, panel, row, runCommand, shoot, showSessions } from "./workbench.mjs";

/** @import { Page } from "playwright-core" */

const AXE = readFileSync(new URL(import.meta.resolve("axe-core")), "utf8");
const THEMES = ["Light Modern", "Dark Modern", "Dark High Contrast", "Light High Contrast"];

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "a session's panel passes axe in four themes, and what is in the editor has names",
  prepare: storeRichSession,
  async run({ browser, url }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await runCommand(page, "leftoff: Show All Projects");
    await row(page, /^Mend the calculator/).click();
    await checkNames(page);
    const shown = panel(page);
    await shown.locator("article:focus").waitFor();
    const frame = await (await shown.locator("body").elementHandle())?.ownerFrame();
    if (!frame) throw new Error("expected the panel's page");
    // By the browser's own door for tools: the page's policy lets nothing else in.
    await frame.evaluate(AXE);
    for (const theme of THEMES) {
      await runCommand(page, "Preferences: Color Theme");
      await page.locator(".quick-input-list").getByRole("option", { name: "Light Modern" }).waitFor();
      await page.keyboard.type(theme);
      await page.keyboard.press("Enter");
      await shown.locator(`body[data-vscode-theme-name="${theme}"]`).waitFor();
      await checkParts(page, (what) => checkAxe(frame, `${what}, ${theme}`));
      await shoot(page, `labels-${theme}`);
    }
    await page.close();
  },
};

/** Looks at the panel with each of its parts open. @param {Page} page @param {(what: string) => Promise<void>} check */
async function checkParts(page, check) {
  const shown = panel(page);
  await shown.locator("article").first().press("e");
  await shown.locator("article:focus", { hasText: "failed" }).waitFor();
  await check("an error");
  await page.keyboard.press("G");
  await shown.locator("article:focus", { hasText: "Like this." }).waitFor();
  await shown.locator(".hole").first().waitFor();
  await check("an image and damage");
  await page.keyboard.press("/");
  await page.keyboard.type("test");
  await shown.getByText(/^\d+ of \d+$/).waitFor();
  await check("a search");
  await page.keyboard.press("Escape");
  for (const [key, part] of [
    ["1", ".left .o-turn"],
    ["2", ".left .f-row"],
    ["3", ".left .use"],
    ["w", ".insp .big"],
    ["?", "dialog"],
  ]) {
    await page.keyboard.press(key);
    await shown.locator(part).first().waitFor();
    await check(`what ${key} opens`);
    await page.keyboard.press("Escape");
    await shown.locator(part).first().waitFor({ state: "hidden" });
  }
}

/** What is heard of the editor's own parts, where an icon alone is seen. @param {Page} page */
async function checkNames(page) {
  const sidebar = page.locator(".sidebar");
  const rows = await sidebar
    .getByRole("treeitem")
    .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
  equal("the rows", rows, [
    "Today, 2 sessions",
    "Mend the calculator, claude-code, 17 messages, active, now",
    "Another session, 1 message, active, now",
  ]);
  const nameless = await page
    .locator(".sidebar, .editor-group-container .title, .part.statusbar")
    .locator(".action-label.codicon, .statusbar-item-label")
    .evaluateAll((all) =>
      all
        .filter((one) => !(one.getAttribute("aria-label") || one.textContent || one.parentElement?.ariaLabel))
        .map((one) => one.outerHTML),
    );
  equal("icons without a name", nameless, []);
  await page.getByRole("button", { name: "Open the session Mend the calculator" }).waitFor();
  await runCommand(page, "leftoff: Search Sessions");
  await page.locator(".quick-input-widget input[type=text]").first().fill("look like");
  const hit = page.locator(".quick-input-list").getByRole("option", { name: /look like/ });
  await hit.first().waitFor();
  const name = await hit.first().getAttribute("aria-label");
  expect(name?.includes("user") === true, `expected a hit to say whose it is, but found ${name}`);
  await page.keyboard.press("Escape");
}
