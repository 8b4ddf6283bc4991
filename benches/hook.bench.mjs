// @ts-check
/** What an agent waits for a hook, and a person for a command, beside Node without a program. */

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recordersEnded } from "../tests/js/recorders.js";
import { entry } from "../tests/js/terminal.js";
import { inFolder, median } from "./tools.mjs";

const FEW_LINES = 1000;
const MANY_LINES = 10_000;
const LINE_CHARS = 900;
const ROUNDS = 9;

/** @typedef {Awaited<ReturnType<typeof recordTalk>>} Talk */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `a hook with nothing to say, at 1 and 9 MB, and commands, above bare Node (medians of ${ROUNDS})`,
  run: () => inFolder(measure),
};

/** @param {string} folder */
async function measure(folder) {
  const empty = join(folder, "empty.mjs");
  writeFileSync(empty, "");
  const few = await recordTalk(join(folder, "few"), FEW_LINES);
  const many = await recordTalk(join(folder, "many"), MANY_LINES);
  const list = ["list", "--all"];
  const costs = await inTurnsOf({
    bare: () => runNode([empty]),
    few: () => hook(few, "go on"),
    many: () => hook(many, "go on"),
    stops: () => hook(many, "let's stop here for today"),
    help: () => few.leftoff(["--help"]),
    list: () => few.leftoff(list),
    show: () => few.leftoff(["show", "last", "--last", "5"]),
  });
  const { bare, ...others } = costs;
  const above = (/** @type {keyof typeof others} */ name) => others[name] - bare;
  return [
    { what: "a hook at 9 MB to one at 1 MB", value: others.many / others.few, unit: "times", atMost: 1.5 },
    {
      what: "a hook with nothing to say to the whole one",
      value: others.many / others.stops,
      unit: "times",
      atMost: 0.5,
    },
    { what: "a hook with nothing to say to bare Node", value: others.many / bare, unit: "times", atMost: 3 },
    { what: "a hook with nothing to say above bare Node, 1 MB", value: above("few"), unit: "ms" },
    { what: "the same, 9 MB", value: above("many"), unit: "ms" },
    { what: "a hook that answers above bare Node, 9 MB", value: above("stops"), unit: "ms" },
    { what: "leftoff --help above bare Node", value: above("help"), unit: "ms" },
    { what: "leftoff list above bare Node", value: above("list"), unit: "ms" },
    { what: "leftoff show last above bare Node", value: above("show"), unit: "ms" },
    { what: "bare Node", value: bare, unit: "ms" },
  ];
}

/**
 * The median of each, run one after another in each round, in milliseconds.
 * @template {string} Name
 * @param {Record<Name, () => unknown>} works
 */
async function inTurnsOf(works) {
  const names = /** @type {Name[]} */ (Object.keys(works));
  /** @type {Record<string, number[]>} */
  const times = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const name of names) {
      const start = performance.now();
      const after = works[name]();
      times[name]?.push(performance.now() - start);
      // What was left to another process must not slow the next one down.
      if (typeof after === "string") await recordersEnded(after);
    }
  return /** @type {Record<Name, number>} */ (
    Object.fromEntries(names.map((name) => [name, median(times[name] ?? [])]))
  );
}

/** @param {Talk} talk @param {string} prompt @returns {string} the home, where others record now */
function hook({ path, folder, home, leftoff }, prompt) {
  const input = { session_id: "s", transcript_path: path, cwd: folder, hook_event_name: "UserPromptSubmit", prompt };
  leftoff(["hook", "claude-code"], JSON.stringify(input));
  return home;
}

/** A conversation in a client that was recorded once. @param {string} folder @param {number} lines */
async function recordTalk(folder, lines) {
  mkdirSync(folder);
  const [path, home] = [join(folder, "talk.jsonl"), join(folder, "home")];
  const text = "The gateway parses dates in src/dates.js, and retries payments. ".repeat(20).slice(0, LINE_CHARS);
  const said = Array.from({ length: lines }, (_, number) => ({
    type: number % 2 ? "assistant" : "user",
    uuid: `u${number}`,
    sessionId: "s",
    cwd: folder,
    timestamp: new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString(),
    message: number % 2 ? { role: "assistant", content: [{ type: "text", text }] } : { role: "user", content: text },
  }));
  writeFileSync(path, said.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const leftoff = (/** @type {string[]} */ args, input = "") =>
    runNode([entry, ...args], { cwd: folder, input, env: { ...process.env, HOME: folder, LEFTOFF_HOME: home } });
  const talk = { path, folder, home, leftoff };
  await recordersEnded(hook(talk, "hello"));
  return talk;
}

/** @param {string[]} args @param {import("node:child_process").SpawnSyncOptions} [options] */
function runNode(args, options) {
  const { status, stderr } = spawnSync(process.execPath, args, options);
  if (status !== 0) throw new Error(`expected ${args.join(" ")} to succeed, but found ${stderr} instead`);
}
