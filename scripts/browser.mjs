// @ts-check
// `npm run test:browser`: the packed package in real Chromium, as a page without a bundler loads it. Chromium is the system's;
// where it is not there and the user may install it, it is installed by apt-get. Else this is skipped, and says so.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { chromium } from "playwright-core";
import { countTokens, readTranscript } from "../js/index.js";
import { ask, fail, root, run, seconds, step } from "./run.mjs";
import { readOf } from "../tests/browser/page.mjs";
import { serve } from "../tests/browser/serve.mjs";

const PROGRAMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const FIXTURE = join(root, "tests", "fixtures", "claude-code", "agent-sessions", "small.jsonl");

/** The browser, installed where that can be; nothing where it cannot. */
function browser() {
  const found = [process.env.CHROMIUM ?? "", ...PROGRAMS].find((path) => existsSync(path));
  if (found) return found;
  if (process.getuid?.() !== 0 || ask("apt-get", ["--version"]) === null) return undefined;
  console.log("  Chromium is not installed: apt-get installs Debian's, some 300 MB, once.");
  run("apt-get", ["update"], { quiet: true });
  run("apt-get", ["install", "-y", "--no-install-recommends", "chromium"], { quiet: true });
  return PROGRAMS.find((path) => existsSync(path));
}

/** The package as npm packs it, in a folder. @param {string} folder */
function unpacked(folder) {
  // Without its scripts: neither the component nor the documents are for a page.
  const [{ filename }] = Object.values(JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { quiet: true })));
  run("tar", ["-xzf", join(folder, filename), "-C", folder], { quiet: true });
  return join(folder, "package");
}

/** @param {string} map an import map, or nothing */
const page = (map) => `<!doctype html><meta charset="utf-8">${map && `<script type="importmap">${map}</script>`}<script type="module" src="/tests/start.mjs"></script>`;

const start = performance.now();
const executablePath = browser();
if (!executablePath) {
  console.log("skipped: no Chromium is installed, and only root can install it by apt-get. CHROMIUM names one that lies elsewhere.");
  process.exit(0);
}
const folder = mkdtempSync(join(tmpdir(), "leftoff-browser-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const packed = unpacked(folder);
const { exports } = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
const address = exports["."].browser.default.replace("./", "/package/");
const { origin, close } = await serve({ package: packed, tests: join(root, "tests", "browser") }, {
  "/map.html": page(JSON.stringify({ imports: { leftoff: address } })),
  "/plain.html": page(""),
});
const driven = await chromium.launch({ executablePath, args: ["--no-sandbox"], env: { ...process.env, HOME: folder } });
const transcript = [...readFileSync(FIXTURE)];
await countTokens(""); // As the page has it, the vocabulary is loaded.
const expected = await readOf(readTranscript, new Blob([new Uint8Array(transcript)]));
let failed = 0;

/** @param {string} what @param {string} path @param {"inPage" | "inWorker"} where @param {string} name */
async function check(what, path, where, name) {
  const tab = await driven.newPage();
  try {
    await step(what, async () => {
      await tab.goto(`${origin}${path}`);
      for (const end = Date.now() + 20_000; (await tab.title()) !== "ready"; ) if (Date.now() > end) throw new Error("expected the page to be ready in 20 s, but it is not");
      await tab.evaluate(([where, ...given]) => /** @type {any} */ (globalThis)[/** @type {string} */ (where)](...given), [where, name, transcript, expected]);
    });
  } catch (error) {
    failed += 1;
    console.error(error instanceof Error ? error.message : error);
  }
  await tab.close();
}

try {
  await check("a page with an import map", "/map.html", "inPage", "leftoff");
  await check("a page whose policy is 'self' 'wasm-unsafe-eval'", "/plain.html?strict", "inPage", address);
  await check("a module worker", "/plain.html", "inWorker", address);
  await check("a module worker under that policy", "/plain.html?strict", "inWorker", address);
} finally {
  await driven.close();
  close();
}
if (failed > 0) fail(`${failed} of 4 failed in ${executablePath}`);
console.log(`4 passed, 0 failed in ${seconds(start)}`);
