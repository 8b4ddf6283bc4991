// @ts-check
// Makes the pictures of the viewer that README shows, `docs/viewer-light.png` and `docs/viewer-dark.png`: a real session
// of tests/fixtures, opened by `leftoff view` in Chromium. Run it after the page's look has changed.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

import { openStore } from "../js/index.js";
import { fail, root, step } from "./run.mjs";

const FIXTURE = join(root, "tests", "fixtures", "claude-code", "ccsession-cli");
/** What a picture may weigh: README loads both. */
const MAX_BYTES = 150_000;
const VIEWPORT = { width: 1280, height: 800 };

const home = mkdtempSync(join(tmpdir(), "leftoff-pictures-"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));
const store = await openStore({ home, project: home });
const { imported } = await store.import(FIXTURE);
await store.close();
const longest =
  imported.sort((a, b) => b.messageCount - a.messageCount)[0] ?? fail("expected a session in the fixture");

const command = [join(root, "pkg", "cli.js"), "view", longest.id, "--json", "--no-open", "--home", home];
const child = spawn(process.execPath, command, { cwd: home, stdio: ["pipe", "pipe", "inherit"] });
const [line] = await once(createInterface(child.stdout), "line");
const driven = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox"],
});
try {
  for (const colorScheme of /** @type {const} */ (["light", "dark"]))
    await step(`docs/viewer-${colorScheme}.png`, async () => {
      const page = await driven.newPage({ viewport: VIEWPORT, colorScheme, timezoneId: "UTC" });
      await page.goto(JSON.parse(line).address);
      await page.locator("leftoff-viewer [aria-busy=false] article").first().waitFor();
      // To the first error, where there is most to see.
      await page.keyboard.press("e");
      await page.locator("article:focus").waitFor();
      const path = join(root, "docs", `viewer-${colorScheme}.png`);
      await page.screenshot({ path });
      const { size } = statSync(path);
      if (size > MAX_BYTES) fail(`expected at most ${MAX_BYTES} bytes in ${path}, but found ${size}`);
    });
} finally {
  await driven.close();
  child.stdin.end();
}
