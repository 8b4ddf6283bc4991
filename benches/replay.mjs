// @ts-check
/** Replays a conversation: before each answer a context is built, as a model call would get it. */

import { MemoryStorage, openStore } from "../js/index.js";
import { beginBill, billCall, countItems } from "./billing.mjs";

/** How far the plain cut fills the budget. */
const STEP_SHARE = 0.5;
/** A window that everything fits. */
const WHOLE_WINDOW = 100_000_000;

/**
 * @typedef {import("../js/index.js").Session} Session
 * @typedef {import("../js/index.js").Store} Store
 * @typedef {{ role: string, content?: string, assistant?: object, tool?: object }} Draft
 * @typedef {import("../js/index.js").ContextRequest["format"]} Format
 * @typedef {{ isCall: boolean, items: string[] }} Step an answer with its results, or one user message; its messages,
 *   each as JSON
 */

/** The room for a context: leftoff keeps a quarter of the window for the answer. @param {number} window */
export const budgetOf = (window) => window - Math.floor(window / 4);

/**
 * @param {Iterable<Draft>} drafts
 * @param {object} asked of each context
 * @param {number} calls
 * @param {(items: string[]) => void} [see] each context
 */
export async function replayContexts(drafts, asked, calls, see) {
  const bill = beginBill();
  await inStore(async (store) => {
    const session = await store.create({ model: "gpt-5" });
    for (const draft of drafts) {
      if (draft.role === "assistant") {
        const items = await buildItems(session, asked);
        await billCall(bill, items);
        see?.(items);
        if (bill.calls === calls) break;
      }
      await session.append(/** @type {any} */ (draft));
    }
  });
  return bill;
}

/** Keeps all, and where that exceeds the budget cuts the oldest steps, down to half of it. @param {number} window */
export function makePlainCut(window) {
  let first = 0;
  return async (/** @type {Step[]} */ steps) => {
    const budget = budgetOf(window);
    const rest = () => steps.slice(first).flatMap(({ items }) => items);
    if ((await countItems(rest())) > budget)
      while (first < steps.length - 1 && (await countItems(rest())) > budget * STEP_SHARE) first += 1;
    return rest();
  };
}

/**
 * @param {Step[]} steps
 * @param {(steps: Step[]) => Promise<string[]>} chooseItems what is sent of the steps so far
 * @param {number} calls
 * @param {(items: string[]) => void} [see] each context
 */
export async function replayRule(steps, chooseItems, calls, see) {
  const bill = beginBill();
  for (const [place, { isCall }] of steps.entries()) {
    if (!isCall) continue;
    const items = await chooseItems(steps.slice(0, place));
    await billCall(bill, items);
    see?.(items);
    if (bill.calls === calls) break;
  }
  return bill;
}

/** @param {Iterable<Draft>} drafts @param {Format} format @returns {Promise<Step[]>} */
export async function shapeSteps(drafts, format) {
  /** @type {Step[]} */
  const steps = [];
  await inStore(async (store) => {
    for (const step of groupDrafts(drafts)) {
      const session = await store.create();
      await session.append(/** @type {any} */ (step));
      const items = await buildItems(session, { window: WHOLE_WINDOW, format });
      steps.push({ isCall: step[0]?.role === "assistant", items });
      await session.close();
    }
  });
  return steps;
}

/** Groups drafts into steps. @param {Iterable<Draft>} drafts */
export function* groupDrafts(drafts) {
  /** @type {Draft[]} */
  let step = [];
  for (const draft of drafts) {
    if (draft.role !== "tool" && step.length > 0) {
      yield step;
      step = [];
    }
    step.push(draft);
  }
  if (step.length > 0) yield step;
}

/**
 * The entries up to that many answers.
 * @template E
 * @param {Iterable<E>} entries
 * @param {number} calls
 * @param {(entry: E) => Draft} draftOf
 */
export function takeCalls(entries, calls, draftOf) {
  /** @type {E[]} */
  const taken = [];
  let left = calls;
  for (const entry of entries) {
    taken.push(entry);
    if (draftOf(entry).role === "assistant" && (left -= 1) === 0) break;
  }
  return taken;
}

/** @param {(store: Store) => Promise<void>} work */
export async function inStore(work) {
  const store = await openStore({ storage: new MemoryStorage(), home: "/home", project: "/project" });
  await work(store);
  await store.close();
}

/**
 * Builds a context; returns its messages, each as JSON.
 * @param {Session} session
 * @param {object} asked
 */
export async function buildItems(session, asked) {
  const { messages } = await session.context(/** @type {any} */ (asked));
  return messages.map((message) => JSON.stringify(message));
}
