// @ts-check
// The command line as it is typed: what it answers, what it refuses, and with which exit status.
// Tries: js/cli/main.js, js/cli/import.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { nodePath } from "./node-path.js";

const entry = fileURLToPath(new URL("../../pkg/cli.js", import.meta.url));
const transcript = fileURLToPath(
  new URL("../fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl", import.meta.url),
);
const folder = mkdtempSync(join(tmpdir(), "leftoff-cli-"));
chmodSync(folder, 0o777);
after(() => rmSync(folder, { recursive: true }));

let homes = 0;

/** @param {string[]} args @param {{ home?: string, uid?: number }} [options] */
function leftoff(args, { home = join(folder, `home-${(homes += 1)}`), uid } = {}) {
  const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: home };
  const { status, stdout, stderr } = spawnSync(nodePath, [entry, ...args], { cwd: folder, env, uid, encoding: "utf8" });
  return { status, stdout, stderr, home };
}

/** @param {string} name @param {string | Uint8Array} content */
function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** @param {string} home */
const storedLogs = (home) =>
  existsSync(home) ? readdirSync(home, { recursive: true }).filter((name) => /jsonl$/.test(String(name))) : [];

const long = JSON.stringify({
  type: "user",
  uuid: "1",
  sessionId: "long",
  message: { role: "user", content: "x".repeat(100_000_000) },
});
const rubbish = new Uint8Array(50_000).map((_, place) => (place * 167 + 13) ^ (place >> 3));

for (const [what, path, code] of /** @type {const} */ ([
  ["a missing file", "missing.jsonl", "not_found"],
  ["an empty file", file("empty.jsonl", ""), "empty_file"],
  ["binary rubbish", file("rubbish.jsonl", rubbish), "unknown_format"],
  ["a line of 100 MB", file("long.jsonl", long), "line_too_long"],
  ["an unknown agent's transcript", file("unknown.jsonl", '{"kind":"turn","text":"hello"}\n'), "unknown_format"],
])) {
  test(`importing ${what} fails with a sentence and a code, and stores nothing`, () => {
    const { status, stdout, stderr, home } = leftoff(["import", path, "--json"]);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.equal(JSON.parse(stderr).error.code, code);
    assert.deepEqual(storedLogs(home), []);
  });
}

test("what can be imported is, beside what cannot", () => {
  const { status, stdout, stderr } = leftoff(["import", join(folder, "missing.jsonl"), transcript, "--json"]);
  assert.equal(status, 1);
  // Fifteen were said; one more is what the client told of the user and the repository.
  assert.equal(JSON.parse(stdout)[0].messageCount, 16);
  const { error } = JSON.parse(stderr);
  assert.equal(error.code, "not_found");
  assert.equal(error.message, `no file or folder "${join(folder, "missing.jsonl")}"`);
});

test("a line of 100 MB costs what it says, and nothing beside it", () => {
  const whole = leftoff(["import", transcript, "--json"]);
  const [head = "", ...rest] = readFileSync(transcript, "utf8").split("\n");
  const { status, stdout, stderr } = leftoff([
    "import",
    file("among.jsonl", [head, long, ...rest].join("\n")),
    "--json",
  ]);
  assert.equal(status, 0);
  assert.deepEqual(JSON.parse(stdout), JSON.parse(whole.stdout));
  assert.match(
    JSON.parse(stderr).note.message,
    new RegExp(`bytes ${head.length + 1} to ${head.length + 1 + long.length}: .+ \\(line_too_long\\)$`),
  );
});

test(
  "a file or a store that may not be read or written is named, with permission_denied",
  { skip: process.getuid?.() !== 0 && "needs root, to become somebody else" },
  () => {
    const secret = file("secret.jsonl", "{}");
    chmodSync(secret, 0o600);
    const nobody = 65_534;
    const unread = leftoff(["import", secret], { uid: nobody });
    assert.equal(unread.status, 1);
    assert.match(unread.stderr, /secret\.jsonl.*permission denied.*\(permission_denied\)/);
    const locked = join(folder, "locked");
    mkdirSync(locked, { mode: 0o755 });
    const unwritten = leftoff(["import", transcript], { uid: nobody, home: join(locked, "home") });
    assert.equal(unwritten.status, 1);
    assert.match(unwritten.stderr, /locked.*\(permission_denied\)/);
    assert.deepEqual(readdirSync(locked), []);
  },
);

for (const [typed, expected] of /** @type {const} */ ([
  [[], "no command given"],
  [["--hoem", "x", "list"], 'unknown option "--hoem"'],
  [["forget"], 'unknown command "forget"'],
  [["list", "--everything"], "unknown option --everything"],
  [["list", "--limit", "some"], "--limit takes a whole number"],
  [["list", "--home"], "--home needs a value"],
  [
    ["new", "--title", "--home", "x"],
    '--title needs a value, but "--home" follows it; as a value it is typed --title=--home',
  ],
  [["settings", "idleMinute"], 'unknown setting "idleMinute" (did you mean idleMinutes?); see'],
  [["init", "codex", "two"], 'too many arguments: "codex two"'],
  [["import"], "PATHS"],
  [["context", "last", "--window", "many"], "--window takes a whole number"],
  [["context", "last", "--window", "8000", "--tools", file("tools.json", "[{]")], "is not JSON"],
])) {
  test(`wrong usage is refused with exit status 2: leftoff ${typed.join(" ")}`, () => {
    const { status, stdout, stderr, home } = leftoff([...typed]);
    assert.deepEqual({ status, stdout }, { status: 2, stdout: "" });
    assert.match(stderr, /^leftoff: [^\n]+ \(usage\)\n$/);
    assert.ok(stderr.includes(expected), stderr);
    assert.equal(existsSync(home), false);
  });
}

test("a session is found by a beginning of its id, and an unknown one is not found", () => {
  const { home } = leftoff(["import", transcript]);
  const [{ id }] = JSON.parse(leftoff(["list", "--all", "--json"], { home }).stdout);
  assert.equal(leftoff(["show", id.slice(0, 10)], { home }).status, 0);
  const unknown = leftoff(["show", "zzz"], { home });
  assert.deepEqual([unknown.status, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /\(not_found\)/);
});
