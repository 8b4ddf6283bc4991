// @ts-check
// A session is written as a page for a colleague, which has its own viewer in it, and is taken in again. A file that is
// there is replaced whole, or stays as it was.
// Tries: js/vscode/session-export.js, js/vscode/child.node.js, js/vscode/assets.js

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { equal } from "../browser/viewer.mjs";
import { openWorkbench, row, runCommand, shoot, showSessions } from "./workbench.mjs";

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
  async run({ browser, url, home, project }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, /^The parser/).waitFor();
    const file = join(project, "The-parser.html");
    writeFileSync(file, "What stood there. ".repeat(1_000_000));
    await exportAs(page, /^HTML page/, { isThere: true });
    await told(page, /^Exported to .*The-parser\.html$/);
    const html = readFileSync(file, "utf8");
    equal("whether the talk is in the page", html.includes("Rename the parser"), true);
    equal("whether anything of the former file is", html.includes("What stood there"), false);
    equal("what is in the folder", readdirSync(project), ["The-parser.html"]);
    const other = await openStore({ home: join(home, "other"), project });
    const { imported } = await other.import(file);
    equal(
      "the messages that the page carries",
      imported.map(({ messageCount }) => messageCount),
      [1],
    );
    await other.close();

    // Nothing can be put in the place of a folder, nor of a file where the folder may not be changed.
    mkdirSync(join(project, "The-parser.md"));
    writeFileSync(join(project, "The-parser.json"), "{}");
    await exportAs(page, /^JSON/, {
      isThere: true,
      whenAsked: () => rmSync(join(home, ".leftoff", "sessions"), { recursive: true }),
    });
    await told(page, /^leftoff: /);
    equal("what stood there", readFileSync(join(project, "The-parser.json"), "utf8"), "{}");
    equal("what is in the folder", readdirSync(project).sort(), [
      "The-parser.html",
      "The-parser.json",
      "The-parser.md",
    ]);
    await page.close();
  },
};

/**
 * Exports the session into the folder that is open, by the name that it is given.
 * @param {Page} page @param {RegExp} format @param {{ isThere: boolean, whenAsked?: () => void }} how
 */
async function exportAs(page, format, { isThere, whenAsked }) {
  const options = page.locator(".quick-input-list").getByRole("option");
  await runCommand(page, "leftoff: Export");
  await options.filter({ hasText: "The parser" }).waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".quick-input-list").getByRole("option", { name: format }).click();
  const ok = page.locator(".quick-input-widget").getByRole("button", { name: "OK" });
  await ok.waitFor();
  whenAsked?.();
  await ok.click();
  await shoot(page, "export-ok");
  // It asks whether to replace the file.
  if (isThere) await page.keyboard.press("Enter");
}

/** Waits for a notification, and takes it away. @param {Page} page @param {RegExp} text */
async function told(page, text) {
  await page.getByText(text).first().waitFor();
  await page
    .getByRole("button", { name: /^Clear Notification/ })
    .first()
    .click();
}
