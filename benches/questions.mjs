// @ts-check
/** Questions over conversations whose answers are known, in LoCoMo's shape; and what of them is recalled and found. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "../js/index.js";
import { inFolder, mean } from "./tools.mjs";

export const BUDGETS = [2000, 4000, 8000];

const MINUTE_MS = 60_000;
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
/** Words that tell of no answer. */
const COMMON = new Set(
  "that this with from they were have been which when what where because after before into only also than then them would could should about does make made used using uses their there these those while each more most some such both other over same very just will being did done".split(
    " ",
  ),
);

/**
 * @typedef {{ speaker: string, text?: string, blip_caption?: string, dia_id: string }} Turn
 * @typedef {{ question: string, answer?: unknown, evidence?: unknown }} Question
 * @typedef {{ conversation: Record<string, any>, qa: Question[] }} Sample
 * @typedef {import("../js/index.js").Store} Store
 * @typedef {import("../js/index.js").Embed} Embed
 * @typedef {{ messages: { content: string }[], report: { recall?: { tokens: number } } }} Context
 */

/** @param {string} file @returns {Sample[]} */
export const samplesOf = (file) => JSON.parse(readFileSync(file, "utf8"));

/** The sessions of a conversation, in their order. @param {Sample} sample */
export function sessionsOf({ conversation }) {
  const numbers = Object.keys(conversation)
    .flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? [])
    .map(Number);
  return numbers
    .sort((a, b) => a - b)
    .flatMap((number) => {
      /** @type {Turn[]} */
      const turns = conversation[`session_${number}`] ?? [];
      const began = beganMs(conversation[`session_${number}_date_time`] ?? "");
      const draft = (/** @type {Turn} */ turn, /** @type {number} */ nth) => ({
        role: turn.speaker === conversation["speaker_a"] ? "user" : "assistant",
        content: textOf(turn),
        timestamp: new Date(began + nth * MINUTE_MS).toISOString(),
      });
      return [{ number, drafts: turns.map(draft) }];
    });
}

/** `1:56 pm on 8 May, 2023` @param {string} said */
function beganMs(said) {
  const [, hour, minute, half, day, month = "", year] = /(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)/.exec(said) ?? [];
  if (!year) throw new Error(`expected when a session began, but found ${JSON.stringify(said)} instead`);
  return Date.UTC(
    Number(year),
    MONTHS.indexOf(month),
    Number(day),
    (Number(hour) % 12) + (half === "pm" ? 12 : 0),
    Number(minute),
  );
}

/** @param {Turn} turn */
const textOf = ({ speaker, text = "", blip_caption }) => `${speaker}: ${text}${blip_caption ? ` ${blip_caption}` : ""}`;

/** The words that say something. @param {unknown} text */
function wordsOf(text) {
  const words =
    String(text ?? "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]{2,}/gu) ?? [];
  return new Set(words.filter((word) => (word.length > 3 || /\d/.test(word)) && !COMMON.has(word)));
}

/** What was said, by session and number. @param {Sample} sample @returns {Map<string, string>} */
export const turnsOf = ({ conversation }) =>
  new Map(
    Object.values(conversation)
      .filter(Array.isArray)
      .flat()
      .map((turn) => [turn.dia_id, textOf(turn)]),
  );

/** The messages that hold the answer, by session and number. @param {Question} question */
export const golds = ({ evidence }) =>
  [...String(evidence).matchAll(/D(\d+):\d+/g)].map(([id, session]) => ({ id, session: Number(session) }));

/**
 * What contexts have of what answers, a question in `every`.
 * @param {Sample[]} samples @param {number} every @param {Embed} [embed] orders what is recalled, too
 * @returns {Promise<{ evidence: number[], words: number[], unanswered: number, foreign: number }>} percents at each
 *   budget; tokens recalled at the second one,
 *   for questions that nobody answers, and for those of another conversation
 */
export async function measureRecalled(samples, every, embed) {
  const [evidence, words] = [BUDGETS.map(() => mean()), BUDGETS.map(() => mean())];
  const [unanswered, foreign] = [mean(), mean()];
  for (const [nth, sample] of samples.entries()) {
    const others = samples[(nth + 3) % samples.length]?.qa ?? [];
    await inStore(async (store) => {
      const session = await store.create();
      for (const { drafts } of sessionsOf(sample)) await session.append(drafts, { durability: "buffered" });
      const texts = turnsOf(sample);
      for (const [place, question] of sample.qa.entries()) {
        if (place % every > 0) continue;
        const gold = golds(question).flatMap(({ id }) => texts.get(id) ?? []);
        const contexts = await askFork(store, session, question.question, BUDGETS, embed);
        if (gold.length === 0) {
          unanswered.add(contexts[1]?.report.recall?.tokens ?? 0);
          continue;
        }
        for (const [at, context] of contexts.entries()) {
          const all = context.messages.map(({ content }) => content).join("\n");
          evidence[at]?.add((100 * gold.filter((text) => all.includes(text)).length) / gold.length);
          words[at]?.add(100 * shareOfWords(question, gold.join(" "), all));
        }
        const [other] = await askFork(store, session, others[place % others.length]?.question ?? "", [4000]);
        foreign.add(other?.report.recall?.tokens ?? 0);
      }
    });
  }
  const values = (/** @type {ReturnType<typeof mean>[]} */ means) => means.map(({ value }) => value());
  return { evidence: values(evidence), words: values(words), unanswered: unanswered.value(), foreign: foreign.value() };
}

/**
 * Which part of the answer's own words, those that it has neither from the question nor from elsewhere, stands there.
 * @param {Question} question
 * @param {string} told
 * @param {string} all
 */
export function shareOfWords({ question, answer }, told, all) {
  const [asked, known, there] = [wordsOf(question), wordsOf(told), wordsOf(all)];
  const wanted = [...wordsOf(answer)].filter((word) => !asked.has(word) && known.has(word));
  return wanted.length === 0 ? 1 : wanted.filter((word) => there.has(word)).length / wanted.length;
}

/**
 * The contexts of a fork in which that is asked.
 * @param {Store} store
 * @param {import("../js/index.js").Session} session
 * @param {string} question
 * @param {number[]} budgets
 * @param {Embed} [embed]
 */
async function askFork(store, session, question, budgets, embed) {
  const fork = await store.fork(session);
  await fork.append({ role: "user", content: question }, { durability: "buffered" });
  const contexts = [];
  for (const window of budgets)
    contexts.push(
      /** @type {Context} */ (await fork.context({ window, reserve: 0, frame: false, ...(embed && { embed }) })),
    );
  await fork.close();
  await store.delete(fork, { purge: true });
  return contexts;
}

/**
 * In how many percent of the questions the right session is the first that is found, and among the first five.
 * @param {Sample[]} samples
 */
export async function measureFound(samples) {
  const [first, five] = [mean(), mean()];
  for (const sample of samples) {
    await inStore(async (store) => {
      const numbers = await storeSessions(store, sample);
      for (const question of sample.qa) {
        const right = new Set(golds(question).map(({ session }) => session));
        if (right.size === 0) continue;
        const order = new Set();
        for await (const { session } of store.search(question.question, { all: true, limit: 5 }))
          order.add(numbers.get(session.id));
        const place = [...order].findIndex((number) => right.has(number));
        first.add(place === 0 ? 100 : 0);
        five.add(place >= 0 ? 100 : 0);
      }
    });
  }
  return { first: first.value(), five: five.value() };
}

/**
 * What `store.recall` quotes of sessions, each a conversation's own, by its own limit, a question in `every`.
 * @param {Sample[]} samples @param {number} every
 * @returns {Promise<{ words: number, evidence: number, unanswered: number, foreign: number }>} percents; tokens, where
 *   nothing answers and for those of another conversation
 */
export async function measureQuoted(samples, every) {
  const [words, evidence, unanswered, foreign] = [mean(), mean(), mean(), mean()];
  for (const [nth, sample] of samples.entries()) {
    const others = samples[(nth + 3) % samples.length]?.qa ?? [];
    const texts = turnsOf(sample);
    await inStore(async (store) => {
      await storeSessions(store, sample);
      const recalled = (/** @type {string} */ question) => store.recall(question, { all: true });
      for (const [place, question] of sample.qa.entries()) {
        if (place % every > 0) continue;
        const { text, tokens } = await recalled(question.question);
        const gold = golds(question).flatMap(({ id }) => texts.get(id) ?? []);
        if (gold.length === 0) {
          unanswered.add(tokens);
          continue;
        }
        words.add(100 * shareOfWords(question, gold.join(" "), text));
        evidence.add((100 * gold.filter((one) => text.includes(one)).length) / gold.length);
        foreign.add((await recalled(others[place % others.length]?.question ?? "")).tokens);
      }
    });
  }
  return { words: words.value(), evidence: evidence.value(), unanswered: unanswered.value(), foreign: foreign.value() };
}

/**
 * Each session of a conversation in one of its own; which is which, by id.
 * @param {Store} store
 * @param {Sample} sample
 */
async function storeSessions(store, sample) {
  const numbers = new Map();
  for (const { number, drafts } of sessionsOf(sample)) {
    const session = await store.create({ title: `conversation ${number}` });
    await session.append(drafts, { durability: "buffered" });
    numbers.set(session.id, number);
    await session.close();
  }
  return numbers;
}

/** @param {(store: Store) => Promise<unknown>} work */
function inStore(work) {
  return inFolder(async (folder) => {
    const store = await openStore({ home: join(folder, "home"), project: folder });
    await work(store);
    await store.close();
  });
}
