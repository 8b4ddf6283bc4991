// @ts-check
// What a look leaves alone, and what was deleted and comes back.
// Tries: js/cli/trash.js, js/cli/resume.js, src/operation/store/trash.rs, src/operation/store/restore.rs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { KEYS, entry, noTerminal, onTerminal } from "./terminal.js";

/** @typedef {{ status: number | null, stdout: string, stderr: string }} CliResult */
/**
 * @typedef {object} Parts
 * @property {string} project
 * @property {string} home
 * @property {(...args: string[]) => CliResult} typed
 * @property {(...args: string[]) => any} value
 * @property {(title: string, ...more: string[]) => { id: string, path: string }} held a session with two messages
 * @property {Record<string, string>} env
 */

/** @param {string} law @param {(parts: Parts) => Promise<void> | void} body @param {string | false} [skip] */
function check(law, body, skip = false) {
  test(law, { skip }, () =>
    inFolder(async (folder) => {
      const [project, home] = [join(folder, "project"), join(folder, "store")];
      fs.mkdirSync(project);
      const env = { PATH: process.env.PATH ?? "", HOME: folder, LEFTOFF_HOME: home };
      const run = (/** @type {string[]} */ args, input = "") =>
        spawnSync(nodePath, [entry, ...args], { cwd: project, env, input, encoding: "utf8" });
      const value = (/** @type {string[]} */ ...args) => {
        const { status, stdout, stderr } = run([...args, "--json"]);
        assert.equal(status, 0, stderr);
        return JSON.parse(stdout);
      };
      const held = (/** @type {string} */ title, /** @type {string[]} */ ...more) => {
        const made = value("new", "--title", title, ...more);
        run(["append", made.id], '{"role":"user","content":"question"}\n{"role":"assistant","content":"answer"}\n');
        return made;
      };
      await body({ project, home, env, value, held, typed: (...args) => run(args) });
    }),
  );
}

/** Every file below, with its bytes. @param {string} folder */
function bytesIn(folder) {
  const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => [
    name,
    fs.statSync(join(folder, name)).isFile() ? fs.readFileSync(join(folder, name), "latin1") : null,
  ]);
}

check(
  "to print what hands a session over changes nothing of any session, nor which is the current one",
  ({ typed, value, held, home, project }) => {
    const paused = held("Paused one");
    typed("stop", paused.id);
    const completed = held("Completed one");
    typed("complete", completed.id);
    const beside = held("Beside its Markdown", "--here");
    typed("stop", beside.id);
    held("The current one");
    value("list");
    // Of the store, the sessions: its list and its cache are derived from them.
    const seen = () =>
      bytesIn(join(project, "..")).filter(
        ([name]) => !String(name).startsWith("store") || String(name).startsWith(join("store", "sessions", "projects")),
      );
    const before = seen();
    for (const { id } of [paused, completed, beside]) {
      for (const more of [
        [],
        ["--json"],
        ["--override"],
        ["--window", "8000"],
        ["--with", "claude-code", "--override"],
        ["--with", "gemini", "--json", "--override"],
      ]) {
        assert.equal(typed("resume", id, "--print", ...more).status, 0, more.join(" "));
        assert.deepEqual(seen(), before, more.join(" "));
      }
    }
  },
);

check(
  "an agent is understood by the names that people have for it, and one that is none is told with the nearest",
  ({ typed, value, held }) => {
    const { id } = held("For another agent");
    const agents = {
      claude: "claude-code",
      "Claude Code": "claude-code",
      "gemini-cli": "gemini",
      "open-code": "opencode",
      "qwen-code": "qwen",
      "github-copilot": "copilot",
    };
    for (const [name, agent] of Object.entries(agents))
      assert.equal(value("resume", id, "--print", "--with", name).agent, agent, name);
    const wrong = typed("resume", id, "--print", "--with", "codexx");
    assert.deepEqual([wrong.status, wrong.stdout], [2, ""]);
    assert.match(wrong.stderr, /did you mean codex\?/);
  },
);

check("in a client the text goes on there: the session is active again, and that is said", ({ typed, value, held }) => {
  const { id } = held("Paused one");
  typed("stop", id);
  const { stdout, stderr } = typed("resume", id, "--print", "--from", "claude-code");
  assert.match(stdout, /RESUMED CONVERSATION/);
  assert.match(stderr, /"Paused one" is active again/);
  assert.equal(value("info", id).status, "active");
});

check("a model that nobody knows is told, whatever is handed over with it", ({ typed, held }) => {
  const { id } = held("Of an odd model");
  for (const more of [[], ["--json"], ["--with", "claude-code"]]) {
    assert.match(
      typed("resume", id, "--print", ...more, "--model", "nope").stderr,
      /unknown model \\?"nope\\?": counted with estimate-1/,
      more.join(" "),
    );
    assert.doesNotMatch(typed("resume", id, "--print", ...more, "--model", "gpt-5").stderr, /is not known/);
  }
});

for (const [placement, more] of /** @type {const} */ ([
  ["the home", []],
  ["a workspace", ["--here"]],
])) {
  check(`what was deleted from ${placement} comes back byte for byte, where it was`, ({ typed, value, held, home }) => {
    const { id, path } = held("Kept \u001b[2J all", ...more);
    typed("stop", id);
    value("list");
    const before = bytesIn(path);
    const { trash } = value("delete", id);
    assert.deepEqual([fs.existsSync(path), value("list").length], [false, 0]);
    const [listed, ...others] = value("trash", "list");
    assert.deepEqual([others, listed.id, listed.path, listed.from], [[], id, trash, path]);
    assert.match(listed.title, /^Kept .*all$/);
    assert.match(listed.deleted, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(typed("trash").stdout, new RegExp(`^1\\. ${id} .*Kept`));
    assert.equal(value("trash", "restore", id.slice(0, 20)).path, path);
    assert.deepEqual(bytesIn(path), before);
    assert.deepEqual([value("list").map((/** @type {any} */ one) => one.id), value("trash")], [[id], []]);
    assert.equal(value("show", id).length, 2);
    assert.deepEqual(fs.readdirSync(join(home, "trash")), []);
  });
}

check(
  "nothing is restored over an id or a folder that is there, and it stays in the trash",
  ({ typed, value, held, home }) => {
    const { id, path } = held("One");
    value("delete", id);
    const [{ path: trashed }] = value("trash");
    const copied = bytesIn(trashed);
    fs.cpSync(trashed, path, { recursive: true });
    const there = bytesIn(path);
    const refused = typed("trash", "restore", id);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /\(already_exists\)\n$/);
    // Also where the same one lies in another project's folder.
    const elsewhere = join(home, "sessions", "projects", "0123456789abcdef", `session-${id}`);
    fs.mkdirSync(join(elsewhere, ".."), { recursive: true });
    fs.renameSync(path, elsewhere);
    assert.match(typed("trash", "restore", id).stderr, /\(already_exists\)\n$/);
    assert.deepEqual([bytesIn(elsewhere), bytesIn(trashed)], [there, copied]);
    assert.match(
      typed("trash", "restore", "nobody").stderr,
      /no session "nobody" in the trash; 'leftoff trash' lists its sessions \(not_found\)\n$/,
    );
    assert.match(typed("trash", "restore").stderr, /\(usage\)\n$/);
  },
);

check(
  "of what was deleted before its place was noted the document tells; what leads elsewhere is not followed",
  ({ typed, value, held, home, project }) => {
    const { id, path } = held("Old");
    value("delete", id);
    const log = join(home, "trash.jsonl");
    const [{ path: trashed }] = value("trash");
    const name = trashed.slice(trashed.lastIndexOf("/") + 1);
    for (const odd of [
      join(project, "out"),
      join(home, "sessions", "projects", "..", "session-x"),
      `${project}/conversations/2026-11-22/../.session`,
      7,
    ]) {
      fs.writeFileSync(log, `${JSON.stringify({ v: 1, trash: name, path: odd, placement: "home" })}\nnull\n{"v":1,\n`);
      assert.equal(value("trash")[0].from, path, String(odd));
    }
    fs.rmSync(log);
    assert.equal(value("trash", "restore", id).path, path);
    const { id: other } = held("In a workspace", "--here");
    value("delete", other);
    fs.rmSync(log);
    assert.match(typed("trash", "restore", other).stderr, /nothing says where .*\(not_found\)\n$/);
  },
);

check(
  "delete names the title; elsewhere than on a terminal it asks nothing, and for good wants --yes",
  ({ typed, held }) => {
    const { id } = held("Design of the API");
    const refused = typed("delete", id, "--purge");
    assert.equal(refused.status, 2);
    assert.match(refused.stderr, /deleting "Design of the API" for good needs --yes/);
    assert.match(
      typed("delete", id).stdout,
      new RegExp(`^moved "Design of the API" to the trash, .* 'leftoff trash restore ${id}' restores it\n$`),
    );
  },
);

check(
  "on a terminal delete asks, by the title, and no is the answer unless somebody says yes",
  async ({ value, held, env, project }) => {
    const { id } = held("Design of the API");
    for (const [keys, count] of /** @type {const} */ ([
      [KEYS.enter, 1],
      [KEYS.escape, 1],
      ["y", 0],
    ])) {
      const { shown } = await onTerminal(["delete", id], { cwd: project, env }, async ({ see, type }) => {
        await see('Put "Design of the API" in the trash?');
        type(keys);
      });
      assert.equal(shown.includes("nothing was deleted"), count === 1);
      assert.equal(value("list").length, count);
    }
    value("trash", "restore", id);
    const { shown } = await onTerminal(["delete", id, "--yes"], { cwd: project, env }, async () => {});
    assert.match(shown, /^moved "Design of the API" to the trash/);
  },
  noTerminal,
);
