// @ts-check
// The extension in the browser's extension host: the folder's sessions are read, and others are kept in the browser.
// Tries: js/vscode/host.web.js, js/vscode/mounted-storage.js, js/vscode/workspace-storage.js, js/vscode/session-files.js

import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { chooseInMenu, openWorkbench, panel, row, runCommand, shoot, showSessions } from "./workbench.mjs";

const REAL = join(root, "tests", "fixtures", "claude-code", "real", "2.1.197");
const TRANSCRIPT = "445adb5c-b44b-4625-86f4-77b2ace446f0.jsonl";

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "in a browser the folder's sessions are read, and imported ones are kept by the browser",
  isWebOnly: true,
  async prepare({ home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project, workspace: project });
    const session = await store.create({ title: "The parser" });
    await session.append([
      { role: "user", content: "Rename the parser's entry point, please." },
      { role: "assistant", content: "It is **now** called `readTranscript`." },
    ]);
    await store.close();
    const inFolder = await openStore({ home: join(project, ".leftoff"), project });
    await inFolder.import(join(root, "tests", "fixtures", "codex", "real"));
    await inFolder.close();
    cpSync(join(REAL, TRANSCRIPT), join(project, "claude.jsonl"));
  },
  async run({ browser, url, home, project }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, /codex/).waitFor();
    await row(page, /^The parser/).click();
    const shown = panel(page);
    await shown.locator("article", { hasText: "Rename the parser" }).waitFor();
    await shoot(page, "web");
    const store = await openStore({ home: join(home, ".leftoff"), project, workspace: project });
    const [{ id }] = await store.list();
    await (await store.session(id)).append({ role: "user", content: "And its tests?" });
    await store.close();
    await shown.locator("article", { hasText: "And its tests?" }).waitFor();

    await runCommand(page, "leftoff: Search Sessions…");
    await page.locator(".quick-input-widget input[type=text]").first().fill("entry point");
    const hits = page.locator(".quick-input-list").getByRole("option");
    await hits.filter({ hasText: "Rename the parser" }).first().waitFor();
    await shoot(page, "web-search");
    await page.keyboard.press("Escape");

    await page.getByRole("tab", { name: "Explorer" }).first().click();
    const file = page.locator(".explorer-folders-view").getByRole("treeitem", { name: "claude.jsonl" });
    await chooseInMenu(file, "Open Session File…");
    await panel(page).locator("article", { hasText: "USETOOL" }).waitFor();
    await shoot(page, "web-file");
    await showSessions(page);
    await row(page, /^The parser/).waitFor();
    assert.equal(await row(page, /^USETOOL/).count(), 0, "a file that is only shown is kept nowhere");

    await page.getByRole("tab", { name: "Explorer" }).first().click();
    await chooseInMenu(file, "Import Session File…");
    await page.getByText("Imported 1 session.").first().waitFor();
    await showSessions(page);
    await row(page, /^USETOOL/).waitFor();
    await shoot(page, "web-imported");

    await page.reload();
    await showSessions(page);
    await row(page, /^USETOOL/).click();
    await panel(page).locator("article", { hasText: "USETOOL" }).waitFor();
    await row(page, /^USETOOL/).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Rename…" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Resume in Terminal…" }).count(), 0);
    await shoot(page, "web-reloaded");
    await page.keyboard.press("Escape");
    await row(page, /^The parser/).click({ button: "right" });
    await page.getByRole("menuitem", { name: "Fork" }).waitFor();
    assert.equal(await page.getByRole("menuitem", { name: "Rename…" }).count(), 0, "the folder's are only read");
    await page.close();
  },
};
