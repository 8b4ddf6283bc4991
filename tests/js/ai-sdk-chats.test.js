// @ts-check
// Chats of the AI SDK: what is loaded is what was saved, and saving again adds what is new.
// Tries: js/ai/chat.js, js/ai/plan.js, js/ai/screen.js, js/sdk/drafts.js
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as current from "ai-current";
import * as previous from "ai-previous";

import { contextFor, loadChat, openChat, saveAnswer, saveChat } from "../../js/ai/index.js";
import { MemoryStorage, openStore } from "../../js/index.js";
import { VERSIONS, call, message, modelOf, said, text, tool, toolsOf } from "./ai-sdk.js";

/** @import { Store } from "../../js/index.js" */

const chatId = "chat/of the app: ü";

/** @param {(store: Store) => unknown} work */
async function inStore(work) {
  const store = await openStore({ home: "/home", project: "/project", storage: new MemoryStorage() });
  await work(store);
  await store.close();
}

const CHAT = [
  { ...message("q1", "user", "Where is the parser?"), metadata: { createdAt: 1790000000000, tags: ["a", null] } },
  message(
    "a1",
    "assistant",
    { type: "step-start" },
    {
      type: "reasoning",
      text: "The user wants a place.",
      state: "done",
      providerMetadata: { openai: { itemId: "rs_1" } },
    },
    { type: "text", text: "Let me look.", state: "done" },
    tool("call_1", { state: "output-available", output: { found: ["src/parse.rs"], lines: 12 } }),
    { type: "data-chart", id: "chart", data: { values: [1, 2.5, { deep: [] }] } },
    { type: "step-start" },
    tool("call_2", { state: "output-error", errorText: "there is no such folder, or it cannot be read" }),
    { type: "source-url", sourceId: "s1", url: "https://example.org", title: "A page" },
    { type: "file", mediaType: "image/png", filename: "map.png", url: "data:image/png;base64,iVBORw0KGgo=" },
    { type: "step-start" },
    { type: "text", text: "It is in src/parse.rs, from line 12 on." },
    { type: "text", text: "And more." },
  ),
  message("q2", "user", "Thanks", { type: "file", mediaType: "text/plain", url: "https://example.org/a.txt" }),
];

test("what is loaded is what was saved, and its own library finds it right", async () => {
  await inStore(async (store) => {
    await saveChat(store, { chatId, messages: CHAT });
    const loaded = await loadChat(store, chatId);
    assert.deepEqual(loaded, CHAT);
    assert.deepEqual(await current.validateUIMessages({ messages: loaded }), CHAT);
    assert.deepEqual(await previous.validateUIMessages({ messages: loaded }), CHAT);
    assert.deepEqual(await loadChat(store, "another"), []);
  });
});

test("a saved chat is a session as any other: it is shown, searched and sent", async () => {
  await inStore(async (store) => {
    await saveChat(store, { chatId, messages: CHAT });
    const session = await openChat(store, chatId);
    assert.deepEqual(await said(session), [
      "user Where is the parser?",
      "assistant Let me look. call_1",
      'tool {"found":["src/parse.rs"],"lines":12} call_1',
      "assistant  call_2",
      "tool there is no such folder, or it cannot be read call_2",
      "assistant It is in src/parse.rs, from line 12 on.\n\nAnd more.",
      "user Thanks",
    ]);
    const { messages } = await session.context({ window: 8000, format: "ai-sdk" });
    const sent = await current.convertToModelMessages(CHAT);
    assert.deepEqual(
      messages.map(({ role }) => role),
      sent.map(({ role }) => role),
    );
    assert.equal((await store.list())[0]?.title, "Where is the parser?");
    const found = [];
    for await (const { excerpt } of store.search("folder")) found.push(excerpt.map(({ text }) => text).join(""));
    assert.match(found.join(), /there is no such folder/);
  });
});

test("what is saved again adds what is new, and nothing is doubled", async () => {
  await inStore(async (store) => {
    for (const count of [1, 2, 2, 3, 3]) {
      await saveChat(store, { chatId, messages: CHAT.slice(0, count) });
      assert.deepEqual(await loadChat(store, chatId), CHAT.slice(0, count));
    }
    const session = await openChat(store, chatId);
    await session.refresh();
    assert.equal(session.metadata.stats.messageCount, 7);
  });
});

/** Saves chats one after another, and what is loaded is the last; answers what the session says then. @param {any[][]} chats */
async function saveAll(...chats) {
  /** @type {string[]} */
  let path = [];
  await inStore(async (store) => {
    for (const messages of chats) {
      await saveChat(store, { chatId, messages });
      assert.deepEqual(await loadChat(store, chatId), messages);
    }
    const session = await openChat(store, chatId);
    path = await said(session);
    let all = 0;
    for await (const _ of session.messages({ allBranches: true })) all += 1;
    path.push(`${all} in all`);
  });
  return path;
}

const [Q1, Q2] = [message("q1", "user", "One"), message("q2", "user", "Two")];
const [A1, A2] = [message("a1", "assistant", "First."), message("a2", "assistant", "Second.")];

test("an answer that grew is revised", async () => {
  const pending = message("a1", "assistant", "Let me look.", tool("call_1", { state: "input-available" }));
  const done = message("a1", "assistant", "Let me look.", tool("call_1", { state: "output-available", output: "src" }));
  const more = { ...done, parts: [...done.parts, { type: "step-start" }, { type: "text", text: "It is there." }] };
  const marked = { ...more, metadata: { model: "one" } };
  assert.deepEqual(
    await saveAll([Q1, message("a1", "assistant", "Let")], [Q1, pending], [Q1, done], [Q1, more], [Q1, marked]),
    ["user One", "assistant Let me look. call_1", "tool src call_1", "assistant It is there.", "4 in all"],
  );
});

test("another answer begins a branch, also under the same id, and going back to the first one goes on there", async () => {
  const end = ["user One", "assistant Second.", "user Two"];
  assert.deepEqual(await saveAll([Q1, A1], [Q1, A2], [Q1, A2, Q2]), [...end, "4 in all"]);
  assert.deepEqual(await saveAll([Q1, A1], [Q1, A2], [Q1, A1]), ["user One", "assistant First.", "3 in all"]);
  const same = { ...A2, id: "a1" };
  assert.deepEqual(await saveAll([Q1, A1, Q2], [Q1, same, Q2]), [...end, "5 in all"]);
  assert.deepEqual(await saveAll([Q1, A1], [Q1, A2], [Q1, A1, Q2]), [
    "user One",
    "assistant First.",
    "user Two",
    "4 in all",
  ]);
});

test("an answer in a branch is revised there", async () => {
  const more = { ...A2, parts: [...A2.parts, { type: "text", text: "And more." }], metadata: { model: "one" } };
  assert.deepEqual(
    await saveAll(
      [Q1, A1, Q2],
      [Q1, A2],
      [Q1, more],
      [Q1, more, Q2],
      [Q1, A1, Q2, message("a3", "assistant", "Third.")],
    ),
    ["user One", "assistant First.", "user Two", "assistant Third.", "6 in all"],
  );
});

test("a message from before the branches is revised, and the branch stays", async () => {
  const marked = (/** @type {any} */ one) => ({ ...one, metadata: { seen: true } });
  const all = ["user One", "assistant Second."];
  assert.deepEqual(await saveAll([Q1, A1], [Q1, A2], [Q1, marked(A2)], [marked(Q1), marked(A2)]), [...all, "3 in all"]);
  assert.deepEqual(await saveAll([Q1, A1], [Q1, A2], [marked(Q1), A2, Q2]), [...all, "user Two", "4 in all"]);
});

test("what looks as leftoff's own references is loaded as it was saved", async () => {
  const long = "A text that is long enough to be referred to.";
  await saveAll([{ ...message("q1", "user", long), metadata: { "leftoff:value": "0.content", again: long } }]);
});

test("an edited question begins a branch; the first message is revised", async () => {
  const edited = { ...Q2, parts: [{ type: "text", text: "Two, but better" }] };
  assert.deepEqual(await saveAll([Q1, A1, Q2, A2], [Q1, A1, edited, A2]), [
    "user One",
    "assistant First.",
    "user Two, but better",
    "assistant Second.",
    "6 in all",
  ]);
  const first = { ...Q1, parts: [{ type: "text", text: "One, but better" }] };
  assert.deepEqual(await saveAll([Q1, A1], [first, A2]), ["user One, but better", "assistant Second.", "3 in all"]);
});

test("what was appended otherwise is loaded, and saved once", async () => {
  await inStore(async (store) => {
    await saveChat(store, { chatId, messages: [Q1] });
    const session = await openChat(store, chatId);
    await session.append([
      { role: "assistant", content: "First.", assistant: { reasoning: [{ text: "The user counts." }] } },
      { role: "user", content: "Two" },
      { role: "assistant", content: "Second." },
    ]);
    const loaded = await loadChat(store, chatId);
    assert.deepEqual(
      loaded.slice(1).map(({ role, parts }) => [role, ...parts.map((part) => Reflect.get(part, "text"))]),
      [
        ["assistant", undefined, "The user counts.", "First."],
        ["user", "Two"],
        ["assistant", undefined, "Second."],
      ],
    );
    await saveChat(store, { chatId, messages: loaded });
    await saveChat(store, { chatId, messages: [...loaded, message("q3", "user", "Three")] });
    assert.deepEqual(await said(session), [
      "user One",
      "assistant First.",
      "user Two",
      "assistant Second.",
      "user Three",
    ]);
    // Another answer takes the place of one that no screen had saved.
    await session.append({ role: "assistant", content: "Third." });
    await saveChat(store, { chatId, messages: [...loaded, message("q3", "user", "Three"), A1] });
    assert.equal((await said(session)).at(-1), "assistant First.");
    assert.equal((await said(session)).length, 6);
  });
});

test("a list that lacks the newest messages deletes nothing", async () => {
  await inStore(async (store) => {
    await saveChat(store, { chatId, messages: [Q1, A1, Q2] });
    await saveChat(store, { chatId, messages: [Q1] });
    assert.deepEqual(await loadChat(store, chatId), [Q1, A1, Q2]);
    await saveChat(store, { chatId, messages: [Q1, A2] });
    assert.deepEqual(await loadChat(store, chatId), [Q1, A2]);
  });
});

for (const version of VERSIONS) {
  test(`${version.name}: what a run has saved of a chat is not saved twice`, async () => {
    await inStore(async (store) => {
      const { sdk } = version;
      const session = await openChat(store, chatId);
      const turn = async (/** @type {any} */ question, /** @type {any[][]} */ contents) => {
        const messages = [...(await loadChat(store, chatId)), question];
        await saveChat(store, { chatId, messages });
        const result = sdk.streamText({
          model: modelOf(version, contents),
          messages: await sdk.convertToModelMessages(messages),
          tools: toolsOf(version),
          stopWhen: version.stopAfter(5),
          prepareStep: contextFor(session, { window: 8000 }),
          [version.name === "version 7" ? "onEnd" : "onFinish"]: saveAnswer(session),
        });
        /** @type {any} */
        let saved;
        const options = {
          originalMessages: messages,
          generateMessageId: () => `answer to ${question.id}`,
          [version.name === "version 7" ? "onEnd" : "onFinish"]: (/** @type {any} */ { messages }) =>
            (saved = messages),
        };
        const stream = sdk.toUIMessageStream
          ? sdk.toUIMessageStream({ stream: result.stream, ...options })
          : result.toUIMessageStream(options);
        for await (const _ of stream);
        await saveChat(store, { chatId, messages: saved });
        assert.deepEqual(await loadChat(store, chatId), JSON.parse(JSON.stringify(saved)));
      };
      await turn(Q1, [[text("I look."), call("call_1")], [text("Found.")]]);
      await turn(Q2, [[text("Found.")]]);
      assert.deepEqual(await said(session), [
        "user One",
        "assistant I look. call_1",
        'tool {"found":"a parser in src"} call_1',
        "assistant Found.",
        "user Two",
        "assistant Found.",
      ]);
    });
  });

  test(`${version.name}: an answer that waits for an approval goes on as the same message`, async () => {
    await inStore(async (store) => {
      const { sdk } = version;
      const session = await openChat(store, chatId);
      const end = version.name === "version 7" ? "onEnd" : "onFinish";
      const tools = /** @type {any} */ (toolsOf(version));
      tools.look.needsApproval = true;
      const turn = async (/** @type {any[]} */ messages, /** @type {any[][]} */ contents) => {
        await saveChat(store, { chatId, messages });
        const result = sdk.streamText({
          model: modelOf(version, contents),
          messages: await sdk.convertToModelMessages(messages),
          tools,
          stopWhen: version.stopAfter(5),
          prepareStep: contextFor(session, { window: 8000 }),
          [end]: saveAnswer(session),
        });
        /** @type {any} */
        let saved;
        const options = {
          originalMessages: messages,
          generateMessageId: () => "a1",
          [end]: (/** @type {any} */ { messages }) => (saved = messages),
        };
        const stream = sdk.toUIMessageStream
          ? sdk.toUIMessageStream({ stream: result.stream, ...options })
          : result.toUIMessageStream(options);
        for await (const _ of stream);
        await saveChat(store, { chatId, messages: saved });
        const loaded = /** @type {any[]} */ (await loadChat(store, chatId));
        assert.deepEqual(loaded, JSON.parse(JSON.stringify(saved)));
        return loaded;
      };
      const [question, asked] = await turn([Q1], [[text("I look."), call("call_1")]]);
      assert.deepEqual(await said(session), ["user One", "assistant I look. call_1"]);
      const parts = asked.parts.map((/** @type {any} */ part) =>
        part.state === "approval-requested"
          ? { ...part, state: "approval-responded", approval: { ...part.approval, approved: true } }
          : part,
      );
      assert.notDeepEqual(parts, asked.parts);
      await turn([question, { ...asked, parts }], [[text("Found.")]]);
      const all = [
        "user One",
        "assistant I look. call_1",
        'tool {"found":"a parser in src"} call_1',
        "assistant Found.",
      ];
      assert.deepEqual(await said(session), all);
      const kept = [];
      for await (const { id } of session.messages({ allBranches: true })) kept.push(id);
      assert.equal(kept.length, all.length);
    });
  });

  test(`${version.name}: an answer that is saved while it streams is loaded as far as it is, by another process, too`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "leftoff-chats-"));
    const open = () => openStore({ home: join(folder, "home"), project: folder });
    const [store, other] = [await open(), await open()];
    const { sdk } = version;
    await saveChat(store, { chatId, messages: [Q1] });
    const result = sdk.streamText({ model: modelOf(version, [[text("One two three four.")]]), prompt: "One" });
    const options = { generateMessageId: () => "a1", originalMessages: [Q1] };
    const stream = sdk.toUIMessageStream
      ? sdk.toUIMessageStream({ stream: result.stream, ...options })
      : result.toUIMessageStream(options);
    const session = await openChat(store, chatId);
    const seen = new Set();
    for await (const answer of sdk.readUIMessageStream({ stream })) {
      if (answer.parts.length === 0) continue;
      await saveChat(store, { chatId, messages: [Q1, answer] });
      const loaded = await loadChat(other, chatId);
      assert.deepEqual(loaded, JSON.parse(JSON.stringify([Q1, answer])));
      const [newest] = [(await session.messages({ newestFirst: true }).next()).value];
      seen.add(`${newest?.partial ?? false} ${newest?.content}`);
    }
    assert.ok(seen.has("true One two three ") && seen.has("false One two three four."), [...seen].join());
    assert.deepEqual(await said(session), ["user One", "assistant One two three four."]);
    for (const one of [store, other]) await one.close();
    rmSync(folder, { recursive: true });
  });

  test(`${version.name}: what only a run has saved is loaded`, async () => {
    await inStore(async (store) => {
      const session = await openChat(store, chatId);
      const prepareStep = contextFor(session, { window: 8000 });
      const model = modelOf(version, [[text("I look."), call("call_1")], [text("Found.")]]);
      const stopWhen = version.stopAfter(5);
      await version.sdk.generateText({ model, prompt: "Where?", tools: toolsOf(version), stopWhen, prepareStep });
      const loaded = await loadChat(store, chatId);
      assert.deepEqual(
        loaded.map(({ role, parts }) =>
          [role, ...parts.map((/** @type {any} */ { type, state }) => state ?? type)].join(" "),
        ),
        ["user text", "assistant step-start text output-available"],
      );
      await version.sdk.validateUIMessages({ messages: loaded });
      await saveChat(store, { chatId, messages: loaded });
      assert.deepEqual(await loadChat(store, chatId), loaded);
      assert.equal((await said(session)).length, 3);
    });
  });
}

test("what is no chat is refused by the place of what is wrong, and nothing is saved", async () => {
  await inStore(async (store) => {
    const refused = (/** @type {RegExp} */ message) => ({ name: "LeftoffError", code: "invalid_request", message });
    /** @type {[any, RegExp][]} */
    const cases = [
      [undefined, /expected the chat's messages, an array, but found undefined/],
      [{ chatId, messages: "text" }, /an array, but found "text"/],
      [{ chatId, messages: [Q1, {}] }, /expected an id for message 1, a text, but found undefined/],
      [{ chatId, messages: [{ ...Q1, role: "tool" }] }, /as the role of message 0, but found "tool"/],
      [{ chatId, messages: [{ ...Q1, parts: [{}] }] }, /expected parts, each with its type, for message 0/],
      [{ chatId, messages: [{ ...Q1, metadata: 1n }] }, /expected values of JSON in message 0/],
      [{ chatId: "", messages: [Q1] }, /expected a chat's id, a text, but found ""/],
      [{ chatId: 7, messages: [Q1] }, /expected a chat's id, a text, but found number/],
    ];
    for (const [chat, message] of cases) await assert.rejects(saveChat(store, chat), refused(message));
    await assert.rejects(loadChat(store, /** @type {any} */ (undefined)), refused(/expected a chat's id/));
    await assert.rejects(loadChat(/** @type {any} */ ({}), "chat"), refused(/expected a store/));
    assert.deepEqual(await store.list(), []);
  });
});

test("a large file and a large output lie out of line once, and are loaded whole", async () => {
  await inStore(async (store) => {
    const url = `data:image/png;base64,${"iVBORw0KGgoA".repeat(60_000)}`;
    const output = { lines: Array.from({ length: 40_000 }, (_, line) => `line ${line} of the file`) };
    const messages = [
      message("q1", "user", "Read it.", { type: "file", mediaType: "image/png", url }),
      message("a1", "assistant", tool("call_1", { state: "output-available", output })),
    ];
    await saveChat(store, { chatId, messages });
    assert.deepEqual(await loadChat(store, chatId), messages);
    for await (const { source } of (await openChat(store, chatId)).messages())
      assert.ok(JSON.stringify(source).length < 1000);
  });
});
