// @ts-check
// `leftoff view` as its user has it: the packed command is started, its address opened in a real browser, and what
// stands there is what the store has.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { equal } from "./viewer.mjs";
import { watchPage } from "./watch.mjs";

/** @import { Page } from "playwright-core" */

/** The agents of which `tests/fixtures` has sessions, each in a folder. */
const AGENTS = [
  ..."aider claude-code cline codex continue copilot cortext gemini nanocoder opencode pi qwen vscode".split(" "),
];

/**
 * Starts the command, and waits until it serves.
 * @param {{ packed: string, home: string, project: string }} at
 * @param {string[]} args
 */
export async function startView({ packed, home, project }, args) {
  const command = [join(packed, "pkg", "cli.js"), "view", ...args, "--json", "--no-open", "--home", home];
  const child = spawn(process.execPath, command, { cwd: project, stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), ended]);
  const { address } = JSON.parse(String(line));
  const { origin } = new URL(address);
  return {
    address: /** @type {string} */ (address),
    isOwn: (/** @type {string} */ url) => url.startsWith("blob:") || url.startsWith(`${origin}/`),
    end: async () => {
      child.stdin.end();
      const [code] = await ended;
      equal("the exit code, once its standard input is closed", code, 0);
    },
  };
}

/**
 * Starts the command, and opens what it serves.
 * @param {import("playwright-core").Browser} driven
 * @param {{ packed: string, home: string, project: string }} at
 * @param {string[]} args
 * @param {(opened: { page: Page, address: string }) => Promise<void>} work
 */
async function viewing(driven, at, args, work) {
  const { address, isOwn, end } = await startView(at, args);
  const context = await driven.newContext({ viewport: { width: 1200, height: 700 } });
  try {
    const page = await context.newPage();
    const problemsOf = await watchPage(page, isOwn);
    await page.goto(address);
    await work({ page, address });
    equal(`what went wrong in 'view ${args.join(" ")}'`, await problemsOf(), []);
  } finally {
    await context.close();
    await end();
  }
}

/**
 * Waits until the session is read, and compares how many messages the page counts.
 * @param {Page} page @param {number} count @param {number} [elsewhere] on other branches
 */
async function checkCount(page, count, elsewhere = 0) {
  await page.locator("leftoff-viewer [aria-busy=false]").waitFor();
  const said = (await page.locator(".strip .tot").first().innerText()).replace(/\s+/g, " ");
  const others = elsewhere > 0 ? `, ${elsewhere} on other branches` : "";
  equal("the messages that the page counts", said.trim(), `${count} message${count === 1 ? "" : "s"}${others}`);
}

/**
 * @param {import("playwright-core").Browser} driven
 * @param {string} packed the package's folder
 * @param {typeof import("../../js/index.js")} leftoff
 * @param {string} fixtures the folder of agents' sessions
 */
export async function checkView(driven, packed, leftoff, fixtures) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-viewed-"));
  const [home, project, other] = ["home", "calc", "other"].map((name) => join(folder, name));
  for (const one of [project, other]) mkdirSync(one);
  const at = { packed, home, project };
  const store = await leftoff.openStore({ home, project });
  const elsewhere = await leftoff.openStore({ home, project: other });
  try {
    await checkLive(driven, at, store);
    const shared = await store.create({ title: "Shared", placement: "workspace", name: "shared" });
    await shared.append({ role: "user", content: "Said in the workspace" });
    const foreign = await elsewhere.create({ title: "Of another project" });
    await foreign.append([
      { role: "user", content: "Said elsewhere" },
      { role: "assistant", content: "Answered elsewhere" },
    ]);
    for (const [session, said, count] of /** @type {const} */ ([
      [shared, "Said in the workspace", 1],
      [foreign, "Said elsewhere", 2],
    ]))
      await viewing(driven, at, [session.id], async ({ page }) => {
        await checkCount(page, count);
        await page.locator("article", { hasText: said }).waitFor();
      });
    await checkList(driven, { ...at, project: folder }, [shared, foreign]);
    await checkSearch(driven, at, foreign);
    await checkImported(driven, at, store, fixtures);
    await checkRedacted(driven, at, leftoff);
  } finally {
    await elsewhere.close();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/**
 * The current session, and what another process appends to it meanwhile.
 * @param {import("playwright-core").Browser} driven @param {{ packed: string, home: string, project: string }} at
 * @param {import("../../js/index.js").Store} store
 */
async function checkLive(driven, at, store) {
  const session = await store.create({ title: "The average" });
  await session.append([
    { role: "user", content: "Why is the average wrong?" },
    { role: "assistant", content: "It divides by the **wrong** count." },
  ]);
  await viewing(driven, at, [], async ({ page }) => {
    await checkCount(page, 2);
    await page.locator("h1", { hasText: "The average" }).waitFor();
    await page.locator("article strong", { hasText: "wrong" }).waitFor();
    await session.append({ role: "user", content: "Then mend it" });
    await page.locator("article", { hasText: "Then mend it" }).waitFor();
    await checkCount(page, 3);
  });
}

/**
 * Where the store's setting says that secrets are replaced, the page shows the session, and copies none.
 * @param {import("playwright-core").Browser} driven @param {{ packed: string, home: string, project: string }} at
 * @param {typeof import("../../js/index.js")} leftoff
 */
async function checkRedacted(driven, at, leftoff) {
  const place = { ...at, home: `${at.home}-redacted` };
  // The command looks for secretlint's rules beside its package; the page brings its own.
  const beside = fileURLToPath(new URL("../../node_modules/@secretlint", import.meta.url));
  symlinkSync(beside, join(at.packed, "..", "@secretlint"));
  const store = await leftoff.openStore({ home: place.home, project: at.project });
  await store.writeSetting("redact", "replace");
  const session = await store.create({ title: "The token" });
  // One that secretlint's rules know; and one that leftoff's own do.
  const secrets = [
    "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx",
  ];
  await session.append({ role: "user", content: `Use ${secrets.join(" and ")}.` });
  await store.close();
  await viewing(driven, place, [session.id], async ({ page }) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.locator("article", { hasText: "Use" }).click();
    await page.keyboard.press("x");
    await page.keyboard.press(".");
    const actions = page.getByRole("dialog", { name: "Actions" });
    await actions.getByRole("button", { name: "Copy as Markdown", exact: true }).click();
    await page.locator(".told", { hasText: "Copied" }).waitFor();
    const text = await page.evaluate(() => navigator.clipboard.readText());
    equal("that the text was copied", text.includes("Use "), true);
    for (const secret of secrets) equal("that a secret was copied", text.includes(secret), false);
  });
}

/**
 * Where the project has no session: those of all projects, to click, and back.
 * @param {import("playwright-core").Browser} driven @param {{ packed: string, home: string, project: string }} at
 * @param {import("../../js/index.js").Session[]} sessions
 */
async function checkList(driven, at, sessions) {
  await viewing(driven, at, [], async ({ page, address }) => {
    await page.getByRole("heading", { name: "Recent sessions" }).waitFor();
    equal("the sessions of the list", await page.locator(".rec .x").allInnerTexts(), [
      "Of another project",
      "Shared",
      "The average",
    ]);
    for (const session of sessions) {
      await page.locator(".rec", { hasText: session.metadata.display.title }).click();
      await page.locator("h1", { hasText: session.metadata.display.title }).waitFor();
      equal("the address", page.url(), `${address}#s=${session.id}`);
      await page.reload();
      await page.locator("h1", { hasText: session.metadata.display.title }).waitFor();
      await page.getByRole("link", { name: "All sessions" }).click();
      await page.getByRole("heading", { name: "Recent sessions" }).waitFor();
    }
    await page.goBack();
    await page.locator("h1", { hasText: sessions.at(-1)?.metadata.display.title }).waitFor();
    await page.evaluate(() => void (location.hash = "s=00000000-0000-7000-8000-000000000000"));
    await page.getByRole("alert").getByText('no session "00000000').waitFor();
  });
}

/**
 * A search over the store, and from a hit to its message.
 * @param {import("playwright-core").Browser} driven @param {{ packed: string, home: string, project: string }} at
 * @param {import("../../js/index.js").Session} session
 */
async function checkSearch(driven, at, session) {
  await session.append([
    { role: "user", content: "And the croniter pin?" },
    ...Array.from({ length: 60 }, (_, place) => ({ role: /** @type {const} */ ("user"), content: `More ${place}` })),
    { role: "user", content: "Croniter stays pinned" },
  ]);
  await viewing(driven, at, ["--search", "croniter"], async ({ page }) => {
    await page.getByRole("heading", { name: "Sessions with “croniter”" }).waitFor();
    equal("the hits", (await page.locator(".rec-hit mark").allInnerTexts()).length, 2);
    await page.locator(".rec-hit", { hasText: "stays pinned" }).click();
    await page.locator("article", { hasText: "Croniter stays pinned" }).waitFor();
    await page.locator(".find").getByText("2 of 2").waitFor();
    equal("the search field", await page.getByRole("searchbox").inputValue(), "croniter");
  });
  await viewing(driven, at, ["--search", "nowheresaid"], async ({ page }) => {
    await page.getByRole("heading", { name: "No session has “nowheresaid”" }).waitFor();
    await page.getByRole("heading", { name: "Recent sessions" }).waitFor();
  });
}

/** @param {AsyncIterable<unknown>} items */
async function countItems(items) {
  let count = 0;
  for await (const _ of items) count += 1;
  return count;
}

/**
 * A session of each agent, one with branches if there is one, else the longest: as many messages as its importer
 * counts, on all branches.
 * @param {import("playwright-core").Browser} driven @param {{ packed: string, home: string, project: string }} at
 * @param {import("../../js/index.js").Store} store @param {string} fixtures
 */
async function checkImported(driven, at, store, fixtures) {
  for (const agent of AGENTS) {
    const { imported } = await store.import(join(fixtures, agent));
    equal("the agent of the fixtures", [...new Set(imported.map((one) => one.agent))], [agent]);
    const counted = [];
    for (const { id, messageCount } of imported) {
      const session = await store.session(id);
      const shown = await countItems(session.messages());
      // Of a session in several files the importer counts each file alone.
      if ((await countItems(session.messages({ allBranches: true }))) === messageCount)
        counted.push({ id, shown, elsewhere: messageCount - shown });
    }
    counted.sort((a, b) => b.elsewhere - a.elsewhere || b.shown - a.shown);
    const [{ id, shown, elsewhere }] = counted;
    await viewing(driven, at, [id], ({ page }) => checkCount(page, shown, elsewhere));
  }
}
