// @ts-check
// Compaction: what it would do, what it does, and that it is taken back; that it cannot loop, and touches no message.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { inStore, messagesOf, worded } from "./long-session.js";

const WINDOW = 16_000;

/** @param {string} path */
const hash = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
/** @param {{ messages: { id: string }[] }} context */
const ids = ({ messages }) => messages.map(({ id }) => id).filter(Boolean);

test("a dry run says what it would do and does nothing", () =>
  inStore({ turns: 120 }, async ({ session }) => {
    const before = await session.context({ window: WINDOW });
    const plan = await session.compact({ window: WINDOW });
    assert.deepEqual([plan.isApplied, plan.isDue, plan.reason], [false, true, undefined]);
    assert.equal(plan.tokensBefore, before.tokensUsed);
    assert.ok(plan.tokensAfter < plan.tokenBudget / 2, `${plan.tokensAfter} of ${plan.tokenBudget}`);
    assert.deepEqual(await session.context({ window: WINDOW }), before);
  }));

test("what is applied holds after opening again, and no message is touched", () =>
  inStore({ turns: 120 }, async ({ session, again }) => {
    const all = await messagesOf(session);
    const log = `${session.path}/messages.jsonl`;
    const written = hash(log);
    const plan = await session.compact({ window: WINDOW });
    const done = await session.compact({ window: WINDOW, apply: true });
    assert.deepEqual({ ...done, isApplied: false }, plan);
    const reopened = await again();
    const context = await reopened.context({ window: WINDOW });
    assert.equal(context.strategy, "full-history");
    assert.equal(context.tokensUsed, done.tokensAfter);
    assert.equal(context.summarizedMessageCount, done.messageCount);
    const kept = all.slice(all.findIndex(({ id }) => id === done.through) + 1).map(({ id }) => id);
    assert.deepEqual(ids(context), kept);
    assert.equal(context.report.compacted.through, done.through);
    assert.equal(hash(log), written);
    assert.deepEqual(await messagesOf(reopened), all);
  }));

test("twice is once, at any size; and it is due again only when the conversation has grown", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    for (const window of [4_000, 8_000, 16_000, 32_000, 64_000]) {
      await session.compact({ window, apply: true });
      const once = await session.context({ window });
      const twice = await session.compact({ window, apply: true });
      assert.deepEqual([twice.isApplied, twice.isDue], [false, false], `${window}: ${twice.reason}`);
      assert.deepEqual(await session.context({ window }), once);
      await session.compact({ window, undo: true });
    }
    await session.compact({ window: WINDOW, apply: true });
    let turns = 0;
    for (; !(await session.compact({ window: WINDOW })).isDue; turns += 1) await session.append(worded(`later ${turns}`));
    assert.ok(turns > 5, `due after ${turns} turns`);
    const again = await session.compact({ window: WINDOW, apply: true });
    assert.equal(again.isApplied, true);
    assert.equal((await session.compact({ window: WINDOW, apply: true })).isApplied, false);
  }));

test("it is taken back, and then contexts are what they were", () =>
  inStore({ turns: 120 }, async ({ session, again }) => {
    const before = await session.context({ window: WINDOW });
    await session.compact({ window: WINDOW, apply: true });
    const undone = await session.compact({ window: WINDOW, undo: true });
    assert.deepEqual([undone.isApplied, undone.tokensAfter], [true, before.tokensUsed]);
    const reopened = await again();
    assert.deepEqual((await reopened.context({ window: WINDOW })).messages, before.messages);
    assert.equal((await reopened.compact({ window: WINDOW, undo: true })).reason, "it is not compacted");
  }));

test("system messages, pins and open tasks are there before and after", () =>
  inStore({ turns: 5 }, async ({ session }) => {
    await session.append({ role: "system", content: "Answer in verse." });
    const { records } = await session.append({ role: "user", content: "Never touch the vault." });
    await session.pin(String(records[0]?.id));
    const todos = JSON.stringify({ todos: [{ content: "Write the migration", status: "pending" }, { content: "Read the docs", status: "completed" }] });
    await session.append([
      { role: "assistant", content: "", assistant: { toolCalls: [{ id: "plan", name: "TodoWrite", arguments: todos }] } },
      { role: "tool", content: "ok", tool: { callId: "plan", name: "TodoWrite" } },
    ]);
    for (let turn = 0; turn < 60; turn += 1) await session.append(worded(`turn ${turn}`), { durability: "buffered" });
    const { isApplied } = await session.compact({ window: WINDOW, apply: true });
    assert.equal(isApplied, true);
    const { messages } = await session.context({ window: WINDOW });
    const said = messages.map(({ content }) => content).join("\n");
    for (const text of ["Answer in verse.", "Never touch the vault.", "Write the migration"]) assert.ok(said.includes(text), text);
    assert.ok(!said.includes("Read the docs"));
  }));

test("a branch that left before keeps its own messages", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const [, , early] = await messagesOf(session);
    await session.compact({ window: WINDOW, apply: true });
    await session.append({ role: "user", content: "another way", parentId: early?.id, branch: true });
    const { messages, report } = await session.context({ window: WINDOW });
    assert.deepEqual([messages.at(-1)?.content, messages.length, report.compacted], ["another way", 4, undefined]);
  }));

test("a wrong size is refused by name", () =>
  inStore({ turns: 2 }, async ({ session }) => {
    for (const keep of [0, -1, 1.5, /** @type {any} */ ("many")]) {
      await assert.rejects(session.compact({ window: WINDOW, keep }), { code: "invalid_request", message: /"keep"/ });
    }
  }));
