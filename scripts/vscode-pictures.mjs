// @ts-check
// Makes the pictures that the extension's README shows, in `js/vscode/media/`: real sessions of tests/fixtures in a real
// VS Code, by Chromium. Run it after the look of the extension has changed.

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { chromium } from "playwright-core";

import { openStore } from "../js/index.js";
import { CHROMIUM, findBrowser } from "./browsers.mjs";
import { fail, root, step } from "./run.mjs";
import { packExtension } from "./vscode.mjs";
import { startEditor } from "../tests/vscode/editor.mjs";
import { openWorkbench, panel, row, runCommand, showSessions } from "../tests/vscode/workbench.mjs";

/** @import { Page } from "playwright-core" */

const FIXTURES = join(root, "tests", "fixtures");
const AGENTS = ["claude-code", "codex", "gemini", "opencode", "pi"];
const MEDIA = join(root, "js", "vscode", "media");

/** What each picture shows. @type {Record<string, { theme: string, show: (page: Page) => Promise<unknown> }>} */
const PICTURES = {
  "sessions-light": { theme: "Default Light Modern", show: showCurrent },
  "search-dark": {
    theme: "Default Dark Modern",
    show: async (page) => {
      await showCurrent(page);
      await runCommand(page, "leftoff: Search Sessions");
      await page.locator(".quick-input-widget input[type=text]").first().fill("parser");
      await page.locator(".quick-input-list").getByRole("option").nth(2).waitFor();
    },
  },
  contrast: { theme: "Default High Contrast", show: showCurrent },
};

const folder = mkdtempSync(join(tmpdir(), "leftoff-pictures-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const executablePath = findBrowser(CHROMIUM) ?? fail("expected Chromium, but found none");
const vsix = await packExtension();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const [name, { theme, show }] of Object.entries(PICTURES))
  await step(`js/vscode/media/${name}.png`, async () => {
    const at = { folder: join(folder, name), home: join(folder, name, "home"), project: join(folder, name, "calc") };
    for (const one of [at.home, at.project]) mkdirSync(one, { recursive: true });
    const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
    for (const agent of AGENTS) await store.import(join(FIXTURES, agent));
    await store.close();
    const editor = await startEditor({ ...at, vsix, settings: { "workbench.colorTheme": theme } });
    const page = await openWorkbench(browser, editor.url);
    await page.setViewportSize({ width: 1280, height: 800 });
    await show(page);
    await page.screenshot({ path: join(MEDIA, `${name}.png`) });
    await editor.stop();
  });
await browser.close();

/** A session with calls and images. @param {Page} page */
async function showCurrent(page) {
  await showSessions(page);
  await runCommand(page, "leftoff: Show All Projects");
  await row(page, /Look around/).click();
  await panel(page).locator("article").nth(4).waitFor();
}
