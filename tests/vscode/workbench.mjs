// @ts-check
/** The editor's window as its user has it. */

import { join } from "node:path";
import process from "node:process";

/** @import { Browser, BrowserContext, FrameLocator, Locator, Page } from "playwright-core" */

/** How long the editor may take, whatever else the machine is doing. */
const TIMEOUT_MS = 60_000;

/** @param {Browser | BrowserContext} browser a context where a user has several windows @param {string} url @returns {Promise<Page>} */
export async function openWorkbench(browser, url) {
  const page = await browser.newPage();
  await page.setViewportSize({ width: 1400, height: 900 });
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(url);
  // What extensions declare is there a moment after the window.
  await page.getByRole("tab", { name: "leftoff" }).first().waitFor();
  return page;
}

/** Shows leftoff's views. @param {Page} page */
export async function showSessions(page) {
  await page.getByRole("tab", { name: "leftoff" }).first().click();
  await page.locator(".pane-body").first().waitFor();
}

/** A row of a tree whose name begins so. @param {Page} page @param {string | RegExp} name */
export const row = (page, name) => page.locator(".sidebar").getByRole("treeitem", { name }).first();

/** The page in the panel that is shown. @param {Page} page @returns {FrameLocator} */
export const panel = (page) => page.frameLocator("iframe.webview.ready").last().frameLocator("iframe#active-frame");

/** Runs a command by the palette. @param {Page} page @param {string} name as the palette shows it */
export async function runCommand(page, name) {
  await page.keyboard.press("F1");
  const box = page.locator(".quick-input-widget input[type=text]").first();
  await box.fill(`>${name}`);
  await page.locator(".quick-input-list").getByRole("option", { name }).first().click();
}

/** Chooses from the menu of what is pointed at: by its key, since a menu takes no click at once. @param {Locator} at @param {string} name */
export async function chooseInMenu(at, name) {
  await at.click({ button: "right" });
  await at.page().getByRole("menuitem", { name }).hover();
  await at.page().keyboard.press("Enter");
}

/** Keeps a picture where the environment wants them. @param {Page} page @param {string} name */
export async function shoot(page, name) {
  const { LEFTOFF_SHOTS: folder } = process.env;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`) });
}
