// @ts-check
// What shells complete, asked as they ask, and by the shells that are here.
// Tries: js/cli/completions.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry, noTerminal, runOnTerminal } from "./terminal.js";

const missing = (/** @type {string} */ shell) =>
  spawnSync(shell, ["-c", "exit"]).status !== 0 && `${shell} is not here`;

/**
 * @typedef {{ folder: string, env: Record<string, string>, typed: (...args: string[]) => string, next: (...words: string[]) => string[] }} Parts `next`: what may come
 * @param {string} law @param {string | false} skip @param {(parts: Parts) => Promise<void> | void} body
 */
function check(law, skip, body) {
  test(law, { skip }, () =>
    inFolder(async (folder) => {
      const bin = join(folder, "bin");
      fs.mkdirSync(bin);
      fs.writeFileSync(join(bin, "leftoff"), `#!/bin/sh\nexec '${nodePath}' '${entry}' "$@"\n`, { mode: 0o755 });
      const env = { PATH: `${bin}:${process.env.PATH}`, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
      const typed = (/** @type {string[]} */ ...args) => {
        const { status, stdout, stderr } = spawnSync(nodePath, [entry, ...args], {
          cwd: folder,
          env,
          encoding: "utf8",
        });
        assert.deepEqual([status, stderr], [0, ""]);
        return stdout;
      };
      await body({
        folder,
        env,
        typed,
        next: (...words) =>
          typed("completions", "bash", "--", ...words)
            .split("\n")
            .flatMap((line) => line.split("\t")[0] || []),
      });
    }),
  );
}

check("what may come next: commands, flags, values, files", false, ({ next }) => {
  for (const [words, expected] of /** @type {const} */ ([
    [["com"], ["compact", "complete", "commit", "completions"]],
    [["--r"], ["--resume"]],
    [["list", "--st"], ["--status"]],
    [
      ["list", "--no"],
      ["--no-color", "--no-pager"],
    ],
    [["list", "--status", "pa"], ["paused"]],
    [["list", "--status=pa"], ["--status=paused"]],
    [["list", "--status", "=", "pa"], ["paused"]],
    [
      ["list", "--status", "="],
      ["active", "paused", "completed", "archived", "unreadable"],
    ],
    [["list", "paused"], []],
    [
      ["import", "--from", "cl"],
      ["claude-code", "cline"],
    ],
    [["import", ""], [":files"]],
    [["import", "one", ""], [":files"]],
    [
      ["resume", "one", "--with", "c"],
      ["claude-code", "codex", "copilot"],
    ],
    [
      ["-r", "one", "--with", "co"],
      ["codex", "copilot"],
    ],
    [
      ["context", "last", "--format", "openai-"],
      ["openai-chat", "openai-responses"],
    ],
    [["context", "last", "--system", "x"], [":files"]],
    [["list", "--home", ""], [":folders"]],
    [["relocate", "old", ""], [":folders"]],
    [["settings", "ag"], ["agent"]],
    [["settings", "agent", ""], []],
    [["completions", "b"], ["bash"]],
    [["export", "last", "--to", "m"], ["markdown"]],
    [["nonsense", ""], []],
    [["show", "--", "--js"], []],
  ]))
    assert.deepEqual(next(...words).sort(), [...expected].sort(), words.join(" "));
});

check(
  "sessions are offered where one is wanted, by id and plain name, of the store that is named; nothing is changed",
  false,
  ({ typed, next, folder }) => {
    const begun = (/** @type {string[]} */ ...args) => JSON.parse(typed("new", ...args, "--json")).id;
    const id = begun("--title", "One\u001b]0;x\u0007");
    const named = begun("--here", "--name", "001-api-design");
    // As it may come with somebody's repository.
    const hostile = join(folder, "conversations", "2026-01-01", "$(touch gone)", ".session");
    fs.mkdirSync(hostile, { recursive: true });
    fs.writeFileSync(
      join(hostile, "messages.jsonl"),
      '{"role":"user","content":"asked","timestamp":"2026-01-01T10:00:00Z"}\n',
    );
    fs.writeFileSync(
      join(hostile, "session.json"),
      JSON.stringify({ version: "1", conversation_id: "$(touch gone)", conversation_type: "chat", status: "paused" }),
    );
    typed("list");
    const before = fs.readdirSync(folder, { recursive: true });
    const all = next("show", "");
    assert.equal(JSON.parse(typed("list", "--json")).length, 3);
    assert.deepEqual(
      all.filter((word) => /gone/.test(word)),
      [],
    );
    for (const word of [id, named, "001-api-design", "last"]) assert.ok(all.includes(word), word);
    assert.deepEqual(next("resume", "001"), ["001-api-design"]);
    assert.deepEqual(next("stop", id.slice(0, 30)).includes(id), true);
    assert.deepEqual(next("show", "--home", join(folder, "other"), ""), []);
    assert.deepEqual([next("unarchive", ""), next("trash", "restore", "")], [[], []]);
    assert.deepEqual(next("show", "--home", ""), [":folders"]);
    assert.match(typed("completions", "bash", "--", "show", id), /^[^\t\n]+\tOne\n$/);
    assert.deepEqual(fs.readdirSync(folder, { recursive: true }), before);
  },
);

check("what is archived or deleted is offered to what brings it back", false, ({ typed, next }) => {
  const [archived, deleted, other] = ["one", "two", "three"].map(
    (title) => JSON.parse(typed("new", "--title", title, "--json")).id,
  );
  for (const args of [["archive", archived], ["delete", deleted, "--yes"], ["list"]]) typed(...args);
  assert.deepEqual(next("unarchive", ""), [archived]);
  assert.deepEqual(next("trash", "restore", ""), [deleted]);
  assert.deepEqual(next("trash", "list", ""), []);
  assert.ok(next("archive", "").includes(other));
});

check("bash completes by the script", missing("bash"), ({ env, typed, folder }) => {
  const id = JSON.parse(typed("new", "--json")).id;
  typed("list");
  for (const [words, expected] of /** @type {const} */ ([
    [["leftoff", "lis"], "list"],
    [["leftoff", "list", "--status", "="], "active"],
    [["leftoff", "show", id.slice(0, 20)], id],
  ])) {
    const line = `source <(leftoff completions bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _leftoff; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync("bash", ["-c", line, "bash", ...words], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    assert.deepEqual([stdout.split("\n")[0], stderr], [expected, ""]);
  }
});

check(
  "bash completes at a terminal, also files and folders",
  missing("bash") || noTerminal,
  async ({ env, folder }) => {
    fs.writeFileSync(join(folder, "prompt.md"), "");
    fs.mkdirSync(join(folder, "elsewhere"));
    fs.writeFileSync(join(folder, "elsewhere.txt"), "");
    const { shown } = await runOnTerminal(
      ["bash", "--norc", "--noprofile", "-i"],
      { cwd: folder, env: { ...env, PS1: "> " }, columns: 200 },
      async ({ see, type }) => {
        await see("> ");
        type("source <(leftoff completions bash); echo is ready\r");
        await see("\ris ready");
        for (const [typed, expected] of [
          ["unar", "unarchive "],
          ["search --ro", "--role "],
          ["context last --system pro", "prompt.md "],
          ["list --home elsew", "elsewhere/"],
          ["list --status=comp", "--status=completed "],
        ]) {
          type(`leftoff ${typed}\t`);
          await see(`${expected}`);
          type("\u0015");
        }
        type("exit\r");
      },
    );
    assert.doesNotMatch(shown, /command not found|syntax error/);
  },
);

for (const [shell, ...more] of [["zsh"], ["fish"], ["fish", "--comma"]]) {
  check(`${shell} takes the script${more.join(" ")}`, missing(shell ?? ""), ({ env, typed, folder }) => {
    const script = join(folder, "script");
    fs.writeFileSync(script, typed("completions", shell ?? "", ...more));
    const { status, stderr } = spawnSync(shell, ["-n", script], { env, encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
  });
}

for (const shell of ["bash", "zsh"]) {
  check(
    `in ${shell} a comma goes on with what was asked last, where it was wanted`,
    missing(shell),
    ({ folder, env, typed }) => {
      assert.doesNotMatch(typed("completions", shell), /^ *(?:,\(\)|abbr)/m);
      typed("ask", "--engine", "echo Here.", "Where?");
      const script = `[ -n "$ZSH_VERSION" ] && autoload -U compinit && compinit -u\nsource <(leftoff completions ${shell} --comma)\n, --engine 'cat' 'And why?'`;
      const { stdout, stderr } = spawnSync(shell, ["-c", script], { cwd: folder, env, encoding: "utf8" });
      assert.match(stdout, /"content":"Where\?"[^]*"content":"Here\.\\n"[^]*\n\nAnd why\?\n$/, stderr);
    },
  );
}
