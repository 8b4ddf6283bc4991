// @ts-check
// How each API that the fake model server speaks is spoken by a client: what its tests ask, and how they read the
// answers.

import assert from "node:assert/strict";

/** @import { Turn } from "../clients/model/turns.mjs" */
/** @import { Call } from "../clients/model/script.mjs" */

/**
 * @typedef {{ reasoning: string, text: string, calls: Call[] }} ModelAnswer
 *
 * @typedef {object} ProviderDialect
 * @property {string} name
 * @property {string} path
 * @property {string} streamPath
 * @property {string} [countPath]
 * @property {boolean} hasErrors whether a result says that it is an error
 * @property {(turns: Turn[], isMain: boolean) => object} body with a system prompt, reasoning and a reminder among the
 *   turns
 * @property {(answer: any) => ModelAnswer} readAnswer
 * @property {(data: string[]) => ModelAnswer} readStream
 */

const NAMES = ["Bash", "Read", "Write"];
const REMINDER = "<system-reminder>Be\ngood.</system-reminder>";
const REASONING = "Nobody shall see this.";

/** @param {any} text */
const parseJson = (text) => JSON.parse(text);

/** @type {ProviderDialect} */
const anthropic = {
  name: "Anthropic's Messages",
  path: "/v1/messages?beta=true",
  streamPath: "/v1/messages?beta=true",
  countPath: "/v1/messages/count_tokens",
  hasErrors: true,
  body: (turns, isMain) => ({
    system: "Be good.",
    ...(isMain ? { tools: NAMES.map((name) => ({ name })) } : {}),
    messages: turns.map(({ role, text, calls = [], results }) => ({
      role,
      content: results
        ? results.map(({ id, text: content, isError }) => ({
            type: "tool_result",
            tool_use_id: id,
            content: [{ type: "text", text: content }],
            ...(isError ? { is_error: true } : {}),
          }))
        : [
            ...(role === "user"
              ? [{ type: "text", text: REMINDER }]
              : [{ type: "thinking", thinking: REASONING, signature: "" }]),
            ...(text ? [{ type: "text", text }] : []),
            ...calls.map((call) => ({ type: "tool_use", ...call })),
          ],
    })),
  }),
  readAnswer: ({ content }) => ({
    reasoning: content.map((/** @type {any} */ { thinking = "" }) => thinking).join(""),
    text: content.map((/** @type {any} */ { text = "" }) => text).join(""),
    calls: content
      .filter((/** @type {any} */ { type }) => type === "tool_use")
      .map((/** @type {any} */ { id, name, input }) => ({ id, name, input })),
  }),
  readStream(data) {
    const events = data.map(parseJson);
    const all = (/** @type {string} */ field, /** @type {number} */ at = -1) =>
      events
        .filter(({ index }) => at < 0 || index === at)
        .map(({ delta }) => delta?.[field] ?? "")
        .join("");
    const started = events.filter(({ content_block: block }) => block?.type === "tool_use");
    assert.equal(events.find(({ type }) => type === "message_delta").delta.stop_reason, "tool_use");
    assert.equal(events.at(-1).type, "message_stop");
    return {
      reasoning: all("thinking"),
      text: all("text"),
      calls: started.map(({ index, content_block: { id, name } }) => ({
        id,
        name,
        input: JSON.parse(all("partial_json", index)),
      })),
    };
  },
};

/** @type {ProviderDialect} */
const openaiChat = {
  name: "OpenAI's chat completions",
  path: "/v1/chat/completions",
  streamPath: "/v1/chat/completions",
  hasErrors: false,
  body: (turns, isMain) => ({
    ...(isMain ? { tools: NAMES.map((name) => ({ type: "function", function: { name } })) } : {}),
    messages: [
      { role: "system", content: "Be good." },
      ...turns.flatMap(
        /** @returns {object[]} */ ({ role, text, calls, results = [] }) => {
          const made = calls?.map(({ id, name, input }) => ({
            id,
            type: "function",
            function: { name, arguments: JSON.stringify(input) },
          }));
          if (role === "assistant")
            return [
              { role, reasoning_content: REASONING, content: text ?? null, ...(made ? { tool_calls: made } : {}) },
            ];
          return text
            ? [
                {
                  role,
                  content: [
                    { type: "text", text: REMINDER },
                    { type: "text", text },
                  ],
                },
              ]
            : results.map(({ id, text: content }) => ({ role: "tool", tool_call_id: id, content }));
        },
      ),
    ],
  }),
  readAnswer({ choices: [{ message, finish_reason }] }) {
    const calls = (message.tool_calls ?? []).map((/** @type {any} */ call) => ({
      id: call.id,
      name: call.function.name,
      input: JSON.parse(call.function.arguments),
    }));
    assert.equal(finish_reason, calls.length > 0 ? "tool_calls" : "stop");
    return { reasoning: message.reasoning_content ?? "", text: message.content ?? "", calls };
  },
  readStream(data) {
    assert.equal(data.at(-1), "[DONE]");
    const chunks = data.slice(0, -1).map(parseJson);
    const deltas = chunks.flatMap(({ choices }) => choices.map((/** @type {any} */ { delta }) => delta));
    const all = (/** @type {string} */ field) => deltas.map((delta) => delta[field] ?? "").join("");
    const parts = deltas.flatMap((delta) => delta.tool_calls ?? []);
    const tool_calls = parts
      .filter(({ id }) => id)
      .map(({ index, id, function: { name } }) => ({
        id,
        function: {
          name,
          arguments: parts
            .filter((part) => part.index === index)
            .map((part) => part.function.arguments)
            .join(""),
        },
      }));
    const { finish_reason } = chunks.flatMap(({ choices }) => choices).at(-1);
    return openaiChat.readAnswer({
      choices: [
        {
          finish_reason,
          message: { reasoning_content: all("reasoning_content"), content: all("content"), tool_calls },
        },
      ],
    });
  },
};

/** @type {ProviderDialect} */
const openaiResponses = {
  name: "OpenAI's Responses",
  path: "/v1/responses",
  streamPath: "/v1/responses",
  hasErrors: false,
  body: (turns, isMain) => ({
    // One of the tools takes a text.
    ...(isMain
      ? { tools: [...NAMES.map((name) => ({ type: "function", name })), { type: "custom", name: "patch" }] }
      : {}),
    instructions: "Be good.",
    input: [
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Be good." }] },
      { role: "user", content: [{ type: "input_text", text: REMINDER }] },
      ...turns.flatMap(({ role, text, calls = [], results = [] }) => [
        ...(role === "assistant" ? [{ type: "reasoning", summary: [{ type: "summary_text", text: REASONING }] }] : []),
        ...(text
          ? [{ type: "message", role, content: [{ type: role === "user" ? "input_text" : "output_text", text }] }]
          : []),
        ...calls.map(({ id, name, input }) => ({
          type: "function_call",
          call_id: id,
          name,
          arguments: JSON.stringify(input),
        })),
        ...results.map(({ id, text: output }) => ({ type: "function_call_output", call_id: id, output })),
      ]),
    ],
  }),
  readAnswer({ output }) {
    const of = (/** @type {string} */ type) => output.filter((/** @type {any} */ item) => item.type === type);
    return {
      reasoning: of("reasoning")
        .map((/** @type {any} */ { summary }) => summary[0].text)
        .join(""),
      text: of("message")
        .map((/** @type {any} */ { content }) => content[0].text)
        .join(""),
      calls: of("function_call").map((/** @type {any} */ { call_id: id, name, arguments: input }) => ({
        id,
        name,
        input: JSON.parse(input),
      })),
    };
  },
  readStream(data) {
    const events = data.map(parseJson);
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, place) => place),
    );
    const all = (/** @type {string} */ kind, /** @type {number} */ at = -1) =>
      events
        .filter(({ type, output_index }) => type === `response.${kind}.delta` && (at < 0 || output_index === at))
        .map(({ delta }) => delta)
        .join("");
    const started = events.filter(
      ({ type, item }) => type === "response.output_item.added" && item.type === "function_call",
    );
    const said = {
      reasoning: all("reasoning_summary_text"),
      text: all("output_text"),
      calls: started.map(({ output_index, item: { call_id: id, name } }) => ({
        id,
        name,
        input: JSON.parse(all("function_call_arguments", output_index)),
      })),
    };
    const done = events.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    assert.deepEqual(openaiResponses.readAnswer({ output: done }), said);
    assert.deepEqual(events.at(-1).response.output, done);
    return said;
  },
};

/** @type {ProviderDialect} */
const gemini = {
  name: "Gemini's generateContent",
  path: "/v1beta/models/any:generateContent",
  streamPath: "/v1beta/models/any:streamGenerateContent?alt=sse",
  countPath: "/v1beta/models/any:countTokens",
  hasErrors: true,
  body: (turns, isMain) => ({
    ...(isMain ? { tools: [{ functionDeclarations: NAMES.map((name) => ({ name })) }] } : {}),
    systemInstruction: { parts: [{ text: "Be good." }] },
    contents: turns.map(({ role, text, calls = [], results }) => ({
      role: role === "user" ? "user" : "model",
      parts: results
        ? results.map(({ id, text: said, isError }) => ({
            functionResponse: { id, name: "any", response: isError ? { error: said } : { output: said } },
          }))
        : [
            role === "user" ? { text: REMINDER } : { text: REASONING, thought: true },
            ...(text ? [{ text }] : []),
            ...calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } })),
          ],
    })),
  }),
  readAnswer: ({
    candidates: [
      {
        content: { parts },
      },
    ],
  }) => ({
    reasoning: parts
      .filter((/** @type {any} */ { thought }) => thought)
      .map((/** @type {any} */ { text }) => text)
      .join(""),
    text: parts
      .filter((/** @type {any} */ { thought, text }) => text && !thought)
      .map((/** @type {any} */ { text }) => text)
      .join(""),
    calls: parts
      .filter((/** @type {any} */ { functionCall }) => functionCall)
      .map((/** @type {any} */ { functionCall: { id, name, args: input } }) => ({ id, name, input })),
  }),
  readStream(data) {
    const chunks = data.map(parseJson);
    assert.equal(chunks.at(-1).candidates[0].finishReason, "STOP");
    return gemini.readAnswer({
      candidates: [{ content: { parts: chunks.flatMap(({ candidates: [{ content }] }) => content.parts) } }],
    });
  },
};

export const SPOKEN = [anthropic, openaiChat, openaiResponses, gemini];
