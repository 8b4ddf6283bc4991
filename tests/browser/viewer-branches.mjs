// @ts-check
// What stands between messages, in a real browser: where a session forks, and what could not be read there.
// Tries: js/viewer/branches.js, js/viewer/damage.js, js/viewer/elements/bands.js, js/viewer/address.js

import { readFileSync } from "node:fs";
import { checkAxe, equal, expect, focused, openFile, servePackage } from "./viewer.mjs";

/** @import { Browser, Page } from "playwright-core" */

/** How many messages stand before the fork, and on the two paths behind it. */
const [TRUNK, OLDER, NEWER] = [40, 30, 20];

/**
 * A session that went on twice from its 40th message, as one file.
 * @param {typeof import("../../js/index.js")} leftoff
 */
async function forkedFile({ MemoryStorage, openStore }) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  const session = await store.create({ title: "Two ways" });
  const said = (/** @type {string} */ name, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, place) => ({
      id: `${name}-${place}`,
      role: /** @type {"user" | "assistant"} */ (place % 2 === 0 ? "user" : "assistant"),
      content: `${name} ${place}: ${"it is told at length. ".repeat(place % 7)}`,
    }));
  await session.append([...said("trunk", TRUNK), ...said("older", OLDER)]);
  const [first, ...others] = said("newer", NEWER);
  await session.append({ ...first, parentId: `trunk-${TRUNK - 1}`, branch: true });
  await session.append(others);
  const text = await session.export("leftoff");
  await store.close();
  return { name: "two-ways.leftoff", mimeType: "text/plain", buffer: Buffer.from(text) };
}

/** The messages that are shown, by the totals. @param {Page} page */
const counted = async (page) => (await page.locator(".strip .tot").first().innerText()).replace(/\s+/g, " ");

/** How far below the top of the screen an element is. @param {import("playwright-core").Locator} element */
const topOf = async (element) => Math.round((await element.boundingBox())?.y ?? NaN);

/** @param {Page} page */
async function checkChoosing(page) {
  equal("the messages of the current path", await counted(page), `60 messages ${OLDER} on other branches`);
  await page.evaluate((id) => void (location.hash = `m=${id}`), `trunk-${TRUNK - 1}`);
  await page.locator(`article[data-message="trunk-${TRUNK - 1}"]:focus`).waitFor();
  const buttons = page.getByRole("group", { name: "Branches" }).getByRole("button");
  const texts = (await buttons.allInnerTexts()).map((text) => text.replace(/^[\d:]+, /, ""));
  equal("the paths", texts, [`${OLDER} messages`, `${NEWER} messages`]);
  const older = buttons.nth(0);
  equal("what is chosen", await older.getAttribute("aria-pressed"), "false");
  const before = await topOf(older);
  await older.focus();
  await page.keyboard.press("Enter");
  await page.locator('article[data-message="older-0"]').waitFor();
  equal("what is chosen then", await older.getAttribute("aria-pressed"), "true");
  expect(await older.evaluate((button) => button === document.activeElement), "expected the button to keep the focus");
  equal("where the button stands", await topOf(older), before);
  equal("the rows of the other path", await page.locator('article[data-message^="newer-"]').count(), 0);
  equal("the messages of that path", await counted(page), `70 messages ${NEWER} on other branches`);
  await checkAxe(page, "a fork");
}

/** A link names the branch, and opens it. @param {Page} page */
async function checkLinks(page) {
  await page.keyboard.press("G");
  await page.locator(`article[data-message="older-${OLDER - 1}"]:focus`).waitFor();
  const link = await page.locator("article:focus .tm a").first().getAttribute("href");
  equal("the link to a message", link, `#m=older-${OLDER - 1}&b=older-0`);
  for (const [hash, shown] of [
    ["m=newer-3", "newer-3"],
    ["m=older-7", "older-7"],
    ["m=trunk-39&b=newer-0", "trunk-39"],
  ]) {
    await page.evaluate((address) => void (location.hash = address), hash);
    await page.locator(`article[data-message="${shown}"]:focus`).waitFor();
  }
  await page.locator('article[data-message="newer-0"]').waitFor();
  equal("what has the focus", await focused(page), "trunk-39");
}

/**
 * A log of which a line in the middle cannot be read: it is shown there, with its bytes, which can be saved.
 * @param {Page} page
 */
async function checkDamage(page) {
  await page.evaluate(async () => {
    const [core, viewer] = ["/pkg/web/index.js", "/pkg/viewer/index.js"];
    const { openStore, MemoryStorage } = await import(core);
    const { openViewer } = await import(viewer);
    const place = { storage: new MemoryStorage(), home: "/home", project: "/project" };
    const session = await (await openStore(place)).create({ title: "Damaged" });
    await session.append(Array.from({ length: 30 }, (_, at) => ({ id: `said-${at}`, role: "user", content: `${at}` })));
    const path = `${session.path}/messages.jsonl`;
    const lines = new TextDecoder().decode(await place.storage.read(path)).split("\n");
    lines[14] = `\u00e4<img src=x onerror=alert(1)>${"x".repeat(200)}`;
    await place.storage.replace(path, new TextEncoder().encode(lines.join("\n")));
    const store = await openStore({ ...place, readOnly: true });
    await openViewer(document.body, { store, session: await store.session(session.id) }).whole;
  });
  await page.getByRole("button", { name: "damaged" }).click();
  await page.getByRole("dialog", { name: "Damage" }).getByRole("button", { name: "Show the place" }).first().click();
  const hole = page.locator('article[data-message="said-13"] .hole');
  await hole.getByText("One message is missing here.").waitFor();
  await hole.getByText("messages.jsonl, bytes ").waitFor();
  const hex = await hole.locator(".hex").innerText();
  expect(/^ *\d+ {2}c3 a4 3c 69 6d 67 /.test(hex), `expected the first bytes, but found ${hex.slice(0, 60)}`);
  equal("the row before it", await focused(page), "said-13");
  await checkAxe(page, "damage in its place");
  const download = page.waitForEvent("download");
  await hole.getByRole("button", { name: "Save the bytes" }).click();
  const saved = readFileSync(await (await download).path());
  equal("what is saved", saved.toString(), `\u00e4<img src=x onerror=alert(1)>${"x".repeat(200)}`);
}

/**
 * Checks the branches in the viewer of an unpacked package.
 * @param {Browser} driven @param {string} packed its folder @param {typeof import("../../js/index.js")} leftoff
 */
export async function checkViewerBranches(driven, packed, leftoff) {
  const { origin, close } = await servePackage(packed);
  try {
    const { page, finish } = await openFile(driven, origin, await forkedFile(leftoff));
    await checkChoosing(page);
    await checkLinks(page);
    await checkDamage(page);
    await finish();
  } finally {
    close();
  }
}
