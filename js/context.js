// @ts-check
/** Building a context: the core says what it needs, and gets it, until it is ready. */

import { entropy, nowMs, nowText } from "./clock.js";
import { anyCounter, bytesOf, called, exactCounter, fromBytes, lent, lentBytes, namedCounter, newId, toBytes } from "./core.js";
import { LeftoffError, refuseBug } from "./error.js";
import { blobOf } from "./messages.js";

/** @import { ContextBuild, Counter, Session as Handle } from "../pkg/leftoff.js" */
/** @import { Log } from "./log.js" */
/** @import { From } from "./messages.js" */
/** @import { Wanted } from "./summaries.js" */
/** @import { ContextBuildResult, ContextRequest, KeptReport, SessionState, StrategyResult, Tokenizer } from "./types/index.js" */

/**
 * @param {ContextBuild} build
 * @param {object} host who gives what the core cannot have
 * @param {From} host.from
 * @param {Pick<ContextRequest, "count" | "strategies">} host.request
 * @param {(wanted: Wanted) => Promise<{ content?: string, refused?: string }>} host.summaryOf
 * @param {import("./session.js").Session} host.session what strategies are given
 * @returns {Promise<ContextBuildResult>}
 */
export async function built(build, { from, request, summaryOf, session }) {
  let counter = anyCounter();
  /** @type {{ summaryRefused?: string, missingBlobs?: number }} */
  const beside = {};
  /** @type {Map<string, StrategyResult>} */
  const made = new Map();
  for (;;) {
    const { ready, needs } = fromBytes(called(() => build.next(counter)));
    if (ready) return { ...ready, ...countsOf(made.get(ready.strategy)), ...beside };
    if (needs.type === "bytes") {
      const { start, end } = needs.range;
      const bytes = await from.log.range(start, end);
      called(() => build.bytes(start, bytes));
    } else if (needs.type === "blob") {
      const bytes = await blobOf(from, needs.id);
      if (!called(() => build.blob(needs.id, bytes))) beside.missingBlobs = (beside.missingBlobs ?? 0) + 1;
    } else if (needs.type === "summary") {
      const { content, refused } = await summaryOf(needs);
      if (refused) beside.summaryRefused = refused;
      called(() => build.written(content));
    } else if (needs.type === "strategy") {
      await offer(build, needs, { made, request, session, counter });
    } else if (called((core) => core.Counter.encodingOf(needs.encoding))) {
      counter = exactCounter(needs.encoding);
    } else {
      const counts = await counted(needs, request);
      called(() => build.counts(toBytes(counts)));
    }
  }
}

/** @param {{ texts: string[], encoding: string }} needs @param {Pick<ContextRequest, "count">} request */
async function counted({ texts, encoding }, { count }) {
  if (!count) {
    const message = `expected a counter for "${encoding}", but found none: give "count", or an encoding of o200k_base, cl100k_base or estimate-1`;
    throw new LeftoffError({ code: "no_counter", message });
  }
  const counts = await count(texts, encoding);
  if (!Array.isArray(counts) || counts.length !== texts.length) {
    throw new LeftoffError({ code: "invalid_request", message: `expected ${texts.length} counts from "count", but found ${Array.isArray(counts) ? counts.length : typeof counts} instead` });
  }
  return texts.map((text, place) => [text, counts[place]]);
}

/**
 * How many tokens texts have more than those they stand for, at most.
 * @param {[before: string, after: string][]} changed @param {string} encoding @param {Pick<ContextRequest, "count">} request
 */
export async function grownBy(changed, encoding, { count }) {
  if (changed.length === 0) return 0;
  const texts = changed.flat();
  const counts = count ? await count(texts, encoding) : texts.map((text) => called(() => namedCounter(encoding).count(lentBytes(text))));
  // Where a text begins and ends beside others, it may have one more.
  return changed.reduce((sum, _, place) => sum + Math.max(0, (counts[2 * place + 1] ?? 0) - (counts[2 * place] ?? 0)) + 1, 0);
}

/**
 * Asks a strategy. What it throws is why it is not taken.
 * @param {ContextBuild} build
 * @param {{ name: string, budget: number }} needs
 * @param {{ made: Map<string, StrategyResult>, request: Pick<ContextRequest, "count" | "strategies">, session: import("./session.js").Session, counter: Counter }} by
 */
async function offer(build, { name, budget }, { made, request, session, counter }) {
  const strategy = request.strategies?.find((one) => one.name === name);
  try {
    const result = await strategy?.build(session, budget, tokenizerOf(counter, request));
    if (!Array.isArray(result?.messages)) throw new TypeError(`expected an array of messages, but found ${JSON.stringify(result?.messages)} instead`);
    made.set(name, result);
    called(() => build.offer(name, toBytes(result.messages), ""));
  } catch (error) {
    // What the host's own code throws is its answer; a trap of the core is none.
    if (error instanceof LeftoffError) refuseBug(error);
    called(() => build.offer(name, undefined, `it failed: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** @param {Counter} counter @param {Pick<ContextRequest, "count"> & { encoding?: string }} request @returns {Tokenizer} */
function tokenizerOf(counter, { count, encoding = "" }) {
  const sum = (/** @type {number[]} */ counts) => counts.reduce((all, more) => all + more, 0);
  const those = (/** @type {string[]} */ texts) => {
    const counts = count ? count(texts, encoding) : texts.map((text) => called(() => counter.count(bytesOf(text))));
    return counts instanceof Promise ? counts.then(sum) : sum(counts);
  };
  return { count: (text) => those([text]), countMessages: (messages) => those(messages.map((message) => JSON.stringify(message))) };
}

/** What a strategy says of itself. @param {StrategyResult | undefined} made */
function countsOf(made) {
  const { includedCount, summarizedCount } = made ?? {};
  return {
    ...(Number.isInteger(includedCount) && { includedMessageCount: includedCount }),
    ...(Number.isInteger(summarizedCount) && { summarizedMessageCount: summarizedCount }),
  };
}

/** What is kept of a context, so that whoever asks later sees what was sent and why. @param {ContextBuildResult} result @returns {KeptReport} */
export function reportOf({ messages: _, ...rest }) {
  return { at: nowText(), ...rest };
}

/** @param {Handle} handle which knows all of the conversation @returns {SessionState} */
export function stateOf(handle) {
  return fromBytes(called(() => handle.state()));
}

/** The same of some messages alone. @param {object[]} messages @param {number} maxTokens */
export function briefOfMessages(messages, maxTokens) {
  const { handle, free } = lent((core) => new core.Session(newId()));
  try {
    return called(() => {
      const log = handle.stageMessages(toBytes(messages), "leftoff", nowMs(), entropy(), anyCounter(), false);
      handle.commit();
      for (let span; (span = handle.unlearned()); ) handle.learn(log.subarray(span[0], span[1]));
      return handle.brief([], maxTokens, anyCounter());
    });
  } finally {
    free();
  }
}

/**
 * @param {Handle} handle which knows all of the conversation
 * @param {Log} log
 * @param {{ maxTokens: number, encoding: string }} options
 */
export async function briefOf(handle, log, { maxTokens, encoding }) {
  if (!Number.isInteger(maxTokens) || maxTokens < 0 || maxTokens > 2 ** 32 - 1) {
    throw new LeftoffError({ code: "invalid_request", message: `expected a whole number of tokens for "maxTokens", but found ${JSON.stringify(maxTokens)} instead` });
  }
  const counter = namedCounter(encoding);
  const pins = (await pinnedOf(handle, log)).map(({ content }) => String(content));
  return called(() => handle.brief(pins, maxTokens, counter));
}

/** The pinned messages. @param {Handle} handle which knows all of the conversation @param {Log} log */
export async function pinnedOf(handle, log) {
  /** @type {{ id: string, content: unknown }[]} */
  const pinned = [];
  for (const { start, end } of called(() => handle.pins())) {
    const line = await log.range(start, end);
    pinned.push(...fromBytes(called((core) => core.scanLog(line))).messages);
  }
  return pinned;
}
