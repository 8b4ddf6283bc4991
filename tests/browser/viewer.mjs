// @ts-check
// The transcript viewer in a real browser, under the policy that it is served with: what it shows, what keys do, that
// nothing said in a session runs or asks for anything, and what axe finds.
// Tries: js/viewer/, js/viewer/elements/, js/viewer/styles/, scripts/viewer.mjs

import { createServer } from "node:http";
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { checkHostileTexts } from "./hostile.mjs";
import { watchPage } from "./watch.mjs";

/** What the page is served with: nothing but its own files, and no markup that was not sanitized. */
const POLICY = [
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data: blob:",
  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "require-trusted-types-for 'script'; trusted-types lit-html dompurify",
].join("; ");
const TYPES = { ".js": "text/javascript", ".css": "text/css", ".html": "text/html" };
const TIMEOUT_MS = 60_000;
/** The smallest PNG that has a size. */
const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/** @param {unknown} isSo @param {string} otherwise */
export function expect(isSo, otherwise) {
  if (!isSo) throw new Error(otherwise);
}

/** @param {string} what @param {unknown} found @param {unknown} expected */
export const equal = (what, found, expected) =>
  expect(
    JSON.stringify(found) === JSON.stringify(expected),
    `${what}: expected ${JSON.stringify(expected)}, but found ${JSON.stringify(found)} instead`,
  );

/** Serves the package's folder. @param {string} folder */
export async function servePackage(folder) {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(String(request.url), "http://127.0.0.1");
    const body = await readFile(join(folder, normalize(pathname))).catch(() => undefined);
    if (body === undefined) return void response.writeHead(404).end();
    const type = TYPES[/** @type {".js"} */ (extname(pathname))] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-security-policy": POLICY }).end(body);
  });
  await new Promise((go) => server.listen(0, "127.0.0.1", () => go(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { origin: `http://127.0.0.1:${port}`, close: () => void server.close() };
}

/**
 * A session of many turns as one file, as `leftoff export` gives it.
 * @param {typeof import("../../js/index.js")} leftoff
 * @param {(place: number) => object[]} turn the messages of a turn
 * @param {number} count of turns
 * @param {string} [title]
 */
export async function sessionFile({ MemoryStorage, openStore }, turn, count, title = "The average") {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  const session = await store.create({ title });
  const drafts = Array.from({ length: count }, (_, place) => turn(place)).flat();
  const { records } = await session.append(/** @type {import("../../js/index.js").Draft[]} */ (drafts));
  const text = await session.export("leftoff");
  const ids = records.map(({ id }) => id);
  await store.close();
  return { file: { name: "session.leftoff", mimeType: "text/plain", buffer: Buffer.from(text) }, ids };
}

/** A request, a call that works, one that fails, and an answer. @param {number} place */
export function workTurn(place) {
  const call = (/** @type {string} */ id, /** @type {string} */ command) => ({
    id: `${id}${place}`,
    name: "Bash",
    arguments: JSON.stringify({ command }),
  });
  const image = { mime: "image/png", data: IMAGE, name: "shot.png" };
  const isFailing = place % 10 === 3;
  return [
    { role: "user", content: `Request ${place}: why?`, attachments: place % 25 === 0 ? [image] : undefined },
    {
      role: "assistant",
      content: `I look at **part ${place}**.`,
      assistant: { model: "claude-sonnet-5-5", toolCalls: [call("a", "ls"), call("b", `pytest ${place}`)] },
    },
    { role: "tool", content: `needle-${place} lies here`, tool: { callId: `a${place}`, name: "Bash" } },
    {
      role: "tool",
      content: isFailing ? "1 failed" : "all passed",
      tool: { callId: `b${place}`, name: "Bash", isError: isFailing, exitCode: isFailing ? 1 : 0 },
    },
    { role: "assistant", content: `Done with ${place}.\n\n\`\`\`python\nreturn ${place}\n\`\`\``, assistant: {} },
  ];
}

/**
 * Opens a file in the page as its user does, or a folder.
 * @param {import("playwright-core").Browser} driven @param {string} origin
 * @param {{ name: string, mimeType: string, buffer: Buffer } | string} file
 * @param {{ colorScheme?: "light" | "dark", viewport?: { width: number, height: number } }} [how]
 */
export async function openFile(driven, origin, file, how = {}) {
  const page = await driven.newPage({ viewport: { width: 1344, height: 896 }, ...how });
  const problemsOf = await watchPage(page, (url) => url.startsWith(origin));
  await page.goto(`${origin}/pkg/viewer/index.html`);
  await page.setInputFiles(typeof file === "string" ? "#folder" : "#files", file);
  await page.locator("leftoff-viewer [aria-busy=false] article").first().waitFor();
  const finish = async () => {
    equal("what the policy reports, and what went wrong", await problemsOf(), []);
    await page.close();
  };
  return { page, finish };
}

/** A session as Codex compresses it. */
function compressedFile() {
  const folder = new URL("../fixtures/compressed/", import.meta.url);
  const name = readdirSync(folder).find((one) => one.endsWith(".jsonl.zst")) ?? "";
  return { name, mimeType: "application/zstd", buffer: readFileSync(new URL(name, folder)) };
}

/** The row that has the focus. @param {import("playwright-core").Page} page */
export const focused = (page) => page.locator("article:focus").getAttribute("data-message");

/** @param {import("playwright-core").Page} page @param {string[]} ids @param {number} count of turns */
async function checkReading(page, ids, count) {
  const shown = (await page.locator(".strip").innerText()).replace(/\s+/g, " ");
  expect(shown.includes(`${ids.length.toLocaleString("en")} messages`), `expected ${ids.length} messages: ${shown}`);
  equal("the turns of the outline", await page.locator(".o-turn").count(), count);
  await page.keyboard.press("G");
  await page.locator(`article[data-message="${ids.at(-1)}"]:focus`).waitFor();
  expect((await page.locator("article").count()) < 60, "expected only what is near the screen to be mounted");
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await page.locator(`article[data-message="${ids[0]}"]:focus`).waitFor();
  await page.keyboard.press("j");
  await page.locator(`article[data-message="${ids[1]}"]:focus`).waitFor();
  await page.keyboard.press("]");
  await page.locator(`article[data-message="${ids[5]}"]:focus`).waitFor();
  await page.keyboard.press("e");
  await page.locator(`article[data-message="${ids[16]}"]:focus`).waitFor();
}

/** @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkFolding(page, ids) {
  const failing = page.locator(`article[data-message="${ids[16]}"]`);
  const heads = failing.locator(".s-head");
  const isOpen = async (/** @type {number} */ place) => heads.nth(place).getAttribute("aria-expanded");
  equal("a call that worked is folded, one that failed is open", [await isOpen(0), await isOpen(1)], ["false", "true"]);
  await heads.nth(0).click();
  await failing.getByText("needle-3 lies here").waitFor();
  await failing.focus();
  await page.keyboard.press("o");
  equal("both are folded by a key", [await isOpen(0), await isOpen(1)], ["false", "false"]);
}

/** @param {import("playwright-core").Page} page @param {number} count of turns @param {string[]} ids */
async function checkSearch(page, count, ids) {
  await page.keyboard.press("/");
  await page.keyboard.type("needle-");
  await page.getByText(`of ${count}`, { exact: false }).first().waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  await page.keyboard.type(`needle-${count - 1} lies`);
  const opened = page.locator(`article[data-message="${ids[(count - 1) * 5 + 1]}"] .s-body`, { hasText: "lies here" });
  await opened.waitFor();
  equal("the current hit is marked", await page.evaluate(() => CSS.highlights.get("hit-now")?.size), 1);
  await page.keyboard.press("Escape");
  await opened.waitFor({ state: "detached" });
}

/** @param {import("playwright-core").Page} page @param {string[]} ids */
async function checkLinks(page, ids) {
  const result = ids[5 * 77 + 2];
  await page.evaluate((id) => void (location.hash = `m=${id}`), result);
  await page.locator(`article[data-message="${ids[5 * 77 + 1]}"]:focus`).waitFor();
  await page.getByText("needle-77 lies here").waitFor();
}

/**
 * Appends to a session that the page follows: with its end on screen, and then with its beginning there.
 * @param {import("playwright-core").Page} page
 */
async function checkLive(page) {
  await page.evaluate(async () => {
    const [core, viewer] = ["/pkg/web/index.js", "/pkg/viewer/index.js"];
    const { openStore, MemoryStorage } = await import(core);
    const { openViewer } = await import(viewer);
    const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
    const session = await store.create({ title: "Live" });
    await session.append(Array.from({ length: 60 }, (_, place) => ({ role: "user", content: `Said ${place}` })));
    Object.assign(globalThis, { session });
    /** Appends once all messages were read, before the page knows. @param {any} of @param {string} name */
    const get = (of, name) => {
      if (name !== "messages") return typeof of[name] === "function" ? of[name].bind(of) : of[name];
      return async function* () {
        yield* of.messages();
        await of.append({ role: "user", content: "Said meanwhile" });
      };
    };
    await openViewer(document.body, { store, session: new Proxy(session, { get }) }).whole;
  });
  const append = (/** @type {string} */ content) =>
    page.evaluate((said) => /** @type {any} */ (globalThis).session.append({ role: "user", content: said }), content);
  await page.keyboard.press("G");
  await page.locator("article", { hasText: "Said meanwhile" }).waitFor();
  await page.keyboard.press("G");
  await page.locator("article:focus", { hasText: "Said meanwhile" }).waitFor();
  await append("Seen as it comes");
  await page.locator("article", { hasText: "Seen as it comes" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  await page.locator("article:focus", { hasText: "Said 0" }).waitFor();
  await append("Far below");
  await page.getByRole("button", { name: "1 new message" }).waitFor();
  equal("the place of a reader", await page.locator(".conv").evaluate(({ scrollTop }) => scrollTop), 0);
  await page.getByRole("button", { name: "1 new message" }).click();
  await page.locator("article:focus", { hasText: "Far below" }).waitFor();
  await page.getByRole("button", { name: "1 new message" }).waitFor({ state: "detached" });
}

/** Opens a session of which a line cannot be read. @param {import("playwright-core").Page} page */
async function checkDamage(page) {
  await page.evaluate(async () => {
    const [core, viewer] = ["/pkg/web/index.js", "/pkg/viewer/index.js"];
    const { openStore, MemoryStorage } = await import(core);
    const { openViewer } = await import(viewer);
    const storage = new MemoryStorage();
    const store = await openStore({ storage, home: "/home", project: "/project" });
    const session = await store.create({ title: "Damaged" });
    await session.append({ role: "user", content: "Before the damage" });
    await storage.append(`${session.path}/messages.jsonl`, new Uint8Array([255, 254, 10]));
    await openViewer(document.body, { store, session }).whole;
  });
  await page.getByRole("button", { name: "1 damaged" }).click();
  await page.getByRole("dialog", { name: "Damage" }).getByText("messages.jsonl, bytes").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
}

/**
 * Files that are no session, part of one, and two sessions.
 * @param {import("playwright-core").Browser} driven @param {string} origin
 */
async function checkFiles(driven, origin) {
  const line = (/** @type {string} */ content) =>
    JSON.stringify({ type: "user", uuid: content, sessionId: content, message: { role: "user", content } });
  const file = (/** @type {string} */ name, /** @type {string | Buffer} */ text) => ({
    name,
    mimeType: "",
    buffer: Buffer.from(text),
  });
  const page = await driven.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.addInitScript({ content: readFileSync(new URL(import.meta.resolve("axe-core")), "utf8") });
  await page.goto(`${origin}/pkg/viewer/index.html`);
  await page.setInputFiles("#files", file("shot.png", Buffer.from(IMAGE, "base64")));
  await page.getByRole("alert").getByText("It seems to be a PNG image.").waitFor();
  await page.setInputFiles("#files", file("notes.txt", "Buy milk\n"));
  await page.getByRole("alert").getByText("It begins with Buy milk").waitFor();
  await checkAxe(page, "what no importer knows");
  await page.setInputFiles("#files", [
    file("one.jsonl", line("First")),
    file("two.jsonl", `${line("Second")}\n{"type`),
  ]);
  await page.getByRole("heading", { name: "In these files" }).waitFor();
  await page.getByRole("alert").getByText("two.jsonl: expected a record").waitFor();
  equal("the sessions of two files", (await page.locator(".rec").allInnerTexts()).length, 2);
  await checkAxe(page, "a list of sessions");
  await page.locator(".rec", { hasText: "Second" }).click();
  await page.getByRole("button", { name: "1 damaged" }).click();
  await page.getByRole("dialog").getByText("two.jsonl, bytes").waitFor();
  await page.close();
}

/**
 * Opens a session of which a context was sent, and reads what the model saw of it.
 * @param {import("playwright-core").Page} page
 */
async function checkInspector(page) {
  const { tokensUsed, report } = await page.evaluate(async () => {
    const [core, viewer] = ["/pkg/web/index.js", "/pkg/viewer/index.js"];
    const { openStore, MemoryStorage } = await import(core);
    const { openViewer } = await import(viewer);
    const place = { storage: new MemoryStorage(), home: "/home", project: "/project" };
    const written = await (await openStore(place)).create({ title: "Sent" });
    const said = (/** @type {number} */ at) => [
      { role: "user", content: `Request ${at}: ${"it is told at length. ".repeat(20)}` },
      { role: "assistant", content: `Answer ${at}: ${"it is told at length, too. ".repeat(20)}` },
    ];
    await written.append(Array.from({ length: 150 }, (_, at) => said(at)).flat());
    const { tokensUsed, report } = await written.context({
      window: 16_000,
      system: "Be brief.",
      tools: [{ name: "x" }],
    });
    await written.flush();
    const store = await openStore({ ...place, readOnly: true });
    await openViewer(document.body, { store, session: await store.session(written.id) }).whole;
    return { tokensUsed, report };
  });
  const { budget, summaryTokens, messages } = /** @type {import("../../js/index.js").ContextReport} */ (report);
  const ofAction = (/** @type {string} */ wanted) =>
    messages.reduce((all, { action, tokens }) => all + (action === wanted ? tokens : 0), 0);
  const rest = [budget.availableTokens - tokensUsed, budget.reserveForResponse];
  const parts = [summaryTokens ?? 0, ofAction("kept"), ofAction("shortened"), ...rest];
  const tokens = [budget.systemPromptTokens, budget.toolDefinitionTokens, ...parts].filter((one) => one > 0);
  const first = messages.find(({ action }) => action === "kept")?.id;
  await page.locator("article").first().waitFor();
  await page.keyboard.press("w");
  const panel = page.getByRole("region", { name: "What the model saw" });
  await panel.locator(".big").waitFor();
  const shown = await panel
    .locator(".bar i")
    .evaluateAll((parts) => parts.map(({ dataset }) => Number(dataset.tokens)));
  equal("the tokens in the bar", shown, tokens);
  equal("panels beside the conversation", await page.getByRole("navigation", { name: "Session" }).count(), 0);
  await page.locator("article .fate.summarized, article .fate.unread").first().waitFor();
  await checkAxe(page, "what the model saw");
  const row = panel.locator(`[data-row="${first}"]`);
  await row.click();
  await panel.getByText("Stored, and sent as it is").waitFor();
  await page.locator(`article[data-message="${first}"][data-current] .fate.kept`).waitFor();
  expect(
    (await page.locator(".conv").evaluate(({ scrollTop }) => scrollTop)) > 0,
    "expected the conversation to scroll",
  );
  await panel.getByRole("tab", { name: "Compare" }).click();
  await panel.getByRole("combobox", { name: "Second context" }).selectOption("8000");
  await panel.locator(".ch", { hasText: "summarized → kept" }).first().waitFor();
  await checkAxe(page, "two contexts compared");
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "What the model saw" }).click();
  await panel.waitFor();
  await page.getByRole("button", { name: "What the model saw" }).click();
  await panel.waitFor({ state: "detached" });
}

/**
 * Looks at a preview of a context in a narrow page, of a session of which none is recorded.
 * @param {import("playwright-core").Page} page
 */
async function checkPreview(page) {
  await page.getByRole("button", { name: "What the model saw" }).click();
  await page.getByText("What was sent to a model is not recorded.").waitFor();
  await page.getByRole("combobox", { name: "Context" }).selectOption("8000");
  await page.getByText("of 8,000 tokens").waitFor();
  await checkAxe(page, "a preview, narrow");
  await page.keyboard.press("w");
}

/** @param {Pick<import("./watch.mjs").WatchedPage, "evaluate">} page @param {string} what */
export async function checkAxe(page, what) {
  const found = await page.evaluate(async () => {
    const { violations } = await /** @type {any} */ (globalThis).axe.run(document);
    return violations.map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
  });
  equal(`what axe finds in ${what}`, found, []);
}

/** @param {string[]} payloads @returns {(place: number) => object[]} */
export const hostileTurn = (payloads) => (place) => {
  const payload = payloads[place];
  const call = { id: `c${place}`, name: payload.slice(0, 60) || "x", arguments: JSON.stringify({ command: payload }) };
  const links = `[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) ![c](https://example.com/${place}.png)`;
  return [
    { role: "user", content: `${payload}\n\n${links}` },
    { role: "assistant", content: payload, assistant: { model: payload.slice(0, 60), toolCalls: [call] } },
    { role: "tool", content: payload, tool: { callId: `c${place}`, name: call.name, isError: true } },
  ];
};

/**
 * Reads a session of nothing but payloads to its end, all of it open.
 * @param {import("playwright-core").Page} page @param {number} rows
 */
async function checkHostile(page, rows) {
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  for (let place = 1; place < rows; place += 1) await page.keyboard.press("j");
  await page.locator(`article[aria-posinset="${rows}"]:focus`).waitFor();
  const hrefs = await page.locator("article a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  const alive = hrefs.filter((href) => !/^(#m=|https?:|mailto:)/i.test(href ?? ""));
  equal("links that are none", alive, []);
  const forbidden = await page.locator("article :is(script, iframe, object, embed, form, style, link, base)").count();
  equal("elements that no message may have", forbidden, 0);
}

/**
 * Prints a session: its last message is on paper, too.
 * @param {import("playwright-core").Browser} driven @param {string} origin
 * @param {{ name: string, mimeType: string, buffer: Buffer }} file @param {string[]} ids
 */
async function checkPrint(driven, origin, file, ids) {
  const { page, finish } = await openFile(driven, origin, file);
  await page.evaluate(() => {
    addEventListener("beforeprint", () =>
      Object.assign(globalThis, {
        printed: [...document.querySelectorAll("article")].map((row) => row.dataset.message),
      }),
    );
  });
  await page.pdf();
  const rows = await page.evaluate(() => /** @type {any} */ (globalThis).printed);
  equal("the rows on paper, and the last one", [rows.length, rows.at(-1)], [(ids.length / 5) * 3, ids.at(-1)]);
  await finish();
}

/**
 * @param {import("playwright-core").Browser} driven @param {string} origin
 * @param {typeof import("../../js/index.js")} leftoff
 * @returns {import("./hostile.mjs").Tools}
 */
function hostileTools(driven, origin, leftoff) {
  /** @type {Map<import("playwright-core").Page, () => Promise<void>>} */
  const opened = new Map();
  return {
    driven,
    equal,
    open: async (turn, count, title) => {
      const { page, finish } = await openFile(driven, origin, (await sessionFile(leftoff, turn, count, title)).file);
      opened.set(page, finish);
      return page;
    },
    finish: async (page) => opened.get(page)?.(),
  };
}

/**
 * Checks the viewer of an unpacked package.
 * @param {import("playwright-core").Browser} driven
 * @param {string} packed its folder
 * @param {typeof import("../../js/index.js")} leftoff
 * @param {string[]} payloads
 */
export async function checkViewer(driven, packed, leftoff, payloads) {
  const { origin, close } = await servePackage(packed);
  const turns = 200;
  try {
    const { file, ids } = await sessionFile(leftoff, workTurn, turns);
    const { page, finish } = await openFile(driven, origin, file);
    await checkReading(page, ids, turns);
    await checkFolding(page, ids);
    await checkSearch(page, turns, ids);
    await checkLinks(page, ids);
    await checkAxe(page, "a session, light");
    await page.keyboard.press("t");
    await checkAxe(page, "a session, dark");
    expect((await focused(page)) !== null, "expected a row to have the focus still");
    await checkLive(page);
    await checkDamage(page);
    await checkInspector(page);
    await finish();
    await checkPrint(driven, origin, file, ids);
    await checkFiles(driven, origin);
    await (await openFile(driven, origin, compressedFile())).finish();
    const narrow = await openFile(driven, origin, file, { viewport: { width: 390, height: 844 } });
    await checkAxe(narrow.page, "a session, narrow");
    await checkPreview(narrow.page);
    const width = await narrow.page.evaluate(() => document.documentElement.scrollWidth);
    equal("the width that a narrow page scrolls over", width, 390);
    await narrow.finish();
    const hostile = await sessionFile(leftoff, hostileTurn(payloads), payloads.length);
    const opened = await openFile(driven, origin, hostile.file);
    await checkHostile(opened.page, payloads.length * 2);
    await opened.finish();
    await checkHostileTexts(hostileTools(driven, origin, leftoff));
  } finally {
    close();
  }
}
