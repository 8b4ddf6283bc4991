// @ts-check
/** The viewer in real Chromium with a long session: until it is seen, while it is scrolled and searched, its memory. */

import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";
import { CHROMIUM, findBrowser } from "../scripts/browsers.mjs";
import { fail, root } from "../scripts/run.mjs";
import { startView } from "../tests/browser/view.mjs";
import { servePackage } from "../tests/browser/viewer.mjs";
import { makeLongSession } from "./long-session.mjs";
import { inFolder } from "./tools.mjs";
import { noteFirstRow, readTimes, scrollOver, searchFor } from "./viewer-page.mjs";

/** @import { Browser, Page } from "playwright-core" */
/** @import { Figure } from "../scripts/bench.mjs" */

const MESSAGES = 100_000;
const TIMEOUT_MS = 600_000;
const SCROLL_STEPS = 150;
const LAST = "the very last needle";
/** Texts to search: one at the end, a frequent one, one that is nowhere. */
const QUERIES = [LAST, "error", "nowherefound"];
const MAX_FIRST_MS = 1000;
const MAX_BLANK_MS = 100;
const MAX_SEARCH_MS = 500;
const MAX_MEMORY_RATIO = 3;

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: "the viewer with a long session in Chromium",
  run: ({ messages = MESSAGES } = {}) => inFolder((folder) => measure(folder, messages)),
};

/** @param {string} folder @param {number} count */
async function measure(folder, count) {
  const executablePath = findBrowser(CHROMIUM) ?? fail("expected Chromium, but found none");
  const { home, id, leftoff, claude } = await makeLongSession(folder, count, LAST);
  const { origin, close } = await servePackage(root);
  const start = `${origin}/pkg/viewer/index.html`;
  const view = await startView({ packed: root, home, project: folder }, [id]);
  const dropping = (/** @type {string} */ path) => (/** @type {Page} */ page) => page.setInputFiles("#files", path);
  const cases = {
    "leftoff, dropped": { open: dropping(leftoff.path), megabytes: leftoff.megabytes },
    "Claude Code, dropped": { open: dropping(claude.path), megabytes: claude.megabytes },
    "leftoff, served": { open: (/** @type {Page} */ page) => page.goto(view.address), megabytes: leftoff.megabytes },
  };
  try {
    const figures = [];
    for (const [name, { open, megabytes }] of Object.entries(cases)) {
      const driven = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
      figures.push(...(await measureCase(driven, { name, start, open, megabytes })));
      await driven.close();
    }
    return figures;
  } finally {
    close();
    await view.end();
  }
}

/**
 * @param {Browser} driven
 * @param {{ name: string, start: string, open: (page: Page) => Promise<unknown>, megabytes: number }} opened `start`: the
 *   address of the viewer without a session; `megabytes`: of the file
 * @returns {Promise<Figure[]>}
 */
async function measureCase(driven, { name, start, open, megabytes }) {
  const page = await driven.newPage({ viewport: { width: 1344, height: 896 } });
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.addInitScript(noteFirstRow);
  await page.goto(start);
  await page.locator("#files").waitFor({ state: "attached" });
  const emptyMb = await measureMemory(driven, page);
  await open(page);
  await page.locator("leftoff-viewer [aria-busy=false] article").first().waitFor();
  const { firstMs, wholeMs } = await page.evaluate(readTimes);
  const memoryMb = await measureMemory(driven, page);
  const searches = [];
  for (const query of QUERIES) {
    searches.push(await page.evaluate(searchFor, query));
    await page.evaluate(searchFor, "");
  }
  if (searches[0].told !== "1 of 1") fail(`expected the last message to be found, but found ${searches[0].told}`);
  await page.keyboard.press("Home");
  const { blankMs, last, count } = await page.evaluate(scrollOver, SCROLL_STEPS);
  if (last !== count) fail(`expected to scroll to message ${count}, but found ${last} instead`);
  const searchMs = Math.max(...searches.map(({ ms }) => ms));
  return [
    { what: `${name}, ${Math.round(megabytes)} MB: first messages`, value: firstMs, unit: "ms", atMost: MAX_FIRST_MS },
    { what: `${name}: all messages`, value: wholeMs, unit: "ms" },
    { what: `${name}: longest blank while scrolling`, value: blankMs, unit: "ms", atMost: MAX_BLANK_MS },
    { what: `${name}: slowest search`, value: searchMs, unit: "ms", atMost: MAX_SEARCH_MS },
    ...(memoryMb === undefined || emptyMb === undefined
      ? []
      : [
          {
            what: `${name}: memory beyond an empty page's, to the file`,
            value: (memoryMb - emptyMb) / megabytes,
            unit: "times",
            atMost: MAX_MEMORY_RATIO,
          },
        ]),
  ];
}

/**
 * The memory of the browser's largest page once garbage is collected; nothing where the system has no /proc.
 * @param {Browser} driven @param {Page} page
 */
async function measureMemory(driven, page) {
  if (process.platform !== "linux") return undefined;
  const ofPage = await page.context().newCDPSession(page);
  await ofPage.send("HeapProfiler.collectGarbage");
  const ofBrowser = await driven.newBrowserCDPSession();
  const { processInfo } = await ofBrowser.send("SystemInfo.getProcessInfo");
  const sizes = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]) / 1000);
  return Math.max(...sizes);
}
