// @ts-check
// What each command gives with --json is what docs/schemas says: every command has a schema, and every answer here is
// held to it.
// Tries: docs/schemas/, js/cli/
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Ajv2020 } from "ajv/dist/2020.js";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const transcript = join(root, "tests/fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl");
const folder = join(root, "docs", "schemas");
const names = fs.readdirSync(folder).map((file) => basename(file, ".json"));

// Strict: a keyword that is mistyped is an error of the schema.
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: true, strictRequired: false });
ajv.addFormat("date-time", (value) => !Number.isNaN(Date.parse(value)));
for (const name of names) ajv.addSchema(JSON.parse(fs.readFileSync(join(folder, `${name}.json`), "utf8")));

/** @param {string} name @param {unknown} value */
function wrongIn(name, value) {
  const valid = ajv.getSchema(`${name}.json`) ?? assert.fail(`expected docs/schemas/${name}.json, but found none`);
  return valid(value)
    ? []
    : (valid.errors ?? []).map(
        ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
      );
}

/**
 * @typedef {(args: string[], options?: { input?: string, status?: number }) => any} CheckedCli what the command gives,
 *   held to its schema
 * @param {string} title @param {(parts: { asked: CheckedCli, folder: string, workspace: string }) => void} body
 */
function check(title, body) {
  test(title, () =>
    inFolder(async (folder) => {
      const workspace = join(folder, "workspace");
      fs.mkdirSync(workspace);
      const git = (/** @type {string[]} */ ...args) => execFileSync("git", args, { cwd: workspace });
      git("init", "--quiet");
      git("config", "user.name", "Ann");
      git("config", "user.email", "ann@example.org");
      const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
      /** @type {CheckedCli} */
      const asked = (args, { input = "", status = 0 } = {}) => {
        const ran = spawnSync(nodePath, [entry, ...args, "--json"], { cwd: workspace, input, env, encoding: "utf8" });
        assert.equal(ran.status, status, `${args.join(" ")}: ${ran.stderr}`);
        for (const line of ran.stderr.split("\n").filter(Boolean))
          assert.deepEqual(wrongIn("error", JSON.parse(line)), [], line);
        const [name = ""] = args;
        const values =
          name === "append"
            ? ran.stdout
                .split("\n")
                .filter(Boolean)
                .map((line) => JSON.parse(line))
            : ran.stdout === ""
              ? []
              : [JSON.parse(ran.stdout)];
        for (const value of values)
          assert.deepEqual(wrongIn(name, value), [], `${args.join(" ")}: ${ran.stdout.slice(0, 500)}`);
        seen.add(name);
        return name === "append" ? values : values[0];
      };
      body({ asked, folder, workspace });
    }),
  );
}

/** The commands whose answers were looked at. @type {Set<string>} */
const seen = new Set();
const said = [
  { role: "user", content: "Hello there" },
  {
    role: "assistant",
    content: "Hi.",
    assistant: { model: "gpt-5", toolCalls: [{ id: "c1", name: "bash", arguments: "{}" }] },
  },
  { role: "tool", content: "ok", tool: { callId: "c1", name: "bash" } },
]
  .map((one) => JSON.stringify(one))
  .join("\n");

check("a session from its beginning to the trash and back", ({ asked, workspace }) => {
  const { id } = asked(["new", "--title", "Some session", "--here"]);
  const [first] = asked(["append", id], { input: said });
  assert.equal(asked(["show", id]).length, 3);
  asked(["show", id, "--all-branches"]);
  asked(["info", id]);
  asked(["rename", id, "Another title"]);
  asked(["pin", id, first.id]);
  asked(["unpin", id, first.id]);
  asked(["stop", id, "--summary", "where it stopped"]);
  asked(["commit", id]);
  asked(["complete", id]);
  asked(["archive", id]);
  asked(["list", "--status", "archived"]);
  asked(["unarchive", id]);
  const copy = asked(["fork", id]);
  asked(["info", copy.id]);
  asked(["export", id, "--to", "json"]);
  asked(["export", id, "--to", "markdown", "--output", join(workspace, "out.md")]);
  asked(["delete", id]);
  assert.equal(asked(["trash"]).length, 1);
  asked(["trash", "restore", id]);
  asked(["delete", id, "--purge", "--yes"]);
  asked(["new", "--no-record"]);
});

check("questions", ({ asked }) => {
  assert.equal(asked(["ask", "--engine", "echo Here.", "Where?"]).answer, "Here.\n");
  assert.equal(
    asked(["ask", "--resume", "--engine", "echo Not today. >&2; exit 3", "And why?"], { status: 3 }).exitStatus,
    3,
  );
});

check("contexts, compaction and every way to resume", ({ asked }) => {
  const { id } = asked(["new"]);
  for (let turn = 0; turn < 12; turn += 1)
    asked(["append", id], {
      input: `{"role":"user","content":"${`Turn ${turn}. `.repeat(150)}"}\n{"role":"assistant","content":"Done."}`,
    });
  for (const format of ["leftoff", "openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk", "ai-sdk-ui"])
    asked(["context", id, "--window", "4000", "--format", format]);
  asked(["context", id, "--window", "4000", "--explain"]);
  asked(["context", id, "--last"]);
  asked(["context", id, "--window", "8000", "--compare"]);
  assert.equal(asked(["compact", id, "--window", "4000"]).isApplied, false);
  assert.equal(asked(["compact", id, "--window", "4000", "--apply"]).isApplied, true);
  asked(["compact", id, "--window", "4000", "--undo"]);
  asked(["resume", id, "--print"]);
  asked(["resume", "--list"]);
  assert.equal(asked(["resume", id, "--with", "codex"]).agent, "codex");
});

check("what agents keep, lists, searches, settings and what is damaged", ({ asked, folder }) => {
  const [{ id, losses }] = asked(["import", transcript]);
  assert.ok(losses.length > 0);
  assert.equal(asked(["list", "--all"]).length, 1);
  asked(["show", id]);
  asked(["info", id]);
  assert.ok(asked(["search", "tools", "--all"]).length > 0);
  assert.ok(asked(["search", '"please"', "--all"]).length > 0);
  for (const [flag, value] of /** @type {const} */ ([
    ["--file", "md"],
    ["--command", "ls"],
    ["--error", "No such file or directory"],
  ]))
    asked(["search", flag, value, "--all"]);
  asked(["recall", "go on", "--all"]);
  for (const by of ["day", "session,project", "agent,model"])
    assert.ok(asked(["usage", "--by", by, "--all"]).rows.length > 0);
  assert.ok(asked(["recall", "which", "tools", "were", "used", "--all", "--max-tokens", "300"]).tokens <= 300);
  const { path } = asked(["info", id]);
  fs.appendFileSync(join(path, "messages.jsonl"), '{"v":1,"broken\n');
  assert.ok(asked(["doctor", id])[0].problems.length > 0);
  asked(["doctor", "--fix"]);
  const old = join(folder, ".claude", "projects", "-x", basename(transcript));
  fs.mkdirSync(join(old, ".."), { recursive: true });
  fs.writeFileSync(old, fs.readFileSync(transcript, "utf8").replaceAll(basename(transcript, ".jsonl"), "0".repeat(8)));
  fs.utimesSync(old, 0, 0);
  assert.equal(asked(["doctor", "--agents"], { status: 1 }).length, 1);
  assert.equal(asked(["import", "--all", "--dry-run"]).length, 1);
  asked(["import", join(folder, "nothing")], { status: 1 });
  asked(["settings"]);
  asked(["settings", "idleMinutes", "7"]);
  asked(["settings", "idleMinutes", "--unset"]);
  asked(["relocate", "/old", folder]);
  asked(["completions", "bash"]);
  asked(["mcp"]);
  asked(["view"]);
  asked(["init", "codex"]);
  asked(["init", "codex", "--remove"]);
  asked(["new"]);
  for (const words of [["sessions"], ["session"], ["session", "export"]]) asked(["typed", ...words]);
  asked(["hook", "claude-code"], {
    input: JSON.stringify({
      hook_event_name: "UserPromptSubmit",
      session_id: "a",
      transcript_path: transcript,
      cwd: folder,
      prompt: "go on",
    }),
  });
});

test("every command has a schema, every schema is a command's, and each was held to an answer", () => {
  const listed = spawnSync(nodePath, [entry, "completions", "bash", "--", ""], { encoding: "utf8" }).stdout;
  const commands = Array.from(listed.matchAll(/^([a-z]+)\t/gm), ([, name = ""]) => name).sort();
  assert.ok(commands.length > 20);
  assert.deepEqual(names.filter((name) => !["common", "error"].includes(name)).sort(), commands);
  assert.deepEqual([...seen].sort(), commands);
});

test("a schema refuses what its command does not give", () => {
  assert.notDeepEqual(wrongIn("list", [{ id: 1 }]), []);
  assert.notDeepEqual(wrongIn("new", { id: "a", path: "b", more: 1 }), []);
  assert.notDeepEqual(wrongIn("error", { error: { message: "x" } }), []);
});
