// @ts-check
// What README shows is run as it stands there.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { historyText, pausePhrase } from "../../js/index.js";
import { inStore } from "./long-session.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const transcript = join(root, "tests/fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** A block of a language behind a heading. @param {string} heading @param {string} language @param {number} [place] */
function example(heading, language, place = 0) {
  const section = readme.slice(readme.indexOf(`## ${heading}`));
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

test("the library example runs, and keeps what it appends", () =>
  inFolder(async (folder) => {
    const code = example("As a library", "js").replace('"leftoff"', JSON.stringify(pathToFileURL(join(root, "js/index.js")).href));
    const given = `const text = "What is left to do?", system = "Be short.", tools = [], file = ${JSON.stringify(transcript)};
      const answer = { responseMessages: [{ role: "assistant", content: [{ type: "text", text: "Nothing." }] }] };`;
    const shown = `export { messages, report, transcript };\nexport const listed = await (await openStore()).list();`;
    writeFileSync(join(folder, "example.mjs"), [given, code, shown].join("\n"));
    const print = `console.log(JSON.stringify({ ...(await import(${JSON.stringify(join(folder, "example.mjs"))})) }))`;
    const env = { ...process.env, LEFTOFF_HOME: join(folder, "home") };
    const { messages, report, listed } = JSON.parse(execFileSync("node", ["--input-type=module", "-e", print], { env, cwd: folder, encoding: "utf8" }));
    assert.deepEqual(messages, [{ role: "user", content: "What is left to do?" }]);
    assert.equal(report.messages.length, 1);
    assert.equal(listed[0].messageCount, 2);
  }));

test("the example of a model's summary runs, and the model is asked", () =>
  inStore({ turns: 200 }, async ({ session }) => {
    const code = `${example("As a library", "js", 1)}\nreturn summaryRefused;`;
    let asked = 0;
    const model = { chat: async (/** @type {any} */ { messages, maxTokens }) => ({ text: `${messages.length} messages, ${maxTokens} tokens, asked ${(asked += 1)} times` }) };
    const run = new (Object.getPrototypeOf(async () => {}).constructor)("session", "model", code);
    assert.equal(await run(session, model), undefined);
    assert.ok(asked > 0);
  }));

test("the example of resuming runs, and asks whoever wants to stop", () =>
  inStore({ turns: 5 }, async ({ session }) => {
    const code = `${example("As a library", "js", 2)}\nreturn { command, warnings, told };`;
    await session.setAgent({ command: "/brainstorm", systemPromptHash: "sha256:aa", model: "gpt-5" });
    /** @type {string[]} */
    const asked = [];
    const given = { session, historyText, pausePhrase, promptHash: "sha256:bb", text: "Let's stop here.", ask: (/** @type {string} */ question) => asked.push(question) };
    const run = new (Object.getPrototypeOf(async () => {}).constructor)(...Object.keys(given), code);
    const { command, warnings, told } = await run(...Object.values(given));
    assert.deepEqual([command, warnings.length, asked.length], ["/brainstorm", 1, 1]);
    assert.match(told, /^\[RESUMED CONVERSATION\]\n[\s\S]*Warning: [\s\S]*\n----- [0-9a-f]{32}\n$/);
  }));

test("the command line example runs, each line with what its reader has at home", () =>
  inFolder(async (folder) => {
    const claude = join(folder, ".claude/projects/-home-ann-code");
    mkdirSync(claude, { recursive: true });
    cpSync(transcript, join(claude, "a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl"));
    const env = { ...process.env, HOME: folder, LEFTOFF_HOME: "" };
    delete (/** @type {any} */ (env).LEFTOFF_HOME);
    // A repository of its own: the reader's workspace, and beside it what was cloned.
    const workspace = join(folder, "workspace");
    mkdirSync(workspace);
    symlinkSync(join(root, "js"), join(workspace, "js"));
    const run = (/** @type {string} */ line) => execFileSync("bash", ["-c", line], { cwd: workspace, env, encoding: "utf8", stdio: "pipe" });
    run("git init --quiet && git config user.name Ann && git config user.email ann@example.org");
    const lines = example("On the command line", "sh").trim().split("\n");
    const [first = "", ...others] = lines;
    const id = run(first).slice(0, 8);
    for (const line of others) assert.match(run(line.replace("019aab01", id)), new RegExp(line.includes("list") ? id : "."), line);
  }));
