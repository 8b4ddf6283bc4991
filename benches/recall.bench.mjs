// @ts-check
/**
 * What contexts recall and searches find of coding sessions whose answers are known, and of LoCoMo's conversations
 * where
 * `LEFTOFF_LOCOMO` says where its file lies: one array of `{ conversation, qa }`, from snap-research/locomo. Nothing of
 * that is in this repository. `LEFTOFF_EMBED` says where a module lies whose `embed` gives vectors of texts. And what
 * recalling costs in a long session, and searching in many.
 */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openStore } from "../js/index.js";
import { root } from "../scripts/run.mjs";
import { ofMany } from "./many.mjs";
import { BUDGETS, measureFound, measureQuoted, measureRecalled, samplesOf } from "./questions.mjs";
import { measureSpam } from "./spam.mjs";
import { inFolder, inTurns } from "./tools.mjs";

const LONG_LOG_MESSAGES = 200_000;
const BATCH = 1000;
const WINDOW = 32_768;
/** Every so many of the questions of talk is asked of contexts: all take an hour. */
const QUESTION_STEP = 8;

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */

/** @type {import("../scripts/bench.mjs").Bench} */
export default {
  title: `what is recalled and found, and what that costs in a session of ${LONG_LOG_MESSAGES.toLocaleString("en")} messages, and in many sessions`,
  run: () =>
    inFolder(async (folder) => [
      ...(await ofCode()),
      ...(await ofTalk(process.env["LEFTOFF_LOCOMO"])),
      ...(await ofLong(folder)),
      ...(await ofMany(folder)),
    ]),
};

/** @param {string} folder @returns {Promise<Figure[]>} */
async function ofLong(folder) {
  const store = await openStore({ home: join(folder, "long"), project: folder, countTokens: false });
  const session = await store.create();
  for (let n = 0; n < LONG_LOG_MESSAGES; n += BATCH) {
    const drafts = Array.from({ length: BATCH }, (_, place) => ({
      role: place % 2 ? "assistant" : "user",
      content: ticketText(n + place),
    }));
    await session.append(drafts, { durability: "buffered" });
  }
  const question = () =>
    session.append(
      { role: "user", content: `What became of ticket T${Math.floor(LONG_LOG_MESSAGES / 2) + (asked += 7)}?` },
      { durability: "buffered" },
    );
  let asked = 0;
  await question();
  const start = performance.now();
  await store.search("ticket").next();
  const firstMs = performance.now() - start;
  const first = await session.context({ window: WINDOW, frame: false });
  if (!first.report.recall) throw new Error("expected something to be recalled");
  const cost = await inTurns(
    {
      without: { times: 1, once: () => session.context({ window: WINDOW, recall: 0, frame: false }), after: question },
      asked: { times: 1, once: () => session.context({ window: WINDOW, frame: false }) },
      again: { times: 1, once: () => session.context({ window: WINDOW, frame: false }), after: question },
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
const ticketText = (n) =>
  `Ticket T${n}: ${["the parser", "a lease", "the picker", "an index"][n % 4]} was changed in src/part${n % 997}.rs, since case ${n * 31} failed.`;

/** What contexts and searches have of the coding questions. @returns {Promise<Figure[]>} */
async function ofCode() {
  const samples = samplesOf(join(root, "tests", "fixtures", "coding-questions", "questions.json"));
  const { words, unanswered } = await measureRecalled(samples, 1);
  const { first, five } = await measureFound(samples);
  const told = await measureQuoted(samples, 1);
  const spam = await measureSpam(samples);
  return [
    { what: "coding: orders for which store.recall quotes something", value: spam.orders, unit: "%", atMost: 10 },
    { what: "coding: another project's questions for which it does", value: spam.questions, unit: "%", atMost: 10 },
    { what: "coding: the answer's words in what store.recall quotes", value: told.words, unit: "%", atLeast: 62 },
    { what: "coding: what it quotes where nothing answers", value: told.unanswered, unit: "tokens" },
    { what: "coding: what it quotes for another project's question", value: told.foreign, unit: "tokens" },
    ...words.map((value, at) => ({
      what: `coding: the answer's words in a context of ${BUDGETS[at]}`,
      value,
      unit: "%",
      atLeast: [72, 80, 91][at] ?? 0,
    })),
    { what: "coding: recalled where nothing answers, at 4000", value: unanswered, unit: "tokens", atMost: 150 },
    { what: "coding: the right session is the first", value: first, unit: "%", atLeast: 80 },
    { what: "coding: among the first five", value: five, unit: "%", atLeast: 98 },
  ];
}

/** @param {string} [file] @returns {Promise<Figure[]>} */
async function ofTalk(file) {
  if (!file) return [];
  const samples = samplesOf(file);
  const { evidence, foreign } = await measureRecalled(samples, QUESTION_STEP);
  const { first, five } = await measureFound(samples);
  const told = await measureQuoted(samples, QUESTION_STEP);
  const module = process.env["LEFTOFF_EMBED"];
  const byMeaning = module
    ? (await measureRecalled(samples, QUESTION_STEP, (await import(pathToFileURL(module).href)).embed)).evidence
    : [];
  return [
    { what: "talk: the answer's words in what store.recall quotes", value: told.words, unit: "%", atLeast: 62 },
    { what: "talk: evidence in what it quotes", value: told.evidence, unit: "%" },
    { what: "talk: what it quotes for another conversation's question", value: told.foreign, unit: "tokens" },
    ...byMeaning.map((value, at) => ({
      what: `talk: the same by meaning, too, in a context of ${BUDGETS[at]}`,
      value,
      unit: "%",
    })),
    ...evidence.map((value, at) => ({
      what: `talk: evidence in a context of ${BUDGETS[at]}`,
      value,
      unit: "%",
      atLeast: [72, 80, 87][at] ?? 0,
    })),
    { what: "talk: recalled for another conversation's question, at 4000", value: foreign, unit: "tokens", atMost: 60 },
    { what: "talk: the right session is the first", value: first, unit: "%", atLeast: 76 },
    { what: "talk: among the first five", value: five, unit: "%", atLeast: 93.5 },
  ];
}
