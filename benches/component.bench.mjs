// @ts-check
/**
 * The component in wasmtime's Python: a session of 10 MB opened, listed, made a context of and resumed, in a process of
 * its own.
 */

import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildComponent } from "../scripts/build.mjs";
import { PYTHON, python } from "../scripts/toolchain.mjs";
import { inPython } from "../tests/component/talks.js";
import { fillLog, indexWords } from "./filled-log.mjs";
import { inFolder, inTurns, median } from "./tools.mjs";

const BYTES = 10_000_000;
const WINDOW = 32_768;
const ROUNDS = 9;
const REQUEST = { window: WINDOW, encoding: "estimate-1" };

const work = fileURLToPath(new URL("work.mjs", import.meta.url));

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `a session of ${BYTES / 1e6} MB in wasmtime's Python, a process for each round, the component compiled before`,
  async run() {
    await buildComponent();
    python();
    return spawnSync(PYTHON, ["-c", "import wasmtime"]).status === 0 ? inFolder(measure) : [];
  },
};

/** @param {string} folder @returns {Promise<Figure[]>} */
async function measure(folder) {
  const home = join(folder, "home");
  const { id, path } = await fillLog(home, BYTES);
  await indexWords({ home, id, path });
  /** @type {Record<string, number[]>} */
  const steps = {};
  // The first one compiles the component, where this wasmtime has not done so before.
  await timeSteps(home, path, steps);
  for (const name of Object.keys(steps)) delete steps[name];
  const cost = await inTurns(
    {
      bare: { times: 1, once: () => runProgram(PYTHON, ["-c", "import wasmtime.component"]) },
      python: { times: 1, once: () => timeSteps(home, path, steps) },
      node: { times: 1, once: () => runProgram(process.execPath, [work, home, "context and resume"]) },
    },
    { rounds: ROUNDS },
  );
  const forgetting = () => {
    for (const name of readdirSync(join(home, "cache"))) rmSync(join(home, "cache", name), { recursive: true });
  };
  forgetting();
  const { unknown } = await inTurns(
    { unknown: { times: 1, once: () => timeSteps(home, path, {}), after: forgetting } },
    { rounds: ROUNDS },
  );
  const { bare = NaN, python: whole = NaN, node = NaN } = cost;
  return [
    { what: "listed, opened, a context, resumed: the whole process", value: whole / 1e6, unit: "s", atMost: 2 },
    {
      what: "the same where nothing is known of it: no index, no checkpoint",
      value: (unknown ?? NaN) / 1e6,
      unit: "s",
      atMost: 2,
    },
    { what: "the first, to the package in a process of Node", value: whole / node, unit: "times", atMost: 3 },
    { what: "  in Node", value: node / 1e6, unit: "s" },
    { what: "  Python that imports wasmtime, and no more", value: bare / 1e6, unit: "s" },
    ...Object.entries(steps).map(([name, values]) => ({ what: `  ${name}`, value: median(values), unit: "ms" })),
  ];
}

/**
 * All four, asked one after another; each step's milliseconds go into `steps`.
 * @param {string} home
 * @param {string} path
 * @param {Record<string, number[]>} steps
 */
async function timeSteps(home, path, steps) {
  let last = performance.now();
  const passed = (/** @type {string} */ name) => {
    const now = performance.now();
    (steps[name] ??= []).push(now - last);
    last = now;
  };
  const talk = await inPython({ home, project: "/" });
  const asked = JSON.stringify({ request: REQUEST, summarizes: false });
  const listed = JSON.parse(await talk.ask({ op: "list", args: ["{}"], session: null }));
  if (listed.length !== 1) throw new Error(`expected one session, but found ${listed.length}`);
  passed("started, and listed");
  await talk.ask({ op: "session-at", args: [path, "home"], session: null });
  passed("opened");
  await talk.ask({ op: "context", args: [asked] });
  passed("a context");
  await talk.ask({ op: "resume", args: [JSON.stringify({ ...JSON.parse(asked), leaves: false, offsetMinutes: 0 })] });
  passed("resumed");
  await talk.ask({ op: "close" });
  await talk.end();
  passed("closed, and ended");
}

/** @param {string} program @param {string[]} args */
function runProgram(program, args) {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
