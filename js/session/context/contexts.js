// @ts-check
/** What a session gives to model calls: contexts, what they were made of, what it has come to, and where they begin. */

import { offsetMinutes } from "../../wasm/clock.js";
import { ofKind } from "../../wasm/options.js";
import { anyCounter, bytesOf, called, namedCounter } from "../../wasm/core.js";
import { LeftoffError } from "../../error.js";
import { toJson } from "../../wasm/json.js";

/** @import { Live } from "../handle.js" */
/** @import { Session } from "../session.js" */
/** @import { Own } from "../../wasm/drive.js" */
/** @import { CompactOptions, Compacted, ContextBuildResult, ContextRequest, SummaryRequest, Tokenizer } from "../../types/index.js" */

export class Contexts {
  #session;
  #live;
  #secrets;

  /** @param {Session} session @param {Live} live */
  constructor(session, live) {
    this.#session = session;
    this.#live = live;
    this.#secrets = live.secrets;
  }

  /** @param {ContextRequest} request @returns {Promise<ContextBuildResult>} */
  async context(request) {
    const { asked, own } = this.#asked(request);
    return this.#live.run("context", toJson(asked), { own });
  }

  /** @param {object} about what is asked beside a context @param {ContextRequest} request @returns {Promise<any>} */
  async resumed(about, request) {
    const { asked, own } = this.#asked(request);
    const { id, command, block, context, warnings, ...told } = await this.#live.run("resume", toJson({ ...asked, ...about, offsetMinutes: offsetMinutes() }), { own });
    return { id, command, block, history: context.messages, warnings, context, ...told };
  }

  /** @param {{ full?: boolean }} options @returns {Promise<any>} */
  async last({ full }) {
    await this.#live.report.settled();
    const { messages, ...report } = (full ? await this.#live.told("sentContext", String(this.#secrets.isOn)) : await this.#live.run("lastContext")) ?? {};
    // The messages are as they may leave: looked at again, they would be others.
    return report.at && { ...(await this.#out(report)), ...(messages && { messages }) };
  }

  /** @param {{ maxTokens?: number, encoding?: string }} options @returns {Promise<string>} */
  brief(options) { return this.#left("brief", options); }

  /** @param {{ startMessageId: string, endMessageId: string, maxTokens: number }} asked @returns {Promise<string>} */
  summaryOf(asked) { return this.#left("summaryOf", asked); }

  /** @param {CompactOptions} options @returns {Promise<Compacted>} */
  compact({ apply = false, undo = false, keep, ...request }) {
    const { asked, own } = this.#asked(request);
    return this.#live.run("compact", toJson({ ...asked, apply, undo, keep }), { own });
  }

  /** A text of at most so many tokens, as it may leave. @param {string} name @param {object} asked */
  #left(name, asked) { return this.#live.run(name, toJson({ ...asked, leaves: this.#secrets.isOn }), { own: { out: (json) => this.#secrets.outBytes(json) } }); }

  /** What is made of its texts, as it may leave: of a part of a secret that was cut no rule can tell that it is one. @template T @param {T} value */
  async #out(value) { return (await this.#secrets.out(value)).value; }

  /** What the core is asked for, and what the caller does for it. @param {ContextRequest} request */
  #asked(request) {
    const { asked, count, embed, summarize, strategies } = askedOf(request);
    /** @type {Own} */
    const own = {
      count,
      embed,
      summarize: summarize && (async (/** @type {SummaryRequest} */ wanted) => summarize(await this.#out(wanted))),
      out: (json) => this.#secrets.outBytes(json),
      strategy: async (name, budget, encoding) => strategies.find((one) => one.name === name)?.build(this.#session, budget, await tokenizerOf(encoding, count)),
    };
    return { asked: { ...asked, leaves: this.#secrets.isOn }, own };
  }
}

/** A request, and apart from it what the caller does for a context. @param {ContextRequest} given */
export function askedOf(given) {
  const { count, embed, summarize, strategies = [], ...request } = ofKind("request", given, "{");
  if (!Array.isArray(strategies) || strategies.some((one) => typeof one?.build !== "function")) {
    throw new LeftoffError({ code: "invalid_request", message: 'expected an array of strategies, each with "build", but found something else' });
  }
  for (const [name, helper] of Object.entries({ count, embed, summarize })) if (helper !== undefined) ofKind(name, helper, "!");
  const named = strategies.map(({ name, priority, minTokens }) => ({ name, priority, minTokens }));
  const asked = { request: { ...request, strategies: named }, summarizes: summarize !== undefined, embeds: embed !== undefined };
  return { asked, count, embed, summarize, strategies };
}

/** @param {string} encoding @param {ContextRequest["count"]} count @returns {Promise<Tokenizer>} */
async function tokenizerOf(encoding, count) {
  const counter = count ? anyCounter() : await namedCounter(encoding);
  const sum = (/** @type {number[]} */ counts) => counts.reduce((all, more) => all + more, 0);
  const those = (/** @type {string[]} */ texts) => {
    const counts = count ? count(texts, encoding) : texts.map((text) => called(() => counter.count(bytesOf(text))));
    return counts instanceof Promise ? counts.then(sum) : sum(counts);
  };
  return { count: (text) => those([text]), countMessages: (messages) => those(messages.map((message) => JSON.stringify(message))) };
}
