// @ts-check
/** What a session gives to model calls: contexts, what they were made of, what it has come to, and where they begin. */

import { nowText } from "./clock.js";
import { anyCounter, bytesOf, called, lentBytes, namedCounter } from "./core.js";
import { LeftoffError } from "./error.js";
import { toJson } from "./json.js";

/** @import { Live } from "./live.js" */
/** @import { SessionSecrets } from "./privacy/session-secrets.js" */
/** @import { Session } from "./session.js" */
/** @import { Own } from "./wasm/drive.js" */
/** @import { CompactOptions, Compacted, ContextBuildResult, ContextRequest, KeptReport, SessionState, SummaryRequest, Tokenizer } from "./types/index.js" */

export class Contexts {
  #session;
  #live;
  #secrets;

  /** @param {Session} session @param {Live} live @param {SessionSecrets} secrets */
  constructor(session, live, secrets) {
    this.#session = session;
    this.#live = live;
    this.#secrets = secrets;
  }

  /** @param {ContextRequest} request @returns {Promise<ContextBuildResult>} */
  async context(request) {
    const result = await this.#leaving(request);
    this.#live.report.keep(reportOf(result));
    return result;
  }

  /** @returns {Promise<KeptReport | undefined>} */
  async last() {
    return this.#out(await this.#live.report.last());
  }

  /** @returns {Promise<SessionState>} */
  async state() {
    return this.#out(await this.#live.run("state"));
  }

  /** @param {{ maxTokens: number, encoding: string }} options @returns {Promise<string>} */
  async brief(options) {
    return this.#out(await this.#live.run("brief", toJson(options)));
  }

  /** @returns {Promise<string[]>} */
  pins() {
    return this.#live.run("pins");
  }

  /** @param {{ startMessageId: string, endMessageId: string, maxTokens: number }} asked @returns {Promise<string>} */
  async summaryOf(asked) {
    return this.#out(await this.#live.run("summaryOf", toJson(asked)));
  }

  /** @param {CompactOptions} options @returns {Promise<Compacted>} */
  compact({ apply = false, undo = false, keep, ...request }) {
    const { asked, own } = this.#asked(request);
    return this.#live.run("compact", toJson({ ...asked, apply, undo, keep }), { own });
  }

  /** What is made of its texts, as it may leave: of a part of a secret that was cut no rule can tell that it is one. @template T @param {T} value */
  async #out(value) {
    return (await this.#secrets.out(value)).value;
  }

  // A placeholder may be longer than what it stands for: what is over the budget then is taken from the next try.
  /** @param {ContextRequest} request @returns {Promise<ContextBuildResult>} */
  async #leaving(request) {
    const first = await this.#built(request);
    const { tokenBudget } = first;
    for (let built = first; ; ) {
      const { value, secrets, changed } = await this.#secrets.out(built);
      const tokensUsed = built.tokensUsed + (await grownBy(changed, built.report.encoding, request));
      if (tokensUsed <= tokenBudget) return { ...value, tokensUsed, tokenBudget, ...(secrets.length > 0 && { secrets }) };
      built = await this.#built({ ...request, reserve: built.report.budget.reserveForResponse + tokensUsed - tokenBudget });
    }
  }

  /** @param {ContextRequest} request @returns {Promise<ContextBuildResult>} */
  #built(request) {
    const { asked, own } = this.#asked(request);
    return this.#live.run("context", toJson(asked), { own });
  }

  /** What the core is asked for, and what the caller does for it. @param {ContextRequest} request */
  #asked({ count, summarize, strategies = [], ...request }) {
    if (!Array.isArray(strategies) || strategies.some((one) => typeof one?.build !== "function")) {
      throw new LeftoffError({ code: "invalid_request", message: 'expected an array of strategies, each with "build", but found something else' });
    }
    const named = strategies.map(({ name, priority, minTokens }) => ({ name, priority, minTokens }));
    /** @type {Own} */
    const own = {
      count,
      summarize: summarize && (async (/** @type {SummaryRequest} */ wanted) => summarize(await this.#out(wanted))),
      strategy: (name, budget, encoding) => strategies.find((one) => one.name === name)?.build(this.#session, budget, tokenizerOf(encoding, count)),
    };
    return { asked: { request: { ...request, strategies: named }, summarizes: summarize !== undefined }, own };
  }
}

/**
 * How many tokens texts have more than those they stand for, at most.
 * @param {[before: string, after: string][]} changed @param {string} encoding @param {Pick<ContextRequest, "count">} request
 */
async function grownBy(changed, encoding, { count }) {
  if (changed.length === 0) return 0;
  const texts = changed.flat();
  const counts = count ? await count(texts, encoding) : texts.map((text) => called(() => namedCounter(encoding).count(lentBytes(text))));
  // Where a text begins and ends beside others, it may have one more.
  return changed.reduce((sum, _, place) => sum + Math.max(0, (counts[2 * place + 1] ?? 0) - (counts[2 * place] ?? 0)) + 1, 0);
}

/** @param {string} encoding @param {ContextRequest["count"]} count @returns {Tokenizer} */
function tokenizerOf(encoding, count) {
  const counter = count ? anyCounter() : namedCounter(encoding);
  const sum = (/** @type {number[]} */ counts) => counts.reduce((all, more) => all + more, 0);
  const those = (/** @type {string[]} */ texts) => {
    const counts = count ? count(texts, encoding) : texts.map((text) => called(() => counter.count(bytesOf(text))));
    return counts instanceof Promise ? counts.then(sum) : sum(counts);
  };
  return { count: (text) => those([text]), countMessages: (messages) => those(messages.map((message) => JSON.stringify(message))) };
}

/** What is kept of a context, so that whoever asks later sees what was sent and why. @param {ContextBuildResult} result @returns {KeptReport} */
function reportOf({ messages: _, ...rest }) {
  return { at: nowText(), ...rest };
}
