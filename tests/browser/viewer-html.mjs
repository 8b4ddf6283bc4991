// @ts-check
// A session's HTML file from disk in a real browser, with scripts and without: what is read in it, that it asks for
// nothing, that nothing said in it runs, and what axe finds.
// Tries: js/html/, js/viewer/carried.js, js/viewer/markup.js, scripts/viewer.mjs

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { serve } from "./serve.mjs";
import { checkAxe, equal } from "./viewer.mjs";
import { watchPage } from "./watch.mjs";

/** @import { Browser, Page } from "playwright-core" */
/** @typedef {typeof import("../../js/index.js")} Leftoff */
/** @typedef {{ drafts: object[], title: string }} Talk */

const TIMEOUT_MS = 60_000;
const NARROW = { width: 390, height: 844 };
const TURNS = 250;

/** A request, a call, its result and an answer. @param {number} place */
const workTurn = (place) => [
  { role: "user", content: `Request ${place}: **why** is part ${place} wrong?` },
  {
    role: "assistant",
    content: `I look at \`part-${place}.py\`.`,
    assistant: {
      model: "claude-sonnet-5-5",
      reasoning: [{ text: `Thought ${place}` }],
      toolCalls: [{ id: `c${place}`, name: "Bash", arguments: `{"command":"pytest part-${place}"}` }],
    },
  },
  {
    role: "tool",
    content: `needle-${place} lies here`,
    tool: { callId: `c${place}`, name: "Bash", isError: place % 10 === 3 },
  },
  { role: "assistant", content: `Done with ${place}.\n\n\`\`\`python\nreturn ${place}\n\`\`\``, assistant: {} },
];

/** @param {string} payload @param {number} place */
export const hostileTurn = (payload, place) => {
  const call = { id: `c${place}`, name: payload.slice(0, 60) || "x", arguments: JSON.stringify({ command: payload }) };
  const edit = { id: `e${place}`, name: "Edit", arguments: JSON.stringify({ file_path: payload, content: payload }) };
  const links =
    "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) ![c](https://example.com/c.png)";
  return [
    { role: "user", content: `${payload}\n\n${links}`, attachments: [{ mime: payload, name: payload, data: "AAAA" }] },
    {
      role: "assistant",
      content: payload,
      assistant: { model: payload.slice(0, 60), reasoning: [{ text: payload }], toolCalls: [call, edit] },
    },
    { role: "tool", content: payload, tool: { callId: call.id, name: call.name, isError: true } },
    { role: "system", content: payload },
  ];
};

/**
 * Writes a session's file.
 * @param {Leftoff} leftoff @param {typeof import("../../js/html/index.js").exportHtml} exportHtml
 * @param {Talk} talk @param {string} path
 */
export async function writeHtmlFile({ MemoryStorage, openStore }, exportHtml, { drafts, title }, path) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  const session = await store.create({ title });
  await session.append(/** @type {import("../../js/index.js").Draft[]} */ (drafts));
  let html = "";
  for await (const piece of exportHtml(session)) html += piece;
  await store.close();
  writeFileSync(path, html);
  return html;
}

/**
 * Opens a file from disk, and fails where it asks for anything else, or something in it runs that should not.
 * @param {Browser} driven @param {string} path
 * @param {import("playwright-core").BrowserContextOptions} how
 * @param {(page: Page) => Promise<void>} work
 */
async function opening(driven, path, how, work) {
  const context = await driven.newContext({ viewport: { width: 1344, height: 896 }, ...how });
  const page = await context.newPage();
  const url = String(pathToFileURL(path));
  const problemsOf = await watchPage(page, (asked) => asked.replace(/#.*$/, "") === url);
  await page.goto(url);
  await work(page);
  equal(`what went wrong in ${path}`, await problemsOf({ hasScripts: how.javaScriptEnabled !== false }), []);
  await context.close();
}

/** @param {Page} page */
const viewerOf = (page) => page.locator("leftoff-viewer [aria-busy=false] article").first().waitFor();

/** The viewer, whole: rows, search in what is folded, links, and contexts, whose counter the file carries. @param {Page} page */
async function checkViewer(page) {
  await viewerOf(page);
  equal("plain pages beside the viewer", await page.locator("main.plain").count(), 0);
  const totals = (await page.locator(".strip").innerText()).replace(/\s+/g, " ");
  if (!totals.includes(`${(TURNS * 4).toLocaleString("en")} messages`))
    throw new Error(`expected all messages: ${totals}`);
  equal("the title", await page.title(), "The parts");
  await page.keyboard.press("/");
  await page.keyboard.type(`needle-${TURNS - 1} lies`);
  await page.locator("article .s-body", { hasText: "lies here" }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "What the model saw" }).click();
  const panel = page.getByRole("region", { name: "What the model saw" });
  await panel.getByText("What was sent to a model is not recorded.").waitFor();
  await page.getByRole("combobox", { name: "Context" }).selectOption("8000");
  await page.getByText("of 8,000 tokens").waitFor();
  await page.keyboard.press("w");
}

/** @param {Page} page */
async function checkPlain(page) {
  const plain = page.locator("main.plain");
  await plain.locator("noscript p").waitFor();
  equal("the messages", await plain.locator("article").count(), TURNS * 3);
  for (const place of [0, TURNS - 1]) {
    await plain.getByText(`Request ${place}: why is part ${place} wrong?`).first().waitFor();
    await plain.getByText(`Done with ${place}.`, { exact: true }).waitFor();
  }
  const call = plain.locator("details.step", { hasText: `pytest part-${TURNS - 1}` });
  const result = call.getByText(`needle-${TURNS - 1} lies here`);
  equal("a folded result is seen", await result.isVisible(), false);
  await call.locator("summary").click();
  await result.waitFor();
  await plain.locator(".outline summary").click();
  await plain.locator(".outline a", { hasText: "Request 20: " }).click();
  await plain.locator("article:target", { hasText: "Request 20: " }).waitFor();
}

/** Reads to the end of a session of payloads, all of it open. @param {Page} page @param {number} rows */
async function checkHostileViewer(page, rows) {
  await viewerOf(page);
  for (let place = 1; place < rows; place += 1) await page.keyboard.press("j");
  await page.locator(`article[aria-posinset="${rows}"]:focus`).waitFor();
}

/** @param {Page} page */
async function checkHostilePlain(page) {
  const main = page.locator("main.plain");
  const summaries = main.locator("details:not([open]) > summary");
  await main.locator("article").last().waitFor();
  // Whatever loads once it is seen.
  for (const article of [0, await main.locator("article").count()].map((place) =>
    main.locator("article").nth(Math.max(place - 1, 0)),
  ))
    await article.scrollIntoViewIfNeeded();
  for (let left = Math.min(await summaries.count(), 12); left > 0; left -= 1) await summaries.first().click();
  const forbidden = "script, iframe, object, embed, form, input, style, link, base, meta, video, audio, math, template";
  equal("elements that no message may have", await main.locator(`:is(${forbidden})`).count(), 0);
  equal(
    "links that are none",
    await main.locator("a:not([href^='#m='], [href^='http'], [href^='mailto:'])").count(),
    0,
  );
}

/** Opens the file in the viewer's own page, as its user drops it there. @param {Browser} driven @param {string} packed @param {string} path */
async function checkDropped(driven, packed, path) {
  const { origin, close } = await serve({ pkg: join(packed, "pkg") }, {});
  const page = await driven.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(`${origin}/pkg/viewer/index.html`);
  await page.setInputFiles("#files", path);
  await viewerOf(page);
  await page.getByRole("heading", { name: "The parts" }).waitFor();
  await page.close();
  close();
}

/**
 * Checks the HTML files of an unpacked package.
 * @param {Browser} driven
 * @param {{ packed: string, folder: string }} at the package, and where files may be written
 * @param {Leftoff} leftoff
 * @param {string[]} payloads
 */
export async function checkHtmlFiles(driven, { packed, folder }, leftoff, payloads) {
  const { exportHtml } = await import(String(pathToFileURL(join(packed, "pkg", "html.mjs"))));
  const path = (/** @type {string} */ name) => join(folder, name);
  const off = { javaScriptEnabled: false };
  const drafts = Array.from({ length: TURNS }, (_, place) => workTurn(place)).flat();
  const html = await writeHtmlFile(leftoff, exportHtml, { drafts, title: "The parts" }, path("talk.html"));
  await opening(driven, path("talk.html"), {}, async (page) => {
    await checkViewer(page);
    await checkAxe(page, "a file's viewer");
  });
  await opening(driven, path("talk.html"), off, checkPlain);
  await checkDropped(driven, packed, path("talk.html"));
  // Axe is a script: it sees the plain page in a file without one.
  writeFileSync(path("plain.html"), html.slice(0, html.lastIndexOf("<script>")));
  for (const [what, how] of /** @type {const} */ ([
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { viewport: NARROW }],
  ]))
    await opening(driven, path("plain.html"), how, async (page) => {
      await checkAxe(page, `a plain page, ${what}`);
      const { width } = page.viewportSize() ?? { width: 0 };
      equal(`the width of it, ${what}`, await page.evaluate("document.documentElement.scrollWidth"), width);
    });
  const hostile = payloads.flatMap(hostileTurn);
  await writeHtmlFile(leftoff, exportHtml, { drafts: hostile, title: payloads.join(" ") }, path("hostile.html"));
  await opening(driven, path("hostile.html"), {}, (page) => checkHostileViewer(page, payloads.length * 3));
  await opening(driven, path("hostile.html"), off, checkHostilePlain);
}
