// @ts-check
// Hostile texts in the viewer: naughty strings and payloads wherever a session has a text, links of every spelling,
// texts that are heavy to render, and Markdown as CommonMark has it. Nothing runs or asks, and each text is read as
// what it is.
// Tries: js/viewer/markdown.js, js/viewer/markup.js, js/viewer/hidden.js, js/viewer/highlight.js, js/viewer/images.js, js/viewer/calls.js,
// js/viewer/format.js, js/viewer/elements/prose.js, js/viewer/elements/call.js, js/viewer/elements/message.js,
// js/viewer/elements/filters.js, js/viewer/elements/left.js

import { readFileSync } from "node:fs";
import { EXAMPLES, lawfulHtml, normalize } from "./markdown.mjs";

/** @import { Page } from "playwright-core" */
/**
 * @typedef {object} Tools of the viewer's checks
 * @property {import("playwright-core").Browser} driven
 * @property {(turn: (place: number) => object[], count: number, title?: string) => Promise<import("playwright-core").Page>} open
 *   opens a session of many turns
 * @property {(page: Page) => Promise<void>} finish closes it, and throws where something ran, asked or was reported
 * @property {(what: string, found: unknown, expected: unknown) => void} equal
 */

const NAUGHTY = JSON.parse(
  readFileSync(new URL("../fixtures/naughty-strings/blns.json", import.meta.url), "utf8"),
).filter((/** @type {string} */ text) => text !== "");

/** Addresses that are not the web's, as browsers and Markdown let them be spelled. */
const ADDRESSES = [
  ..."javascript:alert(1) JaVaScRiPt:alert(1) javascript&colon;alert(1) javascript&#58;alert(1) javascript&#x3A;alert(1)".split(
    " ",
  ),
  ..."&#106;avascript:alert(1) &#x6A;&#x61;vascript:alert(1) &Tab;javascript:alert(1) java&Tab;script:alert(1)".split(
    " ",
  ),
  ..."java&NewLine;script:alert(1) javascript%3Aalert(1) %6aavascript:alert(1) javascript:https://example.com/".split(
    " ",
  ),
  ..."javascript://example.com/%0aalert(1) vbscript:msgbox(1) VBScript:x data:text/html,<script>alert(1)</script>".split(
    " ",
  ),
  ..."data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg== data:image/svg+xml,<svg/onload=alert(1)>".split(" "),
  ..."DATA:text/html,x blob:https://example.com/1 file:///etc/passwd filesystem:x about:blank view-source:x".split(" "),
  ..."//example.com/ ///example.com \\\\example.com / ? # . jar:x mhtml:x livescript:x feed:javascript:alert(1)".split(
    " ",
  ),
  "\u0001javascript:alert(1)",
  "\u00a0javascript:alert(1)",
  "java\u0000script:alert(1)",
  "java\tscript:alert(1)",
  "java\u00adscript:alert(1)",
  "\u202ejavascript:alert(1)",
  "<javascript:alert(1)>",
];
/** Every way in which Markdown names an address. @param {string} address @param {number} place */
const linksTo = (address, place) =>
  [
    `[a](${address})`,
    `[b](<${address}>)`,
    `[c][r${place}] ![d](${address}) ![e][r${place}]`,
    `<${address}>`,
    address,
    `[![f](${address})](${address})`,
    `[r${place}]: ${address} "${address}"`,
  ].join("\n\n");

/** Names that every object has. */
const INHERITED = ["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "valueOf", "then", "length"];
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/;

/** @param {string} text */
const beginning = (text) => Array.from(text).slice(0, 60).join("");

/** A text wherever a session has one. @param {readonly string[]} texts @returns {(place: number) => object[]} */
const everywhere = (texts) => (place) => {
  const text = texts[place];
  const call = {
    id: `${beginning(text)} ${place}`,
    name: beginning(text),
    arguments: JSON.stringify({ command: text, [text]: text }),
  };
  const edit = {
    id: `e${place}`,
    name: "Edit",
    arguments: JSON.stringify({ file_path: `/${text}`, old_string: "a", new_string: text }),
  };
  const file = { mime: "text/plain", data: "eA==", name: text };
  return [
    { role: "user", content: text, attachments: [file] },
    {
      role: "assistant",
      content: text,
      assistant: { model: beginning(text), reasoning: [{ text }], toolCalls: [call, edit] },
    },
    { role: "tool", content: text, tool: { callId: call.id, name: call.name, isError: true } },
    { role: "tool", content: text, tool: { callId: edit.id, name: "Edit" } },
  ];
};

/** Mounts all rows, as for paper. @param {import("./watch.mjs").WatchedPage} page */
export const mountAll = (page) =>
  page.evaluate(async () => {
    dispatchEvent(new Event("beforeprint"));
    await new Promise((go) => requestAnimationFrame(go));
  });

/** @param {Tools} tools */
async function checkTexts({ open, finish, equal }) {
  const texts = [...NAUGHTY, ...INHERITED, "\u202egnp.exe", "a\u200bb\u{e0041}\u{e0042}c"];
  const page = await open(everywhere(texts), texts.length, "<img src=x onerror=alert(1)>");
  await mountAll(page);
  const shown = await page.evaluate(() => {
    const steps = [...document.querySelectorAll("article .steps > .step:nth-child(2)")];
    const read = (/** @type {string} */ selector) =>
      steps.map((step) => [...step.querySelectorAll(selector)].at(-1)?.textContent ?? "");
    return {
      title: document.querySelector("h1")?.textContent,
      names: read(".s-head b"),
      outputs: read(".term"),
      all: document.body.textContent ?? "",
    };
  });
  equal("the title", shown.title, "<img src=x onerror=alert(1)>");
  // As they are, but for what is hidden.
  const differing = (/** @type {string[]} */ found, /** @type {(text: string) => string} */ cut) =>
    texts
      .map((text, place) => ({ found: found[place], expected: cut(text) }))
      .filter(({ found, expected }) => found !== expected && !isHidden(expected));
  equal("names of tools that differ", differing(shown.names, beginning), []);
  equal("outputs that differ", differing(shown.outputs, String), []);
  equal("what turns text around", DIRECTIONS.exec(shown.all)?.[0], undefined);
  equal("a hidden text", shown.all.includes("a‹U+200B›b‹tags: AB›c"), true);
  await page.getByRole("tab", { name: "Files" }).click();
  equal("what turns names of files around", DIRECTIONS.exec(await namesIn(page))?.[0], undefined);
  await page.getByRole("searchbox").fill("is:error");
  await page.getByRole("region", { name: "Filters" }).waitFor();
  equal("what turns filters around", DIRECTIONS.exec(await namesIn(page))?.[0], undefined);
  await finish(page);
}

/** All that is read and heard. @param {Page} page */
const namesIn = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("body *")]
      .flatMap((element) => ["title", "aria-label", "alt"].map((name) => element.getAttribute(name) ?? ""))
      .concat(document.body.textContent ?? "")
      .join("\n"),
  );

const isHidden = (/** @type {string} */ text) =>
  /[\u200b\u202a-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]|\p{M}{17}/u.test(text);

/** @param {Tools} tools */
async function checkLinks({ open, finish, equal }) {
  const page = await open(
    (place) => [{ role: "assistant", content: linksTo(ADDRESSES[place], place), assistant: {} }],
    ADDRESSES.length,
  );
  await mountAll(page);
  const odd = await page.locator(".prose a").evaluateAll((links) =>
    links
      .map((link) => /** @type {HTMLAnchorElement} */ (link))
      .filter(
        ({ protocol, target, rel }) =>
          !["http:", "https:", "mailto:"].includes(protocol) || target !== "_blank" || rel !== "noreferrer noopener",
      )
      .map(({ outerHTML }) => outerHTML),
  );
  equal("links that may not be followed", odd, []);
  equal("a link that may be", (await page.locator(".prose a").count()) > 0, true);
  await finish(page);
}

const DEEP = 10_000;
/** Texts that take long, or much, to render. @type {Record<string, string>} */
const HEAVY = {
  "a line of 1 MB": "x".repeat(1 << 20),
  "1 MB of words": "word ".repeat((1 << 20) / 5),
  "1 MB of lines": "a line\n".repeat((1 << 20) / 7),
  quotes: ">".repeat(DEEP),
  "quotes and spaces": "> ".repeat(DEEP),
  brackets: "[".repeat(DEEP),
  "images in images": "![".repeat(DEEP),
  "links in links": "[a](".repeat(DEEP),
  lists: "- ".repeat(DEEP),
  "numbers of lists": "1. ".repeat(DEEP),
  "lists below lists": Array.from({ length: 400 }, (_, depth) => `${" ".repeat(2 * depth)}- a\n`).join(""),
  stars: "*a **b ".repeat(DEEP),
  underscores: `_${"a_".repeat(DEEP)}`,
  "open tags": "<a ".repeat(DEEP),
  comments: "<!--".repeat(DEEP),
  "columns of a table": `${"a|".repeat(DEEP)}\n${"-|".repeat(DEEP)}\n${"b|".repeat(DEEP)}`,
  "lazy lines": "> a\nb\n".repeat(DEEP),
  addresses: "www.a@".repeat(DEEP),
  "marks above marks": `Z${"\u0301\u0316".repeat(DEEP)}`,
  ...Object.fromEntries(
    ["java", "typescript", "javascript", "cpp", "python", "yaml", "sql", "bash"].map((language) => [
      `code in ${language}`,
      ["$", "a ", "\n", '"', "0x"]
        .map((sign) => `\`\`\`${language}\n${sign.repeat(50_000 / sign.length)}\n\`\`\``)
        .join("\n\n"),
    ]),
  ),
};
/** How much of a message is mounted at most, until more is asked for. */
const MAX_MOUNTED = 200_000;

/** A PNG that says that it is huge. @param {number} width @param {number} height */
function hugeImage(width, height) {
  const bytes = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==",
    "base64",
  );
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return { mime: "image/png", data: bytes.toString("base64"), name: "huge.png" };
}

/** @param {Tools} tools */
async function checkHeavy({ open, finish, equal }) {
  const names = Object.keys(HEAVY);
  const images = [hugeImage(60_000, 60_000), hugeImage(4_294_967_295, 4_294_967_295), hugeImage(1, 60_000)];
  const page = await open((place) => {
    const text = HEAVY[names[place]];
    const deep = `{"a":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`;
    const calls = [
      { id: `c${place}`, name: "Bash", arguments: place === 0 ? deep : JSON.stringify({ command: text, more: 1 }) },
      { id: `e${place}`, name: "Write", arguments: JSON.stringify({ file_path: "/a", content: text }) },
    ];
    return [
      { role: "user", content: `${names[place]}\n\n${text}`, attachments: place === 0 ? images : undefined },
      { role: "assistant", content: text, assistant: { toolCalls: calls } },
      ...calls.map(({ id, name }) => ({
        role: "tool",
        content: text,
        tool: { callId: id, name, isError: name === "Bash" },
      })),
    ];
  }, names.length);
  for (const [place, name] of names.entries()) {
    const message = page.locator(`article[aria-posinset="${2 * place + 1}"]`);
    await message.locator(".prose").first().waitFor();
    equal(`the beginning of ${name}`, (await message.locator(".prose").first().innerText()).startsWith(name), true);
    const sizes = await page
      .locator("article")
      .evaluateAll((rows) => rows.map(({ textContent }) => textContent?.length ?? 0));
    equal(
      `a message of too many characters mounted, at ${name}: ${Math.max(...sizes)}`,
      Math.max(...sizes) > MAX_MOUNTED,
      false,
    );
    for (let times = 0; times < 2; times += 1) await page.keyboard.press("j");
  }
  await page.keyboard.press("g");
  await page.keyboard.press("g");
  equal("huge images", await page.getByText("too large to show").count(), 2);
  const heights = await page
    .locator("article img")
    .evaluateAll((images) => images.map((image) => image.getBoundingClientRect().height));
  equal(
    "images higher than the screen",
    heights.filter((height) => height > 900),
    [],
  );
  await finish(page);
}

/** @param {number} place */
function longTurn(place) {
  const write = { file_path: "/a", content: `short\n${"y".repeat(5_000)} needle` };
  const many = { file_path: "/b", content: Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n") };
  const calls = [
    { id: `a${place}`, name: "Write", arguments: JSON.stringify(write) },
    { id: `b${place}`, name: "Bash", arguments: JSON.stringify({ command: "yes" }) },
    { id: `c${place}`, name: "Write", arguments: JSON.stringify(many) },
  ];
  return [
    { role: "assistant", content: "", assistant: { toolCalls: calls } },
    ...calls.map(({ id, name }) => ({
      role: "tool",
      content: "x".repeat(30_000),
      tool: { callId: id, name, isError: name === "Bash" },
    })),
    { role: "user", content: `${"word ".repeat(400)}\n`.repeat(30) },
  ];
}

/** Texts are cut by characters and by lines, of outputs and of edits. @param {Tools} tools */
async function checkCuts({ open, finish, equal }) {
  const page = await open(longTurn, 1);
  const lengths = (/** @type {string} */ selector) =>
    page.locator(selector).evaluateAll((parts) => parts.map(({ textContent }) => textContent?.length ?? 0));
  const [edit, output, lines] = [2, 3, 4].map((nth) => `.step:nth-child(${nth})`);
  equal("lines of an edit", await lengths(`${edit} .dl [data-part]`), [5, 2_000]);
  equal("an output", await lengths(`${output} .term`), [20_000, 2_000]);
  await page.getByText("8,000 characters not shown").waitFor();
  await page.locator(`${output} .cut`).getByRole("button", { name: "Open all" }).click();
  equal("an output that was opened", await lengths(`${output} .term`), [30_000]);
  await page.getByRole("searchbox").fill("needle");
  await page.waitForFunction(() => CSS.highlights.get("hit-now")?.size === 1);
  equal("a line with the current hit", await lengths(`${edit} .dl [data-part]`), [5, 5_007]);
  await page.getByRole("searchbox").fill("");
  await page.getByRole("button", { name: "Show 3,007 more characters" }).click();
  equal("a line that was opened", await lengths(`${edit} .dl [data-part]`), [5, 5_007]);
  await page.locator(`${lines} .s-head`).click();
  equal("lines of a long edit", (await lengths(`${lines} .dl [data-part]`)).length, 30);
  await page.getByText("100 lines, 70 of them not shown").waitFor();
  await page.getByRole("button", { name: "Show 7 more lines" }).click();
  await page.getByRole("button", { name: /^Show more: [\d,]+ characters/ }).click();
  await page.getByRole("button", { name: "Show less" }).click();
  await page.getByRole("button", { name: "Show 7 more lines" }).waitFor();
  await finish(page);
}

/** The examples that GFM reads otherwise: an address is a link without more. */
const GFM_LINKS = [602, 608, 611, 612];

/** @param {Tools} tools */
async function checkMarkdown({ driven, open, finish, equal }) {
  const texts = EXAMPLES.map(({ markdown }) => markdown);
  const page = await open((place) => [{ role: "assistant", content: texts[place], assistant: {} }], texts.length);
  await mountAll(page);
  const shown = await page.evaluate(() =>
    [...document.querySelectorAll("article")].map((row) => row.querySelector(".prose")?.innerHTML ?? ""),
  );
  await finish(page);
  const plain = await driven.newPage();
  const [found, lawful] = [
    await plain.evaluate(normalize, shown),
    await plain.evaluate(normalize, texts.map(lawfulHtml)),
  ];
  await plain.close();
  const differing = EXAMPLES.filter((_, place) => found[place] !== lawful[place]).map(({ number }) => number);
  equal("CommonMark's examples that are shown otherwise", differing, GFM_LINKS);
}

/** @param {Tools} tools */
export async function checkHostileTexts(tools) {
  await checkTexts(tools);
  await checkLinks(tools);
  await checkMarkdown(tools);
  await checkCuts(tools);
  await checkHeavy(tools);
}
