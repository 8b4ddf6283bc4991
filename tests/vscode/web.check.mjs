// @ts-check
// The extension in the browser's extension host: the folder's sessions are read, and others are kept in the browser.
// Tries: js/vscode/host.web.js, js/vscode/mounted-storage.js, js/vscode/workspace-storage.js, js/vscode/session-files.js

import { cpSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { openWorkbench, panel, row, runCommand, shoot, showSessions } from "./workbench.mjs";

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
    cpSync(join(REAL, TRANSCRIPT), join(project, "claude.jsonl"));
  },
  async run({ browser, url }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, /^The parser/).click();
    await panel(page).locator("article", { hasText: "Rename the parser" }).waitFor();
    await shoot(page, "web");

    await page.getByRole("tab", { name: "Explorer" }).first().click();
    const file = page.locator(".explorer-folders-view").getByRole("treeitem", { name: "claude.jsonl" });
    await file.click({ button: "right" });
    await page.getByRole("menuitem", { name: "Open Session File…" }).click();
    await panel(page).locator("article").first().waitFor();
    await shoot(page, "web-file");
    await file.click({ button: "right" });
    await page.getByRole("menuitem", { name: "Import Session File…" }).click();
    await page.locator(".notifications-toasts").getByText("Imported 1 session.").waitFor();
    await shoot(page, "web-import");
    await showSessions(page);
    await shoot(page, "web-imported");
    await page.close();
  },
};
