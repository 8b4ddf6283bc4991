// @ts-check
// A session as one HTML file: what is read in it without scripts, what can be active in it, and that an import takes the
// session in again. With scripts: tests/browser/viewer-html.mjs.
// Tries: js/html/, js/viewer/markup.js, js/viewer/hidden.js, js/viewer/carried.js, js/cli/export.js, scripts/viewer.mjs,
// src/record/session_file/

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { exportHtml } from "../../js/html/index.js";
import { renderMarkdown } from "../../js/html/markup.js";
import { MemoryStorage, openStore, readTranscript } from "../../js/index.js";
import { ALL } from "./planted-secrets.js";

/** @import { Draft, Session, Store } from "../../js/index.js" */

const CLI = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const PAYLOADS = JSON.parse(readFileSync(new URL("../fixtures/dompurify-xss/payloads.json", import.meta.url), "utf8"));
const IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg==";

/** @param {(folder: string) => Promise<void>} work */
async function inFolder(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-html-")));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {Partial<import("../../js/index.js").StoreOptions>} [options] */
const inMemory = (options = {}) =>
  openStore({ storage: new MemoryStorage(), home: "/home", project: "/project", ...options });

/** @param {Session} session @param {{ allBranches?: boolean }} [options] */
async function htmlOf(session, options) {
  let html = "";
  for await (const piece of exportHtml(session, options)) html += piece;
  return html;
}

const SESSION_START = '<script type="application/leftoff">\n';
/** What is read without scripts. @param {string} html */
const readable = (html) => html.slice(html.indexOf("<body>"), html.indexOf(SESSION_START));
/** The session that the file carries. @param {string} html */
const carried = (html) => html.slice(html.indexOf(SESSION_START) + SESSION_START.length).split("</script>")[0] ?? "";

/** @type {Record<string, string>} */
const SIGNS = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
/** The text of markup. @param {string} markup */
const textOf = (markup) =>
  markup.replace(/<[^>]*>/g, "").replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => SIGNS[name] ?? "");

/** @param {Session} session */
async function contents(session) {
  /** @type {(string | undefined)[][]} */
  const all = [];
  for await (const { id, role, content } of session.messages({ allBranches: true })) all.push([id, role, content]);
  return all;
}

/** Imports a text in another store, twice. @param {string} html @returns {Promise<{ store: Store, session: Session }>} */
async function importTwice(html) {
  const storage = new MemoryStorage();
  await storage.replace("/file.html", new TextEncoder().encode(html));
  const store = await inMemory({ storage, home: "/other" });
  const first = await store.import("/file.html");
  assert.deepEqual(first.problems, []);
  const again = await store.import("/file.html");
  assert.deepEqual(
    [...first.imported, ...again.imported].map(({ id, agent, added }) => [id, agent, added > 0]),
    [
      [first.imported[0]?.id, "leftoff", true],
      [first.imported[0]?.id, "leftoff", false],
    ],
  );
  return { store, session: await store.session(first.imported[0]?.id ?? "") };
}

/** @type {Draft[]} */
const TALK = [
  {
    role: "user",
    content: "Why is the **median** wrong?",
    attachments: [{ mime: "image/png", data: IMAGE, name: "plot.png" }],
  },
  {
    role: "assistant",
    content: "I look at `median.py`.",
    assistant: {
      model: "claude-sonnet-5-5",
      reasoning: [{ text: "An even count has two in the middle." }],
      usage: { input: 1200, output: 34, cacheRead: 800 },
      toolCalls: [
        { id: "a", name: "Bash", arguments: '{"command":"pytest -q"}' },
        {
          id: "b",
          name: "Edit",
          arguments: '{"file_path":"median.py","old_string":"n // 2","new_string":"(n - 1) // 2"}',
        },
        { id: "c", name: "Task", arguments: '{"prompt":"Look for callers"}' },
      ],
    },
  },
  { role: "tool", content: "2 failed", tool: { callId: "a", name: "Bash", isError: true, exitCode: 1 } },
  { role: "tool", content: "done", tool: { callId: "b", name: "Edit" } },
  { role: "tool", content: "Nobody calls it", tool: { callId: "c", name: "Task" } },
  { role: "assistant", content: "The middle of an even count was taken.", assistant: { model: "claude-sonnet-5-5" } },
  { role: "user", content: "Thanks." },
];

test("without scripts the whole talk is in the page, calls and reasoning folded, with totals, model and date", async () => {
  const store = await inMemory();
  const session = await store.create({ title: "The median" });
  await session.append(TALK);
  const html = await htmlOf(session);
  const page = readable(html);
  const text = textOf(page);
  for (const said of [
    ...["The median", "project", "Sonnet 5.5", new Date().toISOString().slice(0, 10)],
    ...[
      "7 messages",
      "2 k tokens in, 34 out",
      "40 % cached",
      "3 tool calls",
      "1 error",
      "1 file changed",
      "2 requests",
    ],
    ...["I look at median.py.", "An even count has two in the middle.", "pytest -q", "2 failed", "exit 1"],
    ...["n // 2", "(n - 1) // 2", "Look for callers", "Nobody calls it", "The middle of an even count was taken."],
    ...["plot.png", "Thanks."],
  ])
    assert.ok(text.includes(said), said);
  assert.match(page, /Why is the <strong>median<\/strong> wrong\?/);
  assert.ok(page.includes(`src="data:image/png;base64,${IMAGE}"`));
  assert.match(page, /<details class="reason"><summary/);
  // One that failed is open, and a short edit.
  assert.deepEqual(
    Array.from(page.matchAll(/<details class="step \w*"( open)?>.*?<b>(\w+)</g), ([, open, name]) => [name, open]),
    [
      ["Bash", " open"],
      ["Edit", " open"],
      ["Task", undefined],
    ],
  );
  assert.match(html.slice(0, html.indexOf("<body>")), /<title>The median<\/title>/);
  for (const [id] of (await contents(session)).filter(([, role]) => role !== "tool"))
    assert.ok(page.includes(`<article id="m=${id}">`), String(id));
});

test("an import takes the session in again, with its id and its bytes, and a second time nothing", async () => {
  const store = await inMemory();
  const session = await store.create({ title: "A </script> in <!-- the title" });
  const strange = [
    "</script><img src=x>",
    "<!-- <script>",
    "<SCRIPT\u2028",
    "\\u003c/script>",
    "\u0000 \u009b \ud800 end",
  ];
  await session.append([...TALK, ...strange.map((content) => ({ role: /** @type {const} */ ("user"), content }))]);
  await session.append({ role: "user", content: `</script>${"long ".repeat(60_000)}` });
  const html = await htmlOf(session);
  const other = await importTwice(html);
  assert.equal(other.session.id, session.id);
  assert.deepEqual(await contents(other.session), await contents(session));
  assert.deepEqual((await other.session.examine()).problems, []);
  const lines = async (/** @type {Session} */ of) =>
    (await of.export("leftoff")).split("\n").filter((line) => line.startsWith('{"file":"messages'));
  assert.deepEqual(await lines(other.session), await lines(session));
  const transcript = await readTranscript(new Blob([html]));
  assert.deepEqual([transcript.session.id, transcript.length], [session.id, TALK.length + strange.length + 1]);
});

test("only its own script and stylesheet are allowed in it, by their hashes, and no connection", async () => {
  const store = await inMemory();
  const html = await htmlOf(await store.create({ title: "Empty" }));
  /** @type {{ of: string, text: string }[]} */
  const scripts = Array.from(html.matchAll(/<script([^>]*)>(.*?)<\/script>/gs), ([, of = "", text = ""]) => ({
    of,
    text,
  }));
  assert.deepEqual(
    scripts.map(({ of }) => of),
    [
      ' type="application/leftoff"',
      ...["leftoff.wasm", "agents.wasm", "o200k_base.planes"].map((id) => ` type="text/plain" id="${id}"`),
      "",
    ],
  );
  const hash = (/** @type {string} */ text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
  assert.deepEqual(policy.replaceAll("&#39;", "'").split("; "), [
    "default-src 'none'",
    `script-src ${hash(scripts.at(-1)?.text ?? "")} 'wasm-unsafe-eval'`,
    `style-src ${hash(style)}`,
    "img-src data: blob:",
    "connect-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types lit-html dompurify",
  ]);
  assert.ok(html.indexOf("Content-Security-Policy") < html.indexOf("<style>"));
  assert.equal(html.replace(/<script>.*<\/script>/s, "").search(/\s(?:src|href)="(?!data:)/), -1);
});

/** The tags of the page, and of what Markdown becomes. */
const TAGS =
  "a article b blockquote body br circle code del details div em figcaption figure h1 h2 h3 h4 h5 h6 header hr i img li main noscript ol p path pre span strong summary svg table tbody td th thead tr u ul";
const ATTRIBUTES =
  "alt aria-hidden aria-label class cx cy d decoding height href id loading open r rel role src start tabindex target title value viewBox width";

const TAG = /<\/?([a-z][a-z0-9]*)((?: [\w-]+(?:="[^"<>]*")?)*)\/?>/gi;

/** Fails where markup has what no page of a session has. @param {string} page */
function assertInert(page) {
  const [tags, attributes] = [TAGS, ATTRIBUTES].map((names) => new Set(names.split(" ")));
  const [, other] = /(<.{0,80})/s.exec(page.replace(TAG, "")) ?? [];
  assert.equal(other, undefined);
  for (const [whole, tag = "", rest = ""] of page.matchAll(TAG)) {
    assert.ok(tags?.has(tag.toLowerCase()), whole);
    for (const [, name = "", value = ""] of rest.matchAll(/ ([\w-]+)(?:="([^"]*)")?/g)) {
      assert.ok(attributes?.has(name), whole);
      if (name === "href") assert.match(value, /^(?:https?:|mailto:|#m=)/i);
      if (name === "src") assert.match(value, /^data:image\/(?:png|jpeg|gif|webp);base64,[\w+/=]*$/);
    }
  }
}

test("nothing in a session becomes active: content, reasoning, titles, names of tools, models and files", async () => {
  const hostile = [
    ...PAYLOADS,
    "[a](javascript:alert(1)) [b](data:text/html,<script>alert(1)</script>) <javascript:alert(1)> [c](vbscript:x)",
    '[d](https://example.com/"onclick="alert(1)) ![e](https://example.com/e.png"onerror="alert(1))',
    "<kbd><img src=x onerror=alert(1)//",
    "<pre> <svg onload=alert(1)//\n\n<script>alert(1)</script>",
    '```"><img src=x onerror=alert(1)>\n</code></pre><script>alert(1)</script>\n```',
    "| <b onclick=alert(1)> |\n|---|\n| <img src=x onerror=alert(1)> |",
    "\n- [ ] <input onfocus=alert(1) autofocus>\n\n> <iframe src=javascript:alert(1)>",
  ];
  for (const payload of hostile) assertInert(renderMarkdown(payload).text);
  const store = await inMemory();
  const session = await store.create({ title: hostile.join(" ").slice(0, 4_000) });
  const drafts = hostile.flatMap((payload, place) => {
    const call = {
      id: `c${place}"'>`,
      name: payload.slice(0, 60) || "x",
      arguments: JSON.stringify({ command: payload }),
    };
    const edit = { id: `e${place}`, name: "Edit", arguments: JSON.stringify({ file_path: payload, content: payload }) };
    const file = { mime: `image/png"><script>`, data: IMAGE, name: payload };
    return [
      { role: "user", content: payload, attachments: [file, { ...file, mime: "image/png" }] },
      {
        role: "assistant",
        content: payload,
        assistant: { model: payload.slice(0, 60), reasoning: [{ text: payload }], toolCalls: [call, edit] },
      },
      { role: "tool", content: payload, tool: { callId: call.id, name: call.name, isError: true } },
      { role: "system", content: payload },
    ];
  });
  await session.append(/** @type {Draft[]} */ (drafts));
  const html = await htmlOf(session);
  assertInert(readable(html));
  assert.equal(carried(html).search(/<!--|<\/?script/i), -1);
  // The file's own: the session, what the script unpacks, the script.
  assert.equal(html.match(/<\/script/gi)?.length, 5);
  const other = await importTwice(html);
  assert.deepEqual(await contents(other.session), await contents(session));
});

test("hidden characters are written out in the page, and carried as they are", async () => {
  const store = await inMemory();
  const name = "a\u202egnp.exe";
  const session = await store.create({ title: name });
  await session.append([
    { role: "user", content: name, attachments: [{ mime: "text/plain", data: "eA==", name }] },
    {
      role: "assistant",
      content: name,
      assistant: {
        model: name,
        reasoning: [{ text: name }],
        toolCalls: [
          { id: "a", name, arguments: JSON.stringify({ command: name, more: name }) },
          { id: "b", name: "Edit", arguments: JSON.stringify({ file_path: name, old_string: name, new_string: "b" }) },
        ],
      },
    },
    { role: "tool", content: name, tool: { callId: "a", name } },
    { role: "tool", content: name, tool: { callId: "lost", name } },
  ]);
  const html = await htmlOf(session);
  const isHidden = /[\u202a-\u202e]/;
  const page = html.slice(0, html.indexOf(SESSION_START));
  assert.equal(isHidden.exec(page), null);
  assert.match(page, /<b>a‹U\+202E›gnp\.exe, without its call<\/b>/);
  const other = await importTwice(html);
  assert.equal((await contents(other.session))[0]?.[2], name);
});

test("Markdown with tags in it stays Markdown, and so does a long one", () => {
  assert.match(renderMarkdown("<div>raw</div>\n\n**strong**").text, /&lt;div&gt;raw.*<strong>strong<\/strong>/s);
  assert.match(renderMarkdown(`${"A paragraph.\n\n".repeat(7_000)}**strong**`).text, /<strong>strong<\/strong>/);
});

test("secrets are replaced in the page and in what it carries, where the store says so", async () => {
  const { secret, text } = ALL.find(({ secret }) => /^[\w-]{20,}$/.test(secret)) ?? { secret: "", text: "" };
  assert.ok(secret);
  for (const redact of /** @type {const} */ (["off", "replace"])) {
    const store = await inMemory({ redact });
    const session = await store.create({ title: "Keys" });
    const call = { id: "a", name: "Bash", arguments: JSON.stringify({ command: `echo '${text}'` }) };
    await session.append([
      { role: "user", content: text },
      { role: "assistant", content: text, assistant: { reasoning: [{ text }], toolCalls: [call] } },
      { role: "tool", content: text, tool: { callId: "a", name: "Bash" } },
    ]);
    const html = await htmlOf(session);
    const isThere = [readable(html), carried(html)].map((part) => part.includes(secret));
    assert.deepEqual(isThere, redact === "off" ? [true, true] : [false, false]);
    const other = await importTwice(html);
    assert.equal((await contents(other.session)).length, 3);
    assert.deepEqual((await other.session.examine()).problems, []);
  }
});

test("messages of other branches are in the page where they are asked for, and in the carried session always", async () => {
  const store = await inMemory();
  const session = await store.create({ title: "Branches" });
  const { records } = await session.append([
    { role: "user", content: "First" },
    { role: "assistant", content: "Left out" },
  ]);
  await session.append({ role: "assistant", content: "Told instead", parentId: records[0]?.id, branch: true });
  const [path, all] = [await htmlOf(session), await htmlOf(session, { allBranches: true })];
  assert.deepEqual(
    [path, all].map((html) =>
      ["Told instead", "Left out", "On another branch"].map((said) => readable(html).includes(said)),
    ),
    [
      [true, false, false],
      [true, true, true],
    ],
  );
  assert.ok(carried(path).includes("Left out"));
  await assert.rejects(htmlOf(session, /** @type {any} */ ({ branches: true })), { code: "invalid_request" });
});

test("leftoff export --to html writes the file, new ones only, and leftoff import takes it in", () =>
  inFolder(async (folder) => {
    const home = join(folder, "home");
    const store = await openStore({ home, project: folder });
    const session = await store.create({ title: "The median" });
    await session.append(TALK);
    await store.close();
    const leftoff = (/** @type {string} */ of, /** @type {string[]} */ ...words) => {
      const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: of };
      return spawnSync(process.execPath, [CLI, ...words], { cwd: folder, env, encoding: "utf8", maxBuffer: 5e7 });
    };
    const file = join(folder, "talk.html");
    const written = leftoff(home, "export", session.id, "--to", "html", "--output", file);
    assert.deepEqual([written.stdout, written.stderr, written.status], [`${file}\n`, "", 0]);
    const html = readFileSync(file, "utf8");
    assert.equal(leftoff(home, "export", session.id, "--to", "html").stdout, html);
    assert.equal(JSON.parse(leftoff(home, "export", session.id, "--to", "html", "--json").stdout), html);
    assert.match(leftoff(home, "export", session.id, "--to", "html", "-o", file).stderr, /already exists/);
    assert.equal(readFileSync(file, "utf8"), html);
    assert.match(leftoff(home, "export", "--help").stdout, /html/);
    const none = join(folder, "none.html");
    assert.equal(leftoff(home, "export", "nobody", "--to", "html", "--output", none).status, 1);
    assert.equal(existsSync(none), false);
    const there = join(folder, "there");
    assert.match(leftoff(there, "import", file).stdout, /leftoff {2}7 messages, 7 new/);
    assert.match(leftoff(there, "import", file).stdout, /7 messages, 0 new/);
    assert.match(leftoff(there, "show", session.id).stdout, /Why is the \*\*median\*\* wrong\?/);
    writeFileSync(file, html.slice(0, html.indexOf("Nobody calls it", html.indexOf(SESSION_START))));
    assert.match(leftoff(join(folder, "third"), "import", file).stderr, /cut off/);
  }));
