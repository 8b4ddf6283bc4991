// @ts-check
// The viewer in a part of a host's page: the host keeps its styles, and runs the viewer's commands; in VS Code it has
// the theme's colors, all of which can be read. It is laid out by its own width, whatever the window's is.
// Tries: js/viewer/styles/, js/viewer/elements/theme.js, js/viewer/elements/viewer.js, js/viewer/open.js, scripts/viewer.mjs

import { checkAxe, equal, expect, servePackage } from "./viewer.mjs";
import { watchPage } from "./watch.mjs";
import { THEMES } from "./vscode-themes.mjs";

/** @import { Browser, Page } from "playwright-core" */
/** @typedef {Record<string, Record<string, string>>} Styles */

/** A page with styles of its own for what the viewer uses, too: elements, and classes. */
const HOST = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Host</title><style>
  html { font-size: 20px } body { margin: 7px; font: 17px/2 serif; color: rgb(1, 2, 3) }
  button { color: red; border: 3px solid; padding: 5px; text-align: center } a { color: rgb(9, 9, 9) }
  p, h1, h2, code, pre, kbd, em, mark, select, input { margin: 11px; color: green }
  .row, .left, .title, .head, .map, .btn { padding: 13px; border: 1px solid }
  #viewer { height: 400px; margin: 0 }
</style></head><body><div id="host">
  <h1>Title</h1><h2>Part</h2><p>A <a href="#x">link</a>, <em>so</em>, <mark>x</mark> <code>y</code> <kbd>z</kbd></p>
  <pre>code</pre><button>Go</button><input value="1"><select><option>1</option></select>
  ${["row", "left", "title", "head", "map", "btn", "view", "main", "code", "plain"].map((name) => `<div class="${name}"><b>x</b></div>`).join("")}
</div><div id="viewer"></div></body></html>`;

/** A webview as VS Code makes it: what it is styled with, before any style of its own. */
const WEBVIEW = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Webview</title><style>
  @layer vscode-default {
    body { background-color: transparent; color: var(--vscode-editor-foreground); margin: 0; padding: 0 20px }
    a, a code { color: var(--vscode-textLink-foreground) }
    code { color: var(--vscode-textPreformat-foreground); background-color: #808080; padding: 1px 3px }
    kbd { box-shadow: inset 0 -1px 0 #808080 }
  }
</style><link rel="stylesheet" href="/pkg/viewer/viewer.css"></head><body></body></html>`;

/** A page with a column that is narrower than its window. */
const COLUMN = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Column</title>
<link rel="stylesheet" href="/pkg/viewer/viewer.css"><style>body { margin: 0 } #viewer { height: 700px }</style>
</head><body><div id="viewer"></div></body></html>`;

/** Widths of a viewer, one between each two at which it is laid out otherwise, with the width of its map. */
const WIDTHS = /** @type {const} */ ([
  [1200, 108],
  [1100, 108],
  [900, 108],
  [420, 24],
  [320, 24],
]);

/** The computed styles of all that is the host's. @param {Page} page @returns {Promise<Styles>} */
const stylesOf = (page) =>
  page.evaluate(() => {
    const elements = ["html", "body", "#host, #host *"].flatMap((one) => [...document.querySelectorAll(one)]);
    const entries = elements.map((element, place) => {
      const style = getComputedStyle(element);
      return [
        `${element.tagName}.${element.className}#${place}`,
        Object.fromEntries([...style].map((name) => [name, style.getPropertyValue(name)])),
      ];
    });
    return Object.fromEntries(entries);
  });

/** What differs. @param {Styles} before @param {Styles} after */
const differences = (before, after) =>
  Object.entries(before).flatMap(([element, style]) =>
    Object.entries(style)
      .filter(([name, value]) => after[element]?.[name] !== value)
      .map(([name, value]) => `${element} ${name}: ${value}, then ${after[element]?.[name]}`),
  );

/**
 * Opens a session in an element of the page, and keeps what `openViewer` returns as `opened`.
 * @param {Page} page @param {string} selector @param {object} [how]
 * @returns {Promise<string[]>} the messages' ids
 */
export const openEmbedded = (page, selector, how = {}) =>
  page.evaluate(
    async ([selector, how]) => {
      const [core, viewer] = ["/pkg/web/index.js", "/pkg/viewer/index.js"];
      const { openStore, MemoryStorage } = await import(core);
      const { openViewer } = await import(viewer);
      const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
      const session = await store.create({ title: "Embedded" });
      const call = (/** @type {number} */ at, /** @type {string} */ name, /** @type {object} */ given) => ({
        id: `${name}${at}`,
        name,
        arguments: JSON.stringify(given),
      });
      const turn = (/** @type {number} */ at) => [
        { role: "user", content: `Request ${at}: why is \`part-${at}.py\` wrong?` },
        {
          role: "assistant",
          content: `I look at **part ${at}**, see [the notes](https://example.com).\n\n\`\`\`python\nif x == "a": return ${at}  # so\n\`\`\``,
          assistant: {
            model: "claude-sonnet-5-5",
            reasoning: [{ text: "The needle may be in it." }],
            toolCalls: [
              call(at, "Bash", { command: `pytest ${at}` }),
              call(at, "Edit", { file_path: "/project/a.py", old_string: "return 1", new_string: `return ${at}` }),
            ],
          },
        },
        {
          role: "tool",
          content: `1 failed, needle-${at}`,
          tool: { callId: `Bash${at}`, name: "Bash", isError: true, exitCode: 1 },
        },
        { role: "tool", content: "Edited", tool: { callId: `Edit${at}`, name: "Edit" } },
        { role: "assistant", content: `Done with ${at}.`, assistant: {} },
      ];
      const { records } = await session.append(Array.from({ length: 40 }, (_, at) => turn(at)).flat());
      const opened = openViewer(document.querySelector(String(selector)), {
        store,
        session,
        .../** @type {object} */ (how),
      });
      await opened.whole;
      Object.assign(globalThis, { opened });
      return records.map((/** @type {{ id: string }} */ { id }) => id);
    },
    [selector, how],
  );

/** @param {Page} page @param {string} name @param {unknown[]} given */
const run = (page, name, ...given) =>
  page.evaluate(
    ([name, given]) => /** @type {any} */ (globalThis).opened[name](...given),
    /** @type {[string, any]} */ ([name, given]),
  );

/** The host's styles without the viewer's stylesheet, with it, and with a viewer. @param {Page} page */
async function checkHost(page) {
  const own = await stylesOf(page);
  await page.addStyleTag({ url: "/pkg/viewer/viewer.css" });
  equal("what the stylesheet changed of the host", differences(own, await stylesOf(page)), []);
  const ids = await openEmbedded(page, "#viewer");
  equal("what a viewer changed of the host", differences(own, await stylesOf(page)), []);
  const box = await page.locator("leftoff-viewer").boundingBox();
  equal("the viewer's height", box?.height, 400);
  equal(
    "its end is in it",
    await page.locator(".conv").evaluate(({ clientHeight, scrollHeight }) => clientHeight < 400 && scrollHeight > 400),
    true,
  );
  const button = page.getByRole("button", { name: "What the model saw" });
  equal("the host's button styles in it", await button.evaluate((one) => getComputedStyle(one).borderTopWidth), "1px");
  equal("a message that is there", await run(page, "reveal", ids[150]), true);
  await page.locator(`article[data-message="${ids[150]}"]`).waitFor();
  equal("a message of nobody", await run(page, "reveal", "nobody"), false);
  const shade = () => page.locator("leftoff-viewer").evaluate((one) => getComputedStyle(one).backgroundColor);
  equal("the system's theme", await shade(), "rgb(255, 255, 255)");
  await page.keyboard.press("t");
  equal("the other theme", await shade(), "rgb(22, 23, 26)");
  equal("what the other theme changed of the host", differences(own, await stylesOf(page)), []);
  await page.keyboard.press("t");
  await page.evaluate(() => document.querySelector("leftoff-viewer")?.removeAttribute("data-theme"));
  await page.evaluate(() => (document.documentElement.dataset.theme = "dark"));
  equal("the theme that the host forces", await shade(), "rgb(22, 23, 26)");
}

/** Shows a theme of VS Code, as its webviews do. @param {Page} page @param {keyof typeof THEMES} name */
export const showTheme = (page, name) =>
  page.evaluate(
    ({ name, kind, colors }) => {
      const { style } = document.documentElement;
      for (const property of [...style]) if (property.startsWith("--vscode-")) style.removeProperty(property);
      for (const [token, color] of Object.entries(colors)) style.setProperty(`--vscode-${token}`, color);
      document.body.className = kind;
      document.body.dataset.vscodeThemeId = name;
    },
    { name, ...THEMES[name] },
  );

/** @param {Page} page */
async function checkVsCode(page) {
  await showTheme(page, "Dark Modern");
  const ids = await openEmbedded(page, "body", { header: false, sidebar: false });
  const styleOf = (/** @type {string} */ selector, /** @type {string} */ property) =>
    page.evaluate(
      // At once, as the list may replace what was found.
      ([selector, name]) =>
        getComputedStyle(/** @type {Element} */ (document.querySelector(selector))).getPropertyValue(name),
      [selector, property],
    );
  equal(
    "headers, and outlines that are seen",
    [await page.locator("header.head").count(), await page.locator(".left").isVisible()],
    [0, false],
  );
  equal("the ground", await styleOf("leftoff-viewer", "background-color"), "rgb(31, 31, 31)");
  equal("the font", await styleOf("leftoff-viewer", "font-family"), "Ubuntu, sans-serif");
  const size = parseFloat(await styleOf(".prose p", "font-size"));
  expect(Math.abs(size - 13) < 0.05, `expected prose in VS Code's 13 pixels, but found ${size}`);
  equal("what VS Code gives code", await styleOf(".prose pre code", "background-color"), "rgba(0, 0, 0, 0)");
  await page.keyboard.press("2");
  await page.locator(".left[data-open]").getByText("a.py").first().waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".left").waitFor({ state: "hidden" });
  await run(page, "openSearch", "needle-7");
  await page.locator("input:focus").waitFor();
  await page.getByText("1 of 1", { exact: true }).waitFor();
  await page.keyboard.type("7");
  equal("what is typed", await page.locator("input").inputValue(), "7");
  await page.keyboard.press("Escape");
  await page.locator("input").waitFor({ state: "detached" });
  await run(page, "toggleInspector");
  await page.getByRole("heading", { name: "What the model saw" }).waitFor();
  await checkAxe(page, "Dark Modern with the inspector");
  await run(page, "toggleInspector");
  await run(page, "reveal", ids[0]);
  for (const name of /** @type {(keyof typeof THEMES)[]} */ (Object.keys(THEMES))) {
    await showTheme(page, name);
    await run(page, "openSearch", "needle");
    await checkAxe(page, name);
  }
  equal("a pale color of High Contrast", await styleOf(".user .body", "border-top-color"), "rgb(111, 195, 223)");
  await page.keyboard.press("Escape");
  await showTheme(page, "Light Modern");
  equal("errors, whose red is too pale on white", await styleOf(".tot.bad", "color"), "rgb(59, 59, 59)");
}

/** Where each element of the viewer is that is seen, once nothing moves any more. @param {Page} page */
const boxesOf = (page) =>
  page.locator("leftoff-viewer").evaluate(async (viewer) => {
    const readBoxes = () =>
      [...viewer.querySelectorAll("*")]
        .map((element) => ({ element, box: element.getBoundingClientRect() }))
        .filter(({ element, box }) => element.checkVisibility() && box.top < innerHeight)
        .map(({ element, box: { x, y, width, height } }) =>
          [element.localName, element.className, ...[x, y, width, height].map(Math.round)].join(" "),
        );
    let boxes = readBoxes();
    for (let quietFrames = 0; quietFrames < 5; quietFrames += 1) {
      await new Promise((go) => requestAnimationFrame(go));
      const now = readBoxes();
      if (now.some((box, place) => box !== boxes[place])) quietFrames = 0;
      boxes = now;
    }
    return boxes;
  });

/** Looks at a viewer in a wide window and in one of its own width. @param {Page} page */
async function checkWidths(page) {
  await openEmbedded(page, "#viewer");
  const press = (/** @type {string} */ key) => page.locator("leftoff-viewer article[tabindex='0']").press(key);
  const viewer = page.locator("leftoff-viewer");
  for (const [width, map] of WIDTHS) {
    await page.locator("#viewer").evaluate((one, width) => (one.style.width = `${width}px`), width);
    for (const [what, key, close] of [
      ["a session", "Escape", "Escape"],
      ["the keys", "?", "?"],
      ["the outline", "1", "Escape"],
      ["what the model saw", "w", "w"],
    ]) {
      await press(key);
      await page.setViewportSize({ width: 1400, height: 700 });
      const inColumn = await boxesOf(page);
      expect(inColumn.length > 100, `expected a viewer in the column, but found ${inColumn.length} elements`);
      const [own, ...wide] = await viewer.evaluate((one) => [
        one.clientWidth,
        ...[one, ...one.querySelectorAll(".main, .conv, .insp, .help, .left, .head")].map(
          ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
        ),
      ]);
      equal(`the width of ${what}`, own, width);
      expect(Math.max(...wide) <= 0, `expected ${what} not to scroll sideways at ${width}, but found ${wide}`);
      await page.setViewportSize({ width, height: 700 });
      const other = await boxesOf(page);
      const differing = inColumn.filter((box, place) => box !== other[place]);
      equal(`${what}, ${width} wide, in a window of that width`, differing.slice(0, 5), []);
      await press(close);
    }
    equal("the map's width", await page.locator("leftoff-map").evaluate((one) => one.clientWidth), map);
  }
  await page.emulateMedia({ forcedColors: "active" });
  await press("j");
  const frames = await page
    .locator(".left .tab")
    .evaluateAll((tabs) => tabs.map((tab) => getComputedStyle(tab).outlineStyle));
  equal("the frames of tabs in forced colors, of which the first is selected", frames, ["solid", "none", "none"]);
}

/**
 * @param {Browser} driven @param {string} packed the package's folder
 */
export async function checkEmbedded(driven, packed) {
  const { origin, close } = await servePackage(packed);
  try {
    for (const [html, work] of /** @type {const} */ ([
      [HOST, checkHost],
      [WEBVIEW, checkVsCode],
      [COLUMN, checkWidths],
    ])) {
      const page = await driven.newPage({ viewport: { width: 1000, height: 800 } });
      const problemsOf = await watchPage(page, (url) => url.startsWith(origin));
      await page.route(`${origin}/host.html`, (route) => route.fulfill({ contentType: "text/html", body: html }));
      await page.goto(`${origin}/host.html`);
      await work(page);
      equal("what went wrong", await problemsOf(), []);
      await page.close();
    }
  } finally {
    close();
  }
}
