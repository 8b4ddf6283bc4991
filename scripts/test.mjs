// @ts-check
// `npm test`: runs every part but `wasm`, whose wasm-pack takes minutes to build, in two lanes; after the first failure
// no part begins. `node scripts/test.mjs rust wasm` runs these parts alone.

import { existsSync, readdirSync, statfsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { buildComponent } from "./build.mjs";
import { faults } from "./faults.mjs";
import { lint } from "./lint.mjs";
import { fail, root, run, seconds, step, watch } from "./run.mjs";
import { size } from "./size.mjs";
import { python, rustHost, wasmPackEnv } from "./toolchain.mjs";

/** Tests that passed and failed, over all runners. */
const sum = { passed: 0, failed: 0 };

/** @type {Record<string, { title: string, work: () => Promise<unknown> }>} */
const parts = {
  lint: { title: "Lints", work: lint },
  rust: { title: "Rust tests", work: rust },
  wasm: { title: "WebAssembly tests", work: wasm },
  component: { title: "The component", work: () => step("component", buildComponent) },
  js: { title: "JavaScript tests", work: javascript },
  faults: { title: "Faults, a hundredth of each suite", work: someFaults },
  size: { title: "Size", work: size },
};

async function rust() {
  await runner("cargo", ["test", "--quiet"], cargoCounts);
  run("cargo", ["check", "--quiet", "--no-default-features"]);
}

async function wasm() {
  // Three short tests: the compiler takes most of the time.
  const env = {
    ...wasmPackEnv(),
    CARGO_TARGET_DIR: join(root, "target", "wasm"),
    CARGO_PROFILE_DEV_OPT_LEVEL: "0",
    RUSTC_BOOTSTRAP: "1",
  };
  const features = ["--features", "core,tokens"];
  await runner(
    "wasm-pack",
    ["test", "--node", "--mode", "no-install", join("crates", "wasm"), "--test", "wasm", ...features],
    cargoCounts,
    env,
  );
}

async function javascript() {
  // The three hosts that test the component.
  await buildComponent();
  await step("wasmtime for Python", python);
  await step("the component's host in Rust", rustHost);
  const folder = join("tests", "js");
  const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".test.js"),
  );
  const files = names.sort().map((name) => join(folder, name));
  if (files.length === 0) fail(`expected tests in ${folder}, but found none`);
  // By itself it leaves one processor free, which is half of them on a machine of two.
  const atOnce = `--test-concurrency=${Math.max(2, availableParallelism())}`;
  await runner("node", ["--test", "--test-reporter=spec", atOnce, ...files], nodeCounts, inMemory());
}

/**
 * A folder in memory, if there is room, so that tests need not wait for a disk. The fault tests check what reaches the
 * disk.
 */
function inMemory() {
  const folder = "/dev/shm";
  const { bavail, bsize } = existsSync(folder) ? statfsSync(folder) : { bavail: 0, bsize: 0 };
  /** @type {Record<string, string>} */
  const env = bavail * bsize > 2 ** 31 ? { TMPDIR: folder } : {};
  return env;
}

async function someFaults() {
  const { passed, failed } = await faults({ scale: 0.01, seed: 1, all: false, names: [] });
  sum.passed += passed;
  sum.failed += failed;
  if (failed > 0) fail("faults");
}

/**
 * Runs a test runner and adds what it counted. A runner that reports no test at all has failed too.
 * @param {string} command
 * @param {string[]} args
 * @param {(output: string) => { passed: number, failed: number }} counts
 * @param {Record<string, string>} [env]
 */
async function runner(command, args, counts, env) {
  const { ok, output } = await watch(command, args, { env });
  const { passed, failed } = counts(output);
  sum.passed += passed;
  sum.failed += failed;
  if (ok && failed === 0 && passed > 0) return;
  if (failed === 0) sum.failed += 1;
  console.log(`\n${sum.passed} passed, ${sum.failed} failed`);
  fail(`${command} ${args.join(" ")}`);
}

/** @param {string} output of cargo test or wasm-bindgen-test-runner */
function cargoCounts(output) {
  const counts = { passed: 0, failed: 0 };
  for (const [, passed, failed] of output.matchAll(/^test result: .*?(\d+) passed; (\d+) failed/gm)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
  }
  return counts;
}

/** @param {string} output of node --test */
function nodeCounts(output) {
  /** @param {string} what */
  const number = (what) => Number(output.match(new RegExp(`^\\S+ ${what} (\\d+)$`, "m"))?.[1] ?? 0);
  return { passed: number("pass"), failed: number("fail") + number("cancelled") };
}

/**
 * The lanes, which run beside each other: a lane's parts use what the ones before them built, and each lane builds in
 * folders of its own. Most parts leave a processor idle for most of their time.
 */
const LANES = [
  ["lint", "rust", "faults"],
  ["component", "js", "size"],
];

/** @param {string} name */
async function part(name) {
  const { title, work } = parts[name];
  const start = performance.now();
  console.log(`\n== ${title}`);
  await work();
  console.log(`== ${title}: ${seconds(start)}`);
}

/** Runs every part in a process of its own; shows its output when it ends. After a failure no part begins. */
async function everyPart() {
  /** @type {string[]} */
  const broken = [];
  await Promise.all(
    LANES.map(async (lane) => {
      for (const name of lane) {
        if (broken.length > 0) return;
        const { ok, output } = await watch("node", [join("scripts", "test.mjs"), name], { quiet: true });
        process.stdout.write(output);
        const [, passed = 0, failed = 0] = Array.from(output.matchAll(/^(\d+) passed, (\d+) failed$/gm)).at(-1) ?? [];
        sum.passed += Number(passed);
        sum.failed += Number(failed);
        if (!ok) broken.push(parts[name].title);
      }
    }),
  );
  if (broken.length === 0) return;
  console.log(`\n${sum.passed} passed, ${sum.failed} failed`);
  fail(broken.join(", "));
}

const asked = process.argv.slice(2);
const unknown = asked.find((name) => !(name in parts));
if (unknown) fail(`expected ${Object.keys(parts).join(", ")}, but found ${unknown} instead`);
if (asked.length === 0) await everyPart();
for (const name of Object.keys(parts)) if (asked.includes(name)) await part(name);
if (sum.passed > 0) console.log(`\n${sum.passed} passed, ${sum.failed} failed`);
