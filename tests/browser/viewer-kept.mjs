// @ts-check
// Sessions that the viewer keeps in the browser: there after a reload and by link, listed, removed by keys alone; and
// what is said where the browser keeps nothing, or allows no more.
// Tries: js/viewer/browser-store.js, js/viewer/worker-storage.js, js/viewer/storage-worker.js, js/viewer/trusted-types.js,
// js/viewer/elements/kept-list.js

import { checkAxe, equal, expect, servePackage, sessionFile, workTurn } from "./viewer.mjs";
import { watchPage } from "./watch.mjs";

/** @import { Browser, BrowserContext, Page } from "playwright-core" */

const TURNS = 6;
/** What the browser allows the origin, where one of two sessions has room. */
const ROOM_BYTES = 1_500_000;

/** @param {BrowserContext} context @param {string} address */
async function openPage(context, address) {
  const page = await context.newPage();
  const problemsOf = await watchPage(page, (url) => url.startsWith(new URL(address).origin));
  await page.goto(address);
  const finish = async () => {
    equal("what the policy reports, and what went wrong", await problemsOf(), []);
    await page.close();
  };
  return { page, finish };
}

/** Waits until a session is read. @param {Page} page @param {number} count of its messages */
async function checkRead(page, count) {
  await page.locator("leftoff-viewer [aria-busy=false] article").first().waitFor();
  const shown = (await page.locator(".strip").innerText()).replace(/\s+/g, " ");
  expect(shown.startsWith(`${count} messages`), `expected ${count} messages, but found ${shown}`);
}

/** The paths of all files that the origin keeps with messages. @param {Page} page @returns {Promise<string[]>} */
const keptLogs = (page) =>
  page.evaluate(async () => {
    const walk = async (/** @type {any} */ folder, /** @type {string} */ path) => {
      /** @type {string[]} */
      const paths = [];
      for await (const [name, handle] of folder.entries())
        paths.push(...(handle.kind === "file" ? [`${path}/${name}`] : await walk(handle, `${path}/${name}`)));
      return paths;
    };
    const paths = await walk(await navigator.storage.getDirectory(), "");
    return paths.filter((path) => path.endsWith("messages.jsonl"));
  });

/** Presses Tab until something has the focus. @param {Page} page @param {string} selector */
async function tabTo(page, selector) {
  for (let presses = 0; presses < 20; presses += 1) {
    await page.keyboard.press("Tab");
    if ((await page.locator(`${selector}:focus`).count()) > 0) return;
  }
  throw new Error(`expected Tab to reach ${selector}, but it does not`);
}

/**
 * Keeps a session, opens it again in several ways, and removes it.
 * @param {BrowserContext} context @param {string} address @param {Awaited<ReturnType<typeof sessionFile>>} session
 */
async function checkKeeping(context, address, { file, ids }) {
  const { page, finish } = await openPage(context, address);
  await page.setInputFiles("#files", file);
  await checkRead(page, ids.length);
  await page.locator(".strip").getByRole("button", { name: "Keep in this browser" }).click();
  await page.getByText("Kept in this browser").waitFor();
  const { hash } = new URL(page.url());
  await page.reload();
  await checkRead(page, ids.length);
  equal("the buttons that keep what is kept", await page.getByRole("button", { name: "Keep in this" }).count(), 0);
  const linked = await openPage(context, `${address}${hash}&m=${ids[5]}`);
  await linked.page.locator(`article[data-message="${ids[5]}"]:focus`).waitFor();
  await linked.finish();
  await page.getByRole("link", { name: "All sessions" }).click();
  await page.getByRole("heading", { name: "Kept in this browser" }).waitFor();
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    await checkAxe(page, `a kept session, ${colorScheme}`);
  }
  await page.setViewportSize({ width: 390, height: 844 });
  await checkAxe(page, "a kept session, narrow");
  equal("the width that it scrolls over", await page.evaluate(() => document.documentElement.scrollWidth), 390);
  await checkRemoval(page);
  await page.goto(`${address}${hash}`);
  await page.reload();
  await page.getByRole("alert").getByText("no session").waitFor();
  await finish();
}

/** Removes the only kept session by keys. @param {Page} page */
async function checkRemoval(page) {
  const asking = page.getByRole("group", { name: "Remove a session" });
  await tabTo(page, '[aria-label="Remove “The average”"]');
  await page.keyboard.press("Enter");
  await asking.getByText("Remove “The average” from this browser?").waitFor();
  await checkAxe(page, "a session that is to be removed");
  await page.keyboard.press("Escape");
  await page.locator('[aria-label="Remove “The average”"]:focus').waitFor();
  await page.keyboard.press("Enter");
  await asking.locator("[data-cancel]:focus").waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Kept in this browser" }).waitFor({ state: "detached" });
  await page.locator(".zone button:focus").waitFor();
  equal("the logs that are left", await keptLogs(page), []);
}

/** A file of Claude Code's. @param {string} id @param {number} count of messages @param {number} length of each */
function agentFile(id, count, length) {
  const line = (/** @type {number} */ place) =>
    JSON.stringify({
      type: "user",
      uuid: `${id}-${place}`,
      sessionId: id,
      timestamp: "2026-11-02T10:00:00Z",
      message: { role: "user", content: `${id} ${place} ${"x".repeat(length)}` },
    });
  const lines = Array.from({ length: count }, (_, place) => `${line(place)}\n`);
  return { name: `${id}.jsonl`, mimeType: "", buffer: Buffer.from(lines.join("")) };
}

/**
 * Keeps two sessions where the browser has room for one, and then for both.
 * @param {BrowserContext} context @param {string} address
 */
async function checkFullBrowser(context, address) {
  const { page, finish } = await openPage(context, address);
  const { origin } = new URL(address);
  const quota = await context.newCDPSession(page);
  await page.setInputFiles("#files", [agentFile("large", 40, 50_000), agentFile("small", 3, 10)]);
  await page.getByRole("heading", { name: "In these files" }).waitFor();
  await quota.send("Storage.overrideQuotaForOrigin", { origin, quotaSize: ROOM_BYTES });
  await page.getByRole("button", { name: "Keep in this browser" }).click();
  await page.getByRole("alert").getByText("no room for all of these: 1 of 2 are kept whole").waitFor();
  await checkAxe(page, "a browser that has no room");
  await quota.send("Storage.overrideQuotaForOrigin", { origin });
  await page.getByRole("button", { name: "Keep in this browser" }).click();
  await page.getByRole("status").getByText("Kept in this browser").waitFor();
  equal("the buttons that keep them", await page.getByRole("button", { name: "Keep" }).count(), 0);
  equal("the notices", await page.getByRole("alert").count(), 0);
  const kept = (await page.locator(".kept .rec span:last-child").allInnerTexts()).toSorted();
  equal("what is kept", kept, ["Claude Code, 2 November, 3 messages", "Claude Code, 2 November, 40 messages"]);
  await page.locator(".kept .rec", { hasText: "40 messages" }).click();
  await checkRead(page, 40);
  await finish();
}

/**
 * Keeps a session where the browser refuses its private files, as in some private windows.
 * @param {Browser} driven @param {string} address @param {Awaited<ReturnType<typeof sessionFile>>} session
 */
async function checkRefusal(driven, address, { file, ids }) {
  const context = await driven.newContext();
  await context.addInitScript(() => {
    navigator.storage.getDirectory = () => Promise.reject(new DOMException("refused", "SecurityError"));
  });
  const { page, finish } = await openPage(context, address);
  await page.setInputFiles("#files", file);
  await checkRead(page, ids.length);
  await page.getByRole("button", { name: "Keep in this browser" }).click();
  await page
    .getByRole("alert")
    .getByText("This browser keeps no files for the page, as in a private window.")
    .waitFor();
  await finish();
  await context.close();
}

/**
 * @param {Browser} driven
 * @param {string} packed the package's folder
 * @param {typeof import("../../js/index.js")} leftoff
 */
export async function checkKept(driven, packed, leftoff) {
  const { origin, close } = await servePackage(packed);
  const address = `${origin}/pkg/viewer/index.html`;
  const context = await driven.newContext({ viewport: { width: 1200, height: 800 } });
  try {
    const session = await sessionFile(leftoff, workTurn, TURNS);
    await checkKeeping(context, address, session);
    await checkFullBrowser(context, address);
    await checkRefusal(driven, address, session);
  } finally {
    await context.close();
    close();
  }
}
