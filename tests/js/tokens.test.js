// @ts-check
// Counting through the public interface; gpt-tokenizer counts beside it.
// Tries: src/tokens/, src/tokens/models.rs
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base";
import * as o200k from "gpt-tokenizer/encoding/o200k_base";

import { LeftoffError, MemoryStorage, countTokens, modelOf, openStore, pricesOf } from "../../js/index.js";

const folder = new URL("../fixtures/texts/", import.meta.url);
const isAsText = { disallowedSpecial: new Set() };
/** @param {string} code */
const refusedAs = (code) => (/** @type {unknown} */ error) => error instanceof LeftoffError && error.code === code;

// It counts a byte order mark as two tokens where there is one.
const texts = readdirSync(folder).map((name) => readFileSync(new URL(name, folder), "utf8").replaceAll("\ufeff", ""));

test("texts in many languages count as gpt-tokenizer counts them, all in one call", async () => {
  assert.ok(texts.length > 10);
  assert.deepEqual(
    await countTokens(texts),
    texts.map((text) => o200k.countTokens(text, isAsText)),
  );
  assert.deepEqual(
    await countTokens(texts, { encoding: "cl100k_base" }),
    texts.map((text) => cl100k.countTokens(text, isAsText)),
  );
  assert.deepEqual(await countTokens(texts, { encoding: "o200k_harmony" }), await countTokens(texts));
  assert.deepEqual(await countTokens([]), []);
});

test("a special token in a text is text, and half a surrogate pair what UTF-8 makes of it", async () => {
  assert.equal(await countTokens("<|endoftext|>"), o200k.countTokens("<|endoftext|>", isAsText));
  assert.equal(await countTokens("a\ud800b"), await countTokens("a\ufffdb"));
});

test("counting stops above a limit", async () => {
  const text = texts.join("\n");
  const whole = await countTokens(text);
  assert.equal(await countTokens(text, { limit: whole }), whole);
  const stopped = await countTokens(text, { limit: 100 });
  assert.ok(stopped > 100 && stopped < whole, String(stopped));
  assert.equal(await countTokens("", { limit: 0 }), 0);
  for (const limit of [-1, NaN, "many"])
    await assert.rejects(countTokens("x", { limit: /** @type {any} */ (limit) }), refusedAs("invalid_request"));
});

test("a megabyte without a break is counted", async () => {
  for (const unit of ["a", " ", "-", "\u4f60", "\u{1f642}"]) {
    const [one = 0, ten = 0] = await countTokens([1, 10].map((times) => unit.repeat((times * 200_000) / unit.length)));
    // Ten times as much is as many tokens ten times, but for where it is cut.
    assert.ok(one > 0 && Math.abs(ten - 10 * one) <= 10, `${unit}: ${one}, ${ten}`);
  }
});

test("a model's prices are those that its maker publishes, with their day", () => {
  const { rates, long, listedOn } = pricesOf("openai/gpt-5.5-2026-04-23") ?? assert.fail("not listed");
  assert.deepEqual(rates, { input: 5, output: 30, cacheRead: 0.5 });
  assert.deepEqual(long, { above: 272_000, rates: { input: 10, output: 45, cacheRead: 1 } });
  assert.ok(!Number.isNaN(Date.parse(listedOn)));
  assert.deepEqual(pricesOf("claude-haiku-4-5-20251001")?.rates, {
    input: 1,
    output: 5,
    cacheRead: 0.1,
    cacheWrite: 1.25,
    cacheWriteHour: 2,
  });
  assert.equal(pricesOf("nobody-1"), undefined);
});

test("a model is known by its name, and says what counts", async () => {
  assert.deepEqual(modelOf("openai/gpt-4o-mini"), { encoding: "o200k_base", window: 128_000 });
  assert.equal(modelOf("nobody-1"), undefined);
  const [text = ""] = texts;
  assert.equal(await countTokens(text, { model: "gpt-4" }), cl100k.countTokens(text, isAsText));
  assert.equal(
    await countTokens(text, { model: "claude-sonnet-4-5" }),
    await countTokens(text, { encoding: "estimate-1" }),
  );
  await assert.rejects(countTokens(text, { model: "nobody-1" }), refusedAs("no_counter"));
});

test("a context fits its model's window, by its model's encoding", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create({ model: "gpt-4" });
  await session.append({ role: "user", content: texts[0] });
  const { tokenBudget, report } = await session.context();
  assert.deepEqual([tokenBudget, report.encoding], [8192 * 0.75, "cl100k_base"]);
  assert.equal((await session.context({ model: "gpt-5" })).tokenBudget, 400_000 * 0.75);
  assert.equal((await session.context({ window: 1000 })).tokenBudget, 750);
  await session.setAgent({ model: "nobody-1" });
  await assert.rejects(session.context(), refusedAs("invalid_request"));
  await session.setAgent({ model: "nobody-1", contextWindow: 4000 });
  assert.equal((await session.context()).tokenBudget, 3000);
  await store.close();
});
