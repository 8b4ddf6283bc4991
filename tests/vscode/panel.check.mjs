// @ts-check
// A session's panel: its commands, and texts that would run where they could.
// Tries: js/vscode/session-panels.js, js/vscode/webview/

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { equal } from "../browser/viewer.mjs";
import { openWorkbench, panel, row, runCommand, shoot, showSessions } from "./workbench.mjs";

/** @import { Page } from "playwright-core" */

const PAYLOADS = /** @type {string[]} */ (
  JSON.parse(readFileSync(join(root, "tests", "fixtures", "dompurify-xss", "payloads.json"), "utf8"))
);

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "a session's panel has its commands, and runs nothing of what was said",
  async prepare({ home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project });
    const long = await store.create({ title: "Many turns" });
    const turn = (/** @type {number} */ place) => [
      { role: /** @type {const} */ ("user"), content: `Question ${place}` },
      { role: /** @type {const} */ ("assistant"), content: place === 150 ? "The needle is here" : `Answer ${place}` },
    ];
    await long.append(Array.from({ length: 200 }, (_, place) => turn(place)).flat());
    const hostile = await store.create({ title: PAYLOADS.slice(0, 20).join(" ") });
    await hostile.append(PAYLOADS.flatMap(hostileTurn));
    await store.close();
  },
  async run({ browser, url }) {
    const page = await openWorkbench(browser, url);
    const wrongOf = watchHostility(page, url);
    await showSessions(page);
    await row(page, /^Many turns/).click();
    await checkCommands(page);
    const sessions = page.locator(".sidebar").getByRole("treeitem", { name: /messages?, active/ });
    await sessions.filter({ hasNotText: "Many turns" }).first().click();
    // Until it is there, the first panel is the last.
    await page.locator("iframe.webview.ready").nth(1).waitFor();
    const shown = panel(page);
    await shown.locator("article").first().click();
    const last = PAYLOADS.length * 2;
    await page.keyboard.press("End");
    await shown.locator(`article[aria-posinset="${last}"]`).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("g");
    for (let place = 1; place < last; place += 1) await page.keyboard.press("j");
    await shown.locator(`article[aria-posinset="${last}"]:focus`).waitFor();
    const forbidden = await shown
      .locator("article :is(script, iframe, object, embed, form, style, link, base)")
      .count();
    equal("elements that no message may have", forbidden, 0);
    await shoot(page, "hostile");
    equal("what a hostile session did", wrongOf(), []);
    await page.close();
  },
};

/** @param {string} payload @param {number} place @returns {import("../../js/index.js").Draft[]} */
function hostileTurn(payload, place) {
  const call = {
    id: `call-${place}`,
    name: payload.slice(0, 60) || "tool",
    arguments: JSON.stringify({ path: payload }),
  };
  return [
    { role: "user", content: payload },
    { role: "assistant", content: payload, assistant: { model: payload.slice(0, 60), toolCalls: [call] } },
  ];
}

/** What the editor's own buttons and keys do in a panel. @param {Page} page */
async function checkCommands(page) {
  const shown = panel(page);
  await shown.locator("article", { hasText: "Question 0" }).waitFor();
  equal("a header in the editor, which has its own", await shown.locator("header.head").count(), 0);
  await page.getByRole("button", { name: "What the Model Saw" }).click();
  await shown.getByRole("region", { name: "What the model saw" }).waitFor();
  await shoot(page, "inspector");
  await page.getByRole("button", { name: "What the Model Saw" }).click();
  await runCommand(page, "leftoff: Search Sessions");
  await page.locator(".quick-input-widget input[type=text]").first().fill("needle");
  await page
    .locator(".quick-input-list")
    .getByRole("option", { name: /needle/ })
    .waitFor();
  await shoot(page, "search");
  await page.keyboard.press("Enter");
  await shown.locator("article", { hasText: "The needle is here" }).waitFor();
}

/**
 * Collects what no session may cause.
 * @param {Page} page @param {string} url
 */
function watchHostility(page, url) {
  const { origin } = new URL(url);
  /** @type {string[]} */
  const wrong = [];
  const isOwn = (/** @type {string} */ asked) =>
    [origin, "data:", "blob:"].some((own) => asked.startsWith(own)) ||
    new URL(asked).hostname.endsWith(".vscode-resource.vscode-cdn.net");
  page.on("dialog", (dialog) => (wrong.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => void (isOwn(request.url()) || wrong.push(`a request: ${request.url()}`)));
  page.on("console", (message) => {
    if (/content security policy|trusted ?(types|html|script)/i.test(message.text())) wrong.push(message.text());
  });
  return () => wrong;
}
