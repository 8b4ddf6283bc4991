// @ts-check
// What `leftoff init` leaves to a client: hooks that do not hold it up, that are silent where nothing is wrong, and
// that say where the user sees it that nothing can be recorded. And what is the user's stays the user's.
// Tries: js/init/, js/cli/hook.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { addEntries, removeEntries } from "../../js/init/json-file.js";
import { agentsToSetUp } from "../../js/init/names.js";
import { partsFor } from "../../js/init/parts.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { recordersEnded } from "./recorders.js";
import { entry } from "./terminal.js";

/** Seconds of one unit of a client's timeouts. @type {Record<string, number>} */
const UNIT_S = { "claude-code": 1, gemini: 0.001, codex: 1 };

for (const agent of agentsToSetUp) {
  test(`${agent}: each hook has a timeout of half a minute at most, in the client's own unit`, () => {
    for (const plugin of [false, true]) {
      const parts = partsFor(agent, { program: "leftoff", plugin });
      const inFiles = (parts?.files ?? [])
        .filter(({ path }) => path.endsWith("hooks.json"))
        .flatMap(({ text }) =>
          Object.entries(JSON.parse(text).hooks).flatMap(([event, all]) =>
            all.map((/** @type {any} */ value) => ({ event, value })),
          ),
        );
      const all = [
        ...(parts?.entries ?? []).map(({ at: [, event = ""], value }) => ({
          event,
          value: /** @type {any} */ (value),
        })),
        ...inFiles,
      ];
      assert.equal(all.length > 0, agent in UNIT_S && !(plugin && parts?.entries.length === 0 && inFiles.length === 0));
      for (const { event, value } of all) {
        const seconds = value.hooks[0].timeout * (UNIT_S[agent] ?? NaN);
        // Codex warns where its last hook asks for more than it gets.
        assert.equal(seconds, agent === "codex" && event === "SessionEnd" ? 3 : 30, event);
      }
    }
  });
}

/**
 * @typedef {(args: string[], options?: { input?: string, uid?: number, env?: Record<string, string> }) => { status: number | null, stdout: string, stderr: string }} RunCli
 */

/**
 * @param {string} law
 * @param {(parts: { project: string, folder: string, typed: RunCli, put: (path: string, text: string) => string }) => void} body
 * @param {string | false} [skip]
 */
function check(law, body, skip = false) {
  test(law, { skip }, () =>
    inFolder(async (folder) => {
      const project = join(folder, "project");
      fs.mkdirSync(project);
      const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store"), TMPDIR: folder };
      body({
        project,
        folder,
        typed: (args, { input = "", uid, env: more } = {}) =>
          spawnSync(nodePath, [entry, ...args], {
            cwd: project,
            input,
            uid,
            env: { ...env, ...more },
            encoding: "utf8",
          }),
        put: (path, text) => {
          fs.mkdirSync(dirname(join(project, path)), { recursive: true });
          fs.writeFileSync(join(project, path), text);
          return join(project, path);
        },
      });
      await recordersEnded(join(folder, "store"));
    }),
  );
}

check(
  "a byte order mark at the front of the user's settings stays, and so does every byte behind it",
  ({ typed, put }) => {
    for (const [agent, path] of /** @type {const} */ ([
      ["claude-code", ".claude/settings.json"],
      ["gemini", ".gemini/settings.json"],
      ["codex", ".codex/hooks.json"],
    ])) {
      const text = '\ufeff{\r\n\t// mine\r\n\t"theme": "x"\r\n}\r\n';
      const file = put(path, text);
      const set = typed(["init", agent]);
      assert.equal(set.status, 0, set.stderr);
      const after = fs.readFileSync(file, "utf8");
      assert.ok(
        after.startsWith("\ufeff{\r\n\t// mine") &&
          after.includes(`hook ${agent}`) &&
          after.lastIndexOf("\ufeff") === 0,
        agent,
      );
      const again = typed(["init", agent]);
      assert.doesNotMatch(again.stdout, / {2}(?:changed|written)$/m);
      // Also where the user has changed it meanwhile.
      assert.equal(typed(["init", agent, "--remove"]).status, 0);
      assert.equal(fs.readFileSync(file, "utf8"), text);
      typed(["init", agent]);
      fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"x"', '"y"'));
      typed(["init", agent, "--remove"]);
      assert.match(fs.readFileSync(file, "utf8"), /^\ufeff\{\r\n\t\/\/ mine\r\n\t"theme": "y"\s*\}\r\n$/);
    }
  },
);

test("a mark alone, or behind another one, is no JSON", () => {
  const { entries = [] } = partsFor("codex", { program: "leftoff" }) ?? {};
  for (const text of ["\ufeff", "\ufeff\ufeff\ufeff[]"])
    assert.throws(() => addEntries(text, entries, { path: "hooks.json" }), /expected an object/);
  const { text, change } = addEntries("\ufeff{}", entries, { path: "hooks.json" });
  assert.equal(removeEntries(text, change, "hooks.json"), "\ufeff{}");
});

check("a command file of the user's stays, and is not told as leftoff's", ({ typed, put, project }) => {
  for (const [agent, path, name] of /** @type {const} */ ([
    ["claude-code", ".claude/commands/session.md", "/session"],
    ["gemini", ".gemini/commands/session.toml", "/session"],
    ["opencode", ".opencode/command/session.md", "/session"],
  ])) {
    const file = put(path, "mine");
    const { stdout } = typed(["init", agent]);
    assert.ok(stdout.includes(`${join(project, path)}  kept: it was edited`), stdout);
    const told = stdout.slice(stdout.indexOf("available in "));
    assert.doesNotMatch(told, new RegExp(`^ {2}${name} `, "m"));
    assert.match(told, /^ {2}\/workspace\.resume /m);
    typed(["init", agent, "--remove"]);
    assert.equal(fs.readFileSync(file, "utf8"), "mine");
  }
});

/** @param {string} path @param {string} cwd @param {string} [event] */
const hookInput = (path, cwd, event = "UserPromptSubmit") =>
  JSON.stringify({ session_id: "s", transcript_path: path, cwd, hook_event_name: event, prompt: "go on" });

check("a client's file in which nothing was said yet is no failure", ({ typed, folder, project, put }) => {
  const log = join(folder, "store", "hooks.log");
  for (const text of ["", "\n", "  \n\n", "\r\n"]) {
    const { status, stdout, stderr } = typed(["hook", "claude-code"], {
      input: hookInput(put("t/s.jsonl", text), project),
    });
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  }
  assert.equal(fs.existsSync(log) ? fs.readFileSync(log, "utf8") : "", "");
});

check("what is no JSON of a client's is written down by a code of leftoff's", ({ typed, folder }) => {
  for (const input of ["{x", "", "7", '{"cwd":"/p"}']) {
    const { status, stdout, stderr } = typed(["hook", "claude-code"], { input });
    assert.deepEqual([status, stdout, stderr], [0, "", ""]);
  }
  const lines = fs
    .readFileSync(join(folder, "store", "hooks.log"), "utf8")
    .trimEnd()
    .split("\n");
  assert.deepEqual([...new Set(lines.map((line) => JSON.parse(line).code))], ["usage"]);
});

const SAID = `${JSON.stringify({ type: "user", uuid: "1", parentUuid: null, sessionId: "s", cwd: "/p", version: "2.1.329", timestamp: "2026-01-01T10:00:00Z", message: { role: "user", content: "hello" } })}\n`;
const NOBODY = 65_534;

check(
  "where the home cannot be written the user is told in the client, once for each conversation, and the client goes on",
  ({ typed, folder, project, put }) => {
    fs.chmodSync(folder, 0o777);
    const locked = join(folder, "locked");
    fs.mkdirSync(locked, { mode: 0o755 });
    const where = { uid: NOBODY, env: { LEFTOFF_HOME: join(locked, "store"), HOME: folder } };
    for (const name of ["one", "two"]) {
      const path = put(`t/${name}.jsonl`, SAID);
      for (const [event, isTold] of /** @type {const} */ ([
        ["UserPromptSubmit", true],
        ["Stop", false],
        ["UserPromptSubmit", false],
        ["SessionEnd", false],
      ])) {
        const { status, stdout, stderr } = typed(["hook", "claude-code"], {
          ...where,
          input: hookInput(path, project, event),
        });
        assert.deepEqual([status, stderr], [0, ""]);
        if (!isTold) assert.equal(stdout, "", event);
        else
          assert.match(
            JSON.parse(stdout).systemMessage,
            /^leftoff: this conversation is not recorded: could not .*locked.*permission denied/,
          );
      }
    }
    assert.deepEqual(fs.readdirSync(locked), []);
  },
  process.getuid?.() !== 0 && "needs root, to become somebody else",
);

check(
  "a conversation is recorded also where the agent has removed the folder that it works in",
  ({ typed, folder, project, put }) => {
    const path = put("t/s.jsonl", SAID);
    for (const cwd of [join(project, "gone", "deeper"), path]) {
      const { status, stdout } = typed(["hook", "claude-code"], { input: hookInput(path, cwd) });
      assert.deepEqual([status, stdout], [0, ""]);
    }
    assert.equal(fs.existsSync(join(folder, "store", "hooks.log")), false);
    assert.equal(JSON.parse(typed(["list", "--all", "--json"]).stdout).length, 1);
  },
);
