// @ts-check
// What the providers' own libraries answer is appended whole: by the real packages, with models that are made up.
// Tries: js/session/library-answers.js, src/shapes/ai_sdk.rs, src/shapes/answer.rs
import assert from "node:assert/strict";
import { test } from "node:test";

import * as current from "ai-current";
import { MockLanguageModelV3, simulateReadableStream } from "ai-current/test";
import * as previous from "ai-previous";
import { z } from "zod";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { answers } from "./shapes-samples.js";

Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
const majors = /** @type {[string, typeof current][]} */ (
  /** @type {unknown} */ ([
    ["7", current],
    ["6", previous],
  ])
);
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };

async function session() {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  return store.create();
}

/** What each step says: two calls, then one, then an end. @param {number} step @returns {any[]} */
function stepParts(step) {
  const call = (/** @type {string} */ id, /** @type {string} */ toolName) => ({
    type: "tool-call",
    toolCallId: id,
    toolName,
    input: '{"city":"Berlin"}',
  });
  if (step === 0) return [{ type: "text", text: "I look." }, call("c1", "weather"), call("c2", "words")];
  return step === 1 ? [call("c3", "fails")] : [{ type: "text", text: "Sun." }];
}

/** @param {typeof current} sdk */
function askModel(sdk) {
  const inputSchema = z.object({ city: z.string() });
  const tools = {
    weather: sdk.tool({ inputSchema, execute: async () => ({ sun: true }) }),
    words: sdk.tool({ inputSchema, execute: async () => '{"a":1}' }),
    fails: sdk.tool({
      inputSchema,
      execute: async () => /** @type {Promise<string>} */ (Promise.reject(new Error("no"))),
    }),
  };
  let step = 0;
  const finish = () => ({ finishReason: { unified: step < 3 ? "tool-calls" : "stop" }, usage });
  const doGenerate = async () => ({ content: stepParts(step++), ...finish(), warnings: [] });
  const doStream = async () => {
    const parts = stepParts(step++).flatMap((part, at) =>
      part.type === "text"
        ? [
            { type: "text-start", id: `${at}` },
            { type: "text-delta", id: `${at}`, delta: part.text },
            { type: "text-end", id: `${at}` },
          ]
        : [part],
    );
    return {
      stream: simulateReadableStream({
        chunks: [{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", ...finish() }],
      }),
    };
  };
  const model = new MockLanguageModelV3(/** @type {any} */ ({ doGenerate, doStream }));
  return {
    model,
    tools,
    stopWhen: sdk.stepCountIs(5),
    messages: [{ role: /** @type {const} */ ("user"), content: "weather?" }],
  };
}

/**
 * What is sent after it was appended.
 * @param {unknown} answer
 * @param {import("../../js/types/index.js").Format} [format]
 */
async function sentMessages(answer, format) {
  const one = await session();
  await one.append({ role: "user", content: "weather?" });
  await one.append(/** @type {object} */ (answer), { format });
  const { messages } = await one.context({ window: 100_000, format: "ai-sdk" });
  return /** @type {any[]} */ (messages).slice(1);
}

/** A text alone is a content, too. @param {any[]} messages */
function plain(messages) {
  return JSON.parse(JSON.stringify(messages)).map((/** @type {any} */ { role, content }) => ({
    role,
    content: Array.isArray(content) && content.length === 1 && content[0].type === "text" ? content[0].text : content,
  }));
}

for (const [major, sdk] of majors) {
  test(`of a result of the AI SDK ${major} each call, result and text is kept as it was, and sent again so`, async () => {
    const answer = await sdk.generateText(askModel(sdk));
    const all = plain(answer.responseMessages ?? answer.response.messages);
    assert.deepEqual(
      all.map((/** @type {any} */ { role }) => role),
      ["assistant", "tool", "assistant", "tool", "assistant"],
    );
    for (const given of [answer, [answer], answer.responseMessages ?? answer.response.messages]) {
      assert.deepEqual(plain(await sentMessages(given, "ai-sdk")), all);
    }
    assert.deepEqual(plain(await sentMessages(answer)), all, "it says its format itself");
  });

  test(`a result of the AI SDK ${major} that is streamed is appended once it is whole`, async () => {
    const whole = plain(await sentMessages(await sdk.generateText(askModel(sdk))));
    assert.deepEqual(plain(await sentMessages(sdk.streamText(askModel(sdk)))), whole);
    assert.deepEqual(plain(await sentMessages(sdk.streamText(askModel(sdk)), "ai-sdk")), whole);
  });

  test(`of the AI SDK ${major} what may lack the calls of other steps is refused by name`, async () => {
    const answer = await sdk.generateText(askModel(sdk));
    for (const [part, text] of /** @type {[any, RegExp][]} */ ([
      [answer.response, /the response of a result of the AI SDK.*"responseMessages"/],
      [answer.steps[0], /one step of a result of the AI SDK/],
    ])) {
      await assert.rejects(sentMessages(part, "ai-sdk"), isInvalidRequest(text));
      await assert.rejects(sentMessages([part], "ai-sdk"), isInvalidRequest(text));
      await assert.rejects(sentMessages(part), isInvalidRequest(text));
    }
    await assert.rejects(
      sentMessages(answer, "anthropic"),
      isInvalidRequest(/"anthropic", but found a result of the AI SDK instead: pass \{ format: "ai-sdk" \}/),
    );
    await assert.rejects(
      sentMessages(sdk.streamText(askModel(sdk)), "leftoff"),
      isInvalidRequest(/"leftoff", but found a result of the AI SDK/),
    );
  });
}

/** @param {RegExp} text */
function isInvalidRequest(text) {
  return (/** @type {unknown} */ error) =>
    error instanceof LeftoffError && error.code === "invalid_request" && text.test(error.message);
}

test("a provider's whole answer says its format itself, and is refused under another one", async () => {
  for (const { format, type, value, drafts } of answers.filter(
    ({ value }) => !Array.isArray(value) && !("parts" in value),
  )) {
    const one = await session();
    await one.append(value);
    const kept = [];
    for await (const { role, content, tool, assistant, attachments } of one.messages())
      kept.push(JSON.parse(JSON.stringify({ role, content, tool, assistant, attachments })));
    assert.deepEqual(kept, drafts, type);
    const other = format === "gemini" ? "anthropic" : "gemini";
    await assert.rejects(
      one.append(value, { format: other }),
      isInvalidRequest(new RegExp(`"${other}", but found .+ pass \\{ format: "${format}" \\}`)),
      type,
    );
    await assert.rejects(
      one.append([{ role: "user", content: "x" }, value]),
      isInvalidRequest(new RegExp(`pass \\{ format: "${format}" \\}`)),
      type,
    );
  }
  assert.ok(answers.some(({ type }) => type === "ChatCompletion"));
});

test("what nobody waited for is refused, and so is a result without its messages", async () => {
  const one = await session();
  await assert.rejects(
    one.append(/** @type {any} */ (Promise.resolve({ role: "user", content: "x" }))),
    isInvalidRequest(/given a promise: await it first/),
  );
  await assert.rejects(one.append({ steps: [], response: {} }), isInvalidRequest(/"answer.responseMessages"/));
  for await (const message of one.messages()) assert.fail(`nothing was to be appended, but ${JSON.stringify(message)}`);
});
