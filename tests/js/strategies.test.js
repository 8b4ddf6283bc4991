// @ts-check
// Strategies and counters of the caller's own: taken where they keep the laws, else refused by name, and the next is
// tried.
// Tries: src/context/host_strategies.rs, src/context/compare.rs, js/session/context/
import assert from "node:assert/strict";
import { test } from "node:test";

import { compareContexts, countTokens } from "../../js/index.js";
import { inStore, messagesOf, turnAbout } from "./long-session.js";

/** @typedef {import("../../js/types/index.js").Strategy} Strategy */

const WINDOW = 16_000;
/** A context by itself. */
const UNFRAMED = { window: WINDOW, frame: false };

/** @param {Strategy["build"]} build @param {Partial<Strategy>} [more] @returns {Strategy} */
const mine = (build, more) => ({ name: "mine", priority: 0, build, ...more });
/** @param {import("../../js/types/index.js").ContextBuildResult} context */
const rejectionLines = ({ report }) =>
  report.rejected.map((/** @type {{ strategy: string, why: string }} */ { strategy, why }) => `${strategy}: ${why}`);

test("a strategy that keeps the laws makes the context; it may take its time", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const build = mine(async (given, budget, tokenizer) => {
      assert.equal(given, session);
      const all = await messagesOf(given);
      const kept = all.slice(-4);
      assert.ok((await tokenizer.countMessages(kept)) <= budget);
      assert.equal(await tokenizer.count("hello world"), 2);
      return { messages: kept, includedCount: 4, summarizedCount: all.length - 4 };
    });
    const context = await session.context({ window: WINDOW, strategies: [build] });
    const all = await messagesOf(session);
    assert.equal(context.strategy, "mine");
    assert.deepEqual(
      context.messages.map(({ id }) => id),
      all.slice(-4).map(({ id }) => id),
    );
    assert.deepEqual([context.includedMessageCount, context.summarizedMessageCount], [4, all.length - 4]);
    const counts = await countTokens(all.slice(-4).map(({ content }) => content));
    assert.equal(
      context.tokensUsed,
      counts.reduce((sum, one) => sum + one + 4, 0),
    );
    const shaped = await session.context({ window: WINDOW, strategies: [build], format: "openai-chat" });
    assert.deepEqual(
      shaped.messages.map(({ content }) => content),
      all.slice(-4).map(({ content }) => content),
    );
  }));

test("one that breaks a law is refused by its name and the law, and the next one is tried", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const all = await messagesOf(session);
    const [last, newestUser] = [all.at(-1), all.at(-2)];
    const ours = await session.context(UNFRAMED);
    /** @type {[string, Strategy["build"], RegExp][]} */
    const broken = [
      ["too much", () => ({ messages: all }), /its messages have \d+ tokens, the budget 12000/],
      ["no user", () => ({ messages: [last ?? {}] }), /the message ".+", which has to be there, is missing/],
      ["disorder", () => ({ messages: [last ?? {}, newestUser ?? {}] }), /is not where it stands in the session/],
      [
        "half a pair",
        () => ({ messages: [newestUser ?? {}, { role: "tool", content: "x", tool: { callId: "c", name: "ls" } }] }),
        /the result of "c" has no call before it/,
      ],
      ["nobody", () => ({ messages: [{ content: "x" }] }), /expected a "role"/],
      ["nothing", () => /** @type {any} */ (undefined), /expected an array of messages, but found undefined/],
      [
        "thrown",
        () => {
          throw new Error("out of order");
        },
        /it failed: out of order/,
      ],
      ["late", () => Promise.reject(new Error("too late")), /it failed: too late/],
    ];
    for (const [name, build, why] of broken) {
      const context = await session.context({ window: WINDOW, strategies: [mine(build, { name })] });
      assert.deepEqual(context.messages, ours.messages, name);
      const [first = ""] = rejectionLines(context);
      assert.ok(first.startsWith(`${name}: `) && why.test(first), first);
    }
    const all8 = await session.context({
      window: WINDOW,
      strategies: broken.map(([name, build]) => mine(build, { name })),
    });
    assert.deepEqual(
      rejectionLines(all8)
        .slice(0, broken.length)
        .map((/** @type {string} */ one) => one.split(":")[0]),
      broken.map(([name]) => name),
    );
  }));

test("priority and minimum say when it is tried", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const last = async (/** @type {any} */ given) => ({ messages: (await messagesOf(given)).slice(-2) });
    const strategyOf = async (/** @type {Strategy[]} */ strategies) =>
      (await session.context({ window: WINDOW, strategies })).strategy;
    assert.equal(await strategyOf([mine(last, { priority: 3 })]), "recent-plus-summary", "of equal ones ours is first");
    assert.equal(await strategyOf([mine(last, { priority: 2 })]), "mine");
    assert.equal(await strategyOf([mine(last, { priority: 0, minTokens: 12_001 })]), "recent-plus-summary");
    assert.equal(await strategyOf([mine(last, { priority: 0, minTokens: 12_000 })]), "mine");
    assert.equal(
      await strategyOf([mine(last, { priority: -1 }), mine(last, { name: "other", priority: -2 })]),
      "other",
    );
    await assert.rejects(strategyOf([mine(last, { priority: 1.5 })]), {
      code: "invalid_request",
      message: /"strategies\[0\]\.priority"/,
    });
  }));

test("a caller chooses those that are tried, and one of the caller's may stand for one of ours", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const last = async (/** @type {any} */ given) => ({ messages: (await messagesOf(given)).slice(-2) });
    const triedOf = async (/** @type {any} */ request) => {
      const context = await session.context({ window: WINDOW, ...request });
      return [...context.report.rejected.map(({ strategy }) => strategy), context.strategy];
    };
    assert.deepEqual(await triedOf({}), ["full-history", "pruned-tools", "recent-plus-summary"]);
    assert.deepEqual(await triedOf({ only: ["minimal-state", "full-history"] }), ["full-history", "minimal-state"]);
    assert.deepEqual(await triedOf({ only: ["full-history"] }), ["full-history", "fallback"]);
    assert.deepEqual(await triedOf({ only: [] }), ["fallback"]);
    assert.deepEqual(await triedOf({ only: ["mine"], strategies: [mine(last, { priority: 9 })] }), ["mine"]);
    const instead = mine(async () => ({ messages: [] }), { name: "pruned-tools", priority: 0 });
    assert.deepEqual(await triedOf({ strategies: [instead] }), ["pruned-tools", "full-history", "recent-plus-summary"]);
    await assert.rejects(triedOf({ only: ["half"] }), { code: "invalid_request", message: /full-history.*"half"/ });
  }));

test("a counter of the caller's own decides what fits, also where it answers later", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    /** @type {string[]} */
    const encodings = [];
    const count = async (/** @type {string[]} */ texts, /** @type {string} */ encoding) => {
      encodings.push(encoding);
      return texts.map((text) => text.length);
    };
    const { messages, tokensUsed, report } = await session.context({ window: WINDOW, encoding: "by-letters", count });
    assert.equal(
      tokensUsed,
      messages.reduce((sum, { content }) => sum + content.length + 4, 0),
    );
    assert.equal(report.encoding, "by-letters");
    assert.deepEqual([...new Set(encodings)], ["by-letters"]);
    assert.ok(encodings.length <= 8, `${encodings.length} rounds`);
  }));

test("what is no strategy, or no counts, is refused with a code", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    for (const strategies of /** @type {any[]} */ ([{}, null, [null], "abc", [{}]])) {
      await assert.rejects(
        session.context({ window: WINDOW, strategies }),
        { code: "invalid_request" },
        JSON.stringify(strategies),
      );
    }
    for (const count of /** @type {any[]} */ ([() => null, () => [], () => 7])) {
      await assert.rejects(
        session.context({ window: WINDOW, encoding: "mine", count }),
        { code: "invalid_request" },
        String(count),
      );
    }
    assert.throws(() => compareContexts(/** @type {any} */ (undefined), /** @type {any} */ ({})), {
      code: "invalid_request",
    });
  }));

test("two contexts are compared", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const before = await session.context(UNFRAMED);
    assert.deepEqual(compareContexts(before, await session.context(UNFRAMED)).messages, []);
    await session.append(turnAbout("one more"));
    const after = await session.context(UNFRAMED);
    const { messages, tokensUsed } = compareContexts(before, after);
    assert.deepEqual(tokensUsed, { before: before.tokensUsed, after: after.tokensUsed });
    const all = (await messagesOf(session)).map(({ id }) => id);
    const [first, second] = messages
      .filter(({ before: was }) => was === "unread" && all.slice(-2))
      .filter(({ id }) => all.slice(-2).includes(id));
    assert.deepEqual([first?.after, second?.after], ["kept", "kept"]);
    const left = messages
      .filter(({ before: was, after: is }) => was === "kept" && is === "summarized")
      .map(({ id }) => id);
    assert.ok(left.length >= 2 && left.every((id) => all.indexOf(id) < all.length - 20));
    const kept = await session.lastContext();
    assert.ok(kept);
    assert.deepEqual(compareContexts(kept, after).messages, []);
  }));
