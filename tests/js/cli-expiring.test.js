// @ts-check
// Before Claude Code deletes a session's file by itself, `leftoff doctor --agents` tells which are not imported.
// Tries: js/cli/missing.js, js/agents/retention.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

const ID = "445adb5c-b44b-4625-86f4-77b2ace446f0";
const TRANSCRIPT = readFileSync(
  fileURLToPath(new URL(`../fixtures/claude-code/real/2.1.197/${ID}.jsonl`, import.meta.url)),
  "utf8",
);
const DAY_MS = 86_400_000;

/**
 * @typedef {object} Scene
 * @property {(ageDays: number, text?: string) => string} put writes Claude Code's file of the session; its path
 * @property {(path: string, value: object) => void} set writes a file of settings below the user's home
 * @property {(status: number) => any[]} expiring what is told, and how the command ends
 * @property {(...args: string[]) => string} leftoff
 */

/** @param {string} name @param {(scene: Scene) => void} work */
function check(name, work) {
  test(name, () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-expiring-")));
    const project = join(folder, "project");
    mkdirSync(project);
    const env = { PATH: process.env.PATH, HOME: folder };
    const run = (/** @type {string[]} */ args, status = 0) => {
      const done = spawnSync(nodePath, [entry, ...args], { cwd: project, env, encoding: "utf8" });
      assert.equal(done.status, status, `${args.join(" ")}: ${done.stderr}${done.stdout}`);
      return done.stdout;
    };
    const write = (/** @type {string} */ path, /** @type {string} */ text) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      return path;
    };
    try {
      work({
        put(ageDays, text = TRANSCRIPT) {
          const path = write(join(folder, ".claude", "projects", "-project", `${ID}.jsonl`), text);
          const changed = (Date.now() - ageDays * DAY_MS) / 1000;
          utimesSync(path, changed, changed);
          return path;
        },
        set: (path, value) => void write(join(folder, path), JSON.stringify(value)),
        expiring: (status) => JSON.parse(run(["doctor", "--agents", "--json"], status)),
        leftoff: (...args) => run(args),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

check("a session that is deleted within two weeks is told until it is imported", ({ put, expiring, leftoff }) => {
  const path = put(20);
  const [told, ...others] = expiring(1);
  assert.deepEqual(others, []);
  assert.deepEqual([told.agent, told.sourceId, told.path, told.days], ["claude-code", ID, path, 30]);
  assert.equal(told.newMessages, told.messageCount);
  const left = Date.parse(told.expires) - Date.now();
  assert.ok(left > 9.9 * DAY_MS && left < 10 * DAY_MS, told.expires);
  leftoff("import", "--all");
  assert.deepEqual(expiring(0), []);
  assert.match(leftoff("doctor", "--agents"), /^no session/);
});

check("a session that its client keeps for longer is not told", ({ put, expiring }) => {
  put(15);
  assert.deepEqual(expiring(0), []);
  put(17);
  assert.equal(expiring(1).length, 1);
});

check(
  "how long a client keeps its files is read from its settings, the shorter one of the user's and the project's",
  (scene) => {
    const { put, set, expiring } = scene;
    put(20);
    set(".claude/settings.json", { cleanupPeriodDays: 3650 });
    assert.deepEqual(expiring(0), []);
    set("project/.claude/settings.json", { cleanupPeriodDays: 25 });
    assert.equal(expiring(1)[0].days, 25);
    set("project/.claude/settings.local.json", { cleanupPeriodDays: 3650 });
    assert.deepEqual(expiring(0), []);
    for (const wrong of [0, -1, 1.5, "25", null]) {
      set(".claude/settings.json", { cleanupPeriodDays: wrong });
      set("project/.claude/settings.local.json", { cleanupPeriodDays: wrong });
      set("project/.claude/settings.json", { cleanupPeriodDays: wrong });
      assert.equal(expiring(1)[0].days, 30, JSON.stringify(wrong));
    }
  },
);

check("of a session that went on after it was imported, the rest is told", ({ put, expiring, leftoff }) => {
  const lines = TRANSCRIPT.trimEnd().split("\n");
  const first = lines.findIndex((line) => line.includes('"type":"user"'));
  put(20, `${lines.slice(0, first + 1).join("\n")}\n`);
  leftoff("import", "--all");
  assert.deepEqual(expiring(0), []);
  put(20);
  const [told] = expiring(1);
  assert.ok(told.newMessages > 0 && told.newMessages < told.messageCount, JSON.stringify(told));
  leftoff("import", "--all");
  assert.deepEqual(expiring(0), []);
});

check("what is no session is passed over, and other work is not mixed with it", ({ put, expiring, leftoff }) => {
  put(20, "not a session\n");
  assert.deepEqual(expiring(0), []);
  for (const other of ["--fix", "--secrets", "x"])
    assert.throws(() => leftoff("doctor", "--agents", other), /leave out/, other);
});
