// @ts-check
// A session is written as a page for a colleague, which has its own viewer in it, and is taken in again. A file that is
// there is replaced whole, or stays as it was.
// Tries: js/vscode/session-export.js, js/vscode/child.node.js, js/vscode/assets.js

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { equal } from "../browser/viewer.mjs";
import { openWorkbench, row, runCommand, showSessions } from "./workbench.mjs";

/** @import { Page } from "playwright-core" */

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "a session is exported as a page",
  async prepare({ home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project });
    const session = await store.create({ title: "The parser" });
    await session.append({ role: "user", content: "Rename the parser's entry point, please." });
    await store.close();
  },
  async run({ browser, url, folder, home, project }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, /^The parser/).waitFor();
    const file = join(project, "The-parser.html");
    writeFileSync(file, "What stood there. ".repeat(1_000_000));
    await exportAs(page, /^HTML page/);
    await told(page, /^Exported to .*The-parser\.html$/);
    const html = readFileSync(file, "utf8");
    equal("whether the talk is in the page", html.includes("Rename the parser"), true);
    equal("whether anything of the former file is", html.includes("What stood there"), false);
    equal("what is in the folder", filesIn(project), ["The-parser.html"]);
    const other = await openStore({ home: join(home, "other"), project });
    const { imported } = await other.import(file);
    equal(
      "the messages that the page carries",
      imported.map(({ messageCount }) => messageCount),
      [1],
    );
    await other.close();

    // The session goes away while its file is chosen.
    const former = "{}";
    writeFileSync(file, former);
    await exportAs(page, /^HTML page/, () => rmSync(join(home, ".leftoff", "sessions"), { recursive: true }));
    await told(page, /^leftoff: no session/);
    equal("what stood there", readFileSync(file, "utf8"), former);
    equal("what is in the folder", filesIn(project), ["The-parser.html"]);
    equal("what the extension keeps", filesIn(join(folder, "data", "User", "globalStorage", "leftoff.leftoff")), []);
    await page.close();
  },
};

/** What is in a folder but for what a project has anyway. @param {string} folder */
const filesIn = (folder) => readdirSync(folder).filter((name) => name !== ".leftoff");

/**
 * Exports the session into the folder that is open, over the file that has its name.
 * @param {Page} page @param {RegExp} format @param {() => void} [whenAsked] what happens while the file is chosen
 */
async function exportAs(page, format, whenAsked) {
  const options = page.locator(".quick-input-list").getByRole("option");
  await runCommand(page, "leftoff: Export");
  await options.filter({ hasText: "The parser" }).waitFor();
  await page.keyboard.press("Enter");
  await options.filter({ hasText: format }).click();
  const box = page.locator(".quick-input-widget");
  await box.getByRole("button", { name: "OK" }).waitFor();
  whenAsked?.();
  await box.getByRole("button", { name: "OK" }).click();
  await box.getByText(/already exists/).waitFor();
  await page.keyboard.press("Enter");
}

/** @param {Page} page @param {RegExp} text of a notification */
const told = (page, text) => page.getByText(text).first().waitFor();
