// @ts-check
// The viewer's list where it is higher than a browser lets an element be: its end is reached by keys, by the map and by
// scrolling. And texts of many lines: cut, opened bit by bit, and whole.
// Tries: js/viewer/elements/long-scroll.js, js/viewer/elements/conversation.js, js/viewer/elements/call.js

import { equal, expect, openFile, servePackage, sessionFile } from "./viewer.mjs";
import { watchPage } from "./watch.mjs";

const MESSAGES = 9_000;
/** Lines of each message: together they are higher than the stretch that the page mounts. */
const LINES = 22;
/** The most pixels that the list's element may be high. */
const MAX_PIXELS = 4_000_000;
/** Lines of the long output. */
const OUTPUT_LINES = 5_000;

/** @param {number} place */
const longTurn = (place) => [
  { role: "user", content: Array.from({ length: LINES }, (_, line) => `- ${line} of ${place}`).join("\n") },
];

/** A call that printed much. */
const outputTurn = () => [
  { role: "user", content: "Print." },
  {
    role: "assistant",
    content: "",
    assistant: { toolCalls: [{ id: "long", name: "Bash", arguments: JSON.stringify({ command: "seq" }) }] },
  },
  {
    role: "tool",
    content: Array.from({ length: OUTPUT_LINES }, (_, line) => `line ${line + 1} printed`).join("\n"),
    tool: { callId: "long", name: "Bash" },
  },
];

/** Waits until a message is on screen. @param {import("playwright-core").Page} page @param {string | undefined} id */
const waitForRow = (page, id) =>
  page.waitForFunction((wanted) => {
    const list = document.querySelector(".conv")?.getBoundingClientRect();
    const row = document.querySelector(`article[data-message="${wanted}"]`)?.getBoundingClientRect();
    return list && row && row.top < list.bottom && row.bottom > list.top + 36;
  }, id);

/** @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkEnds(page, ids) {
  const [first, last] = [ids[0], ids.at(-1)];
  const height = await page.locator(".feed").evaluate(({ clientHeight }) => clientHeight);
  equal("how high the list's element is", height, MAX_PIXELS);
  await page.keyboard.press("G");
  await page.locator(`article[data-message="${last}"]:focus`).waitFor();
  await waitForRow(page, last);
  await page.keyboard.press("Home");
  await waitForRow(page, first);
  expect(
    await page.locator(`article[data-message="${last}"]`).evaluate((row) => row === document.activeElement),
    "expected the row that has the focus to stay mounted",
  );
  await page.keyboard.press("End");
  await waitForRow(page, last);
  const slider = page.getByRole("slider");
  const {
    x,
    y,
    width,
    height: tall,
  } = /** @type {{ x: number, y: number, width: number, height: number }} */ (await slider.boundingBox());
  const drag = async (/** @type {number} */ from, /** @type {number} */ to) => {
    await page.mouse.move(x + width / 2, from);
    await page.mouse.down();
    await page.mouse.move(x + width / 2, to);
    await page.mouse.up();
  };
  await drag(y + tall - 5, y - 20);
  await waitForRow(page, first);
  await drag(y + 5, y + tall + 20);
  await waitForRow(page, last);
  await slider.press("Home");
  await waitForRow(page, first);
  await slider.press("End");
  await waitForRow(page, last);
  await slider.press("Home");
  await waitForRow(page, first);
}

/** Scrolls as a person does, and rests where it does not go on. @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkScrolling(page, ids) {
  const seen = await page.evaluate(async () => {
    const list = /** @type {HTMLElement} */ (document.querySelector(".conv"));
    const frame = () => new Promise((go) => requestAnimationFrame(go));
    const rests = () => new Promise((go) => setTimeout(go, 250));
    const places = [];
    for (let step = 0; step < 400; step += 1) {
      const before = list.scrollTop;
      list.scrollBy(0, 90_000);
      await frame();
      if (list.scrollTop === before) await rests();
      if (list.scrollTop === before) return places;
      const [row] = document.querySelectorAll("article:not([tabindex='0'])");
      places.push(Number(row.getAttribute("aria-posinset")));
    }
    return places;
  });
  const isSorted = seen.every((place, at) => at === 0 || place >= seen[at - 1]);
  expect(isSorted, `expected to go down only, but went over ${seen.join(" ")}`);
  await waitForRow(page, ids.at(-1));
}

/** @param {import("playwright-core").Page} page */
async function checkLongOutput(page) {
  await page.locator(".s-head").click();
  const shown = async () =>
    (await page.locator(".s-body .term").allInnerTexts()).map((text) => text.split("\n").length);
  equal("the first lines and the last ones", await shown(), [20, 10]);
  await page.getByText("5,000 lines, 4,970 of them not shown").waitFor();
  await page.getByRole("button", { name: "Show 200 more" }).click();
  await page.getByText("4,770 of them not shown").waitFor();
  await page.getByRole("button", { name: "Open all" }).click();
  await page.locator(".cut").waitFor({ state: "detached" });
  const text = await page
    .locator(".s-body .term")
    .evaluateAll((parts) => parts.map(({ textContent }) => textContent).join("\n"));
  equal("the whole output", text.split("\n").length, OUTPUT_LINES);
  const height = await page.locator(".s-body").evaluate((body) => body.getBoundingClientRect().height);
  expect(Math.abs(height - OUTPUT_LINES * 18) < 100, `expected 5,000 lines to have their height, but it is ${height}`);
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill("line 2500 printed");
  await page.waitForFunction(() => {
    const [range] = CSS.highlights.get("hit-now") ?? [];
    const box = range instanceof Range ? range.getBoundingClientRect() : undefined;
    return box && box.height > 0 && box.top > 100 && box.bottom < innerHeight;
  });
}

/**
 * Opens a file that is slow to import: its first messages are seen before all of it is read.
 * @param {import("playwright-core").Browser} driven @param {string} origin
 * @param {{ name: string, mimeType: string, buffer: Buffer }} file
 */
async function checkHead(driven, origin, file) {
  const page = await driven.newPage();
  const problemsOf = await watchPage(page, (url) => url.startsWith(origin));
  await page.addInitScript(() => {
    const read = Blob.prototype.arrayBuffer;
    /** @type {object[]} */
    const reads = [];
    Object.assign(globalThis, { fileReads: reads });
    Blob.prototype.arrayBuffer = function () {
      const feed = document.querySelector(".feed");
      reads.push({ size: this.size, seen: feed?.querySelector("article") != null, isBusy: feed?.ariaBusy });
      return read.call(this);
    };
  });
  await page.goto(`${origin}/pkg/viewer/index.html`);
  await page.setInputFiles("#files", file);
  await page.locator("leftoff-viewer [aria-busy=false] article").first().waitFor();
  const reads = await page.evaluate(() => /** @type {any} */ (globalThis).fileReads);
  equal("when all of the file is read", reads.at(-1), { size: file.buffer.length, seen: true, isBusy: "true" });
  const totals = await page.locator(".strip .tot").first().innerText();
  equal("the messages in the end", totals.replace(/\s+/g, " ").trim(), `${MESSAGES.toLocaleString("en")} messages`);
  equal("what went wrong with a long file", await problemsOf(), []);
  await page.close();
}

/**
 * Checks what the viewer of an unpacked package does with what is long.
 * @param {import("playwright-core").Browser} driven
 * @param {string} packed its folder
 * @param {typeof import("../../js/index.js")} leftoff
 */
export async function checkLong(driven, packed, leftoff) {
  const { origin, close } = await servePackage(packed);
  try {
    const { file, ids } = await sessionFile(leftoff, longTurn, MESSAGES);
    const { page, finish } = await openFile(driven, origin, file);
    await checkEnds(page, ids);
    await checkScrolling(page, ids);
    await finish();
    await checkHead(driven, origin, file);
    const output = await sessionFile(leftoff, outputTurn, 1);
    const opened = await openFile(driven, origin, output.file);
    await checkLongOutput(opened.page);
    await opened.finish();
  } finally {
    close();
  }
}
