// @ts-check
// What a person or a model is told where a session is to be resumed: what was looked for, what changed, what can be
// resumed.
// Tries: js/cli/resume.js, js/cli/in-agent.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const EXECUTABLE = 0o755;

/**
 * @typedef {(words: string[], how?: { input?: string, PATH?: string }) => { status: number | null, stdout: string, stderr: string }} RunCli
 */

/** @param {(parts: { folder: string, project: string, typed: RunCli }) => void} work */
function inProject(work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-cli-resume-")));
  const project = join(folder, "project");
  mkdirSync(project);
  /** @type {RunCli} */
  const typed = (words, { input = "", PATH = "" } = {}) =>
    spawnSync(nodePath, [entry, ...words], { cwd: project, env: { PATH, HOME: folder }, input, encoding: "utf8" });
  try {
    work({ folder, project, typed });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {RunCli} typed @param {string[]} more */
function createSession(typed, ...more) {
  const { stdout } = typed(["new", "--title", "The parser", ...more]);
  typed(["append", "last"], { input: '{"role":"user","content":"Rename it."}\n' });
  return stdout.split("\n")[0] ?? "";
}

test("where no client is installed, each that was looked for is named, and each way on", () =>
  inProject(({ folder, typed }) => {
    createSession(typed);
    const none = typed(["resume", "last"], { PATH: join(folder, "bin") });
    assert.equal(none.status, 1);
    for (const part of [
      "claude",
      "codex",
      "copilot",
      "gemini",
      "opencode",
      "pi",
      "qwen",
      "Install",
      "--with",
      "'leftoff resume last --print'",
      "'leftoff export last --to AGENT'",
    ])
      assert.ok(none.stderr.includes(part), `${part}: ${none.stderr}`);
    for (const way of [
      ["resume", "last", "--print"],
      ["export", "last", "--to", "codex"],
    ])
      assert.equal(typed(way).status, 0);
    mkdirSync(join(folder, "bin"));
    for (const name of ["claude", "codex"])
      writeFileSync(join(folder, "bin", name), "#!/bin/sh\n", { mode: EXECUTABLE });
    if (process.platform !== "win32")
      assert.match(typed(["resume", "last"], { PATH: join(folder, "bin") }).stderr, /Installed: claude-code, codex/);
  }));

test("the file with a session's instructions is compared where the session is resumed: changed, gone, as it was", () =>
  inProject(({ project, typed }) => {
    const prompt = join(project, "plan.md");
    writeFileSync(prompt, "Plan it.\n");
    createSession(typed, "--command", "/plan", "--prompt", "plan.md");
    const told = (/** @type {string[]} */ ...more) => typed(["resume", "last", "--print", ...more]).stderr;
    for (const more of [[], ["--with", "codex"]]) {
      writeFileSync(prompt, "Plan it.\n");
      assert.doesNotMatch(told(...more), /instructions/);
      appendFileSync(prompt, "Twice.\n");
      assert.ok(
        told(...more).includes(`the instructions of the command /plan in ${prompt} changed since it was saved`),
        told(...more),
      );
      rmSync(prompt);
      assert.ok(
        told(...more).includes(`${prompt}, the file with the instructions of the command /plan, is gone`),
        told(...more),
      );
    }
    assert.ok(JSON.parse(typed(["resume", "last", "--print", "--json"]).stdout).warnings.length === 1);
    // Other instructions, of no file, are not that file's.
    writeFileSync(prompt, "Plan it.\n");
    typed(["stop", "last", "--prompt", "plan.md"]);
    assert.doesNotMatch(told(), /instructions/);
  }));

for (const agent of ["claude-code", "opencode", "gemini", "codex"]) {
  test(`in ${agent} a number before any list, or words that mean nothing, give the list and how to go on`, () =>
    inProject(({ typed }) => {
      const id = createSession(typed);
      const ways =
        agent === "claude-code" || agent === "opencode"
          ? [
              { words: ["-"], input: "1\n" },
              { words: ["-"], input: "nowhere\n" },
            ]
          : [
              { words: ["1"], input: "" },
              { words: ["nowhere"], input: "" },
            ];
      for (const { words, input } of ways) {
        typed(["delete", "nothing"]);
        const { status, stdout } = typed(["resume", "--print", "--from", agent, ...words], { input });
        assert.equal(status, 0);
        assert.match(
          stdout,
          /^no session .*\n\n1\. \[chat\] The parser\n[^]*Which conversation would you like to continue\? Type [$/]workspace.resume with its number/,
        );
        assert.ok(stdout.includes(id));
        // The list that was just shown counts.
        assert.match(typed(["resume", "--print", "--from", agent, "1"]).stdout, /RESUMED CONVERSATION/);
        rmSync(join(typedHome(id, typed), "cache", "shown"), { recursive: true });
      }
      for (const words of [
        ["stop", "--from", agent],
        ["typed", "session", "--from", agent],
        ["typed", "sessions", "nonsense", "--from", agent],
      ]) {
        const { stdout } = typed(words);
        assert.ok(stdout.trim().length > 0, `${words.join(" ")} says why`);
      }
    }));
}

/** The store's folder. @param {string} id @param {RunCli} typed */
function typedHome(id, typed) {
  const { path } = JSON.parse(typed(["info", id, "--json"]).stdout);
  return path.slice(0, path.indexOf("sessions") - 1);
}
