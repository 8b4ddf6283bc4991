// @ts-check
/** What contexts in frames cost, and how much of each the call before has, beside a plain cut that moves in steps. */

import { costShare, meanKept } from "./billing.mjs";
import { PEERS } from "./peers.mjs";
import { plantedConversation } from "./planted.mjs";
import { makePlainCut, replayContexts, replayRule, shapeSteps, takeCalls } from "./replay.mjs";
import { mean } from "./tools.mjs";

/** How many points less may be unchanged, and how many times the plain cut's share contexts may cost. */
const MAX_POINTS_FEWER = 1;
const MAX_COST = 1.05;
const AIMED_COST = 0.95;
/** A window in which frames still have more facts than others in theirs. */
const SMALLER_WINDOW = 32_768;

/** @typedef {import("../scripts/bench.mjs").Figure} Figure */
/** @typedef {import("./replay.mjs").Draft} Draft */
/** @typedef {NonNullable<import("./replay.mjs").Format>} Format */
/** @typedef {{ facts: ReturnType<typeof mean>, bill: import("./billing.mjs").Bill }} Replayed */

/**
 * @param {string} name of the conversation
 * @param {Iterable<Draft>} conversation
 * @param {{ window: number, format: Format, unframed?: boolean }[]} requests `unframed`: also without frames
 * @param {{ calls: number }} options
 * @returns {Promise<Figure[]>}
 */
export async function measureCost(name, conversation, requests, { calls }) {
  const drafts = takeCalls(conversation, calls, (draft) => draft);
  /** @type {Figure[]} */
  const figures = [];
  let shaped = { format: "", steps: await shapeSteps([], "leftoff") };
  for (const { window, format, unframed } of requests) {
    if (shaped.format !== format) shaped = { format, steps: await shapeSteps(drafts, format) };
    const plain = await replayRule(shaped.steps, makePlainCut(window), calls);
    const framed = await replayContexts(drafts, { window, format, frame: true }, calls);
    const named = (/** @type {string} */ what) => `${name}, ${format}, ${window}: ${what}`;
    figures.push(
      { what: named("unchanged, plain cut"), value: meanKept(plain), unit: "%" },
      {
        what: named("unchanged, in frames"),
        value: meanKept(framed),
        unit: "%",
        atLeast: meanKept(plain) - MAX_POINTS_FEWER,
      },
      {
        what: named("share of the uncached price, to the plain cut's"),
        value: costShare(framed) / costShare(plain),
        unit: "times",
        atMost: MAX_COST,
        aim: AIMED_COST,
      },
      { what: named("cost, to the plain cut's"), value: framed.cost / plain.cost, unit: "times" },
      { what: named("cuts, plain cut"), value: plain.cuts, unit: "" },
      { what: named("cuts, in frames"), value: framed.cuts, unit: "" },
    );
    if (!unframed) continue;
    const without = await replayContexts(drafts, { window, format, frame: false }, calls);
    figures.push(
      { what: named("unchanged, without frames"), value: meanKept(without), unit: "%" },
      { what: named("cost without frames, to the plain cut's"), value: without.cost / plain.cost, unit: "times" },
    );
  }
  return figures;
}

/**
 * What others cost over a conversation with planted facts, beside frames, and how many facts their contexts have.
 * @param {number} window
 * @param {number} calls
 * @returns {Promise<Figure[]>}
 */
export async function measurePeers(window, calls) {
  const entries = takeCalls(plantedConversation(1), calls, ({ draft }) => draft);
  const drafts = entries.map(({ draft }) => draft);
  const planted = entries.filter(({ draft }) => draft.role === "assistant").map((entry) => entry.planted);
  const count = () => {
    const facts = mean();
    let call = 0;
    const see = (/** @type {string[]} */ items) => {
      const text = items.join("\n");
      facts.add((planted[call++] ?? []).filter(({ mark }) => text.includes(mark)).length);
    };
    return { facts, see };
  };
  const replayFrames = async (/** @type {number} */ window) => {
    const { facts, see } = count();
    return { facts, bill: await replayContexts(drafts, { window, format: "ai-sdk", frame: true }, calls, see) };
  };
  const ours = [await replayFrames(window), await replayFrames(SMALLER_WINDOW)];
  const [framed, smaller] = /** @type {[Replayed, Replayed]} */ (ours);
  const steps = await shapeSteps(drafts, "ai-sdk");
  const named = (/** @type {string} */ name) => `peers, ${window}, ${name}`;
  const figures = [
    ...describeReplayed(named("frames"), framed, framed.bill.cost),
    ...describeReplayed(named(`frames at ${SMALLER_WINDOW}`), smaller, framed.bill.cost),
  ];
  for (const [name, make] of Object.entries({ "the plain cut": makePlainCut, ...PEERS })) {
    const { facts, see } = count();
    const bill = await replayRule(steps, make(window), calls, see);
    const alike = ours.filter((one) => one.facts.value() >= facts.value()).map((one) => one.bill.cost);
    figures.push(...describeReplayed(named(name), { facts, bill }, framed.bill.cost), {
      what: `${named(name)}: frames with as many facts, to its cost`,
      value: Math.min(...alike) / bill.cost,
      unit: "times",
      atMost: 1,
    });
  }
  return figures;
}

/** @param {string} name @param {Replayed} replayed @param {number} cost that of frames @returns {Figure[]} */
function describeReplayed(name, { facts, bill }, cost) {
  return [
    { what: `${name}: cost, to frames'`, value: bill.cost / cost, unit: "times" },
    { what: `${name}: facts in a context`, value: facts.value(), unit: "" },
    { what: `${name}: unchanged`, value: meanKept(bill), unit: "%" },
    { what: `${name}: tokens in a context`, value: bill.tokens / bill.calls, unit: "" },
  ];
}
