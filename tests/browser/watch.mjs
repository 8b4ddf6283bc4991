// @ts-check
// What a page does that it should not, in whatever browser: Playwright drives Chromium, and Puppeteer Firefox.

import { readFileSync } from "node:fs";

/** How long a page may take, whatever else the machine is doing. */
const TIMEOUT_MS = 60_000;

/**
 * @typedef {object} WatchedPage Playwright's, or Puppeteer's
 * @property {(name: any, listener: (event: any) => void) => unknown} on
 * @property {(work: () => unknown) => Promise<any>} evaluate
 * @property {(timeoutMs: number) => void} setDefaultTimeout
 * @property {(script: { content: string }) => Promise<unknown>} [addInitScript]
 * @property {(script: string) => Promise<unknown>} [evaluateOnNewDocument]
 */

/** Keeps, in the page, what its policy reports. */
function keepReports() {
  const reports = /** @type {string[]} */ (/** @type {any} */ (globalThis).policyReports = []);
  document.addEventListener("securitypolicyviolation", ({ violatedDirective, sample, blockedURI }) =>
    reports.push(`${violatedDirective} ${blockedURI} ${sample}`),
  );
}

/**
 * Watches a page from its beginning, with axe in it. Answers what tells all that should not have been: what the policy
 * reports, dialogs, requests of others, errors.
 * @param {WatchedPage} page
 * @param {(url: string) => boolean} isOwn whether the page may ask for that
 * @returns {Promise<(how?: { hasScripts?: boolean }) => Promise<string[]>>}
 */
export async function watchPage(page, isOwn) {
  page.setDefaultTimeout(TIMEOUT_MS);
  /** @type {string[]} */
  const wrong = [];
  page.on("dialog", (dialog) => (wrong.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => {
    const url = request.url();
    if (!isOwn(url) && !url.startsWith("data:")) wrong.push(`a request: ${url}`);
  });
  page.on("response", (response) => response.status() >= 400 && wrong.push(`${response.status()}: ${response.url()}`));
  page.on("pageerror", (error) => wrong.push(`an error: ${error.message}`));
  page.on("console", (message) => message.type() === "error" && wrong.push(`in the console: ${message.text()}`));
  const axe = readFileSync(new URL(import.meta.resolve("axe-core")), "utf8");
  for (const content of [`(${keepReports})()`, axe])
    await (page.addInitScript?.({ content }) ?? page.evaluateOnNewDocument?.(content));
  return async ({ hasScripts = true } = {}) => {
    const reports = hasScripts ? await page.evaluate(() => /** @type {any} */ (globalThis).policyReports) : [];
    return [...reports, ...wrong];
  };
}
