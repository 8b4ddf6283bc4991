// @ts-check
// The chunks between two states of an answer: whichever states a reader has seen, the SDK makes of them the last one.
// Tries: js/ai/chunks.js
import assert from "node:assert/strict";
import { test } from "node:test";

import { chunksBetween } from "../../js/ai/chunks.js";
import { VERSIONS, message } from "./ai-sdk.js";

/** @import { Version } from "./ai-sdk.js" */

const providerMetadata = { openai: { itemId: "item_1" } };
const call = (/** @type {string} */ toolCallId) => ({ toolCallId, toolName: "look" });
/** Chunks that a run says in both versions. */
const SAID = [
  { type: "start", messageId: "a", messageMetadata: { model: "gpt-5" } },
  { type: "start-step" },
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "A place " },
  { type: "reasoning-delta", id: "r", delta: "is wanted.", providerMetadata },
  { type: "text-start", id: "t", providerMetadata },
  { type: "reasoning-end", id: "r" },
  { type: "text-delta", id: "t", delta: "Let me " },
  { type: "data-chart", id: "chart", data: { values: [1] } },
  { type: "text-delta", id: "t", delta: "look.", providerMetadata: { openai: { itemId: "item_2" } } },
  { type: "text-end", id: "t" },
  { type: "tool-input-start", ...call("one"), title: "Look" },
  { type: "tool-input-delta", toolCallId: "one", inputTextDelta: '{"at":"sr' },
  { type: "tool-input-start", ...call("two"), dynamic: true, providerExecuted: true },
  { type: "tool-input-delta", toolCallId: "two", inputTextDelta: '{"at":"docs"}' },
  { type: "tool-input-delta", toolCallId: "one", inputTextDelta: 'c"}' },
  { type: "tool-input-available", ...call("one"), input: { at: "src" }, title: "Look", providerMetadata },
  { type: "tool-input-available", ...call("two"), input: { at: "docs" }, dynamic: true, providerExecuted: true },
  { type: "tool-output-available", toolCallId: "one", output: { found: 1 }, preliminary: true },
  { type: "data-chart", id: "chart", data: { values: [1, 2] } },
  { type: "tool-output-available", toolCallId: "one", output: { found: 2 }, preliminary: true },
  { type: "tool-output-error", toolCallId: "two", errorText: "There is no such folder." },
  { type: "tool-output-available", toolCallId: "one", output: { found: 2 } },
  { type: "tool-input-start", ...call("three") },
  { type: "tool-input-error", ...call("three"), input: '{"at', errorText: "The input is no JSON." },
  { type: "message-metadata", messageMetadata: { tokens: { input: 7 } } },
  { type: "start-step" },
  { type: "source-url", sourceId: "s1", url: "https://example.org", title: "A page" },
  { type: "source-document", sourceId: "s2", mediaType: "text/plain", title: "A text", filename: "a.txt" },
  { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=", providerMetadata },
  { type: "data-note", data: "no id" },
  { type: "tool-input-available", ...call("one"), input: {} },
  { type: "tool-approval-request", approvalId: "may", toolCallId: "one" },
  { type: "tool-output-denied", toolCallId: "one" },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "It is in src." },
  { type: "finish", messageMetadata: { tokens: { output: 9 } } },
];
/** What version 7 alone says. */
const CURRENT = [
  { type: "start", messageId: "a" },
  { type: "start-step" },
  { type: "custom", kind: "openai.compaction", providerMetadata },
  { type: "reasoning-file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" },
  { type: "tool-input-start", ...call("one"), inputEncoding: "text" },
  { type: "tool-input-delta", toolCallId: "one", inputTextDelta: "*** Begin" },
  { type: "tool-input-delta", toolCallId: "one", inputTextDelta: " Patch" },
  { type: "tool-input-available", ...call("one"), input: "*** Begin Patch" },
  { type: "tool-approval-request", approvalId: "may", toolCallId: "one", reason: "It writes.", isAutomatic: true },
  { type: "tool-approval-response", approvalId: "may", approved: true, reason: "Go on." },
  { type: "tool-output-available", toolCallId: "one", output: "Done." },
  { type: "start-step" },
  { type: "steering-message", id: "s", parts: [{ type: "text", text: "Be brief." }] },
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "The model fails" },
  { type: "reset-step" },
  { type: "text-start", id: "u" },
  { type: "text-delta", id: "u", delta: "In src." },
  { type: "text-end", id: "u", citations: [{ type: "url", url: "https://example.org" }] },
];

/** The states that the SDK makes of chunks. @param {Version} version @param {readonly any[]} chunks @returns {Promise<any[]>} */
async function statesOf({ sdk }, chunks) {
  const states = [];
  const fail = (/** @type {Error} */ error) => {
    throw error;
  };
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  for await (const state of sdk.readUIMessageStream({ stream, terminateOnError: true, onError: fail }))
    states.push(JSON.parse(JSON.stringify(state)));
  return states;
}

/** The SDK's reader does not tell of each chunk, but of this one. */
const END = { type: "data-end", data: "the end" };

/** What the SDK makes of chunks in the end. @param {Version} version @param {readonly any[]} chunks */
async function lastOf(version, chunks) {
  const { parts, ...last } = (await statesOf(version, [...chunks, END])).at(-1);
  return { ...last, parts: parts.slice(0, -1) };
}

/** @param {Version} version @param {readonly any[]} said */
async function tryEachPair(version, said) {
  const states = await statesOf(version, said);
  assert.ok(states.length > said.length / 2);
  for (const [place, last] of states.entries())
    for (const shown of [undefined, ...states.slice(0, place)]) {
      const before = shown ? chunksBetween(undefined, shown) : [];
      const chunks = JSON.parse(JSON.stringify([...before, ...chunksBetween(shown, last)]));
      assert.deepEqual(await lastOf(version, chunks), last, JSON.stringify(chunks));
    }
  // And what a reader has seen that saw them all.
  const chunks = states.flatMap((state, place) => chunksBetween(states[place - 1], state));
  assert.deepEqual(await lastOf(version, chunks), states.at(-1));
}

for (const version of VERSIONS)
  test(`the chunks between two states lead from one to the other, in ${version.name}`, () =>
    tryEachPair(version, SAID));

test("the chunks of version 7 alone are told, too", async () => {
  const [version] = VERSIONS;
  if (version) await tryEachPair(version, CURRENT);
});

test("a growing answer is said by what is new", () => {
  const grown = (/** @type {string} */ text, state = "streaming") =>
    message("a", "assistant", { type: "text", text, state });
  assert.deepEqual(chunksBetween(grown("It is"), grown("It is in src.")), [
    { type: "text-delta", id: "text-0", delta: " in src." },
  ]);
  assert.deepEqual(chunksBetween(grown("It is"), grown("It is", "done")), [{ type: "text-end", id: "text-0" }]);
  assert.deepEqual(chunksBetween(grown("It is", "done"), grown("It is", "done")), []);
});

test("an answer that does not go on with what was shown ends in an error", () => {
  const [one, other] = ["one", "another"].map((text) => message("a", "assistant", text));
  assert.deepEqual(
    chunksBetween(one, /** @type {any} */ (other)).map(({ type }) => type),
    ["error"],
  );
});
