// @ts-check
/**
 * How often something is recalled for a prompt that has nothing to do with what is stored: questions on other
 * conversations, and orders that any session may be given.
 */

import { sessionsOf } from "./questions.mjs";
import { inStore } from "./replay.mjs";
import { mean } from "./tools.mjs";

/** Orders as people give them. What they are about is in the session already, or in none. */
export const ORDERS = [
  "run the tests again",
  "go on",
  "continue",
  "yes, do it",
  "commit this",
  "commit and push",
  "looks good, thanks",
  "fix the lint errors",
  "try again",
  "undo that",
  "explain this to me",
  "what did you change?",
  "show me the diff",
  "make it shorter",
  "clean up the code",
  "write a test for it",
  "open a pull request",
  "why did that fail?",
  "use the other approach",
  "start over",
  "please review the changes",
  "is there anything left to do?",
  "rename the variable",
  "add a comment there",
  "what time is it in Tokyo?",
  "translate this into German",
  "write a haiku about the sea",
  "how do I boil an egg?",
  "weiter",
  "führe die Tests noch einmal aus",
  "continue, s'il te plaît",
  "もう一度テストを実行して",
];

/** @typedef {import("./questions.mjs").Sample} Sample */

/**
 * For how many percent of the prompts `store.recall` quotes something, as hooks do it: of the orders, and of the
 * questions on the other conversations.
 * @param {Sample[]} samples
 */
export async function measureSpam(samples) {
  const [orders, questions] = [mean(), mean()];
  for (const sample of samples) {
    const others = samples.filter((other) => other !== sample).flatMap(({ qa }) => qa.map(({ question }) => question));
    await inStore(async (store) => {
      const session = await store.create();
      for (const { drafts } of sessionsOf(sample)) await session.append(drafts, { durability: "buffered" });
      const quotes = async (/** @type {string} */ prompt) =>
        (await store.recall(prompt, { all: true })).text === "" ? 0 : 100;
      for (const prompt of ORDERS) orders.add(await quotes(prompt));
      for (const prompt of others) questions.add(await quotes(prompt));
    });
  }
  return { orders: orders.value(), questions: questions.value() };
}
