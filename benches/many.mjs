// @ts-check
/**
 * A store of many sessions: what its index costs, and what it answers in which time. `LEFTOFF_SCALE=10` makes a
 * gigabyte of it.
 */

import { spawnSync } from "node:child_process";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { openStore } from "../js/index.js";
import { root } from "../scripts/run.mjs";
import { chance } from "../tests/faults/tools.mjs";
import { conversation } from "./conversation.mjs";
import { inNode, median } from "./tools.mjs";

const SESSIONS = Math.round(250 * Number(process.env["LEFTOFF_SCALE"] ?? 1));
/** Of a log, in bytes: each order of magnitude as often as any other, 400 KB on average. */
const LOG = { min: 100_000, max: 1_000_000 };
const BATCH = 100;
const QUESTIONS = 300;
const WORDS = { min: 2, max: 12 };
const COMMANDS = 11;

const searching = fileURLToPath(new URL("searching.mjs", import.meta.url));

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */

/** @param {string} folder @returns {Promise<Figure[]>} */
export async function ofMany(folder) {
  const home = join(folder, "many");
  const { bytes, questions } = await makeSessions(home);
  const file = join(folder, "questions.json");
  writeFileSync(file, JSON.stringify(questions));
  const bare = inProcess(home, "nothing");
  const built = inProcess(home, "index");
  /** @type {number[]} */
  const times = inProcess(home, "ask", file).times;
  const appended = inProcess(join(folder, "appended"), "append");
  const runs = join(home, "cache", "recall");
  const size = readdirSync(runs).reduce((sum, name) => sum + statSync(join(runs, name)).size, 0);
  const said = `in ${SESSIONS.toLocaleString("en")} sessions, ${(bytes / 1e9).toFixed(2)} GB`;
  return [
    { what: "the index, of the logs", value: (100 * size) / bytes, unit: "%", atMost: 18 },
    { what: "building it, processor time", value: bytes / 1000 / (built.ms - built.again), unit: "MB/s", atLeast: 25 },
    { what: "memory for that, above bare Node", value: built.maxMb - bare.maxMb, unit: "MB", atMost: 128 },
    { what: "a message that was appended", value: 1000 * median(appended.times), unit: "us", atMost: 50 },
    { what: `a search ${said}, half of them`, value: median(times), unit: "ms", atMost: 10 },
    {
      what: "the same, 99 of 100",
      value: times.toSorted((a, b) => a - b)[Math.floor(0.99 * times.length)] ?? NaN,
      unit: "ms",
      atMost: 30,
    },
    { what: "the same, as a command, above bare Node", value: ofCommands(home, questions), unit: "ms", atMost: 120 },
  ];
}

/** Sessions of an agent, and words of some of their messages. @param {string} home */
async function makeSessions(home) {
  const store = await openStore({ home, project: "/", countTokens: false });
  const random = chance(1);
  /** @type {string[]} */
  const questions = [];
  let bytes = 0;
  for (let n = 0; n < SESSIONS; n += 1) {
    const session = await store.create({ title: `session ${n}` });
    const log = join(session.path, "messages.jsonl");
    const wanted = random.size(LOG.min, LOG.max);
    const drafts = conversation(n + 1);
    let size = 0;
    while (size < wanted) {
      const some = Array.from(
        { length: BATCH },
        () => /** @type {import("./conversation.mjs").Draft} */ (drafts.next().value),
      );
      await session.append(some, { durability: "buffered" });
      size = statSync(log).size;
      const asked =
        (questions.length * SESSIONS) / QUESTIONS <= n && wordsOf(some[random.below(BATCH)]?.content ?? "", random);
      if (asked) questions.push(asked);
    }
    bytes += size;
    await session.close();
  }
  await store.close();
  return { bytes, questions };
}

/** A few words of a text, in any order. @param {string} text @param {ReturnType<typeof chance>} random */
function wordsOf(text, random) {
  const words = text.match(/\p{L}[\p{L}\p{N}_]{2,}/gu) ?? [];
  return Array.from(
    { length: WORDS.min + random.below(WORDS.max - WORDS.min + 1) },
    () => words[random.below(words.length)] ?? "",
  )
    .join(" ")
    .trim();
}

/** @param {string} home @param {string[]} args @returns {any} */
function inProcess(home, ...args) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [searching, home, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${args[0]}: ${stderr}`);
  return JSON.parse(stdout);
}

/** What a search takes as a command, in milliseconds. @param {string} home @param {string[]} questions */
function ofCommands(home, questions) {
  const some = questions.slice(0, COMMANDS);
  const cli = join(root, "pkg", "cli.js");
  const ours = some.map((question) => inNode(cli, "search", "--home", home, "--all", "--", question).processorMs);
  return median(ours) - median(some.map(() => inNode("-e", "0").processorMs));
}
