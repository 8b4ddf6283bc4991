// @ts-check
// To print what hands a session over changes no byte: of the store, of the project, of any agent's folder.
// Tries: js/cli/resume.js, js/storage/read-only.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const AGENTS = ["claude-code", "codex", "copilot", "gemini", "opencode", "pi", "qwen"];

/** Every file below, with its bytes and its times. @param {string} folder */
function snapshotFolder(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => {
    const stat = statSync(join(folder, name));
    return [name, stat.isFile() ? [stat.mtimeMs, readFileSync(join(folder, name), "latin1")] : null];
  });
}

/**
 * @typedef {{ home: string, project: string, run: (...args: string[]) => { status: number | null, stdout: string, stderr: string } }} Parts
 */

/** @param {(parts: Parts, input: (text: string, ...args: string[]) => string) => Promise<void> | void} work */
async function inHome(work) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-printed-")));
  const project = join(home, "project");
  mkdirSync(project);
  const env = { PATH: process.env.PATH ?? "", HOME: home };
  const run = (/** @type {string[]} */ args, input = "") =>
    spawnSync(nodePath, [entry, ...args], { cwd: project, env, input, encoding: "utf8" });
  const input = (/** @type {string} */ text, /** @type {string[]} */ ...args) => {
    const { status, stdout, stderr } = run(args, text);
    assert.equal(status, 0, stderr);
    return stdout.split("\n")[0] ?? "";
  };
  try {
    await work({ home, project, run: (...args) => run(args) }, input);
  } finally {
    rmSync(home, { recursive: true });
  }
}

const SAID = '{"role":"user","content":"Rename the parser."}\n{"role":"assistant","content":"Done."}\n';

/**
 * Sessions of every kind, by what they are.
 * @type {Record<string, (parts: Parts, input: (text: string, ...args: string[]) => string) => Promise<string> | string>}
 */
const SHAPES = {
  active: (_, input) => createSession(input),
  paused: (_, input) => {
    const id = createSession(input);
    input("", "stop", id);
    return id;
  },
  completed: (_, input) => {
    const id = createSession(input);
    input("", "complete", id);
    return id;
  },
  workspace: (_, input) => createSession(input, "--here"),
  "never listed": (_, input) => createSession(input),
  long: (_, input) => {
    const id = createSession(input);
    input(
      Array.from(
        { length: 400 },
        (_, at) => `{"role":"${at % 2 ? "assistant" : "user"}","content":"${"some words of it ".repeat(40)}${at}"}\n`,
      ).join(""),
      "append",
      id,
    );
    return id;
  },
  imported: async ({ home, project }, input) => {
    const store = await openStore({ home: join(home, ".other"), project });
    const session = await store.create({ title: "Of Claude" });
    await session.append([
      { role: "user", content: "Said there." },
      { role: "assistant", content: "And answered." },
    ]);
    const { path } = await store.writeForAgent(session, { agent: "claude-code", env: { HOME: home } });
    await store.close();
    return input("", "import", path).split(" ")[0] ?? "";
  },
  "handed over": (_, input) => {
    const id = createSession(input);
    for (const agent of AGENTS) input("", "export", id, "--to", agent);
    return id;
  },
  forked: (_, input) => input("", "fork", createSession(input)).match(/[0-9a-f]{8}-[0-9a-f-]{27}/)?.[0] ?? "",
};

/** @param {(text: string, ...args: string[]) => string} input @param {string[]} more */
function createSession(input, ...more) {
  const id = input("", "new", "--title", "Parsers", ...more);
  input(SAID, "append", id);
  return id;
}

for (const [shape, make] of Object.entries(SHAPES)) {
  test(`what is printed of a session changes nothing on the disk: ${shape}`, () =>
    inHome(async (parts, input) => {
      const id = await make(parts, input);
      if (shape !== "never listed") input("", "list");
      const ways = [
        [],
        ["--json"],
        ["--window", "4000"],
        ["--model", "gpt-5"],
        ...AGENTS.map((agent) => ["--with", agent]),
        ["--with", "codex", "--json"],
      ];
      for (const words of [[id], ["last"], ["parsers"]]) {
        for (const way of words[0] === id ? ways : [[], ["--with", "codex"]]) {
          const typed = ["resume", ...words, "--print", "--override", ...way];
          const before = snapshotFolder(parts.home);
          const { status, stderr } = parts.run(...typed);
          assert.ok(status === 0 || words[0] !== id, `${typed.join(" ")}: ${stderr}`);
          assert.deepEqual(snapshotFolder(parts.home), before, typed.join(" "));
        }
      }
    }));
}
