// @ts-check
// A hook or a plugin that could not record is told by `leftoff doctor`, until recording works again or `--fix`.
// Tries: js/agents/failures.js, js/cli/commands.js, js/cli/hooks/recorder.js, js/opencode/plugin.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { forgetFailure, keepFailure, readFailures } from "../../js/agents/failures.js";
import { openPlugin } from "../../js/opencode/plugin.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

const SAID = `${JSON.stringify({ type: "user", uuid: "1", parentUuid: null, sessionId: "s", cwd: "/p", version: "2.1.329", timestamp: "2026-01-01T10:00:00Z", message: { role: "user", content: "tidewater" } })}\n`;

/** @typedef {{ folder: string, home: string, project: string, write: (path: string, text: string) => string, run: (args: string[], input?: string) => string, failures: (...args: string[]) => any[] }} Scene */

/** @param {string} name @param {(scene: Scene) => unknown} work */
function check(name, work) {
  test(name, async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-failures-")));
    const [home, project] = [join(folder, ".leftoff"), join(folder, "project")];
    mkdirSync(project);
    const run = (/** @type {string[]} */ args, input = "") => {
      const options = {
        cwd: project,
        env: { PATH: process.env.PATH, HOME: folder },
        encoding: /** @type {const} */ ("utf8"),
        input,
      };
      const { status, stdout, stderr } = spawnSync(nodePath, [entry, ...args], options);
      assert.equal(status, 0, stderr);
      return stdout;
    };
    try {
      await work({
        ...{ folder, home, project, run },
        write(path, text) {
          const file = join(folder, path);
          mkdirSync(dirname(file), { recursive: true });
          writeFileSync(file, text);
          return file;
        },
        failures: (...args) =>
          JSON.parse(run(["doctor", "--json", ...args]))
            .filter((/** @type {any} */ { id }) => id === "store")
            .flatMap((/** @type {any} */ report) => (args.includes("--fix") ? report.fixed : report.problems)),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}

/** What a client hands a hook. @param {string} path @param {string} cwd @param {string} [event] */
const hookInput = (path, cwd, event = "UserPromptSubmit") =>
  JSON.stringify({ session_id: "s", transcript_path: path, cwd, hook_event_name: event, prompt: "go on" });

check(
  "a hook that fails is told with its time and agent, until one works in that project",
  ({ home, project, run, write, failures }) => {
    const path = write("t/s.jsonl", SAID);
    const before = new Date().toISOString();
    write(".leftoff/settings.json", "{broken");
    run(["hook", "claude-code"], hookInput(path, project));
    rmSync(join(home, "settings.json"));
    const [failure, ...others] = failures();
    assert.deepEqual(others, []);
    assert.equal(failure.code, "not_recorded");
    const [, at = "", rest = ""] = /^(\S+): (.*)$/s.exec(failure.message) ?? [];
    assert.ok(at >= before && at <= new Date().toISOString(), failure.message);
    assert.ok(
      rest.startsWith(`claude-code could not record in "${project}": `) && rest.endsWith("(invalid_setting)"),
      rest,
    );
    assert.ok(!readFileSync(join(home, failure.file), "utf8").includes("tidewater"));
    run(["hook", "codex"], hookInput(write("t/none.jsonl", ""), project));
    assert.equal(failures().length, 1, "of another agent");
    run(["hook", "claude-code"], hookInput(path, project));
    assert.deepEqual(failures(), []);
  },
);

check("doctor --fix forgets what failed, and says so", ({ home, project, run, failures }) => {
  run(["hook", "claude-code"], "no json");
  assert.equal(failures().length, 1);
  assert.match(run(["doctor"]), /claude-code could not record .*\(usage\) \(not_recorded\)/);
  const [fixed] = failures("--fix");
  assert.match(fixed, /^forgot: .*claude-code could not record/);
  assert.deepEqual(failures(), []);
  assert.ok(!existsSync(join(home, "cache", "failures")));
});

check("what OpenCode's plugin could not record is told, until it can", async ({ home, project, failures }) => {
  const info = { id: "msg_1", sessionID: "ses_1", role: "user", time: { created: 1_790_000_000_000 } };
  const part = { id: "prt_1", sessionID: "ses_1", messageID: "msg_1", type: "text", text: "tidewater" };
  let isAway = true;
  /** @type {string[]} */
  const logged = [];
  const client = /** @type {any} */ ({
    session: {
      get: async () => (isAway ? { error: "away" } : { data: { id: "ses_1" } }),
      messages: async () => ({ data: [{ info, parts: [part] }] }),
    },
    app: { log: async (/** @type {any} */ { body }) => logged.push(body.message) },
  });
  const hooks = await openPlugin({ client, directory: project }, { home });
  const prompt = () => hooks["chat.message"]({ sessionID: "ses_1" }, { message: info, parts: [{ ...part }] });
  const say = async () => {
    await hooks.event({ event: { type: "message.updated", properties: { info } } });
    await hooks.event({ event: { type: "message.part.updated", properties: { part } } });
    await prompt();
  };
  await say();
  await say();
  const [failure, ...others] = failures();
  assert.deepEqual(others, []);
  assert.match(failure.message, /opencode could not record .*OpenCode tells nothing of the session/);
  assert.ok(!readFileSync(join(home, failure.file), "utf8").includes("tidewater"));
  assert.equal(new Set(logged).size, logged.length);
  isAway = false;
  await say();
  assert.deepEqual(failures(), []);
  await hooks.dispose();
});

check("what is kept is bounded, whatever agents and projects are called", ({ home }) => {
  for (let number = 0; number < 300; number += 1)
    keepFailure(home, { agent: `../${number}\0`, project: "/", code: "x", message: "y".repeat(10_000) });
  const files = readdirSync(join(home, "cache", "failures"));
  assert.ok(files.length > 0 && files.length <= 100, `${files.length}`);
  for (const name of files) assert.ok(readFileSync(join(home, "cache", "failures", name)).length < 1000);
  assert.equal(readFailures(home).length, files.length);
  for (let number = 0; number < 300; number += 1) forgetFailure(home, { agent: `../${number}\0`, project: "/" });
  assert.deepEqual(readFailures(home), []);
});
