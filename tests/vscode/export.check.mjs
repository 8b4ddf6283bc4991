// @ts-check
// A session is written as a page for a colleague, which has its own viewer in it, and is taken in again.
// Tries: js/vscode/commands.js, js/vscode/child.node.js, js/vscode/assets.js

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { equal } from "../browser/viewer.mjs";
import { openWorkbench, row, runCommand, showSessions } from "./workbench.mjs";

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "a session is exported as a page",
  async prepare({ home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project });
    const session = await store.create({ title: "The parser" });
    await session.append({ role: "user", content: "Rename the parser's entry point, please." });
    await store.close();
  },
  async run({ browser, url, home, project }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, /^The parser/).waitFor();
    const options = page.locator(".quick-input-list").getByRole("option", { name: /^The parser/ });
    await runCommand(page, "leftoff: Export");
    await options.waitFor();
    await page.keyboard.press("Enter");
    await page
      .locator(".quick-input-list")
      .getByRole("option", { name: /^HTML page/ })
      .click();
    await page.locator(".quick-input-widget").getByRole("button", { name: "OK" }).click();
    await page
      .getByText(/^Exported to .*The-parser\.html$/)
      .first()
      .waitFor();
    await page
      .getByRole("button", { name: /^Clear Notification/ })
      .first()
      .click();
    const file = join(project, "The-parser.html");
    equal("whether the talk is in the page", readFileSync(file, "utf8").includes("Rename the parser"), true);
    const other = await openStore({ home: join(home, "other"), project });
    const { imported } = await other.import(file);
    equal(
      "the messages that the page carries",
      imported.map(({ messageCount }) => messageCount),
      [1],
    );
    await other.close();
    await page.close();
  },
};
