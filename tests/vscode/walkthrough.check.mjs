// @ts-check
// The walkthrough: each step has its picture, in the colors of the theme.
// Tries: js/vscode/manifest.json, js/vscode/media/steps/

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { equal } from "../browser/viewer.mjs";
import { openWorkbench, panel, runCommand, shoot } from "./workbench.mjs";

/** The steps, and words that only their picture has. @type {Record<string, string>} */
const STEPS = {
  "Import your agents' sessions": "In Other Agents",
  "Find what was said": "CI hangs",
  "Go on, in any agent": "where it was held",
};
/** Themes, by what a page is told of them. @type {Record<string, string>} */
const THEMES = {
  "vscode-light": "Default Light Modern",
  "vscode-dark": "Default Dark Modern",
  "vscode-high-contrast": "Default High Contrast",
  "vscode-high-contrast-light": "Default High Contrast Light",
};

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "the walkthrough shows a picture of each step, in the colors of the theme",
  async run({ browser, url, project }) {
    const page = await openWorkbench(browser, url);
    await runCommand(page, "Welcome: Open Walkthrough");
    const walkthroughs = page.locator(".quick-input-list");
    await walkthroughs.getByRole("option", { name: /Begin with leftoff/ }).click();
    const settings = join(project, ".vscode");
    mkdirSync(settings);
    /** The color of the text, by kind of theme. @type {Map<string, string>} */
    const colors = new Map();
    for (const [kind, theme] of Object.entries(THEMES)) {
      writeFileSync(join(settings, "settings.json"), JSON.stringify({ "workbench.colorTheme": theme }));
      for (const [title, words] of Object.entries(STEPS)) {
        await page.locator(".getting-started-step", { hasText: title }).click();
        const picture = panel(page).locator(`body[data-vscode-theme-kind="${kind}"] svg[role=img]`);
        await picture.locator("text", { hasText: words }).waitFor();
        equal(`the colors that ${theme} lacks`, (await picture.evaluate(findUnknownColors)).join(", "), "");
        colors.set(kind, await picture.evaluate((one) => getComputedStyle(one).fill));
        await shoot(page, `walkthrough-${kind}-${Object.keys(STEPS).indexOf(title)}`);
      }
    }
    equal("how many colors the text has", new Set(colors.values()).size, 4);
    await page.close();
  },
};

/** The theme's colors that a picture names and the theme has not, without another instead. @param {Element} picture */
function findUnknownColors(picture) {
  const names = [...picture.outerHTML.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name);
  const style = getComputedStyle(document.documentElement);
  return [...new Set(names)].filter((name) => !style.getPropertyValue(name));
}
