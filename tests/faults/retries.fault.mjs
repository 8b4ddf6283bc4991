// @ts-check
/** Eight processes try the same appends again and again, killed wherever that falls: each counts once. */
// Tries: src/operation/append_once.rs, src/session/batch.rs

import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "../../js/index.js";
import { chance, scene } from "./tools.mjs";
import { messagesOf } from "./shared-session.mjs";

/** @import { Start } from "./tools.mjs" */
/** @typedef {ReturnType<typeof chance>} Chance */
/** @typedef {{ operation: string, told: [id: string, time: string][] }} ToldOperation */

const retrier = fileURLToPath(new URL("retrier.mjs", import.meta.url));
const WRITERS = 8;
const KILLS_PER_SESSION = 40;
const PLAN = { shared: 10, own: 2 };

/** @type {import("../../scripts/faults.mjs").Fault} */
export default {
  title:
    "8 processes append the same operations, killed and tried again: each counts once, whole, and behind what it expected",
  async run({ scaled, seed }) {
    const random = chance(seed);
    const wanted = scaled(800);
    const counts = { kills: 0, sessions: 0, operations: 0, answers: 0, conflicts: 0, "left out": 0 };
    await scene("retries", async ({ folder, start }) => {
      while (counts.kills < wanted) {
        const home = join(folder, String(counts.sessions));
        await oneSession({ home, start, random, counts, kills: Math.min(KILLS_PER_SESSION, wanted - counts.kills) });
        rmSync(home, { recursive: true });
      }
    });
    return counts;
  },
};

/** @param {{ home: string, start: Start, random: Chance, counts: Record<string, number>, kills: number }} options */
async function oneSession({ home, start, random, counts, kills }) {
  const store = await openStore({ home, project: "/" });
  const { id, path } = await store.create();
  await store.close();
  const seed = random.below(2 ** 20);
  let left = kills;
  const writer = async (/** @type {number} */ writer) => {
    /** @type {unknown[]} */
    const said = [];
    for (;;) {
      const child = start(process.execPath, [retrier, home, id, JSON.stringify({ seed, writer, ...PLAN })]);
      if (left-- > 0) {
        const [heard, momentMs] = [1 + random.below(30), random.size(0.01, 10)];
        await child.until((said) => said.length >= heard);
        for (const start = performance.now(); performance.now() - start < momentMs;)
          await new Promise((resolve) => setImmediate(resolve));
        child.kill();
      }
      const { code, signal, stderr } = await child.ended;
      said.push(...child.said);
      if (signal === "SIGKILL") counts.kills = (counts.kills ?? 0) + 1;
      else assert.equal(code, 0, stderr);
      if (code === 0) return said;
    }
  };
  const said = (await Promise.all(Array.from({ length: WRITERS }, (_, at) => writer(at)))).flat();
  const told = /** @type {ToldOperation[]} */ (said.filter((one) => typeof one === "object"));
  counts.answers = (counts.answers ?? 0) + told.length;
  counts.conflicts = (counts.conflicts ?? 0) + said.filter((one) => one === "conflict").length;
  counts.sessions = (counts.sessions ?? 0) + 1;
  counts.operations = (counts.operations ?? 0) + (await eachCountsOnce({ home, id, told }));
  const lines = readFileSync(join(path, "messages.jsonl"), "utf8").split("\n").filter(Boolean).length;
  counts["left out"] = (counts["left out"] ?? 0) + lines - (await messages(home, id)).length;
}

/**
 * @param {{ home: string, id: string, told: ToldOperation[] }} options
 * @returns {Promise<number>} how many operations there are
 */
async function eachCountsOnce({ home, id, told }) {
  const all = await messages(home, id);
  const path = await openStore({ home, project: "/" }).then(async (store) => (await store.session(id)).path);
  assert.deepEqual(await messages(home, id, { newestFirst: true }), all.toReversed(), "from its end");
  rmSync(join(home, "cache"), { recursive: true, force: true });
  assert.deepEqual(await messages(home, id), all, "without its checkpoint");
  const places = new Map(all.map((message, place) => [message.content.split(" ")[0], place]));
  assert.equal(places.size, all.length, "a message is there twice");
  const operations = new Map(told.map((one) => [one.operation, one.told]));
  assert.equal(operations.size, PLAN.shared + WRITERS * PLAN.own, "each was acknowledged");
  assert.equal(all.length, [...operations.keys()].flatMap(messagesOf).length, "and nothing else is there");
  for (const { operation, told: records } of told) {
    assert.deepEqual(records, operations.get(operation), `${operation}: another answer than before`);
    const from = places.get(`${operation}:0`) ?? NaN;
    const found = all.slice(from, from + records.length);
    assert.deepEqual(
      found.map(({ id, timestamp }) => [id, timestamp]),
      records,
      operation,
    );
    assert.deepEqual(
      found.map(({ content }) => content),
      messagesOf(operation).map(({ content }) => content),
      operation,
    );
  }
  // What was expected by the lines that count was the last message before them.
  const batches = readFileSync(join(path, "messages.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line.endsWith("}"))
    .map((line) => JSON.parse(line.slice(line.lastIndexOf('{"v":1,'))));
  for (const [operation, [first]] of operations) {
    if (!operation.startsWith("own") || !first) continue;
    const before = all[(places.get(`${operation}:0`) ?? NaN) - 1]?.id ?? null;
    const lines = batches.filter(({ id, timestamp }) => id === first[0] && timestamp === first[1]);
    assert.ok(
      lines.some(({ batch }) => batch.expected === before),
      `${operation}: expected ${lines[0]?.batch.expected}, but ${before} is before it`,
    );
  }
  return operations.size;
}

/** @param {string} home @param {string} id @param {{ newestFirst?: boolean }} [options] */
async function messages(home, id, options) {
  const store = await openStore({ home, project: "/" });
  const all = [];
  for await (const message of (await store.session(id)).messages(options)) all.push(message);
  await store.close();
  return all;
}
