// @ts-check
// Makes the pictures of the extension: the one that its README shows, in `js/vscode/media/`, and two in docs/. Real
// sessions of tests/fixtures in a real VS Code, by Chromium. Run it after the look of the extension has changed.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, extname, join } from "node:path";
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

/** What each picture shows. @type {Record<string, { theme: string, show: (page: Page) => Promise<unknown> }>} */
const PICTURES = {
  "js/vscode/media/sessions-light.webp": { theme: "Default Light Modern", show: showCurrent },
  "docs/vscode-dark.png": {
    theme: "Default Dark Modern",
    show: async (page) => {
      await showCurrent(page);
      await runCommand(page, "leftoff: Search Sessions");
      await page.locator(".quick-input-widget input[type=text]").first().fill("error");
      await page.locator(".quick-input-list").getByRole("option", { name: /error/i }).first().waitFor();
    },
  },
  "docs/vscode-contrast.png": { theme: "Default High Contrast", show: showCurrent },
};

const folder = mkdtempSync(join(tmpdir(), "leftoff-pictures-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const executablePath = findBrowser(CHROMIUM) ?? fail("expected Chromium, but found none");
const vsix = await packExtension();
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
for (const [path, { theme, show }] of Object.entries(PICTURES))
  await step(path, async () => {
    const place = join(folder, basename(path, extname(path)));
    const at = { folder: place, home: join(place, "home"), project: join(place, "calc") };
    for (const one of [at.home, at.project]) mkdirSync(one, { recursive: true });
    const store = await openStore({ home: join(at.home, ".leftoff"), project: at.project });
    for (const agent of AGENTS) await store.import(join(FIXTURES, agent));
    await store.close();
    const editor = await startEditor({ ...at, vsix, settings: { "workbench.colorTheme": theme } });
    const page = await openWorkbench(browser, editor.url);
    await page.setViewportSize({ width: 1120, height: 700 });
    await show(page);
    await savePicture(page, path);
    await editor.stop();
  });
await browser.close();

/** Takes a picture: WebP, which Playwright does not write, for what is downloaded. @param {Page} page @param {string} path */
async function savePicture(page, path) {
  const file = join(root, path);
  if (!path.endsWith(".webp")) return void (await page.screenshot({ path: file }));
  const chromium = await page.context().newCDPSession(page);
  const { data } = await chromium.send("Page.captureScreenshot", { format: "webp", quality: 90 });
  writeFileSync(file, data, "base64");
}

/** A session with calls and images. @param {Page} page */
async function showCurrent(page) {
  await showSessions(page);
  await runCommand(page, "leftoff: Show All Projects");
  await row(page, /Look around/).click();
  await panel(page).locator("article").nth(4).waitFor();
  // What is pointed at tells more of itself, above what is shown.
  await page.mouse.move(0, 0);
}
