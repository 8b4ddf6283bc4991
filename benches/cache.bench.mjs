// @ts-check
/**
 * Contexts that stay cached: how much of each model call's context a provider has from the call before, and what the
 * calls cost, in frames, without them, and beside a plain cut that moves in steps. And what frames lose of the facts
 * that contexts have without them: of planted ones, of the coding questions, and of LoCoMo's conversations, where
 * `LEFTOFF_LOCOMO` says where its file lies, as in `recall.bench.mjs`. `LEFTOFF_SCALE=5` plants facts in five times as
 * many sessions.
 */

import { join } from "node:path";
import { MemoryStorage, countTokens, openStore } from "../js/index.js";
import { root } from "../scripts/run.mjs";
import { conversation } from "./conversation.mjs";
import { measurePlanted, measureQuestions } from "./evidence.mjs";
import { samplesOf } from "./questions.mjs";

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */
/** @typedef {import("./conversation.mjs").Draft} Draft */
/** @typedef {{ kept: number, cost: number, calls: number, cuts: number }} Sum */

const CALLS = 200;
const WINDOWS = [32_768, 128_000];
const FORMAT = "anthropic";
/** What a token costs of the price of one that no cache has: read from a cache, and written to it. */
const READ = 0.1;
const WRITTEN = 1.25;
/** How far the plain cut fills the budget. */
const STEP = 0.5;
const PLANTED = { calls: 300, sessions: 2 * Number(process.env["LEFTOFF_SCALE"] ?? 1) };
/** Every so many of the questions of talk is asked. */
const QUESTION_STEP = 8;

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `contexts of ${CALLS} model calls, each beside the one before, and what frames lose`,
  run: async () => [
    ...(await Promise.all(WINDOWS.map(ofWindow))).flat(),
    ...(await measurePlanted(PLANTED.calls, PLANTED.sessions)),
    ...(await ofQuestions(process.env["LEFTOFF_LOCOMO"])),
  ],
};

/** @param {string} [talk] @returns {Promise<Figure[]>} */
async function ofQuestions(talk) {
  const code = join(root, "tests", "fixtures", "coding-questions", "questions.json");
  return [
    ...(await measureQuestions("coding", samplesOf(code), 1, { evidence: false })),
    ...(talk ? await measureQuestions("talk", samplesOf(talk), QUESTION_STEP, { evidence: true }) : []),
  ];
}

/** @param {number} window @returns {Promise<Figure[]>} */
async function ofWindow(window) {
  const framed = await ofContexts({ window, format: FORMAT, frame: true });
  const unframed = await ofContexts({ window, format: FORMAT });
  const plain = await ofPlainCut(window);
  const share = (/** @type {string} */ what, /** @type {Sum} */ { kept }, limit = {}) => ({
    what: `${what}, window ${window}: of each context the call before has`,
    value: (kept / CALLS) * 100,
    unit: "%",
    ...limit,
  });
  return [
    share("plain cut in steps", plain),
    share("without frames", unframed),
    share("in frames", framed, { atLeast: (plain.kept / CALLS) * 100 - 1 }),
    {
      what: `without frames, window ${window}: cost beside the plain cut`,
      value: unframed.cost / plain.cost,
      unit: "times",
    },
    {
      what: `in frames, window ${window}: cost beside the plain cut`,
      value: framed.cost / plain.cost,
      unit: "times",
      atMost: 1.05,
      aim: 0.95,
    },
    { what: `plain cut, window ${window}: cuts`, value: plain.cuts, unit: "" },
    { what: `in frames, window ${window}: cuts`, value: framed.cuts, unit: "" },
  ];
}

/** @param {object} asked */
async function ofContexts(asked) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  const session = await store.create({ model: "gpt-5" });
  const sum = begin();
  for (const draft of conversation()) {
    if (draft.role === "assistant") {
      await add(sum, await buildItems(session, asked));
      if (sum.calls === CALLS) break;
    }
    await session.append(/** @type {any} */ (draft));
  }
  await store.close();
  return sum;
}

/** Keeps all, and where that exceeds the budget cuts the oldest steps, down to half of it. @param {number} window */
async function ofPlainCut(window) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  const budget = window - Math.floor(window / 4);
  const sum = begin();
  /** @type {string[][]} */
  let steps = [];
  for (const step of stepsOf(conversation())) {
    if (step[0]?.role === "assistant") {
      if ((await count(steps.flat())) > budget) {
        while (steps.length > 1 && (await count(steps.flat())) > budget * STEP) steps = steps.slice(1);
      }
      await add(sum, steps.flat());
      if (sum.calls === CALLS) break;
    }
    steps.push(await shape(store, step));
  }
  await store.close();
  return sum;
}

/** Groups drafts into an answer with its results, or one user message. @param {Iterable<Draft>} drafts */
function* stepsOf(drafts) {
  /** @type {Draft[]} */
  let step = [];
  for (const draft of drafts) {
    if (draft.role !== "tool" && step.length > 0) {
      yield step;
      step = [];
    }
    step.push(draft);
  }
}

/** @param {import("../js/index.js").Store} store @param {Draft[]} step */
async function shape(store, step) {
  const session = await store.create();
  await session.append(/** @type {any} */ (step));
  return buildItems(session, { window: 100_000_000, format: FORMAT });
}

/**
 * Builds a context; returns its messages, each as JSON.
 * @param {import("../js/index.js").Session} session
 * @param {object} asked
 */
async function buildItems(session, asked) {
  const { messages } = await session.context(/** @type {any} */ (asked));
  return messages.map((message) => JSON.stringify(message));
}

/** @returns {Sum & { last: string[] }} */
const begin = () => ({ kept: 0, cost: 0, calls: 0, cuts: 0, last: [] });

/** @param {Sum & { last: string[] }} sum @param {string[]} items */
async function add(sum, items) {
  const changed = items.findIndex((item, place) => item !== sum.last[place]);
  const unchanged = items.slice(0, changed < 0 ? items.length : changed);
  const [all, same] = [await count(items), await count(unchanged)];
  sum.kept += same / all;
  sum.cost += same * READ + (all - same) * WRITTEN;
  sum.cuts += same < all / 4 ? 1 : 0;
  sum.calls += 1;
  sum.last = items;
}

/** The tokens of each text that was counted. @type {Map<string, number>} */
const counts = new Map();

/** @param {string[]} items */
async function count(items) {
  const unknown = items.filter((item) => !counts.has(item));
  const made = await countTokens(unknown);
  unknown.forEach((item, place) => counts.set(item, made[place] ?? 0));
  return items.reduce((sum, item) => sum + (counts.get(item) ?? 0), 0);
}
