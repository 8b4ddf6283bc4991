// @ts-check
// `leftoff import --dry-run` tells what an import would take in, and takes in nothing.
// Tries: js/cli/missing.js, js/cli/import.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

const FIXTURES = fileURLToPath(new URL("../fixtures", import.meta.url));
const ID = "445adb5c-b44b-4625-86f4-77b2ace446f0";
const CLAUDE = fs.readFileSync(join(FIXTURES, `claude-code/real/2.1.197/${ID}.jsonl`), "utf8");

/**
 * @typedef {object} Scene
 * @property {string} folder the user's home
 * @property {(name: string, text: string, day: number) => string} put writes a file below the home, last changed on
 *   that day of November; its path
 * @property {(...args: string[]) => any} listed what `import --dry-run --json` gives
 * @property {(args: string[], status?: number) => string} leftoff what it answers, or its error
 * @property {(...args: string[]) => string} notesOf what it tells beside its answer
 */

/** @param {string} title @param {(scene: Scene) => void} body */
function check(title, body) {
  test(title, () =>
    inFolder(async (folder) => {
      const env = { PATH: process.env.PATH, HOME: folder };
      const run = (/** @type {string[]} */ args) =>
        spawnSync(nodePath, [entry, ...args], { cwd: folder, env, encoding: "utf8" });
      /** @type {Scene["leftoff"]} */
      const leftoff = (args, status = 0) => {
        const ran = run(args);
        assert.equal(ran.status, status, `${args.join(" ")}: ${ran.stderr}`);
        return status === 0 ? ran.stdout : ran.stderr;
      };
      body({
        folder,
        leftoff,
        notesOf: (...args) => run(args).stderr,
        listed: (...args) => JSON.parse(leftoff(["import", ...args, "--dry-run", "--json"])),
        put(name, text, day) {
          const path = join(folder, name);
          fs.mkdirSync(dirname(path), { recursive: true });
          fs.writeFileSync(path, text, "latin1");
          const changed = new Date(Date.UTC(2026, 10, day));
          fs.utimesSync(path, changed, changed);
          return path;
        },
      });
    }),
  );
}

const CLAUDE_NAME = `.claude/projects/-x/${ID}.jsonl`;
/** @param {number} number */
const rollout = (number) =>
  [
    { type: "session_meta", payload: { id: `019a0000-0000-7000-8000-00000000000${number}`, cwd: "/x" } },
    // What the client says for the user is no title.
    { role: "user", text: "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>" },
    { role: "user", text: `Prompt ${number}` },
    { role: "assistant", text: "Done." },
  ]
    .map(({ type, payload, role, text }) => {
      const kind = role === "user" ? "input_text" : "output_text";
      const item = { type: "message", role, content: [{ type: kind, text }] };
      const timestamp = "2026-11-01T09:00:00.000Z";
      return `${JSON.stringify(type ? { timestamp, type, payload: { ...payload, timestamp } } : { timestamp, type: "response_item", payload: item })}\n`;
    })
    .join("");
/** @param {number} number */
const rolloutName = (number) =>
  `.codex/sessions/2026/11/0${number}/rollout-2026-11-0${number}T09-00-00-019a0000-0000-7000-8000-00000000000${number}.jsonl`;

check("sessions of all agents are listed, those that changed last at first, and none is imported", (scene) => {
  const { put, listed, leftoff } = scene;
  const claude = put(CLAUDE_NAME, CLAUDE, 5);
  const codex = [2, 7].map((day) => put(rolloutName(day), rollout(day), day));
  const found = listed("--all");
  assert.deepEqual(
    found.map((/** @type {any} */ { path, agent, changed }) => [path, agent, changed]),
    [
      [codex[1], "codex", "2026-11-07T00:00:00.000Z"],
      [claude, "claude-code", "2026-11-05T00:00:00.000Z"],
      [codex[0], "codex", "2026-11-02T00:00:00.000Z"],
    ],
  );
  assert.deepEqual([found[0].title, found[0].messageCount, found[0].newMessages], ["Prompt 7", 3, 3]);
  assert.deepEqual([found[0].bytes, found[0].folder, found[0].isNew], [rollout(7).length, "/x", true]);
  assert.equal(found[1].sourceId, ID);
  assert.deepEqual(JSON.parse(leftoff(["list", "--all", "--json"])), []);
  const text = leftoff(["import", "--all", "--dry-run"]);
  assert.match(
    text,
    /^claude-code: 1 session\n.*\n.*\ncodex: 2 sessions\n {2}2026-11-07 {2}new {2}"Prompt 7", 3 messages/,
  );
});

check("what is imported is listed again only once it has more, by the session that gets it", (scene) => {
  const { put, listed, leftoff } = scene;
  put(rolloutName(2), rollout(2), 2);
  const lines = CLAUDE.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.includes('"type":"user"'));
  put(CLAUDE_NAME, `${lines.slice(0, first + 1).join("\n")}\n`, 5);
  leftoff(["import", "--all"]);
  assert.deepEqual(listed("--all"), []);
  assert.match(leftoff(["import", "--all", "--dry-run"]), /^nothing to import/);

  put(CLAUDE_NAME, CLAUDE, 6);
  const [more, ...others] = listed("--all");
  assert.deepEqual(others, []);
  const sessions = JSON.parse(leftoff(["list", "--all", "--agent", "claude-code", "--json"]));
  assert.deepEqual(
    [more.id],
    sessions.map((/** @type {any} */ { id }) => id),
  );
  assert.ok(more.newMessages > 0 && more.newMessages < more.messageCount, JSON.stringify(more));
  leftoff(["import", "--all"]);
  assert.deepEqual(listed("--all"), []);
});

check("files that were imported and did not change are not read", ({ put, listed, leftoff }) => {
  put(rolloutName(2), rollout(2), 2);
  leftoff(["import", "--all"]);
  // Of one length and one time, but with another session in it: it would be told if it were read.
  put(rolloutName(2), rollout(2).replaceAll("019a0000", "019b0000"), 2);
  assert.deepEqual(listed("--all"), []);
  put(rolloutName(2), rollout(2).replaceAll("019a0000", "019b0000"), 3);
  assert.equal(listed("--all").length, 1);
});

check("a limit bounds what is listed and what is read", ({ put, listed, leftoff, notesOf }) => {
  for (const day of [2, 7]) put(rolloutName(day), rollout(day), day);
  // What is told only of a file that is read.
  put(rolloutName(1), "\u0028\u00b5\u002f\u00fd", 1);
  const titles = (/** @type {string} */ limit) =>
    listed("--all", "--limit", limit).map((/** @type {any} */ { title }) => title);
  assert.deepEqual([titles("0"), titles("1"), titles("9")], [[], ["Prompt 7"], ["Prompt 7", "Prompt 2"]]);
  assert.equal(notesOf("import", "--all", "--dry-run", "--limit", "2"), "");
  assert.match(notesOf("import", "--all", "--dry-run", "--limit", "3"), /rollout-2026-11-01.*\(damaged\)/);
  assert.match(leftoff(["import", "--all", "--limit", "1"], 2), /--limit goes with --dry-run/);
});

check("paths are listed as they would be imported", ({ folder, put, listed, leftoff }) => {
  const path = put("kept/one.jsonl", rollout(3), 3);
  put("kept/notes.txt", "no session", 4);
  assert.equal(listed(join(folder, "kept")).length, 1);
  assert.equal(listed(path)[0].agent, "codex");
  assert.equal(listed(path, "--from", "codex").length, 1);
  leftoff(["import", path]);
  assert.deepEqual(listed(path), []);
  assert.match(leftoff(["import", "--dry-run", join(folder, "nowhere")], 1), /nowhere.*\(not_found\)/);
  assert.match(leftoff(["import", "--dry-run", join(folder, "kept/notes.txt")], 1), /\(unknown_format\)/);
});

check("a secret is no part of a title, nor is its beginning where the title is cut", ({ put, listed }) => {
  const token = `ghp_${"a1B2c3D4e5F6g7H8i9".repeat(2)}`;
  put(rolloutName(2), rollout(2).replace("Prompt 2", `${"word".repeat(16)}:${token}`), 2);
  assert.match(listed("--all")[0].title, /^word.*:ghp_/);
  const [{ title }] = listed("--all", "--redact", "replace");
  assert.match(title, /^word/);
  assert.doesNotMatch(title, /gh/);
});
