// @ts-check
/** What a session gives to model calls: contexts and their reports, briefs, summaries, resumption and compaction. */

import { offsetMinutes } from "../../wasm/clock.js";
import { checkKind } from "../../wasm/options.js";
import { anyCounter, bytesOf, callCore, namedCounter } from "../../wasm/core.js";
import { LeftoffError } from "../../error.js";
import { toJson } from "../../wasm/json.js";

/** @import { SessionHandle } from "../handle.js" */
/** @import { Session } from "../session.js" */
/** @import { CallerFunctions } from "../../wasm/drive.js" */
/** @import { CompactOptions, Compacted, ContextBuildResult, ContextRequest } from "../../types/index.js" */
/** @import { SummaryRequest, Tokenizer } from "../../types/index.js" */

export class Contexts {
  #session;
  #handle;
  #redactor;

  /** @param {Session} session @param {SessionHandle} live */
  constructor(session, live) {
    this.#session = session;
    this.#handle = live;
    this.#redactor = live.redactor;
  }

  /** @param {ContextRequest} request @returns {Promise<ContextBuildResult>} */
  async context(request) {
    const { asked, own } = this.#prepareRequest(request);
    return this.#handle.run("context", toJson(asked), { own });
  }

  /**
   * @param {object} about the request's fields that are no context's
   * @param {ContextRequest} request
   * @returns {Promise<any>}
   */
  async resume(about, request) {
    const { asked, own } = this.#prepareRequest(request);
    const { id, command, block, context, warnings, ...told } = await this.#handle.run(
      "resume",
      toJson({ ...asked, ...about, offsetMinutes: offsetMinutes() }),
      { own },
    );
    return { id, command, block, history: context.messages, warnings, context, ...told };
  }

  /** @param {{ full?: boolean }} options @returns {Promise<any>} */
  async last({ full }) {
    await this.#handle.lazyWriter.flush();
    const { messages, ...report } =
      (full
        ? await this.#handle.runInAgents("sentContext", String(this.#redactor.isOn))
        : await this.#handle.run("lastContext")) ?? {};
    // The messages were redacted already: doing it again would change them.
    return report.at && { ...(await this.#redact(report)), ...(messages && { messages }) };
  }

  /** @param {{ maxTokens?: number, encoding?: string }} options @returns {Promise<string>} */
  brief(options) {
    return this.#runRedacted("brief", options);
  }

  /** @param {{ startMessageId: string, endMessageId: string, maxTokens: number }} asked @returns {Promise<string>} */
  summaryOf(asked) {
    return this.#runRedacted("summaryOf", asked);
  }

  /** @param {CompactOptions} options @returns {Promise<Compacted>} */
  compact({ apply = false, undo = false, keep, ...request }) {
    const { asked, own } = this.#prepareRequest(request);
    return this.#handle.run("compact", toJson({ ...asked, apply, undo, keep }), { own });
  }

  /**
   * Runs an operation that makes a redacted text of at most so many tokens.
   * @param {string} name
   * @param {object} asked
   */
  #runRedacted(name, asked) {
    return this.#handle.run(name, toJson({ ...asked, leaves: this.#redactor.isOn }), {
      own: { out: (json) => this.#redactor.redactBytes(json) },
    });
  }

  /**
   * Redacts a value made from the session's texts, by the session's secrets: no rule recognizes a part of one that was
   * cut.
   * @template T
   * @param {T} value
   */
  async #redact(value) {
    return (await this.#redactor.redact(value)).value;
  }

  /** Splits a request into what the core is asked and the caller's functions. @param {ContextRequest} request */
  #prepareRequest(request) {
    const { asked, count, embed, summarize, strategies } = splitRequest(request);
    /** @type {CallerFunctions} */
    const own = {
      count,
      embed,
      summarize: summarize && (async (/** @type {SummaryRequest} */ wanted) => summarize(await this.#redact(wanted))),
      out: (json) => this.#redactor.redactBytes(json),
      strategy: async (name, budget, encoding) =>
        strategies.find((one) => one.name === name)?.build(this.#session, budget, await tokenizerOf(encoding, count)),
    };
    return { asked: { ...asked, leaves: this.#redactor.isOn }, own };
  }
}

/** Separates the caller's functions from a request. @param {ContextRequest} given */
export function splitRequest(given) {
  const { count, embed, summarize, strategies = [], ...request } = checkKind("request", given, "{");
  if (!Array.isArray(strategies) || strategies.some((one) => typeof one?.build !== "function")) {
    throw new LeftoffError({
      code: "invalid_request",
      message: 'expected an array of strategies, each with "build", but found something else',
    });
  }
  for (const [name, helper] of Object.entries({ count, embed, summarize }))
    if (helper !== undefined) checkKind(name, helper, "!");
  const named = strategies.map(({ name, priority, minTokens }) => ({ name, priority, minTokens }));
  const asked = {
    request: { ...request, strategies: named },
    summarizes: summarize !== undefined,
    embeds: embed !== undefined,
  };
  return { asked, count, embed, summarize, strategies };
}

/** @param {string} encoding @param {ContextRequest["count"]} count @returns {Promise<Tokenizer>} */
async function tokenizerOf(encoding, count) {
  const counter = count ? anyCounter() : await namedCounter(encoding);
  const sum = (/** @type {number[]} */ counts) => counts.reduce((all, more) => all + more, 0);
  const those = (/** @type {string[]} */ texts) => {
    const counts = count ? count(texts, encoding) : texts.map((text) => callCore(() => counter.count(bytesOf(text))));
    return counts instanceof Promise ? counts.then(sum) : sum(counts);
  };
  return {
    count: (text) => those([text]),
    countMessages: (messages) => those(messages.map((message) => JSON.stringify(message))),
  };
}
