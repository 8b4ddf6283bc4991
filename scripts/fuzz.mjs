// @ts-check
// `npm run test:fuzz -- --minutes 10 scan read-codex`: runs fuzz targets one after another, each so long; all without a
// name. `read-` and an agent's name is the reader of its files: one program, to which LEFTOFF_AGENT names the agent.
// Inputs that break a law are kept under tests/fixtures/fuzz, where `cargo test` runs them from then on. `--self-test`
// checks that a planted panic is found. `--wasm --minutes 10` fuzzes counting in WebAssembly, beginning with what
// `tokens` found natively.

import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { parseArgs } from "node:util";
import { fuzzWasm } from "./fuzz-wasm.mjs";
import { ask, fail, root, run, seconds, step } from "./run.mjs";
import { AGENTS, MAX_SEED_BYTES, dictionary, seed } from "./seeds.mjs";
import { cargoFuzz } from "./toolchain.mjs";

/**
 * The result of a run of one target.
 * @typedef {object} FuzzRun
 * @property {number} executions
 * @property {number} edges of the compiled code that were reached
 * @property {number} corpus inputs that each reached something new
 * @property {string[]} findings files
 * @property {string} output
 */

/** The folder of fuzzing builds, and of the corpus from one run to the next. */
const work = join(process.env.CARGO_TARGET_DIR ?? join(root, "target"), "fuzz");
/** The time within which the planted panic has to be found. */
const SELF_TEST_SECONDS = 60;

/** The agent whose files a target reads. @param {string} target */
function agentOf(target) {
  return AGENTS.find((agent) => target === `read-${agent}`) ?? "";
}

/** @param {string} target @param {string[]} [features] */
function build(target, features = []) {
  const program = agentOf(target) ? "read" : target;
  const env = { PATH: [cargoFuzz(), process.env.PATH].join(delimiter) };
  // Without the sanitizer, which needs a nightly compiler, and finds faults that safe Rust cannot have.
  run("cargo", ["fuzz", "build", "--sanitizer", "none", "--target-dir", work, ...features, program], {
    quiet: true,
    env,
  });
  const host =
    ask("rustc", ["-vV"])?.match(/^host: (.*)$/m)?.[1] ?? fail("expected rustc to name its host, but it did not");
  return join(work, host, "release", program);
}

/**
 * @param {string} target
 * @param {string} binary
 * @param {number} duration seconds
 * @param {string} name of its folders
 * @returns {Promise<FuzzRun>}
 */
async function runTarget(target, binary, duration, name = target) {
  const corpus = join(work, "corpus", name);
  const artifacts = join(work, "artifacts", name);
  rmSync(artifacts, { recursive: true, force: true });
  mkdirSync(artifacts, { recursive: true });
  console.log(`  ${target}: ${seed(target, corpus)} seeds, ${readdirSync(corpus).length} inputs in all`);
  const dict = join(work, `${name}.dict`);
  dictionary(target, dict);
  const flags = {
    dict,
    max_total_time: duration,
    max_len: MAX_SEED_BYTES,
    timeout: 20,
    rss_limit_mb: 2048,
    print_final_stats: 1,
    artifact_prefix: `${artifacts}/`,
  };
  const child = spawn(binary, [corpus, ...Object.entries(flags).map(([flag, value]) => `-${flag}=${value}`)], {
    env: { ...process.env, LEFTOFF_AGENT: agentOf(target) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (output += text));
  const status = await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
  const findings = readdirSync(artifacts).map((file) => join(artifacts, file));
  const last = Array.from(output.matchAll(/^#\d+\s.*cov: (\d+) .*corp: (\d+)\//gm)).at(-1);
  const executions = Number(output.match(/^stat::number_of_executed_units: (\d+)$/m)?.[1] ?? 0);
  if (findings.length === 0 && (status !== 0 || executions === 0 || !last))
    fail(`${target} (exit ${status})\n${output.slice(-4000)}`);
  return { executions, edges: Number(last?.[1] ?? 0), corpus: Number(last?.[2] ?? 0), findings, output };
}

/** Answers how many findings there are. @param {string} target @param {number} minutes */
async function fuzz(target, minutes) {
  /** @type {string} */
  let binary = "";
  await step(`${target} is built`, () => void (binary = build(target)));
  const start = performance.now();
  const { executions, edges, corpus, findings, output } = await runTarget(target, binary, Math.round(minutes * 60));
  const said = (/** @type {number} */ count) => count.toLocaleString("en");
  console.log(
    `${findings.length === 0 ? "ok" : "FAILED"} ${target}: executions ${said(executions)}, edges ${said(edges)}, corpus ${said(corpus)} (${seconds(start)})`,
  );
  const kept = join(root, "tests", "fixtures", "fuzz", target);
  for (const finding of findings) {
    mkdirSync(kept, { recursive: true });
    const name = finding.split("/").at(-1) ?? "finding";
    copyFileSync(finding, join(kept, name));
    console.log(output.slice(-3000));
    console.log(`kept as tests/fixtures/fuzz/${target}/${name}: name it after its defect`);
  }
  return findings.length;
}

async function selfTest() {
  const binary = build("scan", ["--features", "planted"]);
  const start = performance.now();
  const { findings, output } = await runTarget("scan", binary, SELF_TEST_SECONDS, "planted");
  if (findings.length === 0 || !output.includes("the planted panic"))
    fail(`the planted panic was not found\n${output.slice(-2000)}`);
  console.log(`ok self-test: the planted panic was found (${seconds(start)})`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: "string", default: "10" },
    "self-test": { type: "boolean", default: false },
    wasm: { type: "boolean", default: false },
    seed: { type: "string", default: "1" },
  },
});
const programs = readdirSync(join(root, "fuzz", "fuzz_targets")).map((file) => file.slice(0, -".rs".length));
const targets = programs.flatMap((name) => (name === "read" ? AGENTS.map((agent) => `read-${agent}`) : [name]));
const unknown = positionals.find((name) => !targets.includes(name));
if (unknown) fail(`expected ${targets.join(", ")}, but found ${unknown} instead`);
if (values["self-test"]) {
  await selfTest();
} else if (values.wasm) {
  const corpus = join(work, "corpus", "tokens");
  seed("tokens", corpus);
  await fuzzWasm({ corpus, minutes: Number(values.minutes), seed: Number(values.seed) });
} else {
  let findings = 0;
  for (const target of targets.filter((name) => positionals.length === 0 || positionals.includes(name)))
    findings += await fuzz(target, Number(values.minutes));
  process.exitCode = findings > 0 ? 1 : 0;
}
