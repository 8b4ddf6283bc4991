// @ts-check
// Runs of the AI SDK with a session: each step gets what fits, and each message is in the session once, whoever saves it.
// Tries: js/ai/context.js, js/ai/answer.js, js/ai/steps.js
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";

import { contextFor, loadChat, openChat, saveAnswer, saveChat } from "../../js/ai/index.js";
import { MemoryStorage, countTokens, openStore } from "../../js/index.js";
import { FailingStorage } from "./failing-storage.js";
import { VERSIONS, call, modelOf, said, text, toolsOf } from "./ai-sdk.js";

/** @import { Session, Store } from "../../js/index.js" */

/** @param {(parts: { store: Store, session: Session }) => unknown} work */
async function inStore(work) {
  const store = await openStore({ home: "/home", project: "/project", storage: new MemoryStorage() });
  await work({ store, session: await store.create() });
  await store.close();
}

const RUN = [[text("Let me look."), call("call_1")], [call("call_2", "tests")], [text("It is in src.")]];
const SAID = [
  "user Where is the parser?",
  "assistant Let me look. call_1",
  'tool {"found":"a parser in src"} call_1',
  "assistant  call_2",
  'tool {"found":"a parser in tests"} call_2',
  "assistant It is in src.",
];

/** The texts in a content that a model is sent. @param {unknown} content @returns {string[]} */
function textsIn(content) {
  if (typeof content === "string") return [content];
  return typeof content === "object" && content ? Object.values(content).flatMap(textsIn) : [];
}

for (const version of VERSIONS) {
  for (const kind of ["generateText", "streamText"]) {
    /** @param {any} options */
    const run = async (options) => {
      const onEnd = version.name === "version 7" ? "onEnd" : "onFinish";
      const result = version.sdk[kind]({
        stopWhen: version.stopAfter(9),
        tools: toolsOf(version),
        ...options,
        [onEnd]: options.onEnd,
      });
      if (kind === "streamText") await result.consumeStream();
      return result;
    };

    test(`${version.name}, ${kind}: each message of a run is saved once, in its order`, async () => {
      await inStore(async ({ session }) => {
        const prepareStep = contextFor(session, { window: 8000 });
        const options = { prompt: "Where is the parser?", prepareStep, onEnd: saveAnswer(session) };
        await run({ model: modelOf(version, RUN), ...options });
        assert.deepEqual(await said(session), SAID);
        await run({ model: modelOf(version, [[text("It is in src.")]]), ...options });
        assert.deepEqual(await said(session), [...SAID, SAID[0], "assistant It is in src."]);
      });
    });

    test(`${version.name}, ${kind}: an answer has its model, its tokens and why it stopped, also once a screen saves it`, async () => {
      await inStore(async ({ store }) => {
        const session = await openChat(store, "chat");
        const prepareStep = contextFor(session, { window: 8000 });
        await run({ model: modelOf(version, RUN), prompt: "Where?", prepareStep, onEnd: saveAnswer(session) });
        const usage = { input: 40, output: 20, cacheRead: 50, cacheWrite: 10, reasoning: 8 };
        const known = { model: "mock-model-id", usage };
        const details = async () => {
          const all = [];
          for await (const { assistant } of session.messages()) {
            const { model, usage, finishReason } = assistant ?? {};
            if (assistant) all.push({ model, usage, finishReason });
          }
          return all;
        };
        const expected = ["tool-calls", "tool-calls", "stop"].map((finishReason) => ({ ...known, finishReason }));
        assert.deepEqual(await details(), expected);
        const [question, answer] = await loadChat(store, "chat");
        const shown = /** @type {any} */ ({
          ...answer,
          metadata: { model: "gpt-5", totalUsage: { inputTokens: 300 } },
        });
        await saveChat(store, { chatId: "chat", messages: [question, shown] });
        assert.deepEqual(await loadChat(store, "chat"), [question, shown]);
        assert.deepEqual(await details(), expected);
      });
    });

    test(`${version.name}, ${kind}: each step is saved before the next one begins`, async () => {
      await inStore(async ({ session }) => {
        /** @type {number[]} */
        const counts = [];
        const before = async () => counts.push((await said(session)).length);
        const model = modelOf(version, RUN, before);
        await run({ model, prompt: "Where is the parser?", prepareStep: contextFor(session, { window: 8000 }) });
        assert.deepEqual(counts, [1, 3, 5]);
      });
    });

    test(`${version.name}, ${kind}: an answer without contextFor is saved whole, and once`, async () => {
      await inStore(async ({ session }) => {
        await session.append({ role: "user", content: "Where is the parser?" });
        const save = saveAnswer(session);
        const result = await run({ model: modelOf(version, RUN), prompt: "Where is the parser?", onEnd: save });
        await save(result);
        assert.deepEqual(await said(session), SAID);
      });
    });

    test(`${version.name}, ${kind}: what was said before is in each step, and what was said twice is there twice`, async () => {
      await inStore(async ({ session }) => {
        await session.append([
          { role: "user", content: "Yes" },
          { role: "assistant", content: "Good." },
        ]);
        const model = modelOf(version, RUN);
        await run({ model, prompt: "Yes", prepareStep: contextFor(session, { window: 8000 }) });
        const calls = kind === "generateText" ? model.doGenerateCalls : model.doStreamCalls;
        const sent = calls.map((/** @type {any} */ { prompt }) =>
          prompt.map((/** @type {any} */ { role }) => role).join(" "),
        );
        assert.deepEqual(sent, [
          "user assistant user",
          "user assistant user assistant tool",
          "user assistant user assistant tool assistant tool",
        ]);
      });
    });

    test(`${version.name}, ${kind}: each step keeps to the budget, and a call to its result`, async () => {
      await inStore(async ({ session }) => {
        const [window, reserve] = [3000, 1000];
        const many = Array.from({ length: 12 }, (_, place) => [call(`call_${place}`)]);
        const model = modelOf(version, [...many, [text("Done.")]]);
        const tools = toolsOf(version, (at) => `${at} `.repeat(700));
        const context = contextFor(session, { window, reserve, tools, system: "You look." });
        const reports = /** @type {any[]} */ ([]);
        const prepareStep = async (/** @type {any} */ step) => {
          const result = await context(step);
          reports.push(await session.lastContext());
          return result;
        };
        const stopWhen = version.stopAfter(20);
        await run({ model, prompt: "Where is the parser?", tools, stopWhen, prepareStep, onEnd: saveAnswer(session) });
        const calls = kind === "generateText" ? model.doGenerateCalls : model.doStreamCalls;
        assert.equal(calls.length, 13);
        for (const [place, { prompt }] of calls.entries()) {
          // The system prompt and the tools count, too.
          assert.ok(reports[place].tokenBudget < window - reserve);
          assert.ok(reports[place].tokensUsed <= reports[place].tokenBudget);
          const texts = prompt.flatMap((/** @type {any} */ { content }) => textsIn(content));
          assert.ok(Number(await countTokens(texts.join("\n"))) <= window - reserve);
          const parts = prompt.flatMap((/** @type {any} */ { content }) => content);
          const ids = (/** @type {string} */ type) =>
            parts
              .filter((/** @type {any} */ part) => part.type === type)
              .map((/** @type {any} */ part) => part.toolCallId);
          assert.deepEqual(ids("tool-call"), ids("tool-result"));
        }
        assert.equal((await said(session)).length, 26);
      });
    });
  }
}

test("what was said while a run went on is saved, too, and an empty session takes all that a run begins with", async () => {
  await inStore(async ({ session }) => {
    const prepareStep = contextFor(session, { window: 8000 });
    const user = (/** @type {string} */ content) => ({ role: "user", content });
    const answer = { role: "assistant", content: "One." };
    await prepareStep({ steps: [], messages: [user("Count."), answer, user("Go on.")] });
    const steps = [{ response: { messages: [{ role: "assistant", content: "Two." }] } }];
    const { messages } = await prepareStep({ steps, messages: [], experimental_steeringMessages: [user("Faster!")] });
    const all = ["user Count.", "assistant One.", "user Go on.", "assistant Two.", "user Faster!"];
    assert.deepEqual(await said(session), all);
    assert.deepEqual(
      messages.map(({ role, content }) => `${role} ${content}`),
      all,
    );
  });
});

test("of what a run begins with, the older messages are the session's own, however the run has them", async () => {
  await inStore(async ({ session }) => {
    await session.append([
      { role: "user", content: "Count." },
      { role: "assistant", content: "One, two, three." },
    ]);
    const begun = [
      { role: "user", content: "Count." },
      { role: "assistant", content: "One …" },
      { role: "user", content: "Go on." },
    ];
    const { messages } = await contextFor(session, { window: 8000 })({ steps: [], messages: begun });
    const all = ["user Count.", "assistant One, two, three.", "user Go on."];
    assert.deepEqual(await said(session), all);
    assert.deepEqual(
      messages.map(({ role, content }) => `${role} ${content}`),
      all,
    );
  });
});

test("the run's own system prompt and tools count in the budget", async () => {
  await inStore(async ({ session }) => {
    const first = { steps: [], messages: [{ role: "user", content: "Hello" }] };
    const budgetOf = async (/** @type {any} */ request, /** @type {any} */ step) => {
      await contextFor(session, { window: 8000, ...request })({ ...first, ...step });
      return (await session.lastContext())?.tokenBudget ?? 0;
    };
    const plain = await budgetOf({}, {});
    const told = "Answer in one word. ".repeat(50);
    assert.ok((await budgetOf({}, { instructions: told })) < plain - 100);
    assert.equal(
      await budgetOf({}, { instructions: [{ role: "system", content: told }] }),
      await budgetOf({ system: told }, {}),
    );
    const { z } = await import("zod");
    const described = await budgetOf(
      { tools: { look: { description: told, inputSchema: z.object({ at: z.string() }) } } },
      {},
    );
    const written = [
      {
        name: "look",
        description: told,
        inputSchema: z.toJSONSchema(z.object({ at: z.string() }), { target: "draft-7", io: "input" }),
      },
    ];
    assert.equal(described, await budgetOf({ tools: written }, {}));
    assert.ok(described < plain - 100);
    const known = await budgetOf({ window: undefined }, { model: { modelId: "gpt-5" } });
    assert.equal(known, await budgetOf({ window: undefined, model: "gpt-5" }, {}));
  });
});

test("what cannot be meant is refused by name", async () => {
  await inStore(async ({ session }) => {
    const step = { steps: [], messages: [] };
    const some = /** @type {any} */ ({});
    const refused = (/** @type {RegExp} */ message) => ({ name: "LeftoffError", code: "invalid_request", message });
    assert.throws(() => contextFor(some), refused(/expected a session, but found object instead/));
    assert.throws(() => saveAnswer(some), refused(/expected a session/));
    assert.throws(
      () => contextFor(session, /** @type {any} */ (8000)),
      refused(/expected an object with a window, but found number/),
    );
    assert.throws(
      () => contextFor(session, /** @type {any} */ ({ format: "gemini" })),
      refused(/expected no "format".* but found "gemini"/),
    );
    await assert.rejects(contextFor(session)(some), refused(/expected the options of a "prepareStep"/));
    await assert.rejects(contextFor(session, /** @type {any} */ ({ windw: 1 }))(step), refused(/windw/));
    const tools = { look: { inputSchema: { "~standard": { validate() {} } } } };
    await assert.rejects(
      contextFor(session, { tools })(step),
      refused(/expected a JSON schema for the input of the tool "look"/),
    );
    for (const answer of [undefined, "text", {}, { steps: 1 }])
      await assert.rejects(
        saveAnswer(session)(/** @type {any} */ (answer)),
        refused(/expected an answer of the AI SDK/),
      );
    await assert.rejects(
      saveAnswer(session)(/** @type {any} */ (["Hello"])),
      refused(/expected a message of the AI SDK/),
    );
    assert.deepEqual(await said(session), []);
  });
});

test("a full disk fails the run, and what is tried again is saved once", async () => {
  for (const written of [0, 10, Infinity]) {
    const storage = new FailingStorage();
    const store = await openStore({ home: "/home", project: "/project", storage });
    const session = await store.create();
    const prepareStep = contextFor(session, { window: 8000 });
    const prompt = { role: "user", content: "Count." };
    await prepareStep({ steps: [], messages: [prompt] });
    const steps = [{ response: { messages: [{ role: "assistant", content: "One." }] } }];
    storage.failNext("append", { code: "disk_full", written });
    const tried = prepareStep({ steps, messages: [] });
    // Where some bytes got in, the session itself goes on behind them.
    if (written > 0) await tried;
    else await assert.rejects(tried, { name: "LeftoffError", code: "disk_full" });
    await prepareStep({ steps, messages: [] });
    await saveAnswer(session)({ steps });
    assert.deepEqual(await said(session), ["user Count.", "assistant One."], `${written} bytes`);
    await store.close();
  }
});

test("a run fails with leftoff's own error where the newest message does not fit", async () => {
  await inStore(async ({ session }) => {
    for (const version of VERSIONS) {
      const model = modelOf(version, [[text("Never said.")]]);
      const prepareStep = contextFor(session, { window: 40 });
      const run = version.sdk.generateText({ model, prompt: "A long question. ".repeat(500), prepareStep });
      await assert.rejects(run, { name: "LeftoffError", code: "budget_too_small" });
    }
  });
});

const word = fc.string({ maxLength: 12 });
const part = fc.oneof(
  word.map((text) => ({ type: "text", text })),
  fc.constant({ type: "file", data: "AAAA", mediaType: "image/png" }),
);
/** Any messages of a run: each call has its own id. */
const anyRun = fc
  .array(fc.tuple(fc.constantFrom("user", "assistant", "call"), fc.array(part, { maxLength: 3 }), word), {
    maxLength: 6,
  })
  .map((all) =>
    all.flatMap(([kind, parts, output], place) => {
      const toolCallId = `call_${place}`;
      const tool = { toolCallId, toolName: "look" };
      if (kind === "user") return [{ role: "user", content: [{ type: "text", text: `${place}` }, ...parts] }];
      if (kind === "assistant") return [{ role: "assistant", content: [...parts, { type: "text", text: `${place}` }] }];
      return [
        {
          role: "assistant",
          content: [...parts, { type: "reasoning", text: output }, { type: "tool-call", ...tool, input: {} }],
        },
        { role: "tool", content: [{ type: "tool-result", ...tool, output: { type: "text", value: output } }] },
      ];
    }),
  );

test("any messages are known again: saved once more, they add nothing, and what goes on after them is added", async () => {
  await inStore(async ({ store }) => {
    await fc.assert(
      fc.asyncProperty(anyRun, fc.nat(), async (messages, some) => {
        const session = await store.create();
        const save = saveAnswer(session);
        const begun = messages.slice(0, some % (messages.length + 1));
        await save(/** @type {any} */ (begun));
        await save(/** @type {any} */ (messages));
        await save(/** @type {any} */ (messages));
        const other = await store.create();
        if (messages.length > 0) await other.append(/** @type {any} */ (messages), { format: "ai-sdk" });
        assert.deepEqual(await said(session), await said(other));
      }),
      { numRuns: 200, seed: 7 },
    );
  });
});
