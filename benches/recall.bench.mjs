// @ts-check
/**
 * What contexts recall, and searches find, of LoCoMo's conversations, where `LEFTOFF_LOCOMO` says where its file lies: one array of
 * `{ conversation, qa }`, from snap-research/locomo. Nothing of it is in this repository. And what recalling costs in a long session.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { inFolder, inTurns } from "./tools.mjs";

const LONG = 200_000;
const BATCH = 1000;
const BUDGETS = [2000, 4000, 8000];
const WINDOW = 32_768;
/** Every so many of the questions is asked: all take an hour. */
const EVERY = 8;
const WANTED = [72, 80, 87];

/**
 * @typedef {import("../scripts/bench.mjs").Figure} Figure
 * @typedef {{ speaker: string, text?: string, blip_caption?: string, dia_id: string }} Turn
 * @typedef {{ question: string, evidence?: unknown }} Question
 * @typedef {{ conversation: Record<string, any>, qa: Question[] }} Sample
 */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `what is recalled, and what that costs in a session of ${LONG.toLocaleString("en")} messages`,
  run: () => inFolder(async (folder) => [...(await ofLong(folder)), ...(await ofTalk(folder, process.env["LEFTOFF_LOCOMO"]))]),
};

/** @param {string} folder @returns {Promise<Figure[]>} */
async function ofLong(folder) {
  const store = await openStore({ home: join(folder, "long"), project: folder, countTokens: false });
  const session = await store.create();
  for (let n = 0; n < LONG; n += BATCH) {
    const drafts = Array.from({ length: BATCH }, (_, place) => ({ role: place % 2 ? "assistant" : "user", content: told(n + place) }));
    await session.append(drafts, { durability: "buffered" });
  }
  const question = () => session.append({ role: "user", content: `What became of ticket T${Math.floor(LONG / 2) + (asked += 7)}?` }, { durability: "buffered" });
  let asked = 0;
  await question();
  const start = performance.now();
  await store.search("ticket").next();
  const firstMs = performance.now() - start;
  const first = await session.context({ window: WINDOW });
  if (!first.report.recall) throw new Error("expected something to be recalled");
  const cost = await inTurns(
    {
      without: { times: 1, once: () => session.context({ window: WINDOW, recall: 0 }), after: question },
      asked: { times: 1, once: () => session.context({ window: WINDOW }) },
      again: { times: 1, once: () => session.context({ window: WINDOW }), after: question },
    },
    { rounds: 31 },
  );
  await store.close();
  const { without = NaN, asked: one = NaN, again = NaN } = cost;
  return [
    { what: "a context that recalls, to one that does not", value: one / without, unit: "times", atMost: 1.3 },
    { what: "the same at the next step of a tool loop", value: again / without, unit: "times", atMost: 1.3 },
    { what: "the first search, which indexes the session", value: firstMs, unit: "ms" },
  ];
}

/** @param {number} n */
const told = (n) => `Ticket T${n}: ${["the parser", "a lease", "the picker", "an index"][n % 4]} was changed in src/part${n % 997}.rs, since case ${n * 31} failed.`;

/** @param {string} folder @param {string} [file] @returns {Promise<Figure[]>} */
async function ofTalk(folder, file) {
  if (!file) return [];
  const samples = /** @type {Sample[]} */ (JSON.parse(readFileSync(file, "utf8")));
  const sums = BUDGETS.map(() => ({ share: 0, count: 0 }));
  const foreign = { tokens: 0, count: 0 };
  for (const [nth, sample] of samples.entries()) {
    const store = await openStore({ home: join(folder, `talk-${nth}`), project: folder });
    const session = await store.create();
    const texts = new Map();
    for (const turns of sessionsOf(sample)) {
      for (const turn of turns) texts.set(turn.dia_id, textOf(turn));
      await session.append(turns.map((turn) => ({ role: turn.speaker === sample.conversation["speaker_a"] ? "user" : "assistant", content: textOf(turn) })), { durability: "buffered" });
    }
    const others = samples[(nth + 3) % samples.length]?.qa ?? [];
    for (const [place, { question, evidence }] of sample.qa.entries()) {
      const gold = [...String(evidence).matchAll(/D\d+:\d+/g)].flatMap(([id]) => texts.get(id) ?? []);
      if (gold.length === 0 || place % EVERY > 0) continue;
      const contexts = await asked(store, session, question, BUDGETS);
      for (const [at, { messages }] of contexts.entries()) {
        const all = messages.map((/** @type {{ content: string }} */ { content }) => content).join("\n");
        const sum = /** @type {{ share: number, count: number }} */ (sums[at]);
        sum.share += gold.filter((text) => all.includes(text)).length / gold.length;
        sum.count += 1;
      }
      const [other] = await asked(store, session, others[place % others.length]?.question ?? "", [4000]);
      foreign.tokens += other?.report.recall?.tokens ?? 0;
      foreign.count += 1;
    }
    await store.close();
  }
  const share = BUDGETS.map((budget, at) => {
    const { share, count } = /** @type {{ share: number, count: number }} */ (sums[at]);
    return { what: `evidence in a context of ${budget} tokens`, value: (100 * share) / count, unit: "%", atLeast: WANTED[at] };
  });
  return [...share, { what: "recalled for a question from another conversation, at 4000", value: foreign.tokens / foreign.count, unit: "tokens", atMost: 60 }];
}

/** The contexts of a fork in which that is asked. @param {any} store @param {any} session @param {string} question @param {number[]} budgets @returns {Promise<any[]>} */
async function asked(store, session, question, budgets) {
  const fork = await store.fork(session);
  await fork.append({ role: "user", content: question }, { durability: "buffered" });
  const contexts = [];
  for (const window of budgets) contexts.push(await fork.context({ window, reserve: 0 }));
  await fork.close();
  await store.delete(fork, { purge: true });
  return contexts;
}

/** @param {Sample} sample @returns {Turn[][]} */
function sessionsOf({ conversation }) {
  const numbers = Object.keys(conversation).flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? []);
  return numbers.map(Number).sort((a, b) => a - b).flatMap((number) => [conversation[`session_${number}`] ?? []]);
}

/** @param {Turn} turn */
const textOf = ({ speaker, text = "", blip_caption }) => `${speaker}: ${text}${blip_caption ? ` ${blip_caption}` : ""}`;
