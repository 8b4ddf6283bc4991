// @ts-check
// Compaction: what it would do, what it does, and that it is taken back; that it cannot loop, and touches no message.
// Tries: src/operation/compact.rs, js/session/context/contexts.js
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { inStore, messagesOf, turnAbout } from "./long-session.js";

const WINDOW = 16_000;
/** A context by itself. */
const UNFRAMED = { window: WINDOW, frame: false };

/** @param {string} path */
const hash = (path) => createHash("sha256").update(readFileSync(path)).digest("hex");
/** @param {{ messages: { id?: string }[] }} context */
const ids = ({ messages }) => messages.map(({ id }) => id).filter(Boolean);

test("a dry run says what it would do and does nothing", () =>
  inStore({ turns: 120 }, async ({ session }) => {
    const before = await session.context(UNFRAMED);
    const plan = await session.compact({ window: WINDOW });
    assert.deepEqual([plan.isApplied, plan.isDue, plan.reason], [false, true, undefined]);
    assert.equal(plan.tokensBefore, before.tokensUsed);
    // Half of the budget for what is kept, and no more than a tenth beside it: the summary replaces what stood there.
    assert.ok(Number(plan.tokensAfter) < Number(plan.tokenBudget) * 0.6, `${plan.tokensAfter} of ${plan.tokenBudget}`);
    assert.deepEqual(await session.context(UNFRAMED), before);
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
    assert.equal(context.report.compacted?.through, done.through);
    assert.equal(hash(log), written);
    assert.deepEqual(await messagesOf(reopened), all);
  }));

test("twice is once, at any size; and it is due again only when the conversation has grown", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    for (const window of [4_000, 8_000, 16_000, 32_000, 64_000]) {
      await session.compact({ window, apply: true });
      const once = await session.context({ window, frame: false });
      const twice = await session.compact({ window, apply: true });
      assert.deepEqual([twice.isApplied, twice.isDue], [false, false], `${window}: ${twice.reason}`);
      assert.deepEqual(await session.context({ window, frame: false }), once);
      await session.compact({ window, undo: true });
    }
    await session.compact({ window: WINDOW, apply: true });
    let turns = 0;
    for (; !(await session.compact({ window: WINDOW })).isDue; turns += 1)
      await session.append(turnAbout(`later ${turns}`));
    assert.ok(turns > 5, `due after ${turns} turns`);
    const again = await session.compact({ window: WINDOW, apply: true });
    assert.equal(again.isApplied, true);
    assert.equal((await session.compact({ window: WINDOW, apply: true })).isApplied, false);
  }));

test("it is taken back, and then contexts are what they were", () =>
  inStore({ turns: 120 }, async ({ session, again }) => {
    const before = await session.context(UNFRAMED);
    await session.compact({ window: WINDOW, apply: true });
    for (const beside of [{ apply: true }, { keep: 100 }]) {
      await assert.rejects(session.compact({ window: WINDOW, undo: true, ...beside }), {
        code: "invalid_request",
        message: /"undo" cannot be combined/,
      });
    }
    const undone = await session.compact({ window: WINDOW, undo: true });
    assert.deepEqual([undone.isApplied, undone.tokensAfter], [true, before.tokensUsed]);
    const reopened = await again();
    assert.deepEqual((await reopened.context(UNFRAMED)).messages, before.messages);
    assert.equal((await reopened.compact({ window: WINDOW, undo: true })).reason, "it is not compacted");
  }));

test("how much is kept is counted of the conversation alone, whatever a call takes beside it", () =>
  inStore({ turns: 120 }, async ({ session }) => {
    const asked = { window: WINDOW, keep: 2_000 };
    const alone = await session.compact(asked);
    const tools = [{ name: "look", description: "Looks. ".repeat(300), input_schema: { type: "object" } }];
    const beside = await session.compact({ ...asked, system: "Be brief. ".repeat(300), tools });
    assert.equal(beside.through, alone.through);
    assert.ok(alone.through);
  }));

test("system messages, pins and open tasks are there before and after", () =>
  inStore({ turns: 5 }, async ({ session }) => {
    await session.append({ role: "system", content: "Answer in verse." });
    const { records } = await session.append({ role: "user", content: "Never touch the vault." });
    await session.pin(String(records[0]?.id));
    const todos = JSON.stringify({
      todos: [
        { content: "Write the migration", status: "pending" },
        { content: "Read the docs", status: "completed" },
      ],
    });
    await session.append([
      {
        role: "assistant",
        content: "",
        assistant: { toolCalls: [{ id: "plan", name: "TodoWrite", arguments: todos }] },
      },
      { role: "tool", content: "ok", tool: { callId: "plan", name: "TodoWrite" } },
    ]);
    for (let turn = 0; turn < 60; turn += 1)
      await session.append(turnAbout(`turn ${turn}`), { durability: "buffered" });
    const { isApplied } = await session.compact({ window: WINDOW, apply: true });
    assert.equal(isApplied, true);
    const { messages } = await session.context({ window: WINDOW });
    const said = messages.map(({ content }) => content).join("\n");
    for (const text of ["Answer in verse.", "Never touch the vault.", "Write the migration"])
      assert.ok(said.includes(text), text);
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

test("the newest turn stays, however long it is", () =>
  inStore({ turns: 30 }, async ({ session }) => {
    await session.append([
      { role: "user", content: "And in one word?" },
      { role: "assistant", content: "It is as it should be. ".repeat(180) },
    ]);
    const done = await session.compact({ window: 8_000, keep: 800, apply: true });
    assert.equal(done.isApplied, true);
    const { messages } = await session.context({ window: 8_000 });
    assert.deepEqual(
      messages.slice(-2).map(({ content }) => content.slice(0, 16)),
      ["And in one word?", "It is as it shou"],
    );
    assert.equal((await session.compact({ window: 8_000, keep: 800, apply: true })).isApplied, false);
  }));

test("it is taken back also where no context can be built, and asks no model for that", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    let asked = 0;
    const summarize = () => `asked ${(asked += 1)} times`;
    await session.compact({ window: WINDOW, apply: true });
    for (const request of [{ window: 40 }, {}]) {
      assert.equal((await session.compact({ ...request, summarize, undo: true })).isApplied, true);
      assert.equal((await session.context({ window: WINDOW })).report.compacted, undefined);
      await session.compact({ window: WINDOW, apply: true });
    }
    assert.equal(asked, 0);
  }));

test("a line of its last message that comes again hides nothing, nor does what was merged before it", () =>
  inStore({ turns: 60 }, async ({ session, again }) => {
    const { through } = await session.compact({ window: WINDOW, apply: true });
    await session.append(turnAbout("the latest"));
    const before = ids(await session.context({ window: WINDOW }));
    const log = join(session.path, "messages.jsonl");
    const lines = readFileSync(log, "utf8").trimEnd().split("\n");
    const place = lines.findIndex((line) => JSON.parse(line).id === through);
    writeFileSync(log, `${[...lines, lines[place]].join("\n")}\n`);
    const repeated = await again();
    assert.deepEqual(ids(await repeated.context({ window: WINDOW })), before);
    const merged = '{"v":1,"id":"merged","role":"user","content":"Said on another machine."}';
    writeFileSync(log, `${[...lines.slice(0, place), merged, ...lines.slice(place)].join("\n")}\n`);
    assert.ok(ids(await (await again()).context({ window: 200_000 })).includes("merged"));
  }));

test("a wrong size is refused by name", () =>
  inStore({ turns: 2 }, async ({ session }) => {
    for (const keep of [0, -1, 1.5, /** @type {any} */ ("many")]) {
      await assert.rejects(session.compact({ window: WINDOW, keep }), { code: "invalid_request", message: /"keep"/ });
    }
  }));
