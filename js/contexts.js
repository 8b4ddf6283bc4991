// @ts-check
/** What a session gives to model calls: contexts, what they were made of, what it has come to, and where they begin. */

import { compactionEvent, compactionOf, planned } from "./compaction.js";
import { briefOf, briefOfMessages, built, grownBy, pinnedOf, reportOf, stateOf } from "./context.js";
import { anyCounter, bytesOf, called, lent, toBytes } from "./core.js";
import { LeftoffError, unlessBug } from "./error.js";
import { Summaries } from "./summaries.js";

/** @import { Live } from "./live.js" */
/** @import { From } from "./messages.js" */
/** @import { Compaction } from "./records.js" */
/** @import { SessionSecrets } from "./privacy/session-secrets.js" */
/** @import { Session } from "./session.js" */
/** @import { Wanted } from "./summaries.js" */
/** @import { CompactOptions, Compacted, ContextBuildResult, ContextRequest, KeptReport, Summarize, SummaryRequest } from "./types/index.js" */

/**
 * What of a session only it can do.
 * @typedef {object} Doing
 * @property {<T>(work: () => Promise<T>) => Promise<T>} inTurn
 * @property {(asked: Record<string, unknown>[]) => Promise<unknown>} say
 */

export class Contexts {
  #session;
  #live;
  #from;
  #summaries;
  #doing;
  #secrets;

  /** @param {Session} session @param {Live} live @param {{ from: From, doing: Doing, secrets: SessionSecrets }} parts */
  constructor(session, live, { from, doing, secrets }) {
    this.#secrets = secrets;
    this.#session = session;
    this.#live = live;
    this.#from = from;
    this.#doing = doing;
    this.#summaries = new Summaries(from, (text) => called(() => anyCounter().count(bytesOf(text))));
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

  async state() {
    return this.#out(await this.#doing.inTurn(async () => stateOf(await this.#learned())));
  }

  /** What is made of its texts, as it may leave: of a part of a secret that was cut no rule can tell that it is one. @template T @param {T} value */
  async #out(value) {
    return (await this.#secrets.out(value)).value;
  }

  /** @param {{ maxTokens: number, encoding: string }} options */
  async brief(options) {
    const brief = await this.#doing.inTurn(async () => briefOf(await this.#learned(), this.#from.log, options));
    return this.#out(brief);
  }

  /** @returns {Promise<string[]>} */
  pins() {
    return this.#doing.inTurn(async () => (await pinnedOf(await this.#caughtUp(), this.#from.log)).map(({ id }) => id));
  }

  /** @param {{ startMessageId: string, endMessageId: string, maxTokens: number }} asked */
  async summaryOf({ maxTokens, ...range }) {
    const handle = await this.#doing.inTurn(() => this.#caughtUp());
    const cached = await this.#summaries.exactly(handle, range);
    const isShort = cached && cached.summary.tokens <= maxTokens;
    const summary = isShort ? cached.summary.content : briefOfMessages(await this.#summaries.messages(handle, range), maxTokens);
    return this.#out(summary);
  }

  /** @param {CompactOptions} options @returns {Promise<Compacted>} */
  async compact({ apply = false, undo = false, keep, ...request }) {
    const handle = await this.#doing.inTurn(() => this.#caughtUp());
    const current = compactionOf(handle);
    const plain = { ...request, summarize: undefined, strategies: undefined };
    if (undo) return this.#undone(plain, current);
    const build = (/** @type {ContextRequest} */ asked, /** @type {string} */ through) => this.#built(asked, through);
    const { endByte, summaryTokens, ...plan } = await planned({ ...plain, keep }, { build: /** @type {any} */ (build), current });
    if (!apply || plan.reason) return plan;
    const first = current.range?.startMessageId ?? (await this.#doing.inTurn(() => this.#live.run("firstMessageId")));
    const { cached, refused } = await this.#summed({ range: { start: 0, end: Number(endByte) }, least: Number(endByte), tokens: summaryTokens }, request);
    await this.#doing.say([compactionEvent({ ...plan, endByte }, first, cached)]);
    // Without a model's words it is what was planned.
    const tokensAfter = cached ? (await this.#built(plain)).tokensUsed : plan.tokensAfter;
    return { ...plan, isApplied: true, tokensAfter, ...(refused && { summaryRefused: refused }) };
  }

  // That contexts cannot be built, or of what window, is no reason not to take it back.
  /** @param {ContextRequest} request @param {Compaction} current @returns {Promise<Compacted>} */
  async #undone(request, current) {
    const said = { isApplied: Boolean(current.range), isDue: false, messageCount: 0 };
    if (!current.range) return { ...said, reason: "it is not compacted" };
    const before = await this.#built(request).catch(unlessBug);
    await this.#doing.say([{ type: "compaction" }]);
    const after = await this.#built(request).catch(unlessBug);
    return { ...said, tokensBefore: before?.tokensUsed, tokensAfter: after?.tokensUsed, tokenBudget: after?.tokenBudget };
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

  /**
   * @param {ContextRequest} request
   * @param {string} [through] as if it had been compacted through that message
   */
  async #built(request, through) {
    // What it is built from does not change any more: appends need not wait for it, nor it for a counter that appends.
    const { handle: build, free } = await this.#doing.inTurn(() => this.#begun(request, through));
    const summaryOf = async (/** @type {Wanted} */ wanted) => {
      const { cached, refused } = await this.#summed(wanted, request);
      return { content: cached?.summary.content, refused };
    };
    try {
      return await built(build, { from: this.#from, request, summaryOf, session: this.#session });
    } finally {
      free();
    }
  }

  /** @param {Wanted} wanted @param {ContextRequest} request */
  async #summed(wanted, { summarize, window }) {
    const told = async (/** @type {SummaryRequest} */ request) => /** @type {Summarize} */ (summarize)(await this.#out(request));
    return this.#summaries.get(this.#live.handle, wanted, { summarize: summarize && told, window });
  }

  // What others appended, and what they pinned or where they went on.
  async #learned() {
    await this.#live.run("learn");
    return this.#live.handle;
  }

  async #caughtUp() {
    await this.#live.run("catchUp");
    return this.#live.handle;
  }

  /** @param {ContextRequest} request @param {string} [through] */
  async #begun({ count: _, summarize: __, strategies = [], ...request }, through) {
    const handle = await this.#learned();
    const { contextWindow, model } = this.#live.metadata.provider;
    if (!Array.isArray(strategies) || strategies.some((one) => typeof one?.build !== "function")) {
      throw new LeftoffError({ code: "invalid_request", message: 'expected an array of strategies, each with "build", but found something else' });
    }
    // A document has an empty model and no window where nobody knows them.
    const recorded = { model: model || undefined, window: contextWindow || undefined };
    const asked = { ...request, recorded, summaries: true, strategies: strategies.map(({ name, priority, minTokens }) => ({ name, priority, minTokens })) };
    return lent(() => handle.context(toBytes(asked), through));
  }
}
