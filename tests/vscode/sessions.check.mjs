// @ts-check
// The view of sessions, and a session in its panel.
// Tries: js/vscode/, js/vscode/media/, js/vscode/webview/

import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { openWorkbench, panel, row, runCommand, shoot, showSessions } from "./workbench.mjs";

const FIXTURES = join(root, "tests", "fixtures");

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "sessions are listed, opened in the viewer, and followed while they are written",
  async prepare({ home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project });
    await store.import(join(FIXTURES, "codex"));
    const session = await store.create({ title: "The parser" });
    await session.append([
      { role: "user", content: "Rename the parser's entry point, please." },
      { role: "assistant", content: "It is **now** called `readTranscript`." },
    ]);
    await store.close();
  },
  async run({ browser, url, home, project }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, /^The parser/).click();
    const shown = panel(page);
    await shown.locator("article", { hasText: "Rename the parser" }).waitFor();
    await shoot(page, "sessions");

    const store = await openStore({ home: join(home, ".leftoff"), project });
    const [{ id }] = await store.list();
    await (await store.session(id)).append({ role: "user", content: "And its tests?" });
    await shown.locator("article", { hasText: "And its tests?" }).waitFor();
    await (await store.create({ title: "Another one" })).append({ role: "user", content: "Hello" });
    await row(page, /^Another one/).waitFor();
    await store.close();

    await checkOtherWindow(page, await openWorkbench(browser, url));
    await runCommand(page, "leftoff: Show All Projects");
    await row(page, /codex/).waitFor();
    await shoot(page, "all-projects");
    await page.close();
  },
};

/**
 * What another window changes, by keys alone, is seen in the first.
 * @param {import("playwright-core").Page} page @param {import("playwright-core").Page} other
 */
async function checkOtherWindow(page, other) {
  const choices = other.locator(".quick-input-list");
  const choose = async (/** @type {string} */ command) => {
    await runCommand(other, command);
    await choices.getByRole("option", { name: /^Another/ }).waitFor();
    await other.keyboard.press("Enter");
  };
  await choose("leftoff: Rename");
  await other.locator(".quick-input-widget input[type=text]").first().fill("Another title");
  await other.keyboard.press("Enter");
  await row(page, /^Another title, .*active/).waitFor();
  await choose("leftoff: Mark as Completed");
  await row(page, /^Another title, .*completed/).waitFor();
  await choose("leftoff: Archive");
  await row(page, /^Another title/).waitFor({ state: "detached" });
  await other.close();
}
