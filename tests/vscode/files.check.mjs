// @ts-check
// The sessions that changed a file, and the edit that wrote a line of it.
// Tries: js/vscode/file-sessions.js, js/vscode/file-edits.js, js/vscode/line-writers.js

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openStore } from "../../js/index.js";
import { chooseInMenu, openWorkbench, panel, runCommand, shoot } from "./workbench.mjs";

/** @import { Page } from "playwright-core" */

const CODE = [
  "// The answer",
  "const answer = readTheAnswer();",
  "",
  "export const question = readTheQuestion();",
  "",
  "const nobody = wrote(this);",
];

/**
 * A transcript as Claude Code writes it, with an edit and a multi-edit of the file.
 * @param {string} project @param {string} path
 */
function transcriptOf(project, path) {
  const shared = {
    sessionId: "5f3b1c1e-0a51-4d77-8f0c-2b1f6a9e0d11",
    cwd: project,
    version: "2.1.332",
    userType: "external",
    isSidechain: false,
  };
  const said = (/** @type {number} */ at, /** @type {object} */ more) => ({
    ...shared,
    uuid: `u${at}`,
    parentUuid: at ? `u${at - 1}` : null,
    timestamp: new Date(Date.UTC(2026, 10, 12, 10) + at * 1_000).toISOString(),
    ...more,
  });
  const edit = (/** @type {string} */ id, /** @type {string} */ name, /** @type {object} */ input) => ({
    type: "assistant",
    message: {
      id: `msg_${id}`,
      role: "assistant",
      model: "claude",
      content: [{ type: "tool_use", id, name, input: { file_path: path, ...input } }],
    },
  });
  const result = (/** @type {string} */ id) => ({
    type: "user",
    message: {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: "The file has been updated." }],
    },
  });
  const asked = (/** @type {string} */ content) => ({ type: "user", message: { role: "user", content } });
  const filler = Array.from({ length: 100 }, (_, place) => asked(`Question ${place}`));
  const lines = [
    asked("Read the answer instead of guessing it."),
    ...filler,
    edit("one", "Edit", { old_string: "const answer = guess();", new_string: CODE[1] }),
    result("one"),
    ...filler,
    edit("two", "MultiEdit", { edits: [{ old_string: "let x", new_string: "let y" }] }),
    result("two"),
  ].map((line, at) => said(at, line));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "a file leads to the sessions that changed it, and a line to the edit that wrote it",
  async prepare({ folder, home, project }) {
    const path = join(project, "src", "a.js");
    for (const where of [dirname(path), folder]) mkdirSync(where, { recursive: true });
    writeFileSync(path, CODE.join("\n"));
    writeFileSync(join(project, "README.md"), "Nobody changed me.\n");
    const transcript = join(folder, "5f3b1c1e-0a51-4d77-8f0c-2b1f6a9e0d11.jsonl");
    writeFileSync(transcript, transcriptOf(project, path));
    const store = await openStore({ home: join(home, ".leftoff"), project });
    await store.import(transcript);
    const session = await store.create({ title: "The question" });
    const patch = `*** Begin Patch\n*** Update File: src/a.js\n@@\n-export {};\n+${CODE[3]}\n*** End Patch`;
    await session.append([
      { role: "user", content: "Export the question." },
      {
        role: "assistant",
        content: "",
        assistant: { toolCalls: [{ id: "p", name: "apply_patch", arguments: patch }] },
      },
    ]);
    await store.close();
    return { "leftoff.codeLens": true };
  },
  async run({ browser, url, project }) {
    const page = await openWorkbench(browser, url);
    await openFile(page, "a.js");
    await page.locator(".codelens-decoration", { hasText: "2 sessions changed this file" }).waitFor();
    await shoot(page, "files-lens");

    await runCommand(page, "leftoff: Sessions That Changed This File");
    await choice(page, /^The question/).waitFor();
    await shoot(page, "files-sessions");
    await choice(page, /claude-code.*2 changes/).waitFor();
    await page.keyboard.press("Enter");
    await goBack(page, "Export the question.");

    await askOfLine(page, 1);
    await choice(page, /Likely: claude-code's Edit of .*2026 wrote this very line/).waitFor();
    await shoot(page, "files-line");
    await page.keyboard.press("Enter");
    await goBack(page, CODE[1]);

    await askOfLine(page, 5);
    await told(page, "No stored session wrote this line: none of 3 edits has it.");
    await askOfLine(page, 2);
    await told(page, "This line is too short to say who wrote it.");

    await openFile(page, "README.md");
    await runCommand(page, "leftoff: Sessions That Changed This File");
    await told(page, "No stored session changed README.md.");

    await openFile(page, "a.js");
    const line = page.locator(".monaco-editor .view-line", { hasText: "readTheQuestion" });
    await chooseInMenu(line, "Who Wrote This Line?");
    await choice(page, /Likely: an agent's apply_patch of .* wrote this very line/).waitFor();
    await page.keyboard.press("Escape");

    const lens = page.locator(".codelens-decoration", { hasText: "2 sessions changed this file" });
    await lens.waitFor();
    mkdirSync(join(project, ".vscode"));
    writeFileSync(join(project, ".vscode", "settings.json"), JSON.stringify({ "leftoff.codeLens": false }));
    await lens.waitFor({ state: "hidden" });
    await page.close();
  },
};

/** Waits for a session's panel, and goes back to the file. @param {Page} page @param {string} text of a message */
async function goBack(page, text) {
  await panel(page).locator("article", { hasText: text }).waitFor();
  await page.getByRole("tab", { name: /^a\.js/ }).click();
}

/** Opens a file by its name. @param {Page} page @param {string} name */
async function openFile(page, name) {
  await page.keyboard.press("Control+P");
  await page.locator(".quick-input-widget input[type=text]").first().fill(name);
  await page.locator(".quick-input-list").getByRole("option", { name }).first().click();
  await page.locator(".tab.active", { hasText: name }).waitFor();
  await page.locator(".monaco-editor.focused").waitFor();
}

/** Asks who wrote a line of the file. @param {Page} page @param {number} place of the line, from 0 */
async function askOfLine(page, place) {
  await page.locator(".monaco-editor .view-line").nth(place).click();
  await runCommand(page, "leftoff: Who Wrote This Line?");
}

/** What can be chosen in the box that is shown. @param {Page} page @param {RegExp} name */
const choice = (page, name) => page.locator(".quick-input-list").getByRole("option", { name }).first();

/** @param {Page} page @param {string} text */
const told = (page, text) => page.locator(".notification-list-item", { hasText: text }).first().waitFor();
