// @ts-check
// A history of LangChain in a session: what is read is what was added, in LangChain's own runs, and nothing is doubled.
// Tries: js/langchain/index.js, js/langchain/messages.js, js/sdk/originals.js, js/sdk/drafts.js
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
} from "@langchain/core/messages";
import { ChatPromptTemplate, MessagesPlaceholder } from "@langchain/core/prompts";
import { RunnableWithMessageHistory } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import fc from "fast-check";

import { MemoryStorage, openStore } from "../../js/index.js";
import { LeftoffChatMessageHistory } from "../../js/langchain/index.js";
import { said } from "./ai-sdk.js";

/** @import { BaseMessage } from "@langchain/core/messages" */
/** @import { Store } from "../../js/index.js" */

/** @param {(store: Store) => unknown} work */
async function inStore(work) {
  const store = await openStore({ home: "/home", project: "/project", storage: new MemoryStorage() });
  await work(store);
  await store.close();
}

const url = `data:image/png;base64,${"iVBORw0KGgoA".repeat(4)}`;
const CHAT = [
  new SystemMessage("You look."),
  new HumanMessage({
    id: "q1",
    name: "ann",
    content: [
      { type: "text", text: "What is on this map?" },
      { type: "image_url", image_url: { url } },
    ],
    additional_kwargs: { tags: ["a", null] },
  }),
  new AIMessage({
    id: "a1",
    content: [
      { type: "text", text: "Let me look at it, it is a large one." },
      { type: "tool_use", id: "call_1", name: "look", input: { at: "src" } },
    ],
    tool_calls: [{ id: "call_1", name: "look", args: { at: "src" } }],
    usage_metadata: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
    response_metadata: { model_name: "gpt-5" },
  }),
  new ToolMessage({
    tool_call_id: "call_1",
    content: "there is no such folder",
    status: "error",
    artifact: { deep: [1] },
  }),
  new AIMessage("Nothing."),
  new HumanMessage("Thanks"),
];

test("what is read is what was added, by another history, too", async () => {
  await inStore(async (store) => {
    const sessionId = "a chat: ü";
    const history = new LeftoffChatMessageHistory({ store, sessionId });
    await history.addMessages(CHAT.slice(0, 4));
    for (const message of CHAT.slice(4)) await history.addMessage(message);
    const read = await new LeftoffChatMessageHistory({ store, sessionId }).getMessages();
    assert.deepEqual(mapChatMessagesToStoredMessages(read), mapChatMessagesToStoredMessages(CHAT));
    assert.deepEqual(
      read.map(({ constructor }) => constructor),
      CHAT.map(({ constructor }) => constructor),
    );
    assert.deepEqual(await new LeftoffChatMessageHistory({ store, sessionId: "another" }).getMessages(), []);
  });
});

test("it is a session as any other", async () => {
  await inStore(async (store) => {
    const history = new LeftoffChatMessageHistory({ store, sessionId: "chat" });
    await history.addMessages(CHAT);
    const session = await history.openSession();
    assert.deepEqual(await said(session), [
      "system You look.",
      "user What is on this map?",
      "assistant Let me look at it, it is a large one. call_1",
      "tool there is no such folder call_1",
      "assistant Nothing.",
      "user Thanks",
    ]);
    const all = [];
    for await (const message of session.messages()) all.push(message);
    const [, question, answer, result] = all;
    assert.equal(question?.attachments?.length, 1);
    assert.deepEqual([answer?.assistant?.model, answer?.assistant?.usage], ["gpt-5", { input: 12, output: 5 }]);
    assert.equal(result?.tool?.isError, true);
  });
});

test("each kind of message that LangChain can store is read as it was added, and another one is refused", async () => {
  await inStore(async (store) => {
    const history = new LeftoffChatMessageHistory({ store, sessionId: "chat" });
    const kinds = [
      new FunctionMessage({ name: "look", content: "found" }),
      new ChatMessage("I disagree.", "critic"),
      new ChatMessage("I agree.", "assistant"),
      new HumanMessage(""),
      new AIMessage(""),
      new AIMessageChunk("A piece"),
      new ToolMessage({ tool_call_id: "call_9", content: [{ type: "text", text: "found" }] }),
    ];
    await history.addMessages(kinds);
    const asStored = mapStoredMessagesToChatMessages(mapChatMessagesToStoredMessages(kinds));
    assert.deepEqual(
      mapChatMessagesToStoredMessages(await history.getMessages()),
      mapChatMessagesToStoredMessages(asStored),
    );
    const refused = (/** @type {RegExp} */ message) => ({ name: "LeftoffError", code: "invalid_request", message });
    /** @type {[any, RegExp][]} */
    const cases = [
      ["text", /expected messages of LangChain, an array, but found "text"/],
      [[CHAT[0], "text"], /expected a message of LangChain for message 1, but found "text"/],
      [[CHAT[0], new RemoveMessage({ id: "q1" })], /expected a message 1 that LangChain can store, but found "remove"/],
      [[new HumanMessage({ content: "x", additional_kwargs: { n: 1n } })], /a message 0 that LangChain can store/],
    ];
    for (const [messages, message] of cases) await assert.rejects(history.addMessages(messages), refused(message));
    assert.equal((await history.getMessages()).length, kinds.length);
    for (const fields of [undefined, {}, { store }, { store, sessionId: "" }, { sessionId: "chat" }])
      assert.throws(
        () => new LeftoffChatMessageHistory(/** @type {any} */ (fields)),
        refused(/expected a (?:store|text)/),
      );
    await assert.rejects(
      history.fitMessages(/** @type {any} */ ({ format: "gemini" })),
      refused(/expected no "format"/),
    );
  });
});

test("LangChain's own runs read and add, and nothing is doubled", async () => {
  await inStore(async (store) => {
    const getMessageHistory = (/** @type {string} */ sessionId) => new LeftoffChatMessageHistory({ store, sessionId });
    const prompt = ChatPromptTemplate.fromMessages([new MessagesPlaceholder("history"), ["human", "{question}"]]);
    const model = new FakeListChatModel({ responses: ["One.", "Two.", "Three."] });
    const asked = { configurable: { sessionId: "chat" } };
    const chain = new RunnableWithMessageHistory({
      runnable: prompt.pipe(model),
      getMessageHistory,
      inputMessagesKey: "question",
      historyMessagesKey: "history",
    });
    assert.equal((await chain.invoke({ question: "First?" }, asked)).text, "One.");
    let streamed = "";
    for await (const chunk of await chain.stream({ question: "Second?" }, asked)) streamed += chunk.text;
    assert.equal(streamed, "Two.");
    // Without keys the history is put before the messages, and LangChain counts what was there.
    const whole = new RunnableWithMessageHistory({ runnable: model, getMessageHistory });
    await whole.invoke([new HumanMessage("Third?")], asked);
    const session = await getMessageHistory("chat").openSession();
    assert.deepEqual(await said(session), [
      "user First?",
      "assistant One.",
      "user Second?",
      "assistant Two.",
      "user Third?",
      "assistant Three.",
    ]);
  });
});

test("what fits a window are messages of LangChain, with each call's result", async () => {
  await inStore(async (store) => {
    const history = new LeftoffChatMessageHistory({ store, sessionId: "chat" });
    assert.deepEqual(await history.fitMessages({ window: 8000 }), []);
    for (let turn = 0; turn < 30; turn += 1) {
      const id = `call_${turn}`;
      await history.addMessages([
        new HumanMessage(`Look ${turn}`),
        new AIMessage({ content: "", tool_calls: [{ id, name: "look", args: { at: "src" } }] }),
        new ToolMessage({ tool_call_id: id, content: "found a parser in it. ".repeat(40) }),
        new AIMessage(`Found ${turn}.`),
      ]);
    }
    const fitting = await history.fitMessages({ window: 3000, reserve: 1000 });
    assert.ok(fitting.length < 60 && fitting.length > 4);
    const calls = fitting
      .flatMap((message) => (message instanceof AIMessage ? (message.tool_calls ?? []) : []))
      .map(({ id }) => id);
    const results = fitting.flatMap((message) => (message instanceof ToolMessage ? [message.tool_call_id] : []));
    assert.ok(calls.length > 0);
    assert.deepEqual(calls, results);
    assert.equal(fitting.at(-1)?.text, "Found 29.");
    const report = await (await history.openSession()).lastContext();
    assert.ok(report && report.tokensUsed <= 2000);
  });
});

test("a history that was cleared is empty, and what it had can be restored", async () => {
  await inStore(async (store) => {
    const history = new LeftoffChatMessageHistory({ store, sessionId: "chat" });
    await history.clear();
    await history.addUserMessage("Hello");
    await history.addAIMessage("Hi.");
    await history.clear();
    assert.deepEqual(await history.getMessages(), []);
    await history.addUserMessage("Again");
    assert.deepEqual(
      (await history.getMessages()).map(({ text }) => text),
      ["Again"],
    );
    assert.deepEqual(
      (await store.trashed()).map(({ title }) => title),
      ["Hello"],
    );
  });
});

test("what was said otherwise in its session is read as LangChain's messages", async () => {
  await inStore(async (store) => {
    const history = new LeftoffChatMessageHistory({ store, sessionId: "chat" });
    await history.addUserMessage("Hello");
    const session = await history.openSession();
    const toolCalls = [{ id: "call_1", name: "look", arguments: '{"at":"src"}' }];
    await session.append([
      { role: "assistant", content: "I look.", assistant: { toolCalls } },
      { role: "tool", content: "found", tool: { callId: "call_1", name: "look" } },
    ]);
    const read = await history.getMessages();
    assert.deepEqual(
      read.map(({ type, text }) => [type, text]),
      [
        ["human", "Hello"],
        ["ai", "I look."],
        ["tool", "found"],
      ],
    );
    const [, answer, result] = read;
    assert.ok(answer instanceof AIMessage && result instanceof ToolMessage);
    assert.deepEqual(
      answer.tool_calls?.map(({ id, args }) => [id, args]),
      [["call_1", { at: "src" }]],
    );
    assert.equal(result.tool_call_id, "call_1");
  });
});

const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)));
const content = fc.oneof(
  fc.string(),
  fc.array(
    fc.oneof(
      fc.string().map((text) => ({ type: "text", text })),
      fc.constant({ type: "image_url", image_url: { url } }),
    ),
    { minLength: 1, maxLength: 3 },
  ),
);
const more = fc.record(
  { id: fc.string({ minLength: 1 }), additional_kwargs: fc.dictionary(fc.string(), json, { noNullPrototype: true }) },
  { requiredKeys: [] },
);
const args = fc.dictionary(fc.string(), json, { noNullPrototype: true });
/** @type {fc.Arbitrary<BaseMessage>} */
const anyMessage = fc.oneof(
  fc.tuple(content, more).map(([content, more]) => new HumanMessage(/** @type {any} */ ({ content, ...more }))),
  fc.tuple(content, more, fc.array(args, { maxLength: 2 })).map(
    ([content, more, all]) =>
      new AIMessage(
        /** @type {any} */ ({
          content,
          ...more,
          tool_calls: all.map((args, place) => ({ id: `call_${place}`, name: "look", args })),
        }),
      ),
  ),
  fc
    .tuple(content, more, json)
    .map(
      ([content, more, artifact]) =>
        new ToolMessage(/** @type {any} */ ({ content, ...more, artifact, tool_call_id: "call_0" })),
    ),
);

test("any messages are read as they were added", async () => {
  await inStore(async (store) => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(anyMessage, { minLength: 1, maxLength: 5 }), async (messages) => {
        const history = new LeftoffChatMessageHistory({ store, sessionId: `chat ${(count += 1)}` });
        await history.addMessages(messages);
        const plain = JSON.parse(JSON.stringify(mapChatMessagesToStoredMessages(messages)));
        const read = await history.getMessages();
        assert.deepEqual(JSON.parse(JSON.stringify(mapChatMessagesToStoredMessages(read))), plain);
      }),
      { numRuns: 100, seed: 7 },
    );
  });
});
