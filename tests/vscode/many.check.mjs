// @ts-check
// A store of 1,000 sessions in the view: there at once, and without blanks to its end.
// Tries: js/vscode/sessions-tree.js, js/vscode/session-groups.js

import { join } from "node:path";
import { openStore } from "../../js/index.js";
import { equal } from "../browser/viewer.mjs";
import { openWorkbench, row, shoot, showSessions } from "./workbench.mjs";

const COUNT = 1_000;

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "1,000 sessions are in the view, to the last",
  async prepare({ home, project }) {
    const store = await openStore({ home: join(home, ".leftoff"), project });
    for (let place = 0; place < COUNT; place += 1) {
      const session = await store.create({ title: `Session ${place}` });
      await session.append({ role: "user", content: `Question ${place}` }, { durability: "buffered" });
      await session.close();
    }
    await store.close();
  },
  async run({ browser, url }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    await row(page, new RegExp(`^Session ${COUNT - 1},`)).waitFor();
    await page.locator(".sidebar").getByText(String(COUNT), { exact: true }).waitFor();
    await page.locator(".sidebar .monaco-list").first().focus();
    await page.keyboard.press("End");
    await row(page, /^Session 0,/).waitFor();
    const texts = await page.locator(".sidebar [role=treeitem]").allInnerTexts();
    equal("rows without a text", texts.filter((text) => text.trim() === "").length, 0);
    await shoot(page, "many");
    await page.close();
  },
};
