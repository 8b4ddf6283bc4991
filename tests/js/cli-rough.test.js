// @ts-check
// The command line where something is in its way: no right, no folder, nobody who reads on. A sentence each, never a
// trace.
// Tries: js/cli/main.js, js/cli/print.js, js/cli/store.js, js/storage/real-path.js
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { isFolder } from "../../js/storage/real-path.js";
import { inFolder } from "./git-tools.js";
import { nodePath } from "./node-path.js";
import { entry } from "./terminal.js";

const NOBODY = 65_534;
const notRoot = process.getuid?.() !== 0 && "needs root, to become somebody else";
const noShell = process.platform === "win32" && "needs a shell of Unix";

/**
 * @param {string} law
 * @param {string | false} skip
 * @param {(typed: (args: string[], options?: { env?: Record<string, string>, uid?: number, cwd?: string }) => { status: number | null, stdout: string, stderr: string }, folder: string) => void} body
 */
function check(law, skip, body) {
  test(law, { skip }, () =>
    inFolder(async (folder) => {
      const env = { PATH: process.env.PATH, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
      body(
        (args, { env: more, uid, cwd = folder } = {}) =>
          spawnSync(nodePath, [entry, ...args], { cwd, uid, env: { ...env, ...more }, encoding: "utf8" }),
        folder,
      );
    }),
  );
}

const ERROR_LINE = (/** @type {string} */ code) => new RegExp(`^leftoff: [^\\n]+ \\(${code}\\)\\n$`);

check("a home that one may not look into is named by every command that wants it", notRoot, (typed, folder) => {
  const locked = join(folder, "locked");
  fs.mkdirSync(locked, { mode: 0o700 });
  const where = { uid: NOBODY, cwd: "/", env: { HOME: locked, LEFTOFF_HOME: "" } };
  for (const args of [
    ["list"],
    ["list", "--all"],
    ["new"],
    ["resume"],
    ["resume", "words"],
    ["info"],
    ["settings"],
    ["settings", "agent", "codex"],
    ["doctor"],
    ["search", "words"],
  ]) {
    const { status, stdout, stderr } = typed(args, where);
    assert.deepEqual([status, stdout], [1, ""], args.join(" "));
    assert.match(stderr, ERROR_LINE("permission_denied"), args.join(" "));
    assert.ok(stderr.includes(locked), stderr);
  }
  assert.equal(typed(["--help"], where).status, 0);
  // A shell shows what completion says.
  const { status, stdout, stderr } = typed(["completions", "bash", "--", "show", ""], where);
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
});

check(
  "a folder that one may not read is named by an import, and not taken for an empty one",
  notRoot,
  (typed, folder) => {
    const locked = join(folder, "locked");
    fs.mkdirSync(locked, { mode: 0o700 });
    fs.mkdirSync(join(folder, "mine"));
    fs.chownSync(join(folder, "mine"), NOBODY, NOBODY);
    fs.chmodSync(folder, 0o755);
    const { status, stdout, stderr } = typed(["import", locked], {
      uid: NOBODY,
      env: { LEFTOFF_HOME: join(folder, "mine", "store") },
    });
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(stderr, ERROR_LINE("permission_denied"));
    assert.ok(stderr.includes(`"${locked}"`), stderr);
  },
);

check("a file is no folder, wherever one is wanted", false, (typed, folder) => {
  const file = join(folder, "file");
  fs.writeFileSync(file, "");
  for (const args of [
    ["list", "--home", file],
    ["list", "--home", join(file, "below")],
    ["new", "--workspace", file],
  ]) {
    const { status, stdout, stderr } = typed(args);
    assert.deepEqual([status, stdout], [1, ""], args.join(" "));
    assert.match(stderr, ERROR_LINE("not_a_folder"));
  }
  assert.match(typed(["list", "--workspace", join(folder, "missing")]).stderr, ERROR_LINE("not_found"));
  assert.deepEqual([isFolder(join(file, "below")), isFolder(file), isFolder(folder)], [false, false, true]);
});

check("an empty name means nothing, and not the folder that one is in", false, (typed) => {
  assert.match(typed(["import", ""]).stderr, ERROR_LINE("usage"));
  assert.match(typed(["show", ""]).stderr, /^leftoff: no session "" \(not_found\)\n$/);
});

check("doctor, too, names the session that an id resembles", false, (typed) => {
  const { id } = JSON.parse(typed(["new", "--json"]).stdout);
  assert.ok(typed(["doctor", `${id.slice(0, 9)}x`]).stderr.includes(`did you mean ${id}`));
});

check("who reads no further is no failure, whatever is printed", noShell, (typed, folder) => {
  const { id } = JSON.parse(typed(["new", "--json"]).stdout);
  const message = JSON.stringify({ role: "user", content: "line\n".repeat(40_000) });
  const env = { ...process.env, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
  spawnSync(nodePath, [entry, "append", id], { cwd: folder, env, input: `${message}\n`.repeat(5) });
  for (const command of ["show", "show --json", "export --to markdown", "--help", "list"]) {
    const line = `"$0" "$1" ${command} | head -c 1; exit \${PIPESTATUS[0]}`;
    const { status, stdout, stderr } = spawnSync("bash", ["-c", line, nodePath, entry], {
      cwd: folder,
      env,
      encoding: "utf8",
    });
    assert.deepEqual([status, stderr, stdout.length], [0, "", 1], command);
  }
  const unheard = spawnSync(
    "bash",
    ["-c", '"$0" "$1" show nobody 2>&1 >/dev/null | true; exit ${PIPESTATUS[0]}', nodePath, entry],
    { cwd: folder, env },
  );
  assert.equal(unheard.status, 1);
});

check("whoever asks and does not hear the answer to its end has it in the transcript, whole", noShell, (_, folder) => {
  const env = { ...process.env, HOME: folder, LEFTOFF_HOME: join(folder, "store") };
  const asked = (/** @type {string} */ to) =>
    spawnSync(
      "bash",
      ["-c", `"$0" "$1" ask --engine 'seq 1 100000' hi ${to}; exit \${PIPESTATUS[0]}`, nodePath, entry],
      { cwd: folder, env, encoding: "utf8" },
    );
  const heard = asked("| head -c 1");
  assert.deepEqual([heard.status, heard.stderr.includes("Error"), heard.stdout], [0, false, "1"], heard.stderr);
  if (fs.existsSync("/dev/full"))
    assert.match(asked("> /dev/full").stderr, /^leftoff: could not write the answer: [^\n]+ \(storage_failed\)$/m);
  const written = fs.readdirSync(join(folder, "store", "ask"));
  assert.ok(!written.some((name) => name.endsWith(".lock")), written.join(" "));
  for (const name of written.filter((one) => one.startsWith("session_"))) {
    const text = fs.readFileSync(join(folder, "store", "ask", name), "utf8");
    assert.ok(text.includes("\n100000\n") && /## End [^,]*\n$/.test(text), text.slice(-200));
  }
});

check("a folder that is not named moves no sessions", false, (typed, folder) => {
  typed(["new"]);
  for (const args of [
    ["relocate", "", folder],
    ["relocate", folder, ""],
  ]) {
    const { status, stdout, stderr } = typed(args);
    assert.deepEqual([status, stdout], [1, ""]);
    assert.match(
      stderr,
      /^leftoff: expected a path for (?:OLD|NEW|"from"|"to"), but found "" instead \(invalid_request\)\n$/,
    );
  }
  assert.equal(JSON.parse(typed(["list", "--json"]).stdout).length, 1);
});

check("a list of none that was asked for is empty, and says nothing of others", false, (typed) => {
  typed(["new", "--title", "walnut"]);
  for (const args of [["list"], ["resume", "--list"], ["search", "walnut"]])
    assert.deepEqual(
      [typed([...args, "--limit", "0"]).stdout, typed([...args, "--limit", "0"]).stderr],
      ["", ""],
      args.join(" "),
    );
});

check("a value that cannot be meant is refused by the option that it stands behind", false, (typed, folder) => {
  typed(["new"]);
  fs.writeFileSync(join(folder, "latin"), Buffer.from("caf\u00e9", "latin1"));
  for (const args of [
    ["context", "--window", "9000", "--recall", "x"],
    ["context", "--window", "9000", "--recall", " "],
    ["context", "--window", "9000", "--recall", "0x1"],
    ["context", "--window", "9000", "--system", "latin"],
    ["new", "--title", " "],
  ]) {
    const { status, stdout, stderr } = typed(args);
    assert.deepEqual([status, stdout], [2, ""], `${args.join(" ")}: ${stderr}`);
    assert.match(stderr, ERROR_LINE("usage"));
  }
  for (const share of ["0", "0.25", ".5"])
    assert.doesNotMatch(typed(["context", "--window", "9000", "--recall", share]).stderr, /recall/);
});

check("who is called just so is meant, also an archived one", false, (typed) => {
  const [two, again] = ["two", "two again"].map(
    (title) => JSON.parse(typed(["new", "--title", title, "--json"]).stdout).id,
  );
  const archived = () =>
    JSON.parse(typed(["list", "--status", "archived", "--json"]).stdout).map(
      (/** @type {{ id: string }} */ { id }) => id,
    );
  for (let time = 0; time < 2; time += 1) typed(["archive", "two"]);
  assert.deepEqual(archived(), [two]);
  typed(["unarchive", "two"]);
  assert.deepEqual(archived(), []);
  typed(["archive", "two again"]);
  assert.deepEqual(archived(), [again]);
});

/**
 * Two sessions that say "walnut", as somebody has them who is not root.
 * @param {(args: string[], options?: { uid?: number }) => { status: number | null, stdout: string, stderr: string }}
 *   typed
 * @param {string} folder
 */
function theirs(typed, folder) {
  for (const name of ["one", "two"]) {
    const message = { role: "user", content: `a walnut of ${name}` };
    fs.writeFileSync(
      join(folder, `${name}.jsonl`),
      `${JSON.stringify({ type: "user", uuid: `u-${name}`, sessionId: `s-${name}`, cwd: folder, timestamp: "2026-01-24T09:30:00.000Z", message })}\n`,
    );
  }
  fs.chownSync(folder, NOBODY, NOBODY);
  for (const name of ["one", "two"])
    assert.equal(typed(["import", join(folder, `${name}.jsonl`)], { uid: NOBODY }).status, 0);
  const listed = JSON.parse(typed(["list", "--json"], { uid: NOBODY }).stdout);
  assert.equal(listed.length, 2);
  return {
    listed: /** @type {{ id: string, path: string, title: string }[]} */ (listed),
    projects: join(folder, "store", "sessions", "projects"),
  };
}

check("sessions that one may not look into are named, and are not none", notRoot, (typed, folder) => {
  const { projects } = theirs(typed, folder);
  const as = { uid: NOBODY };
  const caches = () => fs.readdirSync(join(folder, "store", "cache")).filter((name) => name.endsWith(".json")).length;
  const before = caches();
  fs.chmodSync(projects, 0);
  for (const args of [
    ["list"],
    ["list", "--all"],
    ["search", "walnut"],
    ["recall", "walnut"],
    ["show", "last"],
    ["doctor"],
    ["doctor", "--fix"],
  ]) {
    const { status, stdout, stderr } = typed(args, as);
    assert.deepEqual([status, stdout], [1, ""], args.join(" "));
    assert.match(stderr, ERROR_LINE("permission_denied"), args.join(" "));
    assert.ok(stderr.includes(projects), stderr);
  }
  assert.equal(caches(), before);
});

check("a session that one may not read costs the others nothing, and is named", notRoot, (typed, folder) => {
  const {
    listed: [one, two],
  } = theirs(typed, folder);
  const as = { uid: NOBODY };
  const closed = one?.path ?? assert.fail();
  for (const path of [join(closed, "messages.jsonl"), closed]) {
    const { mode } = fs.statSync(path);
    fs.chmodSync(path, 0);
    for (const args of [
      ["search", "--regex", "wal.ut"],
      ["search", '"a walnut"'],
      ["search", "walnut", "of"],
      ["recall", "walnut"],
    ]) {
      const { status, stdout, stderr } = typed(args, as);
      assert.equal(status, 0, `${args}: ${stderr}`);
      assert.ok(stdout.includes(`walnut of ${two?.title.split(" ").at(-1)}`), `${args}: ${stdout}${stderr}`);
    }
    const { status, stdout, stderr } = typed(["doctor", "--json"], as);
    const reports = JSON.parse(stdout || "[]");
    assert.deepEqual(
      reports.map((/** @type {any} */ { health }) => health).sort(),
      ["ok", "unreadable"],
      `${status} ${stdout}${stderr}`,
    );
    fs.chmodSync(path, mode);
  }
});

check(
  "a store that one may not write shows what is in it, and imports nothing without saying so",
  notRoot,
  (typed, folder) => {
    theirs(typed, folder);
    const as = { uid: NOBODY };
    const folders = fs
      .readdirSync(join(folder, "store"), { recursive: true, withFileTypes: true })
      .filter((one) => one.isDirectory())
      .map((one) => join(one.parentPath, one.name));
    for (const path of [join(folder, "store"), ...folders]) fs.chmodSync(path, 0o555);
    const printed = typed(["resume", "last", "--print"], as);
    assert.equal(printed.status, 0, printed.stderr);
    assert.match(printed.stdout, /a walnut of/);
    assert.equal(printed.stderr, "");
    fs.mkdirSync(join(folder, "more"));
    fs.copyFileSync(join(folder, "one.jsonl"), join(folder, "more", "three.jsonl"));
    fs.writeFileSync(
      join(folder, "more", "three.jsonl"),
      fs.readFileSync(join(folder, "one.jsonl"), "utf8").replaceAll("one", "three"),
    );
    const imported = typed(["import", join(folder, "more")], as);
    assert.equal(imported.status, 1, imported.stdout);
    assert.match(imported.stderr, /permission_denied/);
    for (const path of [join(folder, "store"), ...folders]) fs.chmodSync(path, 0o700);
  },
);
