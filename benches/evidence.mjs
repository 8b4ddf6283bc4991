// @ts-check
/**
 * What contexts in frames have of what they should tell, beside contexts without frames of the same messages: planted
 * facts, what a session came to, and the messages that answer questions. The calls come at once, so that no frame ends
 * because a cache forgot it.
 */

import { CHANGED_FILES, FAILED_COMMANDS, OPEN_TASKS, TASK, plantedConversation } from "./planted.mjs";
import { golds, sessionsOf, shareOfWords, turnsOf } from "./questions.mjs";
import { inStore } from "./replay.mjs";
import { mean } from "./tools.mjs";

const FACT_WINDOWS = [32_768, 16_384];
const QUESTION_WINDOW = 16_384;
/** The first calls, before much is planted. */
const CALLS_BEFORE = 10;
/** How much less contexts in frames may have. */
const MAX_FACTS_FEWER = 1;
const MAX_POINTS_FEWER = 2;
/** What is asked of each context. */
const WAYS = /** @type {const} */ ({ framed: { frame: true }, unframed: { frame: false } });

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */
/** @typedef {import("../js/index.js").Session} Session */
/** @typedef {ReturnType<typeof mean>} Mean */
/** @typedef {Record<keyof typeof WAYS, Mean>} Means */

/** @returns {Means} */
const meansOfWays = () => ({ framed: mean(), unframed: mean() });

/**
 * Measures how many planted facts contexts have.
 * @param {number} calls of a model, in a session
 * @param {number} sessions
 * @returns {Promise<Figure[]>}
 */
export async function measurePlanted(calls, sessions) {
  const figures = [];
  for (const window of FACT_WINDOWS) {
    const [facts, asked, states] = [meansOfWays(), meansOfWays(), meansOfWays()];
    for (let seed = 1; seed <= sessions; seed += 1) await askPlanted(seed, window, calls, { facts, asked, states });
    const named = (/** @type {string} */ what) => `planted facts, window ${window}: ${what}`;
    figures.push(
      ...describeMeans(named("in a context"), "", facts, MAX_FACTS_FEWER),
      ...describeMeans(named("the one that was asked for"), "%", asked, MAX_POINTS_FEWER),
      {
        what: named("without frames, task, open tasks, files, failed commands"),
        value: states.unframed.value(),
        unit: "%",
      },
      {
        what: named("in frames, task, open tasks, files, failed commands"),
        value: states.framed.value(),
        unit: "%",
        atLeast: 100,
      },
    );
  }
  return figures;
}

/**
 * @param {number} seed
 * @param {number} window
 * @param {number} calls
 * @param {{ facts: Means, asked: Means, states: Means }} means
 */
function askPlanted(seed, window, calls, { facts, asked, states }) {
  return inSession(async (session) => {
    let call = 0;
    for (const { draft, planted, asked: fact } of plantedConversation(seed)) {
      if (draft.role === "assistant" && (call += 1) > CALLS_BEFORE) {
        for (const [way, text] of await buildTexts(session, window)) {
          facts[way].add(planted.filter(({ mark }) => text.includes(mark)).length);
          if (fact) asked[way].add(text.includes(fact.mark) ? 100 : 0);
          states[way].add(hasState(text) ? 100 : 0);
        }
      }
      if (call === calls) break;
      await session.append(/** @type {any} */ (draft));
    }
  });
}

/** A summary names the files of a folder together, each by its name. @param {string} text */
function hasState(text) {
  const files = CHANGED_FILES.map((path) => path.slice(path.lastIndexOf("/") + 1));
  return [TASK, ...OPEN_TASKS, ...FAILED_COMMANDS, ...files].every((one) => text.includes(one));
}

/**
 * Asks questions one after another at the end of a conversation; measures what contexts have of what answers each.
 * @param {string} name
 * @param {import("./questions.mjs").Sample[]} samples
 * @param {number} every one question of so many is asked
 * @param {{ evidence: boolean }} options `evidence`: whether messages are so short that they are quoted whole
 * @returns {Promise<Figure[]>}
 */
export async function measureQuestions(name, samples, every, { evidence }) {
  const [messages, words] = [meansOfWays(), meansOfWays()];
  for (const sample of samples) {
    const texts = turnsOf(sample);
    await inSession(async (session) => {
      for (const { drafts } of sessionsOf(sample)) await session.append(drafts);
      for (const [place, question] of sample.qa.entries()) {
        if (place % every > 0) continue;
        const gold = golds(question).flatMap(({ id }) => texts.get(id) ?? []);
        await session.append({ role: "user", content: question.question });
        for (const [way, text] of gold.length > 0 ? await buildTexts(session, QUESTION_WINDOW) : []) {
          messages[way].add((100 * gold.filter((one) => text.includes(one)).length) / gold.length);
          words[way].add(100 * shareOfWords(question, gold.join(" "), text));
        }
        await session.append({ role: "assistant", content: String(question.answer ?? "Nobody said that.") });
      }
    });
  }
  const named = (/** @type {string} */ what) => `${name}, window ${QUESTION_WINDOW}: ${what}`;
  return [
    ...(evidence ? describeMeans(named("evidence in a context"), "%", messages, MAX_POINTS_FEWER) : []),
    ...describeMeans(named("the answer's words in a context"), "%", words, MAX_POINTS_FEWER),
  ];
}

/**
 * Builds a context in a frame and one without; returns the text of each.
 * @param {Session} session
 * @param {number} window
 * @returns {Promise<[keyof typeof WAYS, string][]>}
 */
async function buildTexts(session, window) {
  /** @type {[keyof typeof WAYS, string][]} */
  const texts = [];
  for (const [way, options] of Object.entries(WAYS)) {
    const { messages } = await session.context({ window, ...options });
    const text = messages.map((message) => `${message.content}\n${argumentsOf(message)}`).join("\n");
    texts.push([/** @type {keyof typeof WAYS} */ (way), text]);
  }
  return texts;
}

/** @param {{ assistant?: { toolCalls?: { arguments: string }[] } }} message */
const argumentsOf = ({ assistant }) => (assistant?.toolCalls ?? []).map((call) => call.arguments).join("\n");

/**
 * @param {string} what
 * @param {string} unit
 * @param {Means} means
 * @param {number} mostFewer
 * @returns {Figure[]}
 */
function describeMeans(what, unit, { framed, unframed }, mostFewer) {
  return [
    { what: `${what}, without frames`, value: unframed.value(), unit },
    { what: `${what}, in frames`, value: framed.value(), unit, atLeast: unframed.value() - mostFewer },
  ];
}

/** @param {(session: Session) => Promise<void>} work */
const inSession = (work) => inStore(async (store) => work(await store.create({ model: "gpt-5" })));
