// @ts-check
// An answer of the AI SDK that a screen saves while it streams, and a run once it has its steps: it is there once,
// whichever comes first.
// Tries: js/ai/complete.js, js/ai/plan.js, js/ai/steps.js
import assert from "node:assert/strict";
import { test } from "node:test";

import { loadChat, openChat, saveAnswer, saveChat } from "../../js/ai/index.js";
import { MemoryStorage, openStore } from "../../js/index.js";
import { call, message, said, text, tool } from "./ai-sdk.js";

const chatId = "chat";
const QUESTION = message("q", "user", "Where is it?");
const start = { type: "step-start" };
const looking = (/** @type {string} */ text, state = "streaming") => ({ type: "text", text, state });
/** The states of an answer on its screen: each goes on with the one before. */
const STATES = [
  [start],
  [start, looking("Let")],
  [start, looking("Let me look for it.", "done"), tool("call_1", { state: "input-streaming", input: undefined })],
  [start, looking("Let me look for it.", "done"), tool("call_1", { state: "input-available" })],
  [start, looking("Let me look for it.", "done"), tool("call_1", { state: "output-available", output: "src" })],
  [start, looking("Let me look for it.", "done"), tool("call_1", { state: "output-available", output: "src" }), start],
].map((parts) => message("a", "assistant", ...parts));
const STEP = [
  { role: "assistant", content: [text("Let me look for it."), { ...call("call_1"), input: { at: "src" } }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: "call_1", toolName: "look", output: { type: "text", value: "src" } }],
  },
];
const SAID = ["user Where is it?", "assistant Let me look for it. call_1", "tool src call_1"];

const openMemory = (storage = new MemoryStorage()) => openStore({ home: "/home", project: "/project", storage });

/** @param {import("../../js/index.js").Session} session */
async function countAll(session) {
  let count = 0;
  for await (const _ of session.messages({ allBranches: true })) count += 1;
  return count;
}

for (const [place] of STATES.entries())
  test(`a run's step is saved after state ${place} of the answer, and the screen goes on from there`, async () => {
    const store = await openMemory();
    const session = await openChat(store, chatId);
    await saveChat(store, { chatId, messages: [QUESTION] });
    for (const answer of STATES.slice(0, place + 1)) await saveChat(store, { chatId, messages: [QUESTION, answer] });
    await saveAnswer(session)(STEP);
    const path = await said(session);
    assert.deepEqual(path.slice(0, SAID.length), SAID);
    assert.equal(await countAll(session), path.length);
    for (const answer of STATES.slice(place)) await saveChat(store, { chatId, messages: [QUESTION, answer] });
    assert.deepEqual(await loadChat(store, chatId), [QUESTION, STATES.at(-1)]);
    assert.deepEqual((await said(session)).slice(0, SAID.length), SAID);
    assert.equal(await countAll(session), (await said(session)).length);
    await store.close();
  });

test("what a run knows of an answer that a screen has saved is added, and counted as an earlier version does", async () => {
  const store = await openMemory();
  const session = await openChat(store, chatId);
  const answer = message("a", "assistant", { type: "text", text: "In src." });
  await saveChat(store, { chatId, messages: [QUESTION, answer] });
  const usage = { inputTokens: 90, cachedInputTokens: 50, outputTokens: 20, reasoningTokens: 8 };
  const response = { modelId: "gpt-5", messages: [{ role: "assistant", content: "In src." }] };
  for (const _ of [1, 2]) await saveAnswer(session)({ steps: [{ response, usage }] });
  const all = [];
  for await (const one of session.messages({ allBranches: true })) all.push(one);
  assert.deepEqual(all[1]?.assistant, {
    model: "gpt-5",
    usage: { input: 40, output: 20, cacheRead: 50, reasoning: 8 },
  });
  assert.deepEqual([all.length, all[1]?.rev], [2, 1]);
  assert.deepEqual(await loadChat(store, chatId), [QUESTION, answer]);
  await store.close();
});

test("an answer whose beginning another program's screen has saved is not taken for one's own", async () => {
  const storage = new MemoryStorage();
  const [store, other] = [await openMemory(storage), await openMemory(storage)];
  const session = await openChat(store, chatId);
  await saveChat(other, { chatId, messages: [QUESTION, message("a", "assistant", looking("Let"))] });
  await saveAnswer(session)(STEP);
  assert.deepEqual(await said(session), ["user Where is it?", "assistant Let", ...SAID.slice(1)]);
  await store.close();
});

test("a run goes on in an older branch that a chat went back to", async () => {
  const store = await openMemory();
  const session = await openChat(store, chatId);
  const [one, two] = ["one", "two"].map((id) => message(id, "assistant", `This is ${id}.`));
  for (const answer of [one, two, one]) await saveChat(store, { chatId, messages: [QUESTION, answer] });
  await saveAnswer(session)([{ role: "user", content: "And then?" }]);
  assert.deepEqual(await said(session), ["user Where is it?", "assistant This is one.", "user And then?"]);
  await store.close();
});
