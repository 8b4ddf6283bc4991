// @ts-check
// What README and the guide show is run as it stands there.
// Tries: README.md, ARCHITECTURE.md, docs/GUIDE.md
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { historyText, findStopPhrase, openStore } from "../../js/index.js";
import { inStore } from "./long-session.js";
import { nodePath } from "./node-path.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const transcript = join(root, "tests/fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl");
const readme = readFileSync(join(root, "README.md"), "utf8");
const guide = readFileSync(join(root, "docs", "GUIDE.md"), "utf8");

/**
 * A block of a language behind a heading.
 * @param {string} heading
 * @param {string} language
 * @param {number} [place]
 * @param {string} [page]
 */
function example(heading, language, place = 0, page = guide) {
  const section = page.slice(page.indexOf(`## ${heading}`));
  const [, code] = [...section.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gs"))][place] ?? [];
  assert.ok(code, heading);
  return code;
}

/** @param {(folder: string) => Promise<void>} work */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-readme-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** What a line of a shell prints. @param {string} line @param {string} cwd @param {NodeJS.ProcessEnv} env */
const runLine = (line, cwd, env) => execFileSync("bash", ["-c", line], { cwd, env, encoding: "utf8", stdio: "pipe" });

/** A project that the package is installed in, and an empty home. @param {string} folder */
function installPackage(folder) {
  const project = join(folder, "project");
  mkdirSync(join(project, "node_modules", ".bin"), { recursive: true });
  symlinkSync(root, join(project, "node_modules", "leftoff"));
  symlinkSync(join(root, "pkg", "cli.js"), join(project, "node_modules", ".bin", "leftoff"));
  /** @type {NodeJS.ProcessEnv} */
  const env = {
    ...process.env,
    HOME: folder,
    NO_COLOR: "1",
    PATH: `${join(project, "node_modules", ".bin")}:${process.env.PATH}`,
  };
  delete env.LEFTOFF_HOME;
  delete env.FORCE_COLOR;
  return { project, env };
}

test("a page's own files are loaded as the guide says", () =>
  inFolder(async (folder) => {
    const { project, env } = installPackage(folder);
    const files = pathToFileURL(join(root, "pkg")).href;
    writeFileSync(
      join(project, "slim.mjs"),
      `const files = ${JSON.stringify(files)};\n${example("In pages, workers and at the edge", "js")}console.log(tokensUsed);\nawait store.close();\n`,
    );
    assert.match(execFileSync(nodePath, ["slim.mjs"], { cwd: project, env, encoding: "utf8" }), /^[1-9]\d*\n$/);
  }));

test("README's ten lines print what stands below them, and so does its command", () =>
  inFolder(async (folder) => {
    const { project, env } = installPackage(folder);
    writeFileSync(join(project, "ten.mjs"), example("Ten lines", "js", 0, readme));
    assert.equal(runLine("node ten.mjs", project, env), example("Ten lines", "text", 0, readme));
    assert.equal(
      runLine(example("One command", "sh", 0, readme).replace("npx", "npx --offline"), project, env),
      example("One command", "text", 0, readme),
    );
  }));

test("every file that ARCHITECTURE.md says where to start at is there", () => {
  const [, table = ""] =
    readFileSync(join(root, "ARCHITECTURE.md"), "utf8").match(/^## Where to start\n([^]*?)^## /m) ?? [];
  const paths = Array.from(table.matchAll(/`([\w.-]+\/[\w./-]*)`/g), ([, path = ""]) => path);
  assert.ok(paths.length > 25);
  for (const path of paths) assert.ok(existsSync(join(root, path)), path);
});

test("README and the guide link only to what is there", () => {
  for (const [page, folder] of [
    [readme, root],
    [guide, join(root, "docs")],
  ]) {
    const links = Array.from(page.matchAll(/\]\(([^)#]+)\)/g), ([, path = ""]) => path).filter(
      (path) => !path.startsWith("http"),
    );
    assert.ok(links.length > 5);
    for (const path of links) assert.ok(existsSync(join(folder, path)), path);
  }
});

test("the library example runs, and keeps what it appends", () =>
  inFolder(async (folder) => {
    const code = example("As a library", "js").replace(
      '"leftoff"',
      JSON.stringify(pathToFileURL(join(root, "js/index.js")).href),
    );
    const given = `const text = "What is left to do?", system = "Be short.", tools = [], file = ${JSON.stringify(transcript)};
      const answer = { responseMessages: [{ role: "assistant", content: [{ type: "text", text: "Nothing." }] }] };`;
    const shown = `export { messages, report, transcript };\nexport const listed = await (await openStore()).list();`;
    writeFileSync(join(folder, "example.mjs"), [given, code, shown].join("\n"));
    const print = `console.log(JSON.stringify({ ...(await import(${JSON.stringify(pathToFileURL(join(folder, "example.mjs")).href)})) }))`;
    const env = { ...process.env, LEFTOFF_HOME: join(folder, "home") };
    const { messages, report, listed } = JSON.parse(
      execFileSync(nodePath, ["--input-type=module", "-e", print], { env, cwd: folder, encoding: "utf8" }),
    );
    assert.deepEqual(messages, [{ role: "user", content: "What is left to do?" }]);
    assert.equal(report.messages.length, 1);
    assert.equal(listed[0].messageCount, 2);
  }));

test("the example of a model's summary runs, and the model is asked", () =>
  inStore({ turns: 200 }, async ({ session }) => {
    const code = `${example("As a library", "js", 1)}\nreturn summaryRefused;`;
    let asked = 0;
    const model = {
      chat: async (/** @type {any} */ { messages, maxTokens }) => ({
        text: `${messages.length} messages, ${maxTokens} tokens, asked ${(asked += 1)} times`,
      }),
    };
    const run = new (Object.getPrototypeOf(async () => {}).constructor)("session", "model", code);
    assert.equal(await run(session, model), undefined);
    assert.ok(asked > 0);
  }));

test("the example of vectors runs, and they are asked for", () =>
  inStore({ turns: 400 }, async ({ session }) => {
    await session.append({ role: "user", content: "What was found in file 31?" });
    const code = `${example("As a library", "js", 2)}\nreturn report;`;
    /** @type {number[]} */
    const asked = [];
    const model = {
      embed: async (/** @type {string[]} */ texts) => ({
        vectors: texts.map((text) => [asked.push(texts.length), text.length]),
      }),
    };
    const run = new (Object.getPrototypeOf(async () => {}).constructor)("session", "model", code);
    assert.equal((await run(session, model)).encoding, "o200k_base");
    assert.ok(asked.length > 1 && asked.length <= 65, `asked for ${asked.length}`);
  }));

test("the example of frames runs, and the second time all is unchanged", () =>
  inStore({ turns: 2 }, async ({ session }) => {
    const code = `${example("As a library", "js", 3)}\nreturn { messages, report };`;
    const run = new (Object.getPrototypeOf(async () => {}).constructor)("session", code);
    assert.equal((await run(session)).report.cache.unchangedTokens, 0);
    const { messages, report } = await run(session);
    assert.equal(report.cache.unchangedMessages, messages.length);
    assert.equal(report.cache.ended, undefined);
  }));

test("the example of recalling from other sessions runs, and quotes one", () =>
  inStore({ turns: 2 }, async ({ session, home }) => {
    const store = await openStore({ home, project: home });
    const other = await store.create({ title: "Croniter" });
    await other.append({ role: "assistant", content: "We pinned croniter: version 2 drops Python 3.8." });
    /** @type {{ content: string }[]} */
    const messages = [];
    const run = new (Object.getPrototypeOf(async () => {}).constructor)(
      "session",
      "store",
      "messages",
      example("As a library", "js", 5),
    );
    await run(session, store, messages);
    assert.match(
      messages[0]?.content ?? "",
      /--- "Croniter" .*\nassistant: We pinned croniter: version 2 drops Python 3\.8\.\n/,
    );
    await store.close();
  }));

test("the example of resuming runs, and asks whoever wants to stop", () =>
  inStore({ turns: 5 }, async ({ session }) => {
    const code = `${example("As a library", "js", 6)}\nreturn { command, warnings, told };`;
    await session.setAgent({ command: "/brainstorm", systemPromptHash: "sha256:aa", model: "gpt-5" });
    /** @type {string[]} */
    const asked = [];
    const given = {
      session,
      historyText,
      findStopPhrase,
      promptHash: "sha256:bb",
      text: "Let's stop here.",
      ask: (/** @type {string} */ question) => asked.push(question),
    };
    const run = new (Object.getPrototypeOf(async () => {}).constructor)(...Object.keys(given), code);
    const { command, warnings, told } = await run(...Object.values(given));
    assert.deepEqual([command, warnings.length, asked.length], ["/brainstorm", 1, 1]);
    assert.match(told, /^\[RESUMED CONVERSATION\]\n[\s\S]*Warning: [\s\S]*\n----- [0-9a-f]{32}\n$/);
  }));

test("the example of searching and forking runs, and the fork ends with the hit", () =>
  inStore({ turns: 2 }, async ({ home }) => {
    const store = await openStore({ home, project: home });
    const session = await store.create({ title: "The port" });
    await session.append([
      { role: "user", content: "Which port does the API use?" },
      { role: "user", content: "And the queue?" },
    ]);
    /** @type {{ title: string, text: string }[]} */
    const hits = [];
    const run = new (Object.getPrototypeOf(async () => {}).constructor)(
      "store",
      "session",
      "hits",
      `${example("As a library", "js", 7)}\nreturn copy;`,
    );
    const copy = await run(store, session, hits);
    assert.deepEqual(
      hits.map(({ title, text }) => [title, text]),
      [["The port", "Which port does the API use?"]],
    );
    assert.equal(copy.metadata.stats.messageCount, 1);
    await store.close();
  }));

test("the command line example runs, each line with what its reader has at home", () =>
  inFolder(async (folder) => {
    const claude = join(folder, ".claude/projects/-home-ann-code");
    mkdirSync(claude, { recursive: true });
    cpSync(transcript, join(claude, "a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl"));
    // A repository of its own: the reader's workspace.
    const { project, env } = installPackage(folder);
    // Of Claude Code, only that it answers is needed.
    writeFileSync(join(project, "node_modules", ".bin", "claude"), "#!/bin/sh\ncat > /dev/null\necho 'In a.js.'\n", {
      mode: 0o755,
    });
    const run = (/** @type {string} */ line) => runLine(line, project, env);
    run("git init --quiet && git config user.name Ann && git config user.email ann@example.org");
    const lines = example("On the command line", "sh").trim().split("\n");
    const [first = "", ...others] = lines;
    const id = run(first).slice(0, 8);
    for (const line of others)
      assert.match(
        run(line.replace("019aab01", id)),
        new RegExp(line.includes("list") ? id : line.includes("search") ? "" : "."),
        line,
      );
  }));
