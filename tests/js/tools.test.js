// @ts-check
// What tools did: once for each call, the result as a message, and beside it how it went.
// Tries: src/operation/tool_executions.rs, src/record/tool_execution/
import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";

/** @typedef {import("../../js/session/session.js").Session} Session */

const call = { id: "call_1", name: "bash", arguments: { command: "ls" } };

/** @param {(session: Session, storage: MemoryStorage) => Promise<void>} work */
async function inMemory(work) {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  await work(await store.create(), storage);
  await store.close();
}

/** A question, and an answer with calls. @param {Session} session @param {{ id: string, name: string }[]} calls */
async function askWithCalls(session, calls) {
  await session.append({ role: "user", content: "look" });
  const toolCalls = calls.map(({ id, name }) => ({ id, name, arguments: "{}" }));
  const [answer] = (await session.append({ role: "assistant", content: "", assistant: { toolCalls } })).records;
  return answer?.id;
}

/** @param {Session} session */
async function messagesOf(session) {
  const all = [];
  for await (const message of session.messages()) all.push(message);
  return all;
}

/** @param {Session} session */
const results = async (session) =>
  (await messagesOf(session)).filter(({ role }) => role === "tool").map(({ content }) => content);

/** @param {Session} session */
const lines = (session) => readFileSync(join(session.path, "tools.jsonl"), "utf8").trim().split("\n");

/**
 * @param {(session: Session, open: () => Promise<Session>, store: import("../../js/index.js").Store) => Promise<void>}
 *   work
 */
async function onDisk(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-tools-"));
  const first = await openStore({ home, project: home });
  const stores = [first];
  try {
    const session = await first.create();
    await work(
      session,
      async () => {
        const store = await openStore({ home, project: home });
        stores.push(store);
        return store.session(session.id);
      },
      first,
    );
    for (const store of stores) await store.close();
  } finally {
    rmSync(home, { recursive: true });
  }
}

test("an execution has the fields of StoredToolExecution, and is linked to the message with the call", () =>
  inMemory(async (session) => {
    const messageId = await askWithCalls(session, [call]);
    const { execution, isNew } = await session.appendTool({
      call,
      result: { content: "a\nb", exitCode: 0 },
      durationMs: 12.6,
    });
    const { id, timestamp, tokens, ...rest } = execution;
    assert.deepEqual(rest, {
      seq: 0,
      messageId,
      toolCallId: "call_1",
      tool: "bash",
      arguments: { command: "ls" },
      result: { success: true, exitCode: 0, content: "a\nb" },
      durationMs: 13,
    });
    assert.ok(isNew && id && Number(tokens) > 0 && !Number.isNaN(Date.parse(timestamp ?? "")));
    assert.deepEqual(await session.tools(), [execution]);
  }));

test("the message is the only copy of a result", () =>
  onDisk(async (session) => {
    await askWithCalls(session, [call]);
    await session.appendTool({ call, result: { content: "said once" } });
    const [line, ...more] = lines(session);
    assert.deepEqual(more, []);
    assert.doesNotMatch(line ?? "", /said once/);
    assert.deepEqual(JSON.parse(line ?? "").result, { success: true });
    assert.deepEqual(await results(session), ["said once"]);
  }));

test("a call is recorded once: brought twice, at the same time, or by another process after it", () =>
  onDisk(async (session, open) => {
    await askWithCalls(session, [call]);
    const three = await Promise.all(
      ["a", "b", "c"].map((content) => session.appendTool({ call, result: { content } })),
    );
    assert.deepEqual(
      three.map(({ isNew }) => isNew),
      [true, false, false],
    );
    assert.deepEqual(
      three.map(({ execution }) => execution.result.content),
      ["a", "a", "a"],
    );
    const again = await (await open()).appendTool({ call, result: { content: "d" } });
    assert.deepEqual([again.isNew, again.execution], [false, three[0]?.execution]);
    assert.deepEqual(await results(session), ["a"]);
    assert.equal(lines(session).length, 1);
  }));

test("what several processes bring at once is there once: each call, its result, and the answer that makes it", () =>
  onDisk(async (session, open, store) => {
    await askWithCalls(session, []);
    const all = [session, await open(), await open(), await open()];
    const of = (/** @type {number} */ n) => ({ id: `call_${n}`, name: "bash" });
    // All bring the same call at once, then each one of its own.
    for (let n = 0; n < 10; n++) {
      const results = await Promise.all(
        all.map((one, at) =>
          one.appendTool({ call: of(n), result: { content: `${n} by ${at}`, exitCode: at, success: at === 0 } }),
        ),
      );
      const [told] = (await (await open()).tools()).filter(({ toolCallId }) => toolCallId === `call_${n}`);
      assert.deepEqual(
        [results.filter(({ isNew }) => isNew).length, results.map(({ execution }) => execution)],
        [1, all.map(() => told)],
      );
      // The text and how it went are of the same.
      assert.deepEqual(
        [told?.result.content, told?.result.success],
        [`${n} by ${told?.result.exitCode}`, told?.result.exitCode === 0],
      );
      await Promise.all(
        all.map((one, at) => one.appendTool({ call: of(100 + 4 * n + at), result: { content: `own of ${at}` } })),
      );
    }
    const messages = await messagesOf(await open());
    assert.deepEqual(
      messages.filter(({ role }) => role !== "tool").map(({ role }) => role),
      ["user", "assistant"],
    );
    const made = messages[1]?.assistant?.toolCalls?.map(({ id }) => id);
    const answered = messages.flatMap(({ tool }) => tool?.callId ?? []);
    const wanted = [...Array(10).keys()]
      .flatMap((n) => [n, ...[0, 1, 2, 3].map((at) => 100 + 4 * n + at)])
      .map((n) => `call_${n}`)
      .sort();
    assert.deepEqual([[...(made ?? [])].sort(), [...answered].sort()], [wanted, wanted]);
    assert.deepEqual((await session.tools()).map(({ toolCallId }) => toolCallId).sort(), wanted);
    const [report] = await store.doctor();
    assert.deepEqual([report?.health, report?.problems.filter(({ file }) => file.endsWith(".jsonl"))], ["ok", []]);
  }));

test("however much is told of tools, an operation of the caller's counts once", () =>
  inMemory(async (session) => {
    const append = () => session.append([{ role: "user", content: "mine" }], { operation: "op-1" });
    const first = await append();
    for (let n = 0; n < 1010; n++) {
      await session.append(
        {
          role: "assistant",
          content: "",
          assistant: { toolCalls: [{ id: `call_${n}`, name: "bash", arguments: "{}" }] },
        },
        { durability: "buffered" },
      );
      await session.appendTool({ call: { id: `call_${n}`, name: "bash" }, result: { content: "r" } });
    }
    assert.deepEqual((await append()).records, first.records);
  }));

test("a result that was written before a crash is not written again; the rest of its record is", () =>
  inMemory(async (session) => {
    const messageId = await askWithCalls(session, [call]);
    await session.append({ role: "tool", content: "before the crash", tool: { callId: "call_1", name: "bash" } });
    const { execution, isNew } = await session.appendTool({ call, result: { content: "after it" } });
    assert.ok(isNew);
    assert.deepEqual([execution.messageId, execution.result.content], [messageId, "before the crash"]);
    assert.deepEqual(await results(session), ["before the crash"]);
    assert.equal((await session.tools())[0]?.result.content, "before the crash");
  }));

test("an error while the second file is written is thrown; trying again records it, and the result stays one", () =>
  inMemory(async (session, storage) => {
    await askWithCalls(session, [call]);
    const append = storage.append.bind(storage);
    storage.append = async (path, ...rest) => {
      if (path.endsWith("tools.jsonl")) throw new LeftoffError({ code: "disk_full", message: "no room", written: 0 });
      return append(path, ...rest);
    };
    await assert.rejects(session.appendTool({ call, result: { content: "r" } }), { code: "disk_full" });
    assert.deepEqual(await session.tools(), []);
    storage.append = append;
    assert.ok((await session.appendTool({ call, result: { content: "r" } })).isNew);
    assert.deepEqual(await results(session), ["r"]);
  }));

test("a failure is marked on the message, and says why beside it", () =>
  inMemory(async (session) => {
    await askWithCalls(session, [call]);
    await session.appendTool({ call, result: { content: "no such file", error: "ENOENT", exitCode: 2 } });
    assert.equal((await messagesOf(session)).at(-1)?.tool?.isError, true);
    assert.deepEqual((await session.tools())[0]?.result, {
      success: false,
      error: "ENOENT",
      exitCode: 2,
      content: "no such file",
    });
  }));

test("a call that no message makes is added to the assistant's newest one, so that contexts have its result", () =>
  inMemory(async (session) => {
    await session.append({ role: "user", content: "look" });
    const [answer] = (await session.append({ role: "assistant", content: "I look." })).records;
    const second = { id: "call_2", name: "read", arguments: { path: "a" } };
    await Promise.all(
      [call, second].map((one) => session.appendTool({ call: one, result: { content: `of ${one.id}` } })),
    );
    assert.deepEqual(
      (await session.tools()).map(({ messageId }) => messageId),
      [answer?.id, answer?.id],
    );
    const { messages } = await session.context({ window: 8_000, encoding: "estimate-1" });
    assert.deepEqual(
      messages.map(({ role, content }) => [role, content]),
      [
        ["user", "look"],
        ["assistant", "I look."],
        ["tool", "of call_1"],
        ["tool", "of call_2"],
      ],
    );
    assert.deepEqual(
      messages[1]?.assistant?.toolCalls?.map((/** @type {any} */ one) => [one.id, one.name, JSON.parse(one.arguments)]),
      [
        ["call_1", "bash", { command: "ls" }],
        ["call_2", "read", { path: "a" }],
      ],
    );
    assert.deepEqual((await session.examine()).problems, []);
  }));

test("in a fork, too, whose answers were written again before it; read from either end, it says the same", () =>
  onDisk(async (session, _, store) => {
    await session.append([
      { role: "user", content: "look" },
      { role: "assistant", content: "I do" },
      { role: "user", content: "and?" },
      { role: "assistant", content: "I did" },
    ]);
    await session.appendTool({ call, result: { content: "before" } });
    const fork = await store.fork(session);
    await fork.appendTool({ call: { ...call, id: "call_2" }, result: { content: "behind" } });
    // An id that is given again, behind another answer.
    await fork.append([
      { role: "user", content: "again" },
      { role: "assistant", content: "I will" },
    ]);
    await fork.appendTool({ call, result: { content: "other" } });
    const all = await messagesOf(fork);
    assert.deepEqual(
      all.map(({ assistant }) => (assistant?.toolCalls ?? []).map(({ id }) => id)),
      [[], [], [], ["call_1", "call_2"], [], [], [], ["call_1"], []],
    );
    assert.deepEqual(await results(fork), ["before", "behind", "other"]);
    const backwards = [];
    for await (const message of fork.messages({ newestFirst: true })) backwards.unshift(message);
    assert.deepEqual(backwards, all);
  }));

test("an id that a provider gives again is another call, behind another answer", () =>
  inMemory(async (session) => {
    const ids = [];
    for (const content of ["first", "second"]) {
      ids.push(await askWithCalls(session, [call]));
      assert.ok((await session.appendTool({ call, result: { content } })).isNew);
    }
    const all = await session.tools();
    assert.deepEqual(
      all.map(({ messageId, result }) => [messageId, result.content]),
      [
        [ids[0], "first"],
        [ids[1], "second"],
      ],
    );
  }));

test("also where the client keeps its calls to itself", () =>
  inMemory(async (session) => {
    for (const content of ["first", "second"]) {
      await session.append([
        { role: "user", content: "look" },
        { role: "assistant", content: "I look." },
      ]);
      assert.ok((await session.appendTool({ call, result: { content } })).isNew);
      assert.ok(!(await session.appendTool({ call, result: { content } })).isNew);
    }
    assert.deepEqual(
      (await session.tools()).map(({ result }) => result.content),
      ["first", "second"],
    );
    assert.deepEqual(await results(session), ["first", "second"]);
  }));

test("a result that was revised is what an execution shows", () =>
  inMemory(async (session) => {
    await askWithCalls(session, [call]);
    await session.appendTool({ call, result: { content: "partial" } });
    const result = (await messagesOf(session)).at(-1);
    await session.append({ .../** @type {any} */ (result), rev: 1, content: "whole" });
    assert.equal((await session.tools())[0]?.result.content, "whole");
  }));

test("a result of a megabyte is whole in its execution", () =>
  inMemory(async (session) => {
    await askWithCalls(session, [call]);
    const content = "0123456789abcdef".repeat(65_536);
    const { execution } = await session.appendTool({ call, result: { content } });
    assert.equal(execution.result.content, content);
    assert.equal((await session.tools())[0]?.result.content, content);
  }));

test("what is damaged, foreign, torn or there twice in tools.jsonl costs nothing beside it", () =>
  onDisk(async (session, open) => {
    await askWithCalls(session, [call]);
    await session.appendTool({ call, result: { content: "kept" } });
    const path = join(session.path, "tools.jsonl");
    const [line] = lines(session);
    writeFileSync(path, `\u0000\u0000\n{"v":1,"note":"not ours"}\n${line}\n${line}\n{"v":1,"id":"x","toolCallId":"to`);
    const again = await open();
    assert.deepEqual(
      (await again.tools()).map(({ toolCallId, result }) => [toolCallId, result.content]),
      [["call_1", "kept"]],
    );
    assert.ok(!(await again.appendTool({ call, result: { content: "kept" } })).isNew);
    const other = { ...call, id: "call_2" };
    await askWithCalls(again, [other]);
    assert.ok((await again.appendTool({ call: other, result: { content: "more" } })).isNew);
    assert.deepEqual(
      (await again.tools()).map(({ toolCallId }) => toolCallId),
      ["call_1", "call_2"],
    );
  }));

test("of two records of one call the first counts, whoever wrote the second", () =>
  onDisk(async (session, open) => {
    const messageId = await askWithCalls(session, [call]);
    await session.appendTool({ call, result: { content: "kept", exitCode: 0 } });
    const second = {
      v: 1,
      id: "theirs",
      messageId,
      toolCallId: "call_1",
      tool: "bash",
      result: { success: false, exitCode: 1 },
    };
    appendFileSync(join(session.path, "tools.jsonl"), `${JSON.stringify(second)}\n`);
    const again = await open();
    assert.deepEqual(
      (await again.tools()).map(({ result }) => result),
      [{ success: true, exitCode: 0, content: "kept" }],
    );
  }));

test("without tools.jsonl the results are there still", () =>
  onDisk(async (session, open) => {
    await askWithCalls(session, [call]);
    await session.appendTool({ call, result: { content: "kept" } });
    rmSync(join(session.path, "tools.jsonl"));
    const again = await open();
    assert.deepEqual(await again.tools(), []);
    assert.deepEqual(await results(again), ["kept"]);
  }));

for (const [what, execution] of /** @type {[string, any][]} */ ([
  ["no call", { result: { content: "x" } }],
  ["a call without an id", { call: { id: "", name: "bash" }, result: { content: "x" } }],
  ["a call without a name", { call: { id: "1" }, result: { content: "x" } }],
  ["no result", { call }],
  ["a result that is no text", { call, result: { content: { a: 1 } } }],
  ["a time before it began", { call, result: { content: "x" }, durationMs: -1 }],
  ["a time that is none", { call, result: { content: "x" }, durationMs: NaN }],
  ["half an exit code", { call, result: { content: "x", exitCode: 0.5 } }],
  ["arguments that are no object", { call: { ...call, arguments: [1] }, result: { content: "x" } }],
])) {
  test(`${what} is refused, and nothing is written`, () =>
    inMemory(async (session) => {
      await askWithCalls(session, [call]);
      await assert.rejects(session.appendTool(execution), { code: "invalid_request" });
      assert.deepEqual([await results(session), await session.tools()], [[], []]);
    }));
}
