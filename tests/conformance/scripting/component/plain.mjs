// @ts-check
/** What needs no store. */

import { readFileSync, statSync } from "node:fs";

import { entropy, nowMs, offsetMinutes } from "../../../../js/wasm/clock.js";
import { contentOf, refusal, texts, vocabularyOf } from "../../../component/host.mjs";

/** A moment, and chance. */
function moment() {
  const chance = Buffer.from(entropy());
  return {
    nowMs: BigInt(nowMs()),
    offsetMinutes: offsetMinutes(),
    entropy: [0, 8, 16, 24].map((at) => chance.readBigUInt64BE(at)),
  };
}

/** What needs no session. @type {Record<string, (asked: any) => unknown>} */
export const PLAIN = {
  countTokens: ({ text, encoding, model, limit }) => {
    const name = texts.encodingOf(encoding, model);
    const count = (/** @type {string} */ one) => vocabularyOf(name)?.count(one, limit) ?? texts.estimate(one);
    return Array.isArray(text) ? text.map(count) : count(text);
  },
  listText: ({ listed }) => texts.listText(JSON.stringify(listed), moment()),
  compareContexts: ({ before, after }) =>
    JSON.parse(texts.compareContexts(JSON.stringify(before), JSON.stringify(after))),
  findStopPhrase: ({ text }) => texts.findStopPhrase(text),
  historyText: ({ messages }) => texts.historyText(JSON.stringify(messages), moment()),
  readTranscript: transcript,
  costOf: ({ model, usage }) => JSON.parse(texts.costOf(model, JSON.stringify(usage)) ?? "null") ?? undefined,
  pricesOf: ({ name }) => JSON.parse(texts.pricesOf(name) ?? "null"),
  modelOf: ({ name }) => JSON.parse(texts.modelOf(name) ?? "null"),
};

/** @param {any} asked */
function transcript({ path, text, start, end, context, words }) {
  const bytes = text === undefined ? contentAt(path) : Buffer.from(text);
  const [about, [messages]] = texts.transcript([contentOf(bytes)], path ?? "transcript.jsonl", undefined, undefined);
  const {
    sessions: [{ messageCount: length, created: _, lastTimestamp: __, ...session }],
    problems,
  } = JSON.parse(about);
  const built =
    context &&
    JSON.parse(
      texts.context(
        messages,
        JSON.stringify({ ...context, recorded: { model: session.model || undefined } }),
        [vocabularyOf("o200k_base"), vocabularyOf("cl100k_base")],
        moment(),
      ),
    );
  const found = words !== undefined && {
    outline: JSON.parse(texts.outline(messages)),
    found: JSON.parse(texts.search(words, messages)),
  };
  return {
    session,
    problems,
    length,
    ...(start !== undefined && { messages: JSON.parse(messages).slice(start, end) }),
    ...(context && { context: built }),
    ...found,
  };
}

/** @param {string} path */
function contentAt(path) {
  if (!statSync(path, { throwIfNoEntry: false }))
    throw refusal("not_found", `expected a file at "${path}", but found none`);
  return readFileSync(path);
}
