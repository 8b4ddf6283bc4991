// @ts-check
// `leftoff init` writes what an agent needs, and takes it back; every other byte of the user's stays.
// Tries: js/init/, js/cli/init.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import fc from "fast-check";
import { parse } from "jsonc-parser";

import { addEntries, hashOf, removeEntries } from "../../js/init/json-file.js";
import { agentsToSetUp } from "../../js/init/names.js";
import { partsFor } from "../../js/init/parts.js";
import { shellWords } from "../../js/init/shell.js";
import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));

/**
 * @param {(project: string, typed: (...args: string[]) => { status: number | null, stdout: string, stderr: string }) => void} work
 */
function inProject(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-init-"));
  const project = join(folder, "a project");
  mkdirSync(project);
  const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
  try {
    work(project, (...args) =>
      spawnSync(nodePath, [entry, "init", ...args, "--workspace", project], { env, encoding: "utf8" }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Every file and folder, with its bytes. @param {string} folder */
function tree(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => [
    name.replaceAll("\\", "/"),
    statSync(join(folder, name)).isFile() ? readFileSync(join(folder, name), "utf8") : "a folder",
  ]);
}

/** @param {string} file @param {string} text */
function put(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

for (const agent of agentsToSetUp) {
  test(`${agent}: what was set up is taken away again, and the project is as it was`, () =>
    inProject((project, typed) => {
      put(join(project, ".claude", "commands", "mine.md"), "mine");
      put(join(project, ".gemini", "settings.json"), '{\n\t// mine\n\t"theme": "x",\n}\n');
      const before = tree(project);
      const first = typed(agent);
      assert.equal(first.status, 0, first.stderr);
      assert.match(first.stdout, /written\n/);
      assert.notDeepEqual(tree(project), before);
      const after = tree(project);
      const again = typed(agent);
      assert.doesNotMatch(again.stdout, / {2}(?:written|changed)$/m);
      assert.deepEqual(tree(project), after);
      const removal = typed(agent, "--remove");
      assert.equal(removal.status, 0, removal.stderr);
      assert.deepEqual(tree(project), before);
    }));
}

test("each file is named, and each command as it is typed there", () =>
  inProject((project, typed) => {
    const { stdout } = typed("codex");
    assert.ok(stdout.includes(join(project, ".codex", "hooks.json")));
    assert.ok(stdout.includes("$workspace-resume"));
    const said = JSON.parse(typed("claude-code", "--json").stdout);
    assert.deepEqual(said.at(-1), { path: ".claude/settings.json", did: "written" });
  }));

test("each agent gets the commands to resume and to stop, and those about sessions where it has such commands", () => {
  const own = ["sessions", "session", "compact-session", "debug-context"];
  for (const [agent, expected] of /** @type {const} */ ([
    ["claude-code", ["/workspace.resume", "/workspace.stop-conversation", ...own.map((name) => `/${name}`)]],
    ["gemini", ["/workspace.resume", "/workspace.stop-conversation", ...own.map((name) => `/${name}`)]],
    [
      "opencode",
      [
        "/workspace.resume",
        "/workspace.stop-conversation",
        "/list-sessions",
        ...own.slice(1).map((name) => `/${name}`),
      ],
    ],
    ["codex", ["$workspace-resume", "$workspace-stop-conversation"]],
  ])) {
    inProject((_, typed) => {
      const { stdout } = typed(agent);
      const told = stdout
        .slice(stdout.indexOf("available in "))
        .split("\n")
        .map((line) => line.trim().split(" ")[0]);
      for (const name of expected) assert.ok(told.includes(name), `${agent}: ${name} in ${stdout}`);
    });
  }
});

test("what the user changed meanwhile stays: settings, a command, a file of the same name", () =>
  inProject((project, typed) => {
    const settings = join(project, ".claude", "settings.json");
    put(
      settings,
      '{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}\n}',
    );
    put(join(project, ".claude", "commands", "session.md"), "my own command");
    const first = typed("claude-code");
    assert.match(first.stdout, /session\.md {2}kept: it was edited/);
    const text = readFileSync(settings, "utf8");
    assert.deepEqual(JSON.parse(text).hooks.Stop.length, 2);
    writeFileSync(settings, text.replace('"opus"', '"sonnet", "env": {"A": "1"}'));
    const resume = join(project, ".claude", "commands", "workspace.resume.md");
    writeFileSync(resume, "changed by me");
    const removal = typed("claude-code", "--remove");
    assert.equal(removal.status, 0, removal.stderr);
    assert.equal(
      readFileSync(settings, "utf8"),
      '{\n    "model": "sonnet", "env": {"A": "1"},\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}\n}',
    );
    assert.equal(readFileSync(resume, "utf8"), "changed by me");
    assert.equal(readFileSync(join(project, ".claude", "commands", "session.md"), "utf8"), "my own command");
  }));

test("a plugin and an extension lie in the folder that is named, and nowhere else", () =>
  inProject((project, typed) => {
    for (const [agent, file] of [
      ["claude-code", ".claude-plugin/plugin.json"],
      ["gemini", "gemini-extension.json"],
    ]) {
      const folder = join(project, `of ${agent}`);
      const { stdout, status, stderr } = typed(/** @type {string} */ (agent), "--plugin", folder);
      assert.equal(status, 0, stderr);
      assert.equal(JSON.parse(readFileSync(join(folder, /** @type {string} */ (file)), "utf8")).name, "leftoff");
      assert.ok(JSON.parse(readFileSync(join(folder, "hooks", "hooks.json"), "utf8")).hooks);
      assert.ok(stdout.includes(agent === "gemini" ? "/workspace.resume" : "/leftoff:workspace.resume"));
      typed(/** @type {string} */ (agent), "--plugin", folder, "--remove");
    }
    assert.deepEqual(tree(project), []);
  }));

for (const isOnPath of [false, true])
  test(
    `the server of a plugin and of an extension starts without a shell, ${isOnPath ? "also with another PATH" : "by its file"}`,
    { skip: process.platform === "win32" && "sh is not there" },
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "leftoff-init-"));
      try {
        const bin = join(folder, "a bin");
        put(join(bin, "leftoff"), `#!/bin/sh\nexec node "${entry}" "$@"\n`);
        chmodSync(join(bin, "leftoff"), 0o755);
        const env = {
          HOME: folder,
          PATH: [...(isOnPath ? [bin] : []), dirname(nodePath), "/usr/bin", "/bin"].join(":"),
        };
        for (const [agent, file] of /** @type {const} */ ([
          ["claude-code", ".mcp.json"],
          ["gemini", "gemini-extension.json"],
        ])) {
          const plugin = join(folder, agent);
          const words = [entry, "init", agent, "--plugin", plugin, "--workspace", folder];
          assert.equal(spawnSync(nodePath, words, { env, encoding: "utf8" }).status, 0);
          const { command, args } = JSON.parse(readFileSync(join(plugin, file), "utf8")).mcpServers.leftoff;
          const client = new Client({ name: "test", version: "1" });
          const elsewhere = { HOME: folder, PATH: "/usr/bin:/bin" };
          await client.connect(new StdioClientTransport({ command, args, cwd: folder, env: elsewhere }));
          assert.ok((await client.listTools()).tools.some(({ name }) => name === "recall"));
          await client.close();
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  );

test("settings that are no JSON are refused, and nothing is written into them", () =>
  inProject((project, typed) => {
    const settings = join(project, ".gemini", "settings.json");
    for (const text of ["not json", "[]", '{"hooks": 7}', '{"hooks": {"AfterAgent": {}}}']) {
      put(settings, text);
      const { status, stderr } = typed("gemini");
      assert.equal(status, 2, text);
      assert.match(stderr, /expected an .*settings\.json.*nothing was changed/);
      assert.equal(readFileSync(settings, "utf8"), text);
    }
    assert.deepEqual(
      tree(project).map(([name]) => name),
      [".gemini", ".gemini/settings.json"],
    );
  }));

test("of the user's settings nothing is noted elsewhere", () =>
  inProject((project, typed) => {
    put(join(project, ".claude", "settings.json"), '{"env":{"KEY":"sk-none-7261"}}');
    typed("claude-code");
    assert.doesNotMatch(readFileSync(join(project, ".leftoff", "init.json"), "utf8"), /7261/);
  }));

/** A note as a hostile project may bring it, about a file and its bytes. @param {string} path @param {string} text */
const hostileNotes = (path, text) => {
  const hash = hashOf(text);
  const change = { entries: [], made: [[]], pieces: [{ offset: 0, removed: "{}\n", inserted: text }], after: hash };
  return [
    { files: { [path]: hash }, changes: {}, folders: [] },
    { files: {}, changes: { [path]: change }, folders: [] },
    {
      files: {},
      changes: { [path]: { ...change, made: [], pieces: [{ offset: 0, removed: "put in", inserted: "" }] } },
      folders: [],
    },
    { files: { [path]: hash }, changes: { [path]: change }, folders: [path, dirname(path), "..", "."] },
  ];
};

for (const [what, path] of [
  ["beside the project", "../theirs.json"],
  ["in the project", "src/theirs.json"],
  ["in the project, by a detour", ".claude/../src/theirs.json"],
  ["by its whole path", ""],
]) {
  test(`what a note says of a file that leftoff never writes is not believed: ${what}`, () =>
    inProject((project, typed) => {
      const file = path ? join(project, path) : join(project, "..", "theirs.json");
      const text = '{"theirs":1}';
      for (const agent of agentsToSetUp) {
        for (const noted of hostileNotes(path || file, text)) {
          put(file, text);
          mkdirSync(join(dirname(file), "empty"), { recursive: true });
          noted.folders.push(join(dirname(path || file), "empty"));
          put(
            join(project, ".leftoff", "init.json"),
            JSON.stringify({ version: 1, agents: { [agent]: noted }, folders: ["src", ".."] }),
          );
          const { status, stdout, stderr } = typed(agent, "--remove");
          assert.equal(status, 0, stderr);
          assert.match(stdout, /kept: leftoff writes no such file/);
          assert.equal(readFileSync(file, "utf8"), text);
          assert.ok(existsSync(join(dirname(file), "empty")));
        }
      }
    }));
}

test("of settings a note takes back what leftoff put there, and nothing else, nor does it put anything in", () =>
  inProject((project, typed) => {
    const path = ".claude/settings.json";
    const mine = { at: ["hooks", "Stop"], value: { hooks: [{ type: "command", command: "mine" }] } };
    const text = JSON.stringify({ env: {}, hooks: { Stop: [mine.value] } });
    const [, whole, more] = hostileNotes(path, text);
    const listed = {
      files: {},
      changes: { [path]: { entries: [mine], made: [["env"], ["hooks"]], pieces: [], after: "" } },
      folders: [],
    };
    for (const noted of [
      whole,
      more,
      listed,
      null,
      7,
      { files: 1, changes: [2], folders: "x" },
      { changes: { [path]: { entries: {}, made: 3, pieces: [null], after: hashOf(text) } } },
    ]) {
      put(join(project, path), text);
      put(join(project, ".leftoff", "init.json"), JSON.stringify({ agents: { "claude-code": noted } }));
      const { status, stderr } = typed("claude-code", "--remove");
      assert.equal(status, 0, stderr);
      assert.equal(readFileSync(join(project, path), "utf8"), text);
    }
  }));

test(
  "no link is followed, whether files are set up or taken away",
  { skip: process.platform === "win32" && "links may be refused" },
  () =>
    inProject((project, typed) => {
      const outside = join(project, "..", "outside");
      const setUp = () => assert.equal(typed("claude-code").status, 0);
      setUp();
      const places = tree(project)
        .map(([name]) => name)
        .filter((name) => name !== ".leftoff/.gitignore");
      assert.ok(places.length > 8);
      for (const isSetUp of [false, true]) {
        for (const place of places) {
          rmSync(project, { recursive: true });
          rmSync(outside, { recursive: true, force: true });
          mkdirSync(project);
          if (isSetUp) setUp();
          const [at, target] = [join(project, place), join(outside, place)];
          mkdirSync(dirname(at), { recursive: true });
          mkdirSync(dirname(target), { recursive: true });
          if (isSetUp) renameSync(at, target);
          else if (place.endsWith("json") || place.endsWith("md")) put(target, "{}\n");
          else mkdirSync(target);
          symlinkSync(target, at);
          const before = [tree(outside), tree(project)];
          for (const how of [[], ["--remove"]]) {
            const { status, stderr } = typed("claude-code", ...how);
            assert.deepEqual([tree(outside), tree(project)], before, `${place} ${how}`);
            if (status !== 0)
              assert.match(
                stderr,
                /but found a link instead, and none is followed; nothing was changed \(outside_store\)/,
              );
            assert.equal(
              status === 0,
              how.length > 0 && !isSetUp && !place.startsWith(".leftoff"),
              `${place} ${how} ${stderr}`,
            );
          }
        }
      }
      assert.equal(typed("claude-code", "--remove").status, 1);
    }),
);

test(
  "hooks and skills find the program in a shell that knows the system's folders alone",
  { skip: process.platform === "win32" },
  () =>
    inProject((project) => {
      const home = dirname(project);
      const folder = join(home, ".local", 'my "bin"');
      mkdirSync(folder, { recursive: true });
      symlinkSync(entry, join(folder, "leftoff"));
      const PATH = `${folder}:${dirname(nodePath)}:/usr/bin:/bin`;
      for (const agent of ["claude-code", "gemini", "codex"]) {
        const { status, stderr } = spawnSync("leftoff", ["init", agent, "--workspace", project], {
          env: { PATH, HOME: home },
          encoding: "utf8",
        });
        assert.equal(status, 0, stderr);
      }
      const hooks = [".claude/settings.json", ".gemini/settings.json", ".codex/hooks.json"].flatMap((path) => {
        const text = readFileSync(join(project, path), "utf8");
        assert.ok(!text.includes(home), "the home is called by its name");
        return Object.values(JSON.parse(text).hooks)
          .flat()
          .flatMap((/** @type {any} */ { hooks }) => hooks.map((/** @type {any} */ { command }) => command));
      });
      const skill = readFileSync(join(project, ".agents/skills/workspace-resume/SKILL.md"), "utf8");
      const skills = [...skill.matchAll(/`([^`]*leftoff[^`]*)`/g)].map(([, command = ""]) =>
        command.replace(/ <.*>$/, "").replace(/"<.*>"$/, "x"),
      );
      assert.ok(hooks.length > 10 && skills.length === 2, `${hooks.length} ${skills.length}`);
      for (const command of new Set([...hooks, ...skills])) {
        for (const shell of ["sh", "bash"]) {
          const { status, stdout, stderr } = spawnSync(shell, ["-c", command], {
            cwd: project,
            env: { PATH: "/usr/bin:/bin", HOME: home },
            input: "{}",
            encoding: "utf8",
          });
          assert.ok(
            status !== 127 && !/not found\b.*(node|leftoff)|(node|leftoff).*not found/.test(stderr),
            `${command}: ${status} ${stdout} ${stderr}`,
          );
          assert.ok(stderr.includes("leftoff") || stdout.length > 0 || status === 0, `${command}: ${status} ${stderr}`);
        }
      }
    }),
);

test("an agent that cannot be set up is refused, and what can is named", () =>
  inProject((_, typed) => {
    const { status, stderr } = typed("aider");
    assert.equal(status, 2);
    assert.match(stderr, /AGENT takes claude-code, opencode, gemini, codex, not "aider"/);
  }));

const words = fc.string({ minLength: 1, maxLength: 8 }).filter((word) => !["__proto__", "hooks"].includes(word));
// jsonc-parser, as others, takes a prototype for one.
const plainJson = (/** @type {number} */ maxDepth) =>
  fc.jsonValue({ maxDepth }).filter((value) => !JSON.stringify(value).includes("__proto__"));
const settings = fc.record({
  beside: fc.dictionary(words, plainJson(2), { maxKeys: 4 }),
  hooks: fc.option(
    fc.dictionary(fc.constantFrom("Stop", "SessionEnd", "Other"), fc.array(plainJson(1), { maxLength: 2 }), {
      maxKeys: 3,
    }),
  ),
  indent: fc.constantFrom(undefined, 2, 4, "\t"),
  end: fc.constantFrom("", "\n"),
});

test("whatever settings there are, what is added is there, all else means what it meant, and the bytes come back", () => {
  const { entries } = /** @type {import("../../js/init/parts.js").Parts} */ (
    partsFor("claude-code", { program: shellWords(["/a b/leftoff"]) })
  );
  fc.assert(
    fc.property(settings, fc.string(), ({ beside, hooks, indent, end }, edit) => {
      const text = JSON.stringify({ ...beside, ...(hooks && { hooks }) }, null, indent) + end;
      const value = JSON.parse(text);
      const { text: after, change } = addEntries(text, entries, { path: "settings.json" });
      const now = parse(after);
      for (const {
        at: [, event = ""],
        value: one,
      } of entries)
        assert.deepEqual(now.hooks[event].at(-1), one);
      assert.deepEqual({ ...now, hooks: undefined }, { ...value, hooks: undefined });
      assert.equal(removeEntries(after, change, "settings.json"), text);
      // One more setting, written by hand at the front: then it is taken out of what stands there.
      const edited = after.replace("{", () => `{"~": ${JSON.stringify(edit)},`);
      const left = removeEntries(edited, change, "settings.json");
      assert.deepEqual(parse(left ?? "{}"), { "~": edit, ...value });
    }),
    { numRuns: 300 },
  );
});
