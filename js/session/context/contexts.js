// @ts-check
/** What a session gives to model calls: contexts, what they were made of, what it has come to, and where they begin. */

import { offsetMinutes } from "../../wasm/clock.js";
import { checkKind } from "../../wasm/options.js";
import { anyCounter, bytesOf, callCore, namedCounter } from "../../wasm/core.js";
import { LeftoffError } from "../../error.js";
import { toJson } from "../../wasm/json.js";

/** @import { SessionHandle } from "../handle.js" */
/** @import { Session } from "../session.js" */
/** @import { CallerFunctions } from "../../wasm/drive.js" */
/** @import { CompactOptions, Compacted, ContextBuildResult, ContextRequest, SummaryRequest, Tokenizer } from "../../types/index.js" */

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

  /** @param {object} about what is asked beside a context @param {ContextRequest} request @returns {Promise<any>} */
  async resume(about, request) {
    const { asked, own } = this.#prepareRequest(request);
    const { id, command, block, context, warnings, ...told } = await this.#handle.run("resume", toJson({ ...asked, ...about, offsetMinutes: offsetMinutes() }), { own });
    return { id, command, block, history: context.messages, warnings, context, ...told };
  }

  /** @param {{ full?: boolean }} options @returns {Promise<any>} */
  async last({ full }) {
    await this.#handle.report.flush();
    const { messages, ...report } = (full ? await this.#handle.runInAgents("sentContext", String(this.#redactor.isOn)) : await this.#handle.run("lastContext")) ?? {};
    // The messages are as they may leave: looked at again, they would be others.
    return report.at && { ...(await this.#redact(report)), ...(messages && { messages }) };
  }

  /** @param {{ maxTokens?: number, encoding?: string }} options @returns {Promise<string>} */
  brief(options) { return this.#runRedacted("brief", options); }

  /** @param {{ startMessageId: string, endMessageId: string, maxTokens: number }} asked @returns {Promise<string>} */
  summaryOf(asked) { return this.#runRedacted("summaryOf", asked); }

  /** @param {CompactOptions} options @returns {Promise<Compacted>} */
  compact({ apply = false, undo = false, keep, ...request }) {
    const { asked, own } = this.#prepareRequest(request);
    return this.#handle.run("compact", toJson({ ...asked, apply, undo, keep }), { own });
  }

  /** A text of at most so many tokens, as it may leave. @param {string} name @param {object} asked */
  #runRedacted(name, asked) { return this.#handle.run(name, toJson({ ...asked, leaves: this.#redactor.isOn }), { own: { out: (json) => this.#redactor.redactBytes(json) } }); }

  /** What is made of its texts, as it may leave: of a part of a secret that was cut no rule can tell that it is one. @template T @param {T} value */
  async #redact(value) { return (await this.#redactor.redact(value)).value; }

  /** What the core is asked for, and what the caller does for it. @param {ContextRequest} request */
  #prepareRequest(request) {
    const { asked, count, embed, summarize, strategies } = splitRequest(request);
    /** @type {CallerFunctions} */
    const own = {
      count,
      embed,
      summarize: summarize && (async (/** @type {SummaryRequest} */ wanted) => summarize(await this.#redact(wanted))),
      out: (json) => this.#redactor.redactBytes(json),
      strategy: async (name, budget, encoding) => strategies.find((one) => one.name === name)?.build(this.#session, budget, await tokenizerOf(encoding, count)),
    };
    return { asked: { ...asked, leaves: this.#redactor.isOn }, own };
  }
}

/** A request, and apart from it what the caller does for a context. @param {ContextRequest} given */
export function splitRequest(given) {
  const { count, embed, summarize, strategies = [], ...request } = checkKind("request", given, "{");
  if (!Array.isArray(strategies) || strategies.some((one) => typeof one?.build !== "function")) {
    throw new LeftoffError({ code: "invalid_request", message: 'expected an array of strategies, each with "build", but found something else' });
  }
  for (const [name, helper] of Object.entries({ count, embed, summarize })) if (helper !== undefined) checkKind(name, helper, "!");
  const named = strategies.map(({ name, priority, minTokens }) => ({ name, priority, minTokens }));
  const asked = { request: { ...request, strategies: named }, summarizes: summarize !== undefined, embeds: embed !== undefined };
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
  return { count: (text) => those([text]), countMessages: (messages) => those(messages.map((message) => JSON.stringify(message))) };
}
