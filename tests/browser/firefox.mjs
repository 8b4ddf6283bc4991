// @ts-check
// The viewer in real Firefox, by WebDriver BiDi: a session that is dropped, one that `leftoff view` serves, and HTML
// files from disk. It reads, folds, searches and follows links by keys and by the mouse; nothing said in a session runs
// or asks for anything, though Firefox may have no Trusted Types.
// Tries: js/viewer/, js/viewer/elements/, js/cli/view/server.js, js/html/

import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import puppeteer from "puppeteer-core";
import { mountAll } from "./hostile.mjs";
import { startView } from "./view.mjs";
import { hostileTurn as hostileHtmlTurn, writeHtmlFile } from "./viewer-html.mjs";
import { checkAxe, equal, hostileTurn, servePackage, sessionFile, workTurn } from "./viewer.mjs";
import { watchPage } from "./watch.mjs";

/** @import { Browser, KeyInput, Page } from "puppeteer-core" */
/** @typedef {typeof import("../../js/index.js")} Leftoff */

const TURNS = 200;
/** Where the messages of a turn of `workTurn` lie in it. */
const [REQUEST, ANSWER, RESULT] = [0, 1, 2];
const MESSAGES_A_TURN = 5;
const VIEWPORT = { width: 1344, height: 896 };
const FIRST_ROW = "leftoff-viewer [aria-busy=false] article";
/** What no message may have. */
const FORBIDDEN = "script, iframe, object, embed, form, style, link, base, meta, video, audio, math";

/**
 * Opens an address, and fails where the page asks for anything else, or something in it runs that should not.
 * @param {Browser} driven @param {string} address @param {(url: string) => boolean} isOwn
 * @param {(page: Page) => Promise<void>} work
 */
async function openingPage(driven, address, isOwn, work) {
  const page = await driven.newPage();
  const problemsOf = await watchPage(page, isOwn);
  await page.goto(address);
  await work(page);
  equal(`what went wrong at ${address}`, await problemsOf(), []);
  await page.close();
}

/** @param {Page} page @param {KeyInput[]} keys */
async function pressKeys(page, ...keys) {
  for (const key of keys) await page.keyboard.press(key);
}

/** Waits until a message has the focus. @param {Page} page @param {string} id */
const waitForFocus = (page, id) => page.waitForSelector(`article[data-message="${id}"]:focus`);

/** Drops a file where the page takes one. @param {Page} page @param {Buffer} bytes */
async function dropFile(page, bytes) {
  await page.waitForSelector(".zone");
  await page.evaluate((text) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], "session.leftoff"));
    document.querySelector(".zone")?.dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
  }, bytes.toString());
  await page.waitForSelector(FIRST_ROW);
}

/** @param {Page} page @param {string[]} ids */
async function checkReading(page, ids) {
  const totals = await page.$eval(".strip", (strip) => /** @type {HTMLElement} */ (strip).innerText);
  equal("the messages that the page counts", /^[\d,]+\s+messages/.exec(totals)?.[0].split(/\s/)[0], "1,000");
  await pressKeys(page, "G");
  await waitForFocus(page, /** @type {string} */ (ids.at(-1)));
  equal("rows far from the screen are mounted", (await page.$$("article")).length >= 60, false);
  for (const [keys, place] of /** @type {[KeyInput[], number][]} */ ([
    [["g", "g"], REQUEST],
    [["j"], ANSWER],
    [["]"], MESSAGES_A_TURN],
    [["e"], 3 * MESSAGES_A_TURN + ANSWER],
  ])) {
    await pressKeys(page, ...keys);
    await waitForFocus(page, ids[place]);
  }
}

/** The first call that fails, beside one that works. @param {Page} page @param {string} id */
async function checkFolding(page, id) {
  const foldsOf = () =>
    page.$$eval(`article[data-message="${id}"] .s-head`, (heads) =>
      heads.map((head) => head.getAttribute("aria-expanded")),
    );
  equal("a call that worked is folded, one that failed is open", await foldsOf(), ["false", "true"]);
  await page.click(`article[data-message="${id}"] .s-head`);
  await page.waitForSelector("::-p-text(needle-3 lies here)");
  await page.focus(`article[data-message="${id}"]`);
  await pressKeys(page, "o");
  equal("both are folded by a key", await foldsOf(), ["false", "false"]);
}

/** @param {Page} page @param {string[]} ids */
async function checkSearch(page, ids) {
  const turn = TURNS - 1;
  const unfolded = `article[data-message="${ids[turn * MESSAGES_A_TURN + ANSWER]}"] .s-body`;
  await pressKeys(page, "/");
  await page.keyboard.type(`needle-${turn} lies`);
  await page.waitForSelector(`${unfolded} ::-p-text(lies here)`);
  equal("the current hit is marked", await page.evaluate(() => CSS.highlights.get("hit-now")?.size), 1);
  await pressKeys(page, "Escape");
  await page.waitForSelector(unfolded, { hidden: true });
}

/** @param {Page} page @param {string[]} ids */
async function checkPlaces(page, ids) {
  const linked = 77 * MESSAGES_A_TURN;
  await page.evaluate((id) => void (location.hash = `m=${id}`), ids[linked + RESULT]);
  await waitForFocus(page, ids[linked + ANSWER]);
  await page.waitForSelector("::-p-text(needle-77 lies here)");
  const map = await page.waitForSelector("[role=slider]");
  const box = /** @type {import("puppeteer-core").BoundingBox} */ (await map?.boundingBox());
  await page.mouse.click(box.x + box.width / 2, box.y + box.height - 2);
  await page.waitForSelector(`article[data-message="${ids.at(-1)}"]`);
  const tip = await page.$eval(".map .tip", (element) => element.getBoundingClientRect().bottom);
  equal(`the map tells a place below the page: ${tip}`, tip > VIEWPORT.height, false);
  await pressKeys(page, "Home");
  await page.waitForSelector(`article[data-message="${ids[0]}"]`);
}

/** Mounts a session of payloads, all of it open. @param {Page} page @param {number} rows */
async function checkHostile(page, rows) {
  await mountAll(page);
  equal("the rows", (await page.$$("article")).length, rows);
  await pressKeys(page, "G");
  await page.waitForSelector(`article[aria-posinset="${rows}"]:focus`);
  const hrefs = await page.$$eval("article a", (links) => links.map((link) => link.getAttribute("href") ?? ""));
  equal(
    "links that are none",
    hrefs.filter((href) => !/^(#m=|https?:|mailto:)/i.test(href)),
    [],
  );
  equal("elements that no message may have", (await page.$$(`article :is(${FORBIDDEN})`)).length, 0);
}

/** @param {Browser} driven @param {string} packed @param {Leftoff} leftoff @param {string[]} payloads */
async function checkDropped(driven, packed, leftoff, payloads) {
  const { origin, close } = await servePackage(packed);
  const [address, isOwn] = [`${origin}/pkg/viewer/index.html`, (/** @type {string} */ url) => url.startsWith(origin)];
  try {
    const { file, ids } = await sessionFile(leftoff, workTurn, TURNS);
    await openingPage(driven, address, isOwn, async (page) => {
      await dropFile(page, file.buffer);
      await checkReading(page, ids);
      await checkFolding(page, ids[3 * MESSAGES_A_TURN + ANSWER]);
      await checkSearch(page, ids);
      await checkPlaces(page, ids);
      await checkAxe(page, "a session in Firefox, light");
      await pressKeys(page, "t");
      await checkAxe(page, "a session in Firefox, dark");
    });
    const hostile = await sessionFile(leftoff, hostileTurn(payloads), payloads.length);
    await openingPage(driven, address, isOwn, async (page) => {
      await dropFile(page, hostile.file.buffer);
      await checkHostile(page, payloads.length * 2);
    });
  } finally {
    close();
  }
}

/** A session that grows while it is seen. @param {Browser} driven @param {{ packed: string, folder: string }} at @param {Leftoff} leftoff */
async function checkServed(driven, { packed, folder }, { openStore }) {
  const [home, project] = ["home", "project"].map((name) => join(folder, name));
  mkdirSync(project);
  const store = await openStore({ home, project });
  const session = await store.create({ title: "The average" });
  await session.append([
    { role: "user", content: "Why is the average wrong?" },
    { role: "assistant", content: "It divides by the **wrong** count." },
  ]);
  const { address, isOwn, end } = await startView({ packed, home, project }, []);
  try {
    await openingPage(driven, address, isOwn, async (page) => {
      await page.waitForSelector("h1 ::-p-text(The average)");
      await page.waitForSelector("article strong ::-p-text(wrong)");
      await session.append({ role: "user", content: "Then mend it" });
      await page.waitForSelector("article ::-p-text(Then mend it)");
      await pressKeys(page, "/");
      await page.keyboard.type("mend");
      await page.waitForSelector(".find ::-p-text(1 of 1)");
    });
  } finally {
    await end();
    await store.close();
  }
}

/** @param {Browser} driven @param {{ packed: string, folder: string }} at @param {Leftoff} leftoff @param {string[]} payloads */
async function checkHtml(driven, { packed, folder }, leftoff, payloads) {
  const { exportHtml } = await import(String(pathToFileURL(join(packed, "pkg", "html.mjs"))));
  /** @param {string} name @param {object[]} drafts @param {(page: Page) => Promise<void>} work */
  const openingFile = async (name, drafts, work) => {
    const path = join(folder, name);
    await writeHtmlFile(leftoff, exportHtml, { drafts, title: "The parts" }, path);
    const address = String(pathToFileURL(path));
    await openingPage(driven, address, (url) => url.replace(/#.*$/, "") === address, work);
  };
  await openingFile("talk.html", Array.from({ length: TURNS }, (_, place) => workTurn(place)).flat(), async (page) => {
    await page.waitForSelector(FIRST_ROW);
    equal("plain pages beside the viewer", (await page.$$("main.plain")).length, 0);
    await pressKeys(page, "/");
    await page.keyboard.type(`needle-${TURNS - 1} lies`);
    await page.waitForSelector("article .s-body ::-p-text(lies here)");
  });
  await openingFile("hostile.html", payloads.flatMap(hostileHtmlTurn), async (page) => {
    await page.waitForSelector(FIRST_ROW);
    await checkHostile(page, payloads.length * 3);
  });
}

/**
 * Checks the viewer of an unpacked package.
 * @param {string} executablePath Firefox
 * @param {{ packed: string, folder: string }} at the package, and where files may be written
 * @param {Leftoff} leftoff
 * @param {string[]} payloads
 */
export async function checkFirefox(executablePath, { packed, folder }, leftoff, payloads) {
  const own = mkdtempSync(join(folder, "firefox-"));
  const driven = await puppeteer.launch({
    browser: "firefox",
    executablePath,
    defaultViewport: VIEWPORT,
    env: { ...process.env, HOME: own },
  });
  try {
    await checkDropped(driven, packed, leftoff, payloads);
    await checkServed(driven, { packed, folder: own }, leftoff);
    await checkHtml(driven, { packed, folder: own }, leftoff, payloads);
  } finally {
    await driven.close();
  }
}
