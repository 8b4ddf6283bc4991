// @ts-check
// Turns as one line, in a real browser: folded by keys and by the mouse, opened by what leads into them.
// Tries: js/viewer/turn-folds.js, js/viewer/elements/turn.js, js/viewer/elements/conversation.js

import { checkAxe, equal, expect, focused, openFile, servePackage, sessionFile, workTurn } from "./viewer.mjs";

/** @import { Page } from "playwright-core" */

const TURNS = 30;
/** Of each turn: the request, the message with two calls and their results, and the answer. */
const PER_TURN = 5;
const LONG_LINES = 60;

/** @param {number} place */
function turnOf(place) {
  const [request, calls, ...rest] = workTurn(place);
  if (place === 1) return [{ role: "user", content: Array(LONG_LINES).fill("a line").join("\n") }, calls, ...rest];
  const edit = { file_path: "/project/a.js", old_string: "a", new_string: "b" };
  const usage = { input: 1_000, output: 200, cacheRead: 300, cacheWrite: 0 };
  const toolCalls = [{ id: `e${place}`, name: "Edit", arguments: JSON.stringify(edit) }];
  return place === 2
    ? [request, calls, ...rest, { role: "assistant", content: "", assistant: { toolCalls, usage } }]
    : [request, calls, ...rest];
}

/** @param {import("playwright-core").Locator} line */
const textOf = async (line) => (await line.innerText()).replace(/\s+/g, " ").trim();

/** @param {Page} page @param {string[]} ids */
async function checkByMouse(page, ids) {
  const third = page.locator(`article[data-message="${ids[2 * PER_TURN]}"]`);
  await page.locator(".o-turn", { hasText: "Request 2:" }).click();
  await page.locator(`article[data-message="${ids[2 * PER_TURN]}"]:focus`).waitFor();
  await third.getByRole("button", { name: "Fold the turn" }).click();
  const line = third.getByRole("button", { expanded: false });
  await line.waitFor();
  equal("the line of a turn", await textOf(line), "Request 2: why? 6 messages 1 edit 1.5 k tokens");
  equal("what has the focus", await focused(page), ids[2 * PER_TURN]);
  equal("the rows of the turn", await page.locator(`article[data-message="${ids[2 * PER_TURN + 1]}"]`).count(), 0);
  await page.keyboard.press("j");
  await page.locator(`article[data-message="${ids[3 * PER_TURN + 1]}"]:focus`).waitFor();
  await page.keyboard.press("k");
  await page.locator(`article[data-message="${ids[2 * PER_TURN]}"]:focus`).waitFor();
  await checkAxe(page, "a folded turn");
  await line.click();
  await page.locator(`article[data-message="${ids[2 * PER_TURN + 1]}"]`).waitFor();
}

/** All turns by one key; an error, a hit and a link open theirs, and a hit that is left folds its own. @param {Page} page @param {string[]} ids */
async function checkByKeys(page, ids) {
  await page.keyboard.press("Shift+O");
  await page.getByRole("article", { name: "Turn 3, folded" }).waitFor();
  equal("the lines", await page.locator("article").first().getAttribute("aria-setsize"), String(TURNS));
  equal("the focus", await focused(page), ids[2 * PER_TURN]);
  await page.keyboard.press("e");
  // The third turn has a message more than others.
  const failed = ids[3 * PER_TURN + 2];
  await page.locator(`article[data-message="${failed}"]:focus`).waitFor();
  await page.keyboard.press("/");
  await page.getByRole("searchbox").fill("needle-20 lies");
  await page
    .locator(`article[data-message="${ids[20 * PER_TURN + 2]}"]`)
    .getByText("needle-20 lies here")
    .waitFor();
  await page.getByRole("searchbox").fill("needle-2");
  const line = page.getByRole("article", { name: "Turn 22, folded" });
  expect((await textOf(line)).includes("1 hit "), `expected a hit in the line, but found ${await textOf(line)}`);
  await page.keyboard.press("Escape");
  await page.evaluate((id) => void (location.hash = `m=${id}`), ids[10 * PER_TURN + 3]);
  await page.locator(`article[data-message="${ids[10 * PER_TURN + 2]}"]:focus`).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await page.locator(`article[data-message="${ids[0]}"]:focus`).waitFor();
  await page.keyboard.press("Shift+O");
  await page.locator(`article[data-message="${ids[1]}"]`).waitFor();
  equal("all rows", await page.locator("article").first().getAttribute("aria-setsize"), String(TURNS * 3 + 1));
}

/** A long request is opened, and cut again. @param {Page} page @param {string[]} ids */
async function checkLongRequest(page, ids) {
  const request = page.locator(`article[data-message="${ids[PER_TURN]}"]`);
  await page.locator(".o-turn", { hasText: "a line" }).click();
  const lines = async () => (await request.locator(".prose").innerText()).match(/a line/g)?.length;
  equal("the lines at first", await lines(), 24);
  await request.getByRole("button", { name: "Show 36 more lines" }).click();
  await request.getByRole("button", { name: "Show less" }).waitFor();
  equal("the lines once opened", await lines(), LONG_LINES);
  await request.getByRole("button", { name: "Show less" }).click();
  await request.getByRole("button", { name: "Show 36 more lines" }).waitFor();
  equal("the lines then", await lines(), 24);
}

/**
 * @param {import("playwright-core").Browser} driven @param {string} packed its folder
 * @param {typeof import("../../js/index.js")} leftoff
 */
export async function checkTurns(driven, packed, leftoff) {
  const { origin, close } = await servePackage(packed);
  try {
    const { file, ids } = await sessionFile(leftoff, turnOf, TURNS);
    const { page, finish } = await openFile(driven, origin, file);
    await checkByMouse(page, ids);
    await checkByKeys(page, ids);
    await checkLongRequest(page, ids);
    await finish();
  } finally {
    close();
  }
}
