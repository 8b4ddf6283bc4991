// @ts-check
// Runs suites that try something many times: each whole, or a part of each with `--scale 0.01`; only some by their
// names; another sequence with `--seed 7`.

import { readFileSync, readdirSync } from "node:fs";
import { release, type } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { fail, root, seconds } from "./run.mjs";

/**
 * A suite: `<folder>/<name>.<kind>.mjs` exports it as default.
 * @typedef {object} Suite
 * @property {string} title the law that it tries to break
 * @property {(options: Options) => Promise<Outcome>} run throws where the law was broken
 *
 * @typedef {object} Options
 * @property {(whole: number) => number} scaled how many of `whole` to try, at least one
 * @property {number} seed
 * @property {boolean} all also runs what is left out by default
 *
 * @typedef {Record<string, number | string> | { skipped: string }} Outcome the counts, or why the suite was skipped
 *
 * @typedef {{ scale: number, seed: number, all: boolean, names: string[] }} SuiteOptions
 */

/**
 * @param {{ folder: string, kind: string }} place below the tests
 * @param {SuiteOptions} asked
 */
export async function suites({ folder, kind }, { scale, seed, all, names }) {
  const at = join(root, "tests", folder);
  const ending = `.${kind}.mjs`;
  const found = readdirSync(at)
    .filter((name) => name.endsWith(ending))
    .map((name) => name.slice(0, -ending.length));
  const unknown = names.find((name) => !found.includes(name));
  if (unknown) fail(`expected ${found.join(", ")}, but found ${unknown} instead`);
  console.log(`${type()} ${release()}, ${filesystem()}, Node ${process.versions.node}, seed ${seed}, scale ${scale}`);
  const scaled = (/** @type {number} */ whole) => Math.max(1, Math.round(whole * scale));
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const name of found.filter((name) => names.length === 0 || names.includes(name))) {
    const { default: suite } = /** @type {{ default: Suite }} */ (await import(join(at, `${name}${ending}`)));
    const start = performance.now();
    try {
      const outcome = await suite.run({ scaled, seed, all });
      const skipped = "skipped" in outcome;
      sum[skipped ? "skipped" : "passed"] += 1;
      console.log(
        `${skipped ? "SKIPPED" : "ok"} ${name}: ${suite.title}: ${formatOutcome(outcome)} (${seconds(start)})`,
      );
    } catch (error) {
      sum.failed += 1;
      console.log(`FAILED ${name}: ${suite.title}`);
      console.log(error);
    }
  }
  console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  return sum;
}

/** Parses the command line. @param {{ scale: string }} usual @returns {SuiteOptions} */
export function parseOptions({ scale }) {
  const options = /** @type {const} */ ({
    scale: { type: "string", default: scale },
    seed: { type: "string", default: "1" },
    all: { type: "boolean", default: false },
  });
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  return { scale: Number(values.scale), seed: Number(values.seed), all: values.all, names: positionals };
}

/** @param {Outcome} outcome */
function formatOutcome(outcome) {
  return Object.entries(outcome)
    .map(([what, count]) => `${what} ${typeof count === "number" ? count.toLocaleString("en") : count}`)
    .join(", ");
}

/** The kind of filesystem that temporary files are on. */
function filesystem() {
  const mounts = readFileSync("/proc/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "));
  const at = process.env.TMPDIR ?? "/tmp";
  const holds = mounts.filter(([, place = "-"]) => at === place || at.startsWith(place === "/" ? "/" : `${place}/`));
  const [, , kind = "unknown filesystem"] = holds.sort((a, b) => (b[1] ?? "").length - (a[1] ?? "").length)[0] ?? [];
  return kind;
}
