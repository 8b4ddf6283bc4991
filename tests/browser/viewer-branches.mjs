// @ts-check
// What stands between messages, in a real browser: where a session forks, and what could not be read there. Beside it,
// selections, the place of a reader, and nested sub-agents.
// Tries: js/viewer/branches.js, js/viewer/damage.js, js/viewer/selection.js, js/viewer/last-read.js,
// js/viewer/children.js, js/viewer/elements/bands.js, js/viewer/elements/actions.js

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

/** How many pixels the marks of the map have of a color of the theme. @param {Page} page @param {string} name */
const countMarked = (page, name) =>
  page.evaluate((variable) => {
    const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector("leftoff-map canvas"));
    canvas.style.color = `var(${variable})`;
    const wanted = getComputedStyle(canvas).color.match(/\d+/g)?.map(Number) ?? [];
    canvas.style.color = "";
    const { data } = /** @type {any} */ (canvas.getContext("2d")).getImageData(0, 0, 24, canvas.height);
    let count = 0;
    const isSo = (/** @type {number} */ at) =>
      data[at + 3] > 60 && wanted.every((value, part) => Math.abs(data[at + part] - value) < 8);
    for (let at = 0; at < data.length; at += 4) if (isSo(at)) count += 1;
    return count;
  }, name);

/** @param {Page} page */
async function checkChoosing(page) {
  expect((await countMarked(page, "--ink2")) > 5, "expected a mark of the fork in the map");
  equal("the messages of the current path", await counted(page), `60 messages, ${OLDER} on other branches`);
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
  equal("the messages of that path", await counted(page), `70 messages, ${NEWER} on other branches`);
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

/** A search counts what other branches have, and goes there. @param {Page} page */
async function checkOtherHits(page) {
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill("older 7:");
  const others = page.getByRole("button", { name: "on other branches" });
  equal("what other branches have", (await others.innerText()).replace(/\s+/g, " "), "1 on other branches");
  await checkAxe(page, "hits on other branches");
  await others.click();
  await page.locator('article[data-message="older-7"]').waitFor();
  await page.getByText("1 of 1", { exact: true }).waitFor();
  equal("what other branches have then", await others.count(), 0);
  await page.getByRole("searchbox").fill("newer");
  equal("the other way", (await others.innerText()).replace(/\s+/g, " "), `${NEWER} on other branches`);
  await page.keyboard.press("Escape");
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
  expect((await countMarked(page, "--warn")) > 5, "expected a mark of the damage in the map");
  await checkAxe(page, "damage in its place");
  const download = page.waitForEvent("download");
  await hole.getByRole("button", { name: "Save the bytes" }).click();
  const saved = readFileSync(await (await download).path());
  equal("what is saved", saved.toString(), `\u00e4<img src=x onerror=alert(1)>${"x".repeat(200)}`);
}

/**
 * Rows are selected by keys and by the mouse, and copied; what is copied is what the store's own session has.
 * @param {Page} page
 */
async function checkSelection(page) {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const copied = () => page.evaluate(() => navigator.clipboard.readText());
  const copy = async (/** @type {string} */ name) => {
    await page.keyboard.press(".");
    await page.getByRole("dialog", { name: "Actions" }).getByRole("button", { name, exact: true }).click();
    await page.locator(".told", { hasText: "Copied" }).waitFor();
    await page.locator(".told").evaluate((region) => (region.textContent = ""));
    return copied();
  };
  await page.evaluate(() => void (location.hash = "m=trunk-2"));
  await page.locator('article[data-message="trunk-2"]:focus').waitFor();
  await page.keyboard.press("x");
  await page.keyboard.press("Shift+J");
  await page.keyboard.press("Shift+J");
  await page.keyboard.press("Shift+K");
  await page.locator('article[data-message="trunk-3"]:focus').waitFor();
  const bar = page.getByRole("region", { name: "Selection" });
  await bar.getByText("2 messages selected").waitFor();
  const third = page.locator('article[data-message="trunk-5"]');
  await third.hover();
  await third.getByRole("checkbox").click();
  await bar.getByText("3 messages selected").waitFor();
  await checkAxe(page, "a selection");
  const names = ["trunk-2", "trunk-3", "trunk-5"];
  equal("the JSON", idsIn(await copy("Copy as JSON")), names);
  const markdown = await copy("Copy as Markdown");
  const headings = markdown.split("\n").filter((line) => line.startsWith("## "));
  equal(
    "the Markdown",
    headings.map((line) => line.replace(/,.*/, "")),
    ["## user", "## assistant", "## assistant"],
  );
  expect(markdown.includes("trunk 5: it is told at length."), `expected what was said: ${markdown}`);
  const html = await copy("Copy as HTML");
  expect(/^<h4>user, [^<]*<\/h4>/.test(html) && html.includes("<p>trunk 2: "), `expected HTML: ${html.slice(0, 200)}`);
  const block = await copy("Copy as a resume block");
  expect(block.startsWith("[RESUMED CONVERSATION]"), `expected a resume block: ${block.slice(0, 100)}`);
  equal(
    "its messages",
    [...block.matchAll(/"content":"(\w+ \d+): /g)].map(([, said]) => said),
    ["trunk 2", "trunk 3", "trunk 5"],
  );
  expect(/^leftoff resume [0-9a-f-]{36} --with codex$/.test(await copy("Codex")), `a command: ${await copied()}`);
  await page.keyboard.press(".");
  await checkAxe(page, "the actions");
  await page.keyboard.press("Escape");
  await bar.getByText("3 messages selected").waitFor();
  await page.keyboard.press("Escape");
  await bar.waitFor({ state: "detached" });
  await page.keyboard.press("y");
  await page.locator(".told", { hasText: "Copied" }).waitFor();
  equal("the text of the row", (await copied()).slice(0, 8), "trunk 5:");
  await page.keyboard.press("c");
  const link = new URL(page.url());
  link.hash = "m=trunk-5&b=newer-0";
  await page.waitForFunction((expected) => navigator.clipboard.readText().then((text) => text === expected), link.href);
}

/** @param {string} json */
const idsIn = (json) => JSON.parse(json).map((/** @type {{ id: string }} */ { id }) => id);

/**
 * Where the reader was is a line the next time, and nothing where the browser keeps nothing.
 * @param {Browser} driven @param {string} origin @param {{ name: string, mimeType: string, buffer: Buffer }} file
 */
async function checkLeftOff(driven, origin, file) {
  const { page, finish } = await openFile(driven, origin, file);
  await page.evaluate(() => void (location.hash = "m=trunk-20"));
  await page.locator('article[data-message="trunk-20"]:focus').waitFor();
  const noted = await page.waitForFunction(() => {
    const { top, bottom } = /** @type {Element} */ (document.querySelector(".conv")).getBoundingClientRect();
    const linked = document.querySelector('[data-message="trunk-20"]')?.getBoundingClientRect();
    if (!linked || linked.top > top + 60) return false;
    const rows = [...document.querySelectorAll("article")].filter((row) => row.getBoundingClientRect().top < bottom);
    const last = rows.toSorted((a, b) => Number(a.dataset.index) - Number(b.dataset.index)).at(-1)?.dataset.message;
    return Object.values(localStorage).some((text) => JSON.parse(text).message === last) && last;
  });
  const last = await noted.jsonValue();
  await page.goto(`${origin}/pkg/viewer/index.html`);
  await page.setInputFiles("#files", file);
  await page.getByRole("button", { name: "Where you left off" }).click();
  await page.locator(`article[data-message="${last}"]:focus .seen`, { hasText: /^\s*You left off here\s*$/ }).waitFor();
  await page.getByRole("button", { name: "Where you left off" }).waitFor({ state: "detached" });
  await finish();
  const refused = await driven.newPage();
  await refused.addInitScript(() =>
    Object.defineProperty(globalThis, "localStorage", {
      get: () => {
        throw new DOMException("refused", "SecurityError");
      },
    }),
  );
  await refused.goto(`${origin}/pkg/viewer/index.html`);
  await refused.setInputFiles("#files", file);
  await refused.locator("article").first().waitFor();
  await refused.keyboard.press("G");
  await refused.locator('article[data-message="newer-19"]:focus').waitFor();
  equal("what went wrong", await refused.locator(".strip [role=alert]").count(), 0);
  await refused.close();
}

/**
 * Sub-agents in sub-agents: two levels stand in the page, the third is a session to open.
 * @param {Browser} driven @param {string} origin @param {typeof import("../../js/index.js")} leftoff
 */
async function checkNested(driven, origin, { MemoryStorage, openStore }) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  const files = [];
  const names = ["root", "one", "two", "three", "four"];
  for (const [level, name] of names.slice(0, -1).entries()) {
    const parent = level === 0 ? {} : { parent: names[level - 1] };
    const session = await store.create({ title: `Title of ${name}`, source: { agent: "my-app", id: name, ...parent } });
    const call = { id: `call-${name}`, name: "Task", arguments: JSON.stringify({ prompt: `Do ${names[level + 1]}` }) };
    await session.append([
      { role: "user", content: `Do ${name}` },
      { role: "assistant", content: `Said by ${name}`, assistant: { toolCalls: [call] } },
    ]);
    const buffer = Buffer.from(await session.export("leftoff"));
    files.push({ name: `${name}.leftoff`, mimeType: "text/plain", buffer });
  }
  await store.close();
  const page = await driven.newPage();
  await page.goto(`${origin}/pkg/viewer/index.html`);
  await page.setInputFiles("#files", files);
  await page.locator("h1", { hasText: "Title of root" }).waitFor();
  await page.locator(".s-head .out", { hasText: "2 messages" }).waitFor();
  for (const level of [1, 2, 3])
    await page
      .locator(".s-head")
      .nth(level - 1)
      .click();
  await page.locator(".nest .nest", { hasText: "Said by two" }).waitFor();
  const deepest = page.locator(".nest .nest .nest");
  await deepest.getByRole("link", { name: "Open as session" }).waitFor();
  equal("what the third level says", await deepest.getByText("Said by three").count(), 0);
  await deepest.getByRole("link", { name: "Open as session" }).click();
  await page.locator("h1", { hasText: "Title of three" }).waitFor();
  await page.close();
}

/**
 * Checks the branches in the viewer of an unpacked package.
 * @param {Browser} driven @param {string} packed its folder @param {typeof import("../../js/index.js")} leftoff
 */
export async function checkViewerBranches(driven, packed, leftoff) {
  const { origin, close } = await servePackage(packed);
  try {
    const file = await forkedFile(leftoff);
    const { page, finish } = await openFile(driven, origin, file);
    await checkChoosing(page);
    await checkLinks(page);
    await checkOtherHits(page);
    await checkSelection(page);
    await checkDamage(page);
    await finish();
    await checkLeftOff(driven, origin, file);
    await checkNested(driven, origin, leftoff);
  } finally {
    close();
  }
}
