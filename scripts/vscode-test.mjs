// @ts-check
// `npm run test:vscode`: tries the packed extension in a real VS Code, code-server, by real Chromium. Only some checks
// with `-- sessions`; pictures of what they saw in a folder with `LEFTOFF_SHOTS`.

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { chromium } from "playwright-core";
import { CHROMIUM, findBrowser } from "./browsers.mjs";
import { fail, root, seconds, step } from "./run.mjs";
import { packExtension } from "./vscode.mjs";
import { startEditor } from "../tests/vscode/editor.mjs";
import { shoot } from "../tests/vscode/workbench.mjs";

/**
 * A check: `tests/vscode/<name>.check.mjs` exports it as default. Each has a home, a project and an editor of its own.
 * @typedef {object} Check
 * @property {string} title
 * @property {boolean} [isWebOnly] tries it in the browser's extension host
 * @property {(at: Place) => Promise<object | void>} [prepare] fills the home and the project; may answer settings of
 *   the editor's
 * @property {(at: Place & { browser: import("playwright-core").Browser, url: string }) => Promise<void>} run
 *
 * @typedef {{ home: string, project: string, folder: string }} Place
 */

/** How long a check may take, whatever else the machine is doing. */
const LIMIT_MS = 240_000;
const start = performance.now();
const names = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "leftoff-vscode-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const tests = join(root, "tests", "vscode");
const found = readdirSync(tests)
  .filter((name) => name.endsWith(".check.mjs"))
  .map((name) => name.replace(".check.mjs", ""));
const unknown = names.find((name) => !found.includes(name));
if (unknown) fail(`expected ${found.join(", ")}, but found ${unknown} instead`);

const executablePath = findBrowser(CHROMIUM);
if (!executablePath) process.exit(0);
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox"],
  env: { ...process.env, HOME: folder },
});
/** The packages that were made, by whether they are for the browser alone. @type {Map<boolean, string>} */
const packed = new Map();
let failed = 0;
for (const name of found.filter((one) => names.length === 0 || names.includes(one))) {
  const { default: check } = /** @type {{ default: Check }} */ (await import(join(tests, `${name}.check.mjs`)));
  const at = { folder: join(folder, name), home: join(folder, name, "home"), project: join(folder, name, "project") };
  for (const one of [at.home, at.project]) mkdirSync(one, { recursive: true });
  try {
    const vsix = await packOnce(check.isWebOnly ?? false);
    await step(check.title, () => tryIn(check, { ...at, vsix }));
  } catch (error) {
    failed += 1;
    console.error(error);
    const pages = browser.contexts().flatMap((context) => context.pages());
    for (const [place, page] of pages.entries()) {
      await shoot(page, `${name}-failed-${place}`);
      await page.close();
    }
  }
}
await browser.close();
if (failed > 0) fail(`${failed} failed`);
console.log(`all passed in ${seconds(start)}`);

/** Packs the extension for a host, unless it is packed. @param {boolean} isWebOnly */
async function packOnce(isWebOnly) {
  const vsix = packed.get(isWebOnly) ?? (await packExtension({ isWebOnly }));
  packed.set(isWebOnly, vsix);
  return vsix;
}

/** @param {Check} check @param {Place & { vsix: string }} at */
async function tryIn(check, { vsix, ...at }) {
  const settings = (await check.prepare?.(at)) ?? {};
  const editor = await startEditor({ ...at, vsix, settings });
  try {
    const late = new Promise((_, failed) => {
      setTimeout(() => failed(new Error(`expected the check to end within ${LIMIT_MS / 1000} s`)), LIMIT_MS).unref();
    });
    await Promise.race([check.run({ ...at, browser, url: editor.url }), late]);
  } finally {
    await editor.stop();
  }
}
