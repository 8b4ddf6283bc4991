// @ts-check
// What the viewer's search field hides and finds, in a real browser: filters by words and by clicks, hidden messages that
// are shown, links to them, sub-agents' texts, and that nothing moves where filters take the totals' place.
// Tries: js/viewer/filters.js, js/viewer/elements/filters.js, js/viewer/elements/conversation.js, js/viewer/search.js

import { join } from "node:path";
import { checkAxe, equal, expect, openFile, servePackage, sessionFile, workTurn } from "./viewer.mjs";

const TURNS = 60;
/** Of each turn: the request, the message with two calls and their results, and the answer. */
const [REQUEST, CALLS] = [0, 1];
const PER_TURN = 5;

/** The rows on screen, and in the place of hidden ones what is said of them. @param {import("playwright-core").Page} page */
const listed = (page) =>
  page.evaluate(() =>
    [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("article"))]
      .sort((a, b) => Number(a.dataset.index) - Number(b.dataset.index))
      .map((article) => article.dataset.message ?? article.getAttribute("aria-label")),
  );

/** @param {import("playwright-core").Page} page @param {string} typed */
async function search(page, typed) {
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill(typed);
}

/** Where the conversation begins on the page, and how high the strip is. @param {import("playwright-core").Page} page */
const places = (page) =>
  page.evaluate(() =>
    [".strip", ".conv"].map((name) => {
      const { top, height } = /** @type {Element} */ (document.querySelector(name)).getBoundingClientRect();
      return [top, height];
    }),
  );

/** @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkWords(page, ids) {
  const before = await places(page);
  await search(page, "is:error");
  await page.getByRole("region", { name: "Filters" }).waitFor();
  equal("where strip and conversation are while filtering", await places(page), before);
  const failing = ids[3 * PER_TURN + CALLS];
  await page.locator(`article[data-message="${failing}"]`).waitFor();
  equal("the first rows", (await listed(page)).slice(0, 3), ["16 messages hidden", failing, "47 messages hidden"]);
  const rows = Number(await page.locator("article").first().getAttribute("aria-setsize"));
  equal("six errors, and what is hidden around them", rows, 13);
  await checkAxe(page, "a filtered session");
  await page.getByRole("button", { name: "16 messages hidden" }).click();
  await page.locator(`article[data-message="${ids[0]}"]:focus`).waitFor();
  equal("the beginning is shown", (await listed(page)).slice(0, 2), [ids[REQUEST], ids[CALLS]]);
  await page.keyboard.press("Escape");
  await page.getByRole("region", { name: "Totals" }).waitFor();
  equal("where strip and conversation are again", await places(page), before);
}

/** Keys, links and the outline, where something is hidden. @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkGoing(page, ids) {
  await search(page, "role:user");
  await page.getByRole("button", { name: "You 60" }).waitFor();
  await page.locator(".conv").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await page.locator(`article[data-message="${ids[0]}"]:focus`).waitFor();
  await page.keyboard.press("j");
  await page.locator(`article[data-message="${ids[PER_TURN]}"]:focus`).waitFor();
  const linked = ids[20 * PER_TURN + 2];
  await page.evaluate((id) => void (location.hash = `m=${id}`), linked);
  await page.locator(`article[data-message="${ids[20 * PER_TURN + CALLS]}"]:focus`).waitFor();
  await page.getByText("needle-20 lies here").waitFor();
  await page.locator("article[data-index]", { hasText: "1 message hidden" }).waitFor();
  await page.keyboard.press("G");
  await page.locator(`article[data-message="${ids[59 * PER_TURN]}"]:focus`).waitFor();
  await page.keyboard.press("Escape");
}

/** @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkClicks(page, ids) {
  const input = page.getByRole("searchbox");
  await page.getByRole("button", { name: "6 errors" }).click();
  equal("what the total of errors searches", await input.inputValue(), "is:error");
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("button", { name: "120 tool calls" }).click();
  await page.getByRole("combobox", { name: "Tool" }).selectOption("Bash");
  equal("what a chosen tool searches", await input.inputValue(), "role:tool tool:Bash");
  await page.getByRole("button", { name: "Errors 6" }).click();
  await page.getByRole("button", { name: "Tool calls" }).click();
  equal("one filter less, and one more", await input.inputValue(), "tool:Bash is:error");
  await search(page, "role:user is:error");
  await page.getByRole("heading", { name: "Nothing found" }).waitFor();
  equal("the filters in force", await page.locator(".none code").allInnerTexts(), ["role:user", "is:error"]);
  await checkAxe(page, "nothing found");
  await page.locator(".none").getByRole("button", { name: "Clear" }).click();
  await page.locator(`article[data-message="${ids[0]}"]`).waitFor();
}

/** Folded rows tell of hits, and are folded again once these are left. @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkHits(page, ids) {
  await search(page, "lies here");
  const second = page.locator(`article[data-message="${ids[PER_TURN + CALLS]}"]`);
  await second.locator(".s-head", { hasText: "1 hit" }).waitFor();
  await page.keyboard.press("Enter");
  await second.locator(".s-body", { hasText: "needle-1 lies here" }).waitFor();
  equal("hits told of by the open row", await second.locator(".hits").count(), 0);
  await page.keyboard.press("Enter");
  await second.locator(".s-head", { hasText: "1 hit" }).waitFor();
  await page.keyboard.press("Escape");
}

/** A session that called a sub-agent, read with it. @param {import("playwright-core").Page} page */
async function checkSubAgents(page) {
  const agent = page.locator(".step.agent");
  await agent.getByText("5 messages").waitFor();
  // What the sub-agent's own call ran, and nobody else.
  await search(page, "ls -R . | grep");
  await agent.locator(".nest .step", { hasText: "ls -R ." }).waitFor();
  equal("the hits", await page.locator(".find .n").innerText(), "1 of 1");
  equal("the current hit is marked", await page.evaluate(() => CSS.highlights.get("hit-now")?.size), 1);
  // What that call printed, two folds deep.
  await search(page, "./calc:");
  await agent.locator(".nest .step .s-body", { hasText: "./calc:" }).waitFor();
  await page.keyboard.press("Escape");
  await agent.locator(".nest").waitFor({ state: "detached" });
}

/** @param {import("playwright-core").Page} page */
async function checkTouchedFiles(page) {
  await page.getByRole("tab", { name: "Files" }).click();
  await page.locator(".f-row", { hasText: "ops.py" }).click();
  const typed = await page.getByRole("searchbox").inputValue();
  expect(/^file:\S*calc\/ops\.py$/.test(typed), `expected the file's row to filter by it, but it searched ${typed}`);
  await page.locator("article", { hasText: "hidden" }).first().waitFor();
  const tools = await page.locator("article .s-head b").allInnerTexts();
  equal("the messages with the calls that touched it", tools, ["Bash", "Read", "Edit", "Write"]);
  await page.locator(".f-row[aria-pressed=true]").click();
  await page.getByRole("region", { name: "Totals" }).waitFor();
}

/** The field of a narrow page, which has room for it only while something is searched. @param {import("playwright-core").Page} page */
async function checkNarrow(page) {
  await page.getByRole("button", { name: "Search" }).click();
  await page.keyboard.type("role:user");
  await page.getByRole("region", { name: "Filters" }).waitFor();
  await checkAxe(page, "a filtered session, narrow");
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  expect(width <= 390, `expected the page not to scroll sideways, but it is ${width} wide`);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByRole("button", { name: "Search" }).waitFor();
  // The map is 24 pixels wide, and what a finger hits of it 44.
  const isMap = (/** @type {number} */ x) =>
    page.evaluate((at) => document.elementFromPoint(at, 400)?.closest("leftoff-map") !== null, x);
  equal("what is hit beside the map", [await isMap(347), await isMap(340)], [true, false]);
}

/**
 * Checks what the viewer of an unpacked package filters and finds.
 * @param {import("playwright-core").Browser} driven
 * @param {string} packed its folder
 * @param {typeof import("../../js/index.js")} leftoff
 * @param {string} fixtures the folder of agents' sessions
 */
export async function checkFilters(driven, packed, leftoff, fixtures) {
  const { origin, close } = await servePackage(packed);
  try {
    const { file, ids } = await sessionFile(leftoff, workTurn, TURNS);
    const { page, finish } = await openFile(driven, origin, file);
    await checkWords(page, ids);
    await checkGoing(page, ids);
    await checkClicks(page, ids);
    await checkHits(page, ids);
    await finish();
    const called = await openFile(driven, origin, join(fixtures, "claude-code", "ccsession-cli"));
    await checkSubAgents(called.page);
    await checkTouchedFiles(called.page);
    await called.finish();
    const narrow = await openFile(driven, origin, file, { viewport: { width: 390, height: 844 } });
    await checkNarrow(narrow.page);
    await narrow.finish();
  } finally {
    close();
  }
}
