// @ts-check
// Folders that lie on no disk, as on vscode.dev: their sessions are listed, opened and searched, their files lead to
// sessions, and nothing is written there.
// Tries: js/vscode/folder-paths.js, js/vscode/host.web.js, js/vscode/workspace-storage.js, js/vscode/mounted-storage.js,
// js/vscode/file-sessions.js, js/vscode/commands.js

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { installProbe } from "./install.mjs";
import { chooseInMenu, openWorkbench, panel, row, runCommand, shoot, showSessions } from "./workbench.mjs";

/** @import { Page } from "playwright-core" */

const TRANSCRIPT = "tests/fixtures/claude-code/real/2.1.197/445adb5c-b44b-4625-86f4-77b2ace446f0.jsonl";
const OPEN = "leftoff-open://host/work/parser?ref=main";
const CLOSED = "leftoff-closed://host/work/parser";
const AT_ROOT = "leftoff-closed://root/";

const WORKSPACE = "several.code-workspace";

/** What each folder has, by the place of its files. */
const FOLDERS = {
  open: { folder: "leftoff-open://host", path: "/work/parser" },
  closed: { folder: "leftoff-closed://host", path: "/work/parser" },
  root: { folder: "leftoff-closed://root", path: "" },
};

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "in a browser, sessions of folders that lie on no disk are read, and nothing is written there",
  isWebOnly: true,
  async prepare({ folder, home, project }) {
    const at = (/** @type {string} */ name) => join(folder, "content", name);
    const clone = at("clone");
    mkdirSync(clone, { recursive: true });
    for (const name of Object.keys(FOLDERS)) {
      const file = join(at(name), "src", "a.js");
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${lineOf(name)}\n`);
      // The machine that it was held on knows the folder by another name.
      await addSession({ home: join(at(name), ".leftoff"), project: clone }, `Home of ${name}`, name);
    }
    for (const name of ["open", "root"])
      await addSession({ home: at("elsewhere"), project: at(name), workspace: at(name) }, `Talk of ${name}`);
    cpSync(join(root, TRANSCRIPT), join(at("open"), "claude.jsonl"));
    const now = Object.keys(FOLDERS).flatMap((name) => contentOf(at(name), name));
    await addSession({ home: join(at("open"), ".leftoff"), project: clone }, "A late one");
    const known = new Set(now.map(({ path }) => path));
    const later = contentOf(at("open"), "open").filter(({ path }) => !known.has(path));
    const probe = join(folder, "virtual");
    cpSync(join(root, "tests", "vscode", "virtual"), probe, { recursive: true });
    writeFileSync(join(probe, "content.json"), JSON.stringify({ now, later }));
    installProbe({ folder, home }, { source: probe });
    writeWorkspace(project, []);
    return { "leftoff.codeLens": true };
  },
  async run({ browser, url, project }) {
    const user = await browser.newContext();
    const { origin } = new URL(url);
    const page = await openWorkbench(user, `${origin}/?folder=${encodeURIComponent(OPEN)}`);
    await showSessions(page);
    await row(page, /^Talk of open/).waitFor();
    await openSession(page, "Home of open");
    await shoot(page, "virtual");
    await checkSearch(page, "Home of open");
    await checkHistory(page, "open");
    await checkFiles(page);
    await runCommand(page, "Virtual: Add What Comes Later");
    assert.equal(await row(page, /^A late one/).count(), 0);
    await runCommand(page, "leftoff: Refresh");
    await openSession(page, "A late one");
    await checkNothingWritten(page);
    await checkExport(
      page,
      "Home of open",
      /^leftoff: Home-of-open\.md was not written: its folder may not be changed/,
    );

    await page.goto(`${origin}/?workspace=${encodeURIComponent(join(project, WORKSPACE))}`);
    // The editor sometimes opens a file's folders as none, its own explorer too, until the file changes.
    await showSessions(page);
    await row(page, /^USETOOL/).waitFor();
    writeWorkspace(project, [CLOSED, OPEN]);
    for (const name of ["Talk of open", "Home of open"]) await row(page, new RegExp(`^${name}`)).waitFor();
    await openSession(page, "Home of closed");
    await checkSearch(page, "Home of closed");
    await runCommand(page, "Virtual: Add What Comes Later");
    await page.getByRole("tab", { name: "Explorer" }).first().click();
    await showSessions(page);
    await row(page, /^A late one/).waitFor();
    writeWorkspace(project, [CLOSED, OPEN, AT_ROOT]);
    await openSession(page, "Talk of root");
    await openSession(page, "Home of root");
    await shoot(page, "virtual-three");
    writeWorkspace(project, [CLOSED, AT_ROOT]);
    await row(page, /^Talk of open/).waitFor({ state: "detached" });
    await checkHistory(page, "closed", "parser");
    await showSessions(page);
    await checkExport(page, "Home of closed", /cannot be used as a save destination/);

    await page.goto(`${origin}/?ew=true`);
    await showSessions(page);
    await row(page, /^USETOOL/).click();
    await panel(page).locator("article", { hasText: "USETOOL" }).waitFor();
    assert.equal(await row(page, /^(Talk|Home) of/).count(), 0);
    await user.close();
  },
};

/** A window of several folders: the editor follows the file. @param {string} project @param {string[]} uris */
function writeWorkspace(project, uris) {
  writeFileSync(join(project, WORKSPACE), JSON.stringify({ folders: uris.map((uri) => ({ uri })) }));
}

const lineOf = (/** @type {string} */ name) => `export const ${name}Question = readTheQuestion();`;

/** @param {object} options of the store @param {string} title @param {string} [changed] whose file it changes */
async function addSession(options, title, changed) {
  const store = await openStore(options);
  const session = await store.create({ title });
  await session.append({ role: "user", content: `Please begin: ${title}.` });
  const patch = `*** Begin Patch\n*** Update File: src/a.js\n@@\n-export {};\n+${lineOf(changed ?? "")}\n*** End Patch`;
  const toolCalls = [{ id: "p", name: "apply_patch", arguments: patch }];
  if (changed) await session.append({ role: "assistant", content: "", assistant: { toolCalls } });
  await store.close();
}

/** The files below a folder, as the virtual one has them. @param {string} from @param {string} name */
function contentOf(from, name) {
  const { folder, path } = FOLDERS[/** @type {keyof typeof FOLDERS} */ (name)];
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => {
      const file = join(one.parentPath, one.name);
      const own = relative(from, file).split(sep).join("/");
      return { folder, path: `${path}/${own}`, base64: readFileSync(file).toString("base64") };
    });
}

/** @param {Page} page @param {string} title */
async function openSession(page, title) {
  await row(page, new RegExp(`^${title}`)).click();
  // Once it has the focus: what is opened before, as the palette, would close as the panel gets it.
  await panel(page)
    .locator("article:focus", { hasText: `Please begin: ${title}.` })
    .waitFor();
}

/** @param {Page} page @param {string} title */
async function checkSearch(page, title) {
  await runCommand(page, "leftoff: Search Sessions…");
  await page.locator(".quick-input-widget input[type=text]").first().fill(`"begin: ${title}"`);
  await choice(page, new RegExp(`Please begin: ${title}`)).waitFor();
  await page.keyboard.press("Escape");
}

/** A file leads to the session that changed it, by its line above, its menu and the palette. @param {Page} page @param {string} name @param {string} [folder] as the explorer shows it, closed, where there are several */
async function checkHistory(page, name, folder) {
  await page.getByRole("tab", { name: "Explorer" }).first().click();
  const entry = (/** @type {string} */ label) =>
    page.locator(".explorer-folders-view").getByRole("treeitem", { name: label }).first();
  if (folder) {
    await entry(folder).click();
    await page.locator(".explorer-folders-view").getByRole("treeitem", { name: "src" }).nth(1).waitFor();
  }
  await entry("src").click();
  await entry("a.js").dblclick();
  await page.locator(".tab.active", { hasText: "a.js" }).waitFor();
  await page.locator(".codelens-decoration", { hasText: "1 session changed this file" }).waitFor();
  await chooseInMenu(entry("a.js"), "Sessions That Changed This File");
  await choice(page, new RegExp(`^Home of ${name}`)).waitFor();
  await page.keyboard.press("Escape");
  await chooseInMenu(page.locator(".monaco-editor .view-line").first(), "Who Wrote This Line?");
  await choice(page, /Likely: an agent's apply_patch of .* wrote this very line/).waitFor();
  await shoot(page, `virtual-line-${name}`);
  await page.keyboard.press("Escape");
}

/** An agent's file in the folder is shown, and imported into the browser. @param {Page} page */
async function checkFiles(page) {
  const file = page.locator(".explorer-folders-view").getByRole("treeitem", { name: "claude.jsonl" });
  await chooseInMenu(file, "Open Session File…");
  await panel(page).locator("article:focus", { hasText: "USETOOL" }).waitFor();
  await chooseInMenu(file, "Import Session File…");
  await page.getByText("Imported 1 session.").first().waitFor();
  await page.locator(".tab", { hasText: "USETOOL" }).nth(1).waitFor();
  await panel(page).locator("article:focus", { hasText: "USETOOL" }).waitFor();
  await showSessions(page);
  await row(page, /^USETOOL/).waitFor();
}

/** A folder that takes no file says so. @param {Page} page @param {string} title @param {RegExp} reason */
async function checkExport(page, title, reason) {
  await chooseInMenu(row(page, new RegExp(`^${title}`)), "Export…");
  await choice(page, /^Markdown/).click();
  await page.locator(".quick-input-widget").getByRole("button", { name: "OK" }).click();
  await page.getByText(reason).first().waitFor();
  await shoot(page, `virtual-export-${title.replaceAll(" ", "-")}`);
  await page.keyboard.press("Escape");
}

/** @param {Page} page */
async function checkNothingWritten(page) {
  await runCommand(page, "Notifications: Show Notifications");
  await page.locator(".notifications-center").waitFor();
  assert.equal(await page.locator(".notification-list-item", { hasText: "Written:" }).count(), 0);
  await page.keyboard.press("Escape");
}

/** What can be chosen in the box that is shown. @param {Page} page @param {RegExp} name */
const choice = (page, name) => page.locator(".quick-input-list").getByRole("option", { name }).first();
