// @ts-check
// `npm run test:browser`: tests the packed package in workerd, in real Chromium as a page without a bundler loads it,
// and its viewer in real Firefox, too. The browsers are the system's; if one is missing and the user may install it,
// apt-get installs it. Else its tests are skipped with a note. `--only WORDS`: the tests whose names have these words;
// `--tabs 1000`: so many tabs are closed while they append.

import { cpSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { build as esbuild } from "esbuild";
import { chromium } from "playwright-core";
import * as leftoff from "../js/index.js";
import { CHROMIUM, FIREFOX, findBrowser } from "./browsers.mjs";
import { fail, root, run, seconds, step } from "./run.mjs";
import { checkClosedTabs, checkQuota } from "../tests/browser/closed-tabs.mjs";
import { checkFirefox } from "../tests/browser/firefox.mjs";
import { inWorkerd } from "../tests/browser/in-workerd.mjs";
import { readOf } from "../tests/browser/page.mjs";
import { serve } from "../tests/browser/serve.mjs";
import { checkView } from "../tests/browser/view.mjs";
import { checkHtmlFiles } from "../tests/browser/viewer-html.mjs";
import { checkEmbedded } from "../tests/browser/viewer-embedded.mjs";
import { checkFilters } from "../tests/browser/viewer-filters.mjs";
import { checkKept } from "../tests/browser/viewer-kept.mjs";
import { checkLong } from "../tests/browser/viewer-long.mjs";
import { checkTurns } from "../tests/browser/viewer-turns.mjs";
import { checkViewer } from "../tests/browser/viewer.mjs";
import { checkViewerBranches } from "../tests/browser/viewer-branches.mjs";
import { BUNDLERS } from "../tests/pack/bundlers.mjs";
import { install } from "../tests/pack/tools.mjs";

const FIXTURE = join(root, "tests", "fixtures", "claude-code", "agent-sessions", "small.jsonl");
const PAYLOADS = join(root, "tests", "fixtures", "dompurify-xss", "payloads.json");
const TESTS_FOLDER = join(root, "tests", "browser");
/** How long a page may take, whatever else the machine is doing. */
const TIMEOUT_MS = 60_000;

const { only = "", tabs } = parseArgs({
  options: { only: { type: "string" }, tabs: { type: "string", default: "100" } },
}).values;
const start = performance.now();
const folder = mkdtempSync(join(tmpdir(), "leftoff-browser-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
let [passed, failed] = [0, 0];

/** @param {string} what @param {() => Promise<void>} work */
async function check(what, work) {
  if (!what.includes(only)) return;
  try {
    await step(what, work);
    passed += 1;
  } catch (error) {
    failed += 1;
    console.error(error instanceof Error ? error.message : error);
  }
}

/** Packs the package by npm and unpacks it where the tests copied beside it find it. */
function unpackPackage() {
  // Without the package's scripts: they make the component and the documents, which no page needs.
  const [{ filename }] = Object.values(
    JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", folder], { quiet: true })),
  );
  run("tar", ["-xzf", join(folder, filename), "-C", folder], { quiet: true });
  mkdirSync(join(folder, "node_modules"));
  renameSync(join(folder, "package"), join(folder, "node_modules", "leftoff"));
  cpSync(TESTS_FOLDER, join(folder, "tests"), { recursive: true });
  cpSync(join(root, "tests", "js", "storage-contract.js"), join(folder, "js", "storage-contract.js"));
  return join(folder, "node_modules", "leftoff");
}

/** @param {string} script @param {string} [map] an import map */
const page = (script, map) =>
  `<!doctype html><meta charset="utf-8">${map ? `<script type="importmap">${map}</script>` : ""}<script type="module" src="${script}"></script>`;

/** The folder of a bundler's page. @param {string} name */
const bundleOf = (name) => name.toLowerCase().replace(" ", "");

/**
 * Gives the example a file, as its user does.
 * @param {import("playwright-core").Browser} driven
 * @param {string} origin
 * @param {number[]} transcript
 */
async function checkPageExample(driven, origin, transcript) {
  const opened = await driven.newPage();
  await opened.goto(`${origin}/examples/page/index.html`);
  await opened.getByText("Choose a file.").waitFor({ timeout: TIMEOUT_MS });
  await opened.setInputFiles("#file", {
    name: "transcript.jsonl",
    mimeType: "application/jsonl",
    buffer: Buffer.from(transcript),
  });
  await opened
    .getByText(/^claude-code: [1-9]\d* messages, of which a window of 8,000 gets [1-9]\d* tokens$/)
    .waitFor({ timeout: TIMEOUT_MS });
  await opened.close();
}

/**
 * Shows the session of a file in a part of the example's page.
 * @param {import("playwright-core").Browser} driven
 * @param {string} origin
 */
async function checkViewerExample(driven, origin) {
  const opened = await driven.newPage();
  await opened.goto(`${origin}/examples/viewer/index.html`);
  await opened.setInputFiles("#file", FIXTURE);
  await opened.getByText(/^claude-code: [1-9]\d* messages$/).waitFor({ timeout: TIMEOUT_MS });
  await opened.locator("#viewer article").first().waitFor({ timeout: TIMEOUT_MS });
  await opened.click("#search");
  await opened.locator("#viewer input:focus").waitFor({ timeout: TIMEOUT_MS });
  await opened.close();
}

/**
 * Bundles the contract of storages for a worker: with the package's own class of errors, and stand-ins for Node's
 * modules.
 * @param {string} outdir
 */
async function contractOf(outdir) {
  const standIns = join(folder, "tests", "stand-ins.mjs");
  const own = {
    name: "own",
    setup: (/** @type {import("esbuild").PluginBuild} */ build) =>
      build.onResolve({ filter: /js\/error\.js$/ }, () =>
        build.resolve("leftoff/slim", { kind: "import-statement", resolveDir: folder }),
      ),
  };
  await esbuild({
    absWorkingDir: folder,
    entryPoints: { index: "./tests/kept.mjs" },
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    outExtension: { ".js": ".mjs" },
    alias: { "node:test": standIns, "node:assert/strict": standIns },
    plugins: [own],
    logLevel: "error",
  });
}

/** @param {import("playwright-core").Browser} driven @param {string} origin */
async function checkWorkerSessions(driven, origin) {
  const opened = await driven.newPage();
  await opened.goto(`${origin}/plain.html?strict`);
  const results = await opened.evaluate(
    () =>
      new Promise((told, fails) => {
        const worker = new Worker("/bundles/kept/index.mjs?strict", { type: "module" });
        worker.onmessage = ({ data }) => told(data);
        worker.onerror = ({ message }) => fails(new Error(message));
        worker.postMessage("begin");
      }),
  );
  await opened.close();
  const wrong = /** @type {{ name: string, error?: string }[]} */ (results).filter(({ error }) => error !== undefined);
  console.log(
    `  ${/** @type {unknown[]} */ (results).length - wrong.length} of ${/** @type {unknown[]} */ (results).length} laws hold for what a browser keeps`,
  );
  if (wrong.length > 0 || /** @type {unknown[]} */ (results).length < 30)
    throw new Error(
      wrong.map(({ name, error }) => `${name}: ${error}`).join("\n") ||
        "expected the storages' contract, but found fewer laws",
    );
}

/**
 * Says something to the example, and loads its page anew.
 * @param {import("playwright-core").Browser} driven
 * @param {string} origin
 */
async function checkWorkerExample(driven, origin) {
  const opened = await driven.newPage();
  await opened.goto(`${origin}/examples/worker/index.html`);
  await opened.getByText("0 messages are kept.").waitFor({ timeout: TIMEOUT_MS });
  await opened.fill("#text", "Where were we?");
  await opened.click("button");
  for (const _ of ["said", "loaded anew"]) {
    await opened.getByText("2 messages are kept.").waitFor({ timeout: TIMEOUT_MS });
    await opened.getByText("assistant: You said: Where were we?").waitFor({ timeout: TIMEOUT_MS });
    await opened.reload();
  }
  await opened.close();
}

/**
 * @param {string} executablePath
 * @param {string} packed
 * @param {{ transcript: number[], expected: unknown }} given
 * @param {string[]} payloads
 */
async function inChromium(executablePath, packed, given, payloads) {
  const { exports } = JSON.parse(readFileSync(join(packed, "package.json"), "utf8"));
  const address = exports["."].browser.default.replace("./", "/package/");
  const map = JSON.stringify({ imports: { leftoff: address } });
  const slim = exports["./slim"].browser.default.replace("./", "/package/");
  const { origin, close } = await serve(
    {
      package: packed,
      node_modules: join(folder, "node_modules"),
      examples: join(root, "examples"),
      tests: TESTS_FOLDER,
      bundles: join(folder, "bundles"),
    },
    {
      "/map.html": page("/tests/start.mjs", map),
      "/plain.html": page("/tests/start.mjs"),
      "/tab.html": page("/tests/tab.mjs"),
      "/service.mjs": `import * as leftoff from "${slim}";\nimport { answers } from "/tests/service.mjs";\nanswers(leftoff);\n`,
      ...Object.fromEntries(
        Object.keys(BUNDLERS)
          .map(bundleOf)
          .map((name) => [`/${name}.html`, page(`/bundles/${name}/index.mjs`)]),
      ),
    },
  );
  const driven = await chromium.launch({
    executablePath,
    args: ["--no-sandbox"],
    env: { ...process.env, HOME: folder },
  });
  /**
   * @param {string} what
   * @param {string} path
   * @param {"inPage" | "inSlimPage" | "inService" | "inWorker"} where
   * @param {string} name
   */
  const tab = (what, path, where, name) =>
    check(what, async () => {
      const opened = await driven.newPage();
      opened.setDefaultTimeout(TIMEOUT_MS);
      await opened.goto(`${origin}${path}`);
      // Polled here: playwright's own waiting evaluates in the page, which the page's policy forbids.
      for (const end = performance.now() + TIMEOUT_MS; (await opened.title()) !== "ready";)
        if (performance.now() > end) throw new Error("expected the page to be ready, but it is not");
      await opened.evaluate(
        ([where, ...given]) => /** @type {any} */ (globalThis)[/** @type {string} */ (where)](...given),
        [where, name, given.transcript, given.expected],
      );
      await opened.close();
    });
  try {
    await tab("a page with an import map", "/map.html", "inPage", "leftoff");
    await tab("a page whose policy is 'self' 'wasm-unsafe-eval'", "/plain.html?strict", "inPage", address);
    await tab("a page that says where the files are, with leftoff/slim", "/plain.html?strict", "inSlimPage", slim);
    await tab("a service worker, with leftoff/slim", "/plain.html", "inService", "/service.mjs");
    await tab("a module worker", "/plain.html", "inWorker", address);
    await tab("a module worker under that policy", "/plain.html?strict", "inWorker", address);
    await check("a worker keeps sessions in the origin's private files", async () => {
      await contractOf(join(folder, "bundles", "kept"));
      await checkWorkerSessions(driven, origin);
    });
    await check("tabs are closed while they append", () => checkClosedTabs(driven, origin, Number(tabs)));
    await check("a browser that allows no more", () => checkQuota(driven, origin));
    await check("examples/page", () => checkPageExample(driven, origin, given.transcript));
    await check("examples/viewer", () => checkViewerExample(driven, origin));
    await check("examples/worker", () => checkWorkerExample(driven, origin));
    const fixtures = join(root, "tests", "fixtures");
    await check("the viewer", () => checkViewer(driven, packed, leftoff, payloads));
    await check("the viewer in a host's page", () => checkEmbedded(driven, packed));
    await check("a session's HTML file", () => checkHtmlFiles(driven, { packed, folder }, leftoff, payloads));
    await check("the viewer's branches", () => checkViewerBranches(driven, packed, leftoff));
    await check("the viewer's filters", () => checkFilters(driven, packed, leftoff, fixtures));
    await check("the viewer's turns", () => checkTurns(driven, packed, leftoff));
    await check("the viewer's sessions in the browser", () => checkKept(driven, packed, leftoff));
    await check("the viewer of what is long", () => checkLong(driven, packed, leftoff));
    await check("leftoff view", () => checkView(driven, packed, leftoff, fixtures));
    for (const [name, make] of Object.entries(BUNDLERS)) {
      const out = join(folder, "bundles", bundleOf(name));
      await check(
        `${name} makes a page`,
        async () => void (await make({ folder: join(folder, "tests"), entry: "./bundled.mjs", out, forNode: false })),
      );
      await tab(`the page that ${name} made, under that policy`, `/${bundleOf(name)}.html?strict`, "inPage", "");
    }
  } finally {
    await driven.close();
    close();
  }
}

await step("bundlers", install);
const packed = unpackPackage();
const transcript = [...readFileSync(FIXTURE)];
const given = { transcript, expected: await readOf(leftoff.readTranscript, new Blob([new Uint8Array(transcript)])) };
const worker = join(folder, "worker");
mkdirSync(worker);
await check("workerd", () => inWorkerd({ folder: worker, entry: join(folder, "tests", "workerd.mjs"), given }));
const payloads = JSON.parse(readFileSync(PAYLOADS, "utf8"));
const chromiumPath = findBrowser(CHROMIUM);
if (chromiumPath) await inChromium(chromiumPath, packed, given, payloads);
const firefoxPath = findBrowser(FIREFOX);
if (firefoxPath)
  await check("the viewer in Firefox", () => checkFirefox(firefoxPath, { packed, folder }, leftoff, payloads));
if (failed > 0) fail(`${passed} passed, ${failed} failed`);
console.log(`${passed} passed, 0 failed in ${seconds(start)}`);
