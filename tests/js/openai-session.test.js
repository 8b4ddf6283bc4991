// @ts-check
// Sessions of the OpenAI Agents SDK: whatever is done to them, they hold what the SDK's own session holds, in every
// process that has the store; and the SDK's own Runner runs on them.
// Tries: js/openai/

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { Agent, MemorySession, Runner, setTracingDisabled, tool } from "@openai/agents-core";
import { ScriptedModel, assistantMessage, functionCall } from "@openai/agents-core/testing";
import fc from "fast-check";

import { LeftoffError, openStore } from "../../js/index.js";
import { contextFor, session } from "../../js/openai/index.js";

/** @import { AgentItem } from "../../js/types/openai.js" */
/** @import { Store } from "../../js/store/store.js" */

setTracingDisabled(true);

/** @param {(stores: [Store, Store]) => Promise<void>} work two stores of one home, as two processes have them */
async function withStores(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-openai-"));
  const open = () => openStore({ home: join(home, ".leftoff"), project: home });
  const stores = /** @type {[Store, Store]} */ ([await open(), await open()]);
  try {
    await work(stores);
  } finally {
    for (const store of stores) await store.close();
    rmSync(home, { recursive: true });
  }
}

const TEXT = fc.oneof(fc.string({ unit: "binary", maxLength: 20 }), fc.constant("a text of some length ".repeat(8)));
const CALL_ID = fc.constantFrom("call_1", "call_2", "call_3");
const DATA = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), {
  maxKeys: 2,
  noNullPrototype: true,
});
const CALL = fc.record({
  type: fc.constant("function_call"),
  callId: CALL_ID,
  name: fc.constant("read"),
  arguments: fc.constantFrom("{}", '{"path":"a.js"}', "no JSON"),
});
const ITEM = /** @type {fc.Arbitrary<any>} */ (
  fc.oneof(
    fc.record({ role: fc.constantFrom("user", "system"), content: TEXT, type: fc.constant("message") }),
    fc.record({
      type: fc.constant("message"),
      role: fc.constant("assistant"),
      status: fc.constant("completed"),
      content: fc.array(fc.record({ type: fc.constant("output_text"), text: TEXT }), { minLength: 1, maxLength: 2 }),
      providerData: DATA,
    }),
    CALL,
    fc.record({
      type: fc.constant("function_call_result"),
      callId: CALL_ID,
      name: fc.constant("read"),
      status: fc.constant("completed"),
      output: fc.oneof(
        TEXT,
        fc.record({ type: fc.constant("text"), text: TEXT }),
        fc.record({
          type: fc.constant("image"),
          image: fc.record({ data: fc.uint8Array({ maxLength: 5 }).map((bytes) => new Uint8Array(bytes)) }),
        }),
      ),
    }),
    fc.record({
      type: fc.constant("reasoning"),
      content: fc.array(fc.record({ type: fc.constant("input_text"), text: TEXT }), { maxLength: 1 }),
      providerData: DATA,
    }),
    fc.record({ type: fc.constant("hosted_tool_call"), name: fc.constant("web_search_call"), output: TEXT }),
    fc.record({ type: fc.constant("unknown"), providerData: DATA }),
  )
);
const ITEMS = fc.array(ITEM, { maxLength: 4 });
const CHANGE = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: fc.constant("addItems"), given: ITEMS }) },
  { weight: 2, arbitrary: fc.record({ name: fc.constant("popItem") }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant("clearSession") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      name: fc.constant("applyHistoryMutations"),
      given: fc.record({
        mutations: fc.array(
          fc.record({ type: fc.constant("replace_function_call"), callId: CALL_ID, replacement: CALL }),
          { maxLength: 2 },
        ),
      }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant("append_items"),
      operationId: fc.constantFrom("1", "2", "3", " "),
      items: ITEMS,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      name: fc.constant("replace_suffix"),
      operationId: fc.constantFrom("4", "5", "6"),
      count: fc.nat(4),
      isWrong: fc.boolean(),
      items: ITEMS,
    }),
  },
);

/** @param {any} target @param {any} change @param {AgentItem[]} before */
async function apply(target, change, before) {
  const { name, given, operationId, items } = change;
  if (name === "append_items")
    return target.applyHistoryTransaction({ operationId, transaction: { type: name, items } });
  if (name !== "replace_suffix") return target[name](given);
  const expectedSuffix = change.isWrong
    ? [{ role: "user", content: "never said" }]
    : before.slice(-change.count || Infinity);
  return target.applyHistoryTransaction({
    operationId,
    transaction: { type: name, expectedSuffix, replacement: items },
  });
}

/** @template T @param {AsyncIterable<T>} all */
async function collect(all) {
  const found = [];
  for await (const one of all) found.push(one);
  return found;
}

/** @param {Promise<unknown>} work */
const settle = (work) =>
  work.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );

test("whatever is done to a session, it holds what the SDK's own one holds, in each process", async () => {
  await withStores(async (stores) => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(1), CHANGE), { maxLength: 8 }), async (changes) => {
        const known = new MemorySession();
        // The SDK forgets what was done once all is taken back; a log does not.
        const done = new Set();
        const sessions = stores.map((store) => session({ store, id: `chat ${count}` }));
        count += 1;
        for (const [at, change] of changes) {
          const { operationId } = /** @type {any} */ (change);
          if (change.name === "clearSession" && done.size > 0) continue;
          const before = /** @type {any[]} */ (await known.getItems());
          const wanted = await settle(apply(known, change, before));
          const found = await settle(apply(sessions[at], change, before));
          assert.equal("error" in found, "error" in wanted, `${JSON.stringify(change)} ${JSON.stringify(found)}`);
          if ("error" in found) assert.ok(found.error instanceof LeftoffError, String(found.error));
          else {
            assert.deepEqual(found, wanted);
            if (operationId) done.add(operationId);
          }
          assert.deepEqual(await sessions[1 - at]?.getItems(), await known.getItems(), JSON.stringify(change));
        }
        for (const limit of [0, 1, 3, 100])
          assert.deepEqual(await sessions[0]?.getItems(limit), await known.getItems(limit));
      }),
      { numRuns: 100 },
    );
  });
});

test("two processes that take items back at once never take one twice", async () => {
  await withStores(async (stores) => {
    const sessions = stores.map((store) => session({ store, id: "chat" }));
    const said = Array.from({ length: 12 }, (_, number) => ({ role: "user", content: `Question ${number}` }));
    for (const item of said) await sessions[0]?.addItems([item]);
    const taken = await Promise.all(Array.from({ length: 10 }, (_, number) => sessions[number % 2]?.popItem()));
    assert.deepEqual(
      taken.map((item) => item?.content).sort(),
      said
        .slice(2)
        .map(({ content }) => content)
        .sort(),
    );
    assert.deepEqual(await sessions[0]?.getItems(), said.slice(0, 2));
    assert.deepEqual(
      await Promise.all([1, 0, 1].map((at) => sessions[at]?.popItem())).then((all) => all.filter(Boolean).length),
      2,
    );
  });
});

test("a Runner goes on with what another process left, and the conversation is one of the store's", async () => {
  await withStores(async ([store, other]) => {
    const read = tool({
      name: "read",
      description: "Reads a file.",
      parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
      strict: false,
      execute: async () => "export const croniter = 1;",
    });
    const model = new ScriptedModel([
      [functionCall("read", { path: "a.js" }, { callId: "call_1" })],
      [assistantMessage("It exports croniter.")],
      [assistantMessage("You asked for a.js.")],
    ]);
    const agent = new Agent({ name: "Reader", model, tools: [read] });
    const runner = new Runner({ tracingDisabled: true });
    const memory = session({ store, id: "chat" });
    const first = await runner.run(agent, "What is in a.js?", { session: /** @type {any} */ (memory) });
    assert.equal(first.finalOutput, "It exports croniter.");
    const again = session({ store: other, id: "chat" });
    const second = await runner.run(agent, "What did I ask for?", {
      session: /** @type {any} */ (again),
      sessionInputCallback: /** @type {any} */ (contextFor(again, { window: 32_000 })),
    });
    assert.equal(second.finalOutput, "You asked for a.js.");
    const sent = /** @type {any[]} */ (model.calls.at(-1)?.request.input);
    assert.deepEqual(
      sent.map(({ type = "message", role, callId }) => [type, role ?? callId]),
      [
        ["message", "user"],
        ["function_call", "call_1"],
        ["function_call_result", "call_1"],
        ["message", "assistant"],
        ["message", "user"],
      ],
    );
    const items = await again.getItems();
    assert.equal(items.length, 6);
    assert.deepEqual(
      sent,
      items.slice(0, 5).map((item) => item),
      "what is sent whole is the SDK's own",
    );
    const [hit] = await collect(store.search("croniter"));
    assert.equal(hit?.session.id, (await memory.session()).id);
    const stored = await collect((await memory.session()).messages());
    assert.deepEqual(
      stored.filter(({ content, assistant }) => content !== "" || assistant).map(({ role }) => role),
      ["user", "assistant", "tool", "assistant", "user", "assistant"],
    );
  });
});

test("a conversation that is larger than the window is sent in a context that fits, its newest items whole", async () => {
  await withStores(async ([store]) => {
    const memory = session({ store, id: "chat" });
    for (let number = 0; number < 60; number += 1) {
      const callId = `call_${number}`;
      await memory.addItems([
        { role: "user", content: `Step ${number}: what is in file ${number}?` },
        { type: "function_call", callId, name: "read", arguments: "{}" },
        {
          type: "function_call_result",
          callId,
          name: "read",
          status: "completed",
          output: "a line of a file\n".repeat(60),
        },
        {
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: `Seen ${number}.` }],
        },
      ]);
    }
    const asked = { role: "user", content: "Go on." };
    const items = await contextFor(memory, { window: 16_000 })(await memory.getItems(), [asked]);
    assert.ok(JSON.stringify(items).length < 16_000 * 4);
    assert.deepEqual(items.at(-1), asked);
    assert.deepEqual(items.at(-2), (await memory.getItems(1))[0]);
    const calls = items.filter(({ type }) => type === "function_call").map(({ callId }) => callId);
    const results = items.filter(({ type }) => type === "function_call_result").map(({ callId }) => callId);
    assert.ok(calls.length > 3);
    assert.deepEqual(results, calls);
  });
});

test("a compaction begins the conversation anew for the SDK, and what was said stays in the store", async () => {
  await withStores(async ([store]) => {
    const memory = session({ store, id: "chat" });
    await memory.addItems([{ role: "user", content: "Pin croniter." }]);
    const compacted = [
      { type: "compaction", encrypted_content: "xyz" },
      { role: "user", content: "Pin croniter." },
    ];
    await memory.replaceHistoryWithCompaction(compacted);
    assert.deepEqual(await memory.getItems(), compacted);
    await memory.addItems([{ role: "user", content: "Now test it." }]);
    assert.equal((await memory.getItems()).length, 3);
    const { messages } = await (await memory.session()).context({ window: 8000, format: "openai-chat" });
    assert.deepEqual(
      messages.map(({ content }) => content),
      ["Pin croniter.", "Now test it."],
    );
    const items = await contextFor(memory, { window: 8000 })(await memory.getItems(), []);
    assert.deepEqual(
      items.map(({ content }) => content),
      ["Pin croniter.", "Now test it."],
    );
  });
});

test("a compaction keeps what it retains whole, also where that is one answer", async () => {
  await withStores(async ([store]) => {
    const memory = session({ store, id: "chat" });
    const content = [{ type: "output_text", text: "It is pinned, since version 2 drops Python 3.8." }];
    const compacted = [
      { type: "compaction", encrypted_content: "xyz" },
      { type: "message", role: "assistant", status: "completed", content },
    ];
    await memory.replaceHistoryWithCompaction(compacted);
    assert.deepEqual(await memory.getItems(), compacted);
  });
});

test("what is no session and no item is refused, and nothing is stored", async () => {
  await withStores(async ([store]) => {
    const refused = { name: "LeftoffError", code: "invalid_request" };
    for (const options of [
      undefined,
      {},
      { store },
      { store, id: "" },
      { store: {}, id: "x" },
      { store, id: "x", model: "y" },
    ])
      assert.throws(() => session(/** @type {any} */ (options)), refused);
    const memory = session({ store, id: "chat" });
    for (const items of [undefined, {}, [1], [null], [[]], ["text"]])
      await assert.rejects(memory.addItems(/** @type {any} */ (items)), refused);
    for (const args of [
      { operationId: "1", transaction: { type: "other" } },
      { operationId: "1" },
      { operationId: "", transaction: { type: "append_items", items: [] } },
      { operationId: "1", transaction: { type: "append_items", items: [1] } },
    ])
      await assert.rejects(memory.applyHistoryTransaction(/** @type {any} */ (args)), refused);
    assert.deepEqual(await memory.getItems(), []);
    assert.equal(await memory.popItem(), undefined);
  });
});
