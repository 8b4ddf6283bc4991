// @ts-check
// `leftoff ask`: what was shown is in the transcript, whatever became of the engine, and the next question goes on.
// Tries: js/cli/ask/, src/ask/
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

/** Engines that are commands, as users have them; what they were sent lies in `sent`. */
const ECHO = "cat > sent; printf 'You asked.\\n## Question 2026-01-24T09:30:00.000Z\\nIt is in a.js.'";

/** @param {string} folder @param {string[]} args @param {{ path?: string }} [how] */
function runCli(folder, args, { path = process.env.PATH ?? "" } = {}) {
  const env = { PATH: path, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
  return spawnSync(nodePath, [entry, ...args], { cwd: folder, env, input: "", encoding: "utf8", maxBuffer: 2 ** 28 });
}

/** @param {string} folder */
const transcripts = (folder) =>
  readdirSync(join(folder, "store", "ask")).filter((name) => name.startsWith("session_") && name.endsWith(".md"));
/** @param {string} folder */
const readOnlyTranscript = (folder) =>
  readFileSync(join(folder, "store", "ask", String(transcripts(folder)[0])), "utf8");

/** @param {string} folder @param {string} engine */
function current(folder, engine) {
  const ran = runCli(folder, ["ask", "--engine", engine, "--json", "Where is it?"]);
  assert.equal(ran.status, 0, ran.stderr);
  return JSON.parse(ran.stdout);
}

test("a question is asked, its answer is shown and kept, and the next one goes on with it", () =>
  inFolder((folder) => {
    const first = runCli(folder, ["ask", "--engine", ECHO, "Where", "is", "it?"]);
    assert.equal(first.stdout, "You asked.\n## Question 2026-01-24T09:30:00.000Z\nIt is in a.js.\n");
    assert.equal(first.status, 0, first.stderr);
    const sent = readFileSync(join(folder, "sent"), "utf8");
    assert.match(
      sent,
      /^<system_instructions>\nYou are a search agent\.[^]*\n<\/system_instructions>\n\nWhere is it\?\n$/,
    );
    const second = runCli(folder, ["ask", "--resume", "--engine", "cat > sent; echo again", "And", "why?"]);
    assert.equal(second.status, 0, second.stderr);
    const again = readFileSync(join(folder, "sent"), "utf8");
    const [instructions, history, question] = [
      again.indexOf("</system_instructions>"),
      again.indexOf('"content":"Where is it?"'),
      again.indexOf("And why?\n"),
    ];
    assert.ok(
      instructions > 0 &&
        instructions < history &&
        history < again.indexOf("It is in a.js.") &&
        again.indexOf("It is in a.js.") < question,
      again,
    );
    assert.equal(transcripts(folder).length, 1);
    assert.equal(readlinkSync(join(folder, "store", "ask", "latest")), transcripts(folder)[0]);
    for (const name of readdirSync(join(folder, "store", "ask")))
      assert.equal(statSync(join(folder, "store", "ask", name)).mode & 0o777, 0o600, name);
    assert.match(
      readOnlyTranscript(folder),
      /\n\\## Question 2026-01-24T09:30:00\.000Z\nIt is in a\.js\.\n\n## End [^,\n]*\n\n## Question [^\n]*\n\nAnd why\?\n\n## Answer/,
    );
    const listed = JSON.parse(runCli(folder, ["list", "--json"]).stdout);
    assert.deepEqual(
      listed.map((/** @type {any} */ { agent, messageCount }) => [agent, messageCount]),
      [["ask", 4]],
    );
    const shown = JSON.parse(runCli(folder, ["show", listed[0].id, "--json"]).stdout);
    assert.deepEqual(
      shown.map((/** @type {any} */ { content }) => content),
      ["Where is it?", "You asked.\n## Question 2026-01-24T09:30:00.000Z\nIt is in a.js.", "And why?", "again\n"],
    );
  }));

test("no question is none, and leaves the conversation that was asked last as it was", () =>
  inFolder((folder) => {
    assert.equal(runCli(folder, ["ask", "--engine", ECHO, "Where", "is", "it?"]).status, 0);
    for (const question of ["", "  "]) {
      const { status, stderr } = runCli(folder, ["ask", "--engine", ECHO, question]);
      assert.equal(status, 2);
      assert.match(stderr, /no QUESTION given/);
    }
    assert.equal(transcripts(folder).length, 1);
  }));

test("what stands in the way of a question is named", () =>
  inFolder((folder) => {
    assert.equal(runCli(folder, ["ask", "--engine", ECHO, "Where", "is", "it?"]).status, 0);
    const latest = join(folder, "store", "ask", "latest.txt");
    rmSync(latest);
    mkdirSync(latest);
    for (const args of [["Why?"], ["--resume", "Why?"]]) {
      const { status, stderr } = runCli(folder, ["ask", "--engine", ECHO, ...args]);
      assert.equal(status, 1);
      assert.ok(stderr.includes(latest), stderr);
    }
    assert.deepEqual(
      readdirSync(join(folder, "store", "ask")).filter((name) => name.startsWith(".")),
      [],
    );
  }));

test("an engine that fails, says nothing or never ends leaves a whole transcript that says so", () =>
  inFolder((folder) => {
    const cases = /** @type {[string, string[], number, RegExp][]} */ ([
      ["printf 'some'; exit 7", [], 7, /some\n\n## End [^\n]*, stopped: "the engine ended with exit status 7"\n$/],
      ["true", [], 0, /## End [^\n]*, stopped: "the engine said nothing"\n$/],
      [
        "printf 'begun'; sleep 1000",
        ["--timeout", "1"],
        124,
        /begun\n\n## End [^\n]*, stopped: "no answer within 1 seconds"\n$/,
      ],
      ["kill -9 $$", [], 1, /## End [^\n]*, stopped: "the engine was ended by SIGKILL"\n$/],
      ["head -c 3000000 /dev/zero | tr '\\0' 'x'", [], 0, /x{100}\n\n## End [^,\n]*\n$/],
    ]);
    for (const [engine, more, status, end] of cases) {
      const ran = runCli(folder, ["ask", "--engine", engine, ...more, "Where?"]);
      assert.equal(ran.status, status, `${engine}: ${ran.stderr}`);
      const { transcript } = current(folder, ECHO);
      assert.ok(transcript);
      const all = transcripts(folder).map((name) => readFileSync(join(folder, "store", "ask", name), "utf8"));
      assert.ok(
        all.some((text) => end.test(text)),
        `${engine}: ${all.map((text) => text.slice(-200))}`,
      );
    }
  }));

test("who is interrupted or killed loses nothing that was shown, and goes on", () =>
  inFolder(async (folder) => {
    for (const signal of /** @type {NodeJS.Signals[]} */ (["SIGINT", "SIGKILL"])) {
      const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
      const child = spawn(
        nodePath,
        [entry, "ask", "--engine", "echo $$ > engine; printf 'one two'; exec sleep 1000", "Where?"],
        { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] },
      );
      child.stderr.resume();
      const [shown] = await /** @type {Promise<Buffer[]>} */ (
        new Promise((resolve) => child.stdout.once("data", (bytes) => resolve([bytes])))
      );
      const ended = new Promise((resolve) => child.once("exit", (status) => resolve(status)));
      child.kill(signal);
      assert.equal(await ended, signal === "SIGINT" ? 130 : null);
      // Whoever is killed cannot end what it started.
      if (signal === "SIGKILL") process.kill(Number(readFileSync(join(folder, "engine"), "utf8")));
      const next = runCli(folder, ["ask", "--resume", "--engine", ECHO, "--json", "And?"]);
      assert.equal(next.status, 0, next.stderr);
      const text = readFileSync(JSON.parse(next.stdout).transcript, "utf8");
      assert.ok(text.includes(`\n\n${shown}\n\n## End `), text);
      assert.match(text, signal === "SIGINT" ? /stopped: "interrupted"/ : /stopped: "killed"/);
      assert.match(text, /\n## Question [^\n]*\n\nAnd\?\n\n## Answer /);
    }
  }));

test("two terminals do not write into one transcript", () =>
  inFolder(async (folder) => {
    current(folder, ECHO);
    const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
    const child = spawn(
      nodePath,
      [entry, "ask", "--resume", "--engine", "echo begun; cat > /dev/null; sleep 1000", "Where?"],
      { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] },
    );
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const second = runCli(folder, ["ask", "--resume", "--engine", ECHO, "And?"]);
    assert.equal(second.status, 1);
    assert.match(second.stderr, /open_elsewhere/);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    assert.equal(await ended, 143);
    assert.equal(runCli(folder, ["ask", "--resume", "--engine", ECHO, "And?"]).status, 0);
  }));

test("an engine that is known is found on the PATH; where none is, that is told with what to do", () =>
  inFolder((folder) => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const claude = join(bin, "claude");
    writeFileSync(claude, `#!/bin/sh\necho "$LEFTOFF_ASK: $*"\n`);
    chmodSync(claude, 0o755);
    const found = runCli(folder, ["ask", "--model", "opus", "Where?"], { path: `${bin}:/usr/bin:/bin` });
    assert.equal(found.stdout, "1: -p --model opus\n", found.stderr);
    const none = runCli(folder, ["ask", "Where?"], { path: "/nowhere" });
    assert.equal(none.status, 1);
    assert.match(
      none.stderr,
      /none of claude, gemini, codex, opencode, ollama is on the PATH[^]*--engine[^]*\(not_found\)/,
    );
    assert.match(runCli(folder, ["ask", "--engine", ECHO]).stderr, /QUESTION is missing/);
    const lone = runCli(folder, ["ask", "--resume", "--home", join(folder, "other"), "--engine", ECHO, "And?"]);
    assert.match(lone.stderr, /no conversation to continue in/);
  }));

test("the settings name who answers and by which instructions, and what is typed counts more", () =>
  inFolder((folder) => {
    const store = join(folder, "store");
    mkdirSync(join(store, "prompts"), { recursive: true });
    writeFileSync(join(store, "prompts", "mine.md"), "Answer in verse.\n");
    for (const [key, value] of [
      ["ask.engine", "cat > sent; echo mine"],
      ["ask.prompt", "prompts/mine.md"],
    ])
      assert.equal(runCli(folder, ["settings", String(key), String(value)]).status, 0);
    assert.equal(runCli(folder, ["ask", "Where?"]).stdout, "mine\n");
    assert.match(
      readFileSync(join(folder, "sent"), "utf8"),
      /^<system_instructions>\nAnswer in verse\.\n<\/system_instructions>/,
    );
    writeFileSync(join(folder, "typed.md"), "Be brief.\n");
    assert.equal(
      runCli(folder, ["ask", "--engine", "cat > sent; echo typed", "--prompt", "typed.md", "Where?"]).stdout,
      "typed\n",
    );
    assert.match(readFileSync(join(folder, "sent"), "utf8"), /^<system_instructions>\nBe brief\.\n/);
    // What comes with a folder is run and obeyed by nobody.
    mkdirSync(join(folder, ".leftoff"), { recursive: true });
    writeFileSync(
      join(folder, ".leftoff", "settings.json"),
      JSON.stringify({ ask: { engine: "touch run; echo theirs", prompt: "typed.md" } }),
    );
    const ran = runCli(folder, ["ask", "Where?"]);
    assert.equal(ran.stdout, "mine\n");
    assert.match(ran.stderr, /a project's settings cannot name other commands/);
    assert.ok(!readdirSync(folder).includes("run"));
  }));

test("with replace the engine is told no secret, and the transcript has what was said", () =>
  inFolder((folder) => {
    const secret = ["gh", "p_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].join("");
    assert.equal(runCli(folder, ["settings", "redact", "replace"]).status, 0);
    writeFileSync(join(folder, "prompt.md"), `Use ${secret}.\n`);
    const asked = (/** @type {string[]} */ ...more) =>
      runCli(folder, [
        "ask",
        ...more,
        "--engine",
        `cat > sent; echo it is ${secret}`,
        "--prompt",
        "prompt.md",
        `Is it ${secret}?`,
      ]);
    for (const more of [[], ["--resume"], ["--resume"]]) {
      assert.equal(asked(...more).status, 0);
      const sent = readFileSync(join(folder, "sent"), "utf8");
      assert.ok(!sent.includes(secret.slice(8, 20)), sent);
      assert.ok(sent.includes("Use [redacted:") && sent.includes("Is it [redacted:"));
    }
    assert.ok(readFileSync(join(folder, "sent"), "utf8").includes("it is [redacted:"));
    assert.ok(readOnlyTranscript(folder).includes(secret));
  }));
