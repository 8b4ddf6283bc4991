// @ts-check
// What a new user meets: help, words that nobody knows, values that are none, a store that holds nothing.
// Tries: js/cli/help.js, js/cli/arguments.js, js/cli/nearest.js, src/nearest.rs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry, noTerminal, onTerminal } from "./terminal.js";

/** @typedef {(...args: string[]) => { status: number | null, stdout: string, stderr: string }} RunCli */

/** @param {string} law @param {(typed: RunCli, folder: string) => Promise<void> | void} body */
function check(law, body) {
  test(law, () =>
    inFolder(async (folder) => {
      const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
      await body(
        (...args) => spawnSync(nodePath, [entry, ...args], { cwd: folder, env, encoding: "utf8", input: "" }),
        folder,
      );
    }),
  );
}

/** The names of all commands, as help has them. @param {RunCli} typed */
function commands(typed) {
  return Array.from(typed("completions", "bash", "--", "").stdout.matchAll(/^([a-z]+)\t/gm), ([, name = ""]) => name);
}

check("help has a line for each command, and each says what it takes, in lines that fit", (typed) => {
  const { status, stdout } = typed("--help");
  assert.equal(status, 0);
  const names = commands(typed);
  assert.ok(names.length > 20);
  for (const name of names) {
    assert.match(stdout, new RegExp(`^  ${name} +[a-z]`, "m"));
    const one = typed(name, "--help");
    assert.equal(one.status, 0, name);
    assert.match(one.stdout, new RegExp(`^leftoff ${name} .*\\[OPTIONS\\]\n\n.{10,}`), name);
    for (const line of one.stdout.split("\n")) assert.ok(line.length <= 80, line);
    assert.deepEqual([typed(name, "-h").stdout, typed("help", name).stdout], [one.stdout, one.stdout], name);
  }
  for (const args of [["-h"], ["help"]]) assert.equal(typed(...args).stdout, stdout);
  assert.doesNotMatch(stdout, /Others/);
});

check("help names the values that there are", (typed) => {
  const resume = typed("resume", "--help").stdout.replace(/\s+/g, " ");
  for (const words of [
    "claude-code, codex, opencode",
    "active, paused, completed, archived, unreadable",
    "openai-chat",
    "o200k_base",
    "--no-color",
  ])
    assert.ok(resume.includes(words), words);
  assert.ok(typed("import", "--help").stdout.replace(/\s+/g, " ").includes("aider, nanocoder"));
});

check("what stands behind -- asks for no help", (typed) => {
  const { status, stderr } = typed("search", "--", "--help");
  assert.equal(status, 0, stderr);
});

for (const [typed, expected] of /** @type {const} */ ([
  [["lsit"], "did you mean list?"],
  [["--jsn"], 'unknown option "--jsn"'],
  [["--versoin"], "did you mean --version?"],
  [["--home", "x", "lsit"], "did you mean list?"],
  [["list", "--stauts", "paused"], "did you mean --status?"],
  [
    ["list", "--status", "pausde"],
    '--status takes active, paused, completed, archived, unreadable, not "pausde" (did you mean paused?)',
  ],
  [["list", "--redact", "some"], '--redact takes off, report, replace, not "some"'],
  [["list", "-x"], "unknown option -x"],
  [["list", "--limit", "-1"], "--limit"],
  [["context", "--format", "openai"], "openai-responses"],
  [["context", "--encoding", "gpt2"], "cl100k_base"],
  [["resume", "x", "--with", "claud"], "claude-code"],
  [["import", "--from", "claud", "x"], "nanocoder"],
  [["export", "--to", "pdf"], "markdown, json, atif, leftoff, "],
  [["rename"], "SESSION is missing; see 'leftoff rename --help'"],
  [["pin", "last"], "MESSAGE is missing"],
  [["relocate", "a"], "NEW is missing"],
  [["completions"], "SHELL is missing"],
  [["completions", "tcsh"], 'SHELL takes bash, zsh, fish, not "tcsh"'],
  [["settings", "agnet"], "did you mean agent?"],
  [["settings", "--unset"], "--unset takes a key"],
  [["settings", "agent", "codex", "--unset"], "--unset takes a key and no value"],
])) {
  check(`wrong usage says what is right: leftoff ${typed.join(" ")}`, (run) => {
    const { status, stdout, stderr } = run(...typed);
    assert.deepEqual([status, stdout], [2, ""]);
    assert.ok(stderr.includes(expected), stderr);
    assert.match(stderr, /^leftoff: [^\n]+ \(usage\)\n$/);
  });
}

check(
  "an id that is nearly one is answered with it, and words that only resemble a title are never acted upon",
  (typed) => {
    const [id = ""] = typed("new", "--title", "Token refresh", "--json").stdout.match(/[0-9a-f-]{36}/) ?? [];
    typed("new", "--title", "Other", "--here", "--name", "001-api-design");
    // A letter of the part that is chance: by their times the two ids may be as near to each other.
    const wrong = `${id.slice(0, 21)}${id[21] === "0" ? "1" : "0"}${id.slice(22, 30)}`;
    for (const [word, expected] of /** @type {const} */ ([
      [wrong, `did you mean ${id} "Token refresh"`],
      ["tkn rfresh", id],
      ["001-api-desing", "Other"],
      ["qqqqqq", "'leftoff list --all' shows all sessions"],
    ])) {
      for (const command of ["show", "info", "stop"]) {
        const { status, stderr } = typed(command, word);
        assert.equal(status, 1);
        assert.ok(stderr.includes(expected), stderr);
        assert.match(stderr, /^leftoff: [^\n]+ \(not_found\)\n$/);
      }
    }
  },
);

check("in an empty store every command says what is wrong, or that there is nothing", (typed) => {
  for (const name of commands(typed)) {
    const { status, stderr } = typed(name);
    assert.ok([0, 1, 2].includes(status ?? -1), `${name}: ${stderr}`);
    if (status !== 0) assert.match(stderr, /^leftoff: [^\n]+ \((usage|not_found)\)\n$/, name);
  }
});

check("a title may be typed without quotes", (typed) => {
  const [id = ""] = typed("new").stdout.split("\n");
  assert.match(typed("rename", id, "Another", "title").stdout, /"Another title"/);
});

check("a setting is taken out again, and nothing beside it", (typed, folder) => {
  const file = join(folder, "store", "settings.json");
  assert.equal(typed("settings", "agent", "--unset").status, 0);
  assert.equal(fs.existsSync(file), false, "no file is made to say nothing");
  for (const args of [
    ["agent", "codex"],
    ["autoPersist.debounceMs", "5"],
    ["autoPersist.enabled", "false"],
  ])
    typed("settings", ...args);
  assert.match(typed("settings", "autoPersist.debounceMs", "--unset").stdout, /1000 +default/);
  assert.deepEqual(JSON.parse(fs.readFileSync(file, "utf8")), {
    version: 1,
    agent: "codex",
    autoPersist: { enabled: false },
  });
  typed("settings", "autoPersist.enabled", "--unset");
  assert.deepEqual(JSON.parse(fs.readFileSync(file, "utf8")), { version: 1, agent: "codex" });
  typed("settings", "agent", "pi", "--project");
  assert.deepEqual(JSON.parse(typed("settings", "agent", "--unset", "--project", "--json").stdout).value, "codex");
});

test("append says at a terminal that it reads from it", { skip: noTerminal }, () =>
  inFolder(async (folder) => {
    const env = { PATH: process.env.PATH ?? "", HOME: folder, LEFTOFF_HOME: join(folder, "store") };
    spawnSync(nodePath, [entry, "new"], { cwd: folder, env });
    const { status } = await onTerminal(["append"], { cwd: folder, env }, async ({ see, type }) => {
      await see("Ctrl+D ends");
      type('{"role":"user","content":"typed"}\r\u0004');
    });
    assert.equal(status, 0);
    assert.match(spawnSync(nodePath, [entry, "show"], { cwd: folder, env, encoding: "utf8" }).stdout, /typed/);
  }),
);

test("doctor shows at a terminal how far it is, and in a pipe nothing of that", { skip: noTerminal }, () =>
  inFolder(async (folder) => {
    const env = { PATH: process.env.PATH ?? "", HOME: folder, LEFTOFF_HOME: join(folder, "store") };
    const run = (/** @type {string} */ command) => spawnSync(nodePath, [entry, command], { cwd: folder, env });
    for (let n = 0; n < 2; n += 1) run("new");
    const { raw } = await onTerminal(["doctor"], { cwd: folder, env, columns: 200 }, async ({ see }) => {
      await see(/checking session 1 of 2: .*session-.*checking session 2 of 2: .*2 sessions are undamaged/s);
    });
    // The line is cleared before the answer.
    assert.match(raw, /\u001b\[K2 sessions are undamaged/);
    assert.equal(String(run("doctor").stderr), "");
  }),
);
