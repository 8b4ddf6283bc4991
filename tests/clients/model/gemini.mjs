// @ts-check
/** Gemini's generateContent, whole and in pieces, and countTokens. */

import { halves, unnamedEvents } from "./pieces.mjs";
import { Turns } from "./turns.mjs";

/** @import { Answer } from "./script.mjs" */
/** @import { Api } from "./server.mjs" */

/** @type {Api} */
export const gemini = {
  answers(method, path) {
    return method === "POST" && /:(generateContent|streamGenerateContent|countTokens)$/.test(path);
  },

  isMain(path, body) {
    return (
      !path.endsWith(":countTokens") &&
      (body.tools ?? []).flatMap((/** @type {any} */ tool) => tool.functionDeclarations ?? []).length > 2
    );
  },

  turns({ contents }) {
    const turns = new Turns();
    // Ids are optional here; without them a result is of the first call of its name that has none.
    /** @type {{ id: string, name: string }[]} */
    const waiting = [];
    for (const { role, parts } of contents) {
      for (const part of parts) read({ turns, waiting }, role, part);
    }
    return turns.list;
  },

  write(path, body, answer, { json, stream }) {
    if (path.endsWith(":countTokens"))
      return json({ totalTokens: Math.ceil(JSON.stringify(body.contents).length / 4) });
    const usageMetadata = { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 };
    const about = { usageMetadata, modelVersion: "script", responseId: answer.id };
    const content = (/** @type {object[]} */ parts, /** @type {object} */ end) => ({
      candidates: [{ content: { role: "model", parts }, index: 0, ...end }],
      ...about,
    });
    if (!path.endsWith(":streamGenerateContent")) return json(content(partsOf(answer), { finishReason: "STOP" }));
    stream(
      unnamedEvents([...pieces(answer).map((part) => content([part], {})), content([], { finishReason: "STOP" })]),
    );
  },
};

/** @param {{ turns: Turns, waiting: { id: string, name: string }[] }} known @param {string} role @param {any} part */
function read({ turns, waiting }, role, part) {
  const { text, thought, functionCall: call, functionResponse: result } = part;
  if (text !== undefined && !thought) role === "model" ? turns.assistant(text) : turns.user(text);
  if (call) {
    const id = call.id ?? `call${turns.list.length}.${waiting.length}`;
    waiting.push({ id, name: call.name });
    turns.call({ id, name: call.name, input: call.args ?? {} });
  }
  if (result) {
    const place = waiting.findIndex(({ id, name }) => (result.id ? id === result.id : name === result.name));
    const [answered] = place < 0 ? [] : waiting.splice(place, 1);
    const { output, error, ...rest } = result.response ?? {};
    const written = error ?? output ?? rest;
    turns.result({
      id: result.id ?? answered?.id ?? "",
      text: typeof written === "string" ? written : JSON.stringify(written),
      ...(error === undefined ? {} : { isError: true }),
    });
  }
}

/** @param {Answer} answer @returns {object[]} */
function partsOf({ reasoning, text, calls }) {
  return [...(reasoning ? [{ text: reasoning, thought: true }] : []), ...(text ? [{ text }] : []), ...callsOf(calls)];
}

/** @param {Answer} answer @returns {object[]} */
function pieces({ reasoning, text, calls }) {
  const thoughts = reasoning ? [{ text: reasoning, thought: true }] : [];
  return [...thoughts, ...(text ? halves(text).map((half) => ({ text: half })) : []), ...callsOf(calls)];
}

// A call is never in pieces.
/** @param {Answer["calls"]} calls @returns {object[]} */
function callsOf(calls) {
  return calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }));
}
