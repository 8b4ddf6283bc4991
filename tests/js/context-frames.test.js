// @ts-check
// Frames: each context of a request extends the last one, also in another process; a frame ends for a reason that is
// said, and is never missed.
// Tries: src/operation/frames.rs, src/context/extend.rs

import assert from "node:assert/strict";
import { readdirSync, rmSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openStore } from "../../js/index.js";

const ASKED = /** @type {const} */ ({ window: 4000, encoding: "estimate-1", frame: true });

/** @param {(home: string, session: import("../../js/index.js").Session) => Promise<void>} work */
async function inHome(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-frames-"));
  const store = await openStore({ home, project: home });
  try {
    await work(home, await store.create());
  } finally {
    await store.close();
    rmSync(home, { recursive: true, maxRetries: 10 });
  }
}

/** @param {import("../../js/index.js").Session} session @param {number} number @param {number} [words] */
const say = (session, number, words = 40) =>
  session.append([
    { role: "user", content: `Question ${number}: ${"please look ".repeat(words)}` },
    { role: "assistant", content: `Answer ${number}: ${"it is done ".repeat(words)}` },
  ]);

/** @param {readonly unknown[]} messages */
const texts = (messages) => messages.map((message) => JSON.stringify(message));

/** @param {import("../../js/index.js").Session} session @param {object} [more] */
const build = async (session, more) => {
  const { messages, report, tokensUsed, tokenBudget } = await session.context({ ...ASKED, ...more });
  assert.ok(tokensUsed <= tokenBudget);
  return { messages: texts(messages), cache: report.cache, tokensUsed };
};

test("each context begins with all of the last one, until the budget is reached, and is cut to the share that is asked for", async () => {
  await inHome(async (_, session) => {
    /** @type {string[]} */
    let last = [];
    let cuts = 0;
    for (let number = 0; number < 60; number += 1) {
      await say(session, number);
      const { messages, cache, tokensUsed } = await build(session);
      if (cache?.ended) {
        assert.equal(cache.ended, number === 0 ? "none" : "budget");
        assert.ok(tokensUsed <= 3000 * 0.5);
        cuts += 1;
      } else {
        assert.deepEqual(messages.slice(0, last.length), last, `call ${number}`);
        assert.equal(cache?.unchangedMessages, last.length);
      }
      last = messages;
    }
    assert.ok(cuts > 1 && cuts < 12, `${cuts} cuts`);
  });
});

test("another process goes on with the frame, and a deleted one is cut anew", async () => {
  await inHome(async (home, session) => {
    await say(session, 1);
    const first = await build(session);
    const other = await openStore({ home, project: home });
    const same = await other.session(session.id);
    await say(same, 2);
    const second = await build(same);
    assert.equal(second.cache?.ended, undefined);
    assert.deepEqual(second.messages.slice(0, first.messages.length), first.messages);
    await other.close();
    const frames = readdirSync(join(home, "cache")).filter((name) => name.endsWith(".frames"));
    assert.equal(frames.length, 1);
    for (const name of frames) rmSync(join(home, "cache", name));
    await say(session, 3);
    assert.equal((await build(session)).cache?.ended, "none");
  });
});

test("two requests have a frame each, and neither disturbs the other", async () => {
  await inHome(async (_, session) => {
    for (let number = 0; number < 12; number += 1) {
      await say(session, number);
      const [small, large] = [await build(session), await build(session, { window: 32_000 })];
      if (number > 0) assert.equal(large.cache?.ended, undefined);
      if (number > 0 && small.cache?.ended) assert.equal(small.cache.ended, "budget");
    }
  });
});

test("a frame ends where the cache is cold, and where the conversation is compacted", async () => {
  await inHome(async (_, session) => {
    for (let number = 0; number < 10; number += 1) await say(session, number);
    await build(session);
    assert.equal((await build(session, { cold: true })).cache?.ended, "cold");
    assert.equal((await build(session)).cache?.ended, undefined);
    const { isApplied } = await session.compact({ window: 4000, encoding: "estimate-1", apply: true, keep: 300 });
    assert.ok(isApplied);
    assert.equal((await build(session)).cache?.ended, "compacted");
  });
});

test("what was sent in a frame is built again as it was, also after the next context", async () => {
  await inHome(async (_, session) => {
    for (let number = 0; number < 30; number += 1) {
      await say(session, number);
      const { messages } = await build(session);
      const sent = await session.lastContext({ full: true });
      assert.equal(sent?.isVerified, true, `call ${number}: ${JSON.stringify(sent?.differences)}`);
      assert.deepEqual(texts(sent?.messages ?? []), messages);
    }
  });
});

test("a context by itself uses all of the budget, and leaves the frame as it is", async () => {
  await inHome(async (_, session) => {
    for (let number = 0; number < 40; number += 1) await say(session, number);
    const framed = await build(session);
    const alone = await build(session, { frame: false });
    assert.equal(alone.cache, undefined);
    assert.ok(framed.tokensUsed <= 3000 * 0.5 && alone.tokensUsed > 3000 * 0.85, `${framed.tokensUsed}`);
    assert.deepEqual((await build(session)).messages, framed.messages);
  });
});

test("the last message and the last unchanged one are marked for Anthropic's cache, and nothing else is changed", async () => {
  await inHome(async (_, session) => {
    await say(session, 1);
    await session.append({ role: "user", content: "And then?" });
    const first = await build(session, { format: "anthropic", cacheMarks: true });
    await session.append([
      { role: "assistant", content: "It is done." },
      { role: "user", content: "And now?" },
    ]);
    const second = await build(session, { format: "anthropic", cacheMarks: true });
    const marked = second.messages.flatMap((message, place) => (message.includes("cache_control") ? [place] : []));
    assert.deepEqual(marked, [first.messages.length - 1, second.messages.length - 1]);
    const unmarked = await build(session, { format: "anthropic" });
    const mark = ',"cache_control":{"type":"ephemeral"}';
    assert.deepEqual(
      second.messages.map((message) => message.replace(mark, "")),
      unmarked.messages,
    );
    assert.equal(unmarked.cache?.ended, undefined, "the marks are no part of the request");
    assert.deepEqual(Object.keys(second.cache ?? {}), ["unchangedMessages", "unchangedTokens"]);
  });
});

test("the AI SDK is given marks for the provider, and OpenAI a key that is the session's", async () => {
  await inHome(async (_, session) => {
    await say(session, 1);
    const { messages } = await session.context({ ...ASKED, format: "ai-sdk", cacheMarks: true });
    const { providerOptions, ...last } = messages.at(-1) ?? assert.fail("no message");
    assert.deepEqual(providerOptions, { anthropic: { cacheControl: { type: "ephemeral" } } });
    assert.deepEqual(last, (await session.context({ ...ASKED, format: "ai-sdk" })).messages.at(-1));
    for (const format of /** @type {const} */ (["openai-chat", "openai-responses"])) {
      const { report } = await session.context({ ...ASKED, format, cacheMarks: true });
      assert.equal(report.cache?.promptCacheKey, session.id);
    }
  });
});

test("a call costs what the unchanged part is read for and the rest is written for, at the model's prices", async () => {
  await inHome(async (_, session) => {
    const request = { ...ASKED, model: "claude-sonnet-4-5", system: "Be brief.", tools: [{ name: "look" }] };
    const build = async (/** @type {object} */ more) => {
      const { report, tokensUsed } = await session.context({ ...request, ...more });
      const { systemPromptTokens, toolDefinitionTokens } = report.budget;
      const { cost, unchangedTokens = 0 } = report.cache ?? {};
      return { cost, prompt: systemPromptTokens + toolDefinitionTokens, unchangedTokens, tokensUsed };
    };
    /** @param {number | undefined} found @param {number} dollars */
    const isAbout = (found, dollars) => assert.ok(Math.abs((found ?? NaN) - dollars) < 2e-6, `${found} to ${dollars}`);
    await say(session, 1);
    const first = await build({});
    const sent = first.prompt + first.tokensUsed;
    assert.ok(first.prompt > 0);
    isAbout(first.cost?.uncached, (sent * 3) / 1e6);
    isAbout(first.cost?.cached, (sent * 3.75) / 1e6);
    assert.match(first.cost?.listedOn ?? "", /^\d{4}-\d\d-\d\d$/);
    await say(session, 2);
    const second = await build({});
    const read = second.prompt + second.unchangedTokens;
    assert.ok(second.unchangedTokens > 0);
    isAbout(second.cost?.cached, (read * 0.3 + (second.tokensUsed - second.unchangedTokens) * 3.75) / 1e6);
    const given = await build({ prices: { input: 10, cacheRead: 1 } });
    const fresh = given.tokensUsed - given.unchangedTokens;
    isAbout(given.cost?.cached, (given.prompt + given.unchangedTokens + fresh * 10) / 1e6);
    assert.equal(given.cost?.listedOn, undefined);
    assert.ok(given.unchangedTokens > second.unchangedTokens, "prices are no part of the request");
    assert.equal((await build({ model: "nobody-1" })).cost, undefined, "nobody's prices are guessed");
    for (const prices of [{}, { input: -1 }, { input: "1" }, { input: 1, output: 2 }, 3])
      await assert.rejects(build({ prices }), { code: "invalid_request" });
  });
});

test("a share that is none is refused", async () => {
  await inHome(async (_, session) => {
    for (const fill of [0, 0.2, 1, -1]) {
      await assert.rejects(session.context({ ...ASKED, fill }), { code: "invalid_request" });
    }
  });
});
