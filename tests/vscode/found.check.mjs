// @ts-check
// Sessions in other agents' folders: listed, imported by a click, and told of before their client deletes them.
// Tries: js/vscode/found.node.js, js/vscode/found-tree.js, js/vscode/child.node.js, js/vscode/status-bar.js

import { copyFileSync, mkdirSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { openStore } from "../../js/index.js";
import { root } from "../../scripts/run.mjs";
import { openWorkbench, panel, row, runCommand, shoot, showSessions } from "./workbench.mjs";

const FIXTURES = join(root, "tests", "fixtures");
const CLAUDE = join(FIXTURES, "claude-code/real/2.1.197/445adb5c-b44b-4625-86f4-77b2ace446f0.jsonl");
const OTHER_CLAUDE = join(FIXTURES, "claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl");
const ROLLOUT = join(
  FIXTURES,
  "codex/real/0.171.0/rollout-2026-11-28T06-09-12-01a220c5-a1f1-7f33-b4e8-aff1576ae18e.jsonl",
);
const DAY_MS = 86_400_000;

/** @param {string} from @param {string} to @param {number} [ageDays] */
function put(from, to, ageDays = 0) {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
  const changed = (Date.now() - ageDays * DAY_MS) / 1000;
  utimesSync(to, changed, changed);
}

/** @type {import("../../scripts/vscode-test.mjs").Check} */
export default {
  title: "sessions in agents' folders are listed, imported by a click, and told of before they are deleted",
  async prepare({ home }) {
    put(CLAUDE, join(home, ".claude/projects/-x", basename(CLAUDE)), 20);
    put(OTHER_CLAUDE, join(home, ".claude/projects/-x", basename(OTHER_CLAUDE)));
    put(ROLLOUT, join(home, ".codex/sessions/2026/11/01", basename(ROLLOUT)));
  },
  async run({ browser, url, home, project }) {
    const page = await openWorkbench(browser, url);
    await showSessions(page);
    const status = page.locator(".statusbar").getByRole("button", { name: /^Open the session/ });
    await page.getByRole("button", { name: "In Other Agents Section" }).click();
    await row(page, /^claude-code, 2 sessions/).waitFor();
    await row(page, /^codex, 1 session/).waitFor();
    const notice = page.locator(".notifications-toasts").getByText(/1 session will be deleted by Claude Code from/);
    await notice.waitFor();
    await row(page, /deleted from .* on/).waitFor();
    await shoot(page, "found");

    const clicked = row(page, /, codex, /);
    const title = (await clicked.getAttribute("aria-label"))?.split(", codex")[0] ?? "";
    await clicked.click();
    await panel(page).locator("article").first().waitFor();
    await row(page, /^codex, 1 session/).waitFor({ state: "detached" });
    await status.filter({ hasText: title.slice(0, 20) }).waitFor();
    await shoot(page, "found-imported");

    await page.locator(".notifications-toasts").getByRole("button", { name: "Import", exact: true }).click();
    await row(page, /^claude-code, 1 session/).waitFor();
    const store = await openStore({ home: join(home, ".leftoff"), project });
    const agents = (await store.list({ all: true })).map(({ agent }) => agent).sort();
    await store.close();
    if (String(agents) !== "claude-code,codex") throw new Error(`expected two sessions, but found ${agents} instead`);

    await runCommand(page, "leftoff: Check for Sessions That Are Deleted Soon");
    await page
      .locator(".notifications-toasts")
      .getByText(/deletes no session soon/)
      .waitFor();
    await page.close();
  },
};
