// @ts-check
// Summaries by the caller's model: what it is asked, when it is asked again, what becomes of answers that are none.
// Tries: src/operation/stored_summaries.rs, src/operation/summary_writing.rs, src/context/prompt.rs,
// src/context/priced_summary.rs
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { countTokens } from "../../js/index.js";
import { inStore, messagesOf, turnAbout } from "./long-session.js";

/** @typedef {import("../../js/session/session.js").Session} Session */
/** @typedef {import("../../js/types/index.js").SummaryRequest} SummaryRequest */

const WINDOW = 16_000;
/** A context by itself. */
const UNFRAMED = { window: WINDOW, frame: false };
const DOCUMENT_004 = "You are summarizing a coding conversation for context continuity.";

/** A model that numbers its answers. @param {(request: SummaryRequest, count: number) => any} [answer] */
function model(
  answer = (_, count) => ({ content: `Answer ${count} of the model: files were looked at.`, model: "model-1" }),
) {
  /** @type {SummaryRequest[]} */
  const asked = [];
  return { asked, summarize: (/** @type {SummaryRequest} */ request) => answer(request, asked.push(request)) };
}

/** @param {Session} session */
const files = ({ path }) => (existsSync(join(path, "summaries")) ? readdirSync(join(path, "summaries")) : []);
/** @param {Session} session */
const cachedSummaries = (session) =>
  files(session).map((name) => JSON.parse(readFileSync(join(session.path, "summaries", name), "utf8")));
/** @param {{ messages: { content: string }[] }} context */
const texts = ({ messages }) => messages.map(({ content }) => content).join("\n");

test("a model is asked with the document's prompt, of each message once, and its answer is in the context", () =>
  inStore({ turns: 120 }, async ({ session }) => {
    const { asked, summarize } = model();
    const context = await session.context({ window: WINDOW, summarize });
    assert.ok(asked.length > 0);
    const all = await messagesOf(session);
    const [{ range, summary, originalTokens, compressionRatio }] = cachedSummaries(session);
    assert.equal(range.startMessageId, all[0]?.id);
    const covered = all.slice(0, all.findIndex(({ id }) => id === range.endMessageId) + 1);
    assert.equal(range.messageCount, covered.length);
    assert.equal(
      originalTokens,
      covered.reduce((sum, { tokens }) => sum + Number(tokens?.count), 0),
    );
    assert.equal(compressionRatio, Math.round((summary.tokens / originalTokens) * 1000) / 1000);
    for (const {
      messages: [system, user],
      maxTokens,
    } of asked) {
      assert.ok(system?.content.startsWith(DOCUMENT_004));
      const target = Number(/^Target length: approximately (\d+) tokens\.\n\n/.exec(String(user?.content))?.[1]);
      assert.equal(maxTokens, target + 100);
    }
    const told = asked.map(({ messages }) => messages[1]?.content).join("\n");
    covered.forEach(({ role, content }) =>
      assert.equal(told.split(`${String(role).toUpperCase()}: ${content}`).length, 2, content),
    );
    assert.deepEqual(
      asked.map(({ previous }) => previous),
      [undefined, ...asked.slice(1).map((_, place) => `Answer ${place + 1} of the model: files were looked at.`)],
    );
    assert.ok(texts(context).includes(summary.content));
    assert.ok(context.tokensUsed <= context.tokenBudget);
    const [first] = context.messages.filter(({ id }) => id);
    assert.ok(
      covered.some(({ id }) => id === first.id) || all[covered.length]?.id === first.id,
      "nothing lies between the summary and the first message",
    );
  }));

test("a summary that is kept says when and by which model it was made, of which messages, and its file is called by their ends", () =>
  inStore({ turns: 120 }, async ({ session }) => {
    const before = Date.now();
    // From here on the vocabulary is loaded, and what is stored is counted by it.
    await countTokens("a");
    await session.context({ window: WINDOW, summarize: model().summarize });
    const all = await messagesOf(session);
    const [{ id, createdAt, range, summary }] = cachedSummaries(session);
    // As every derived id is made: of the length in eight bytes, and what it is of.
    const ends = JSON.stringify([range.startMessageId, range.endMessageId]);
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(ends)));
    const hash = createHash("sha256").update(length).update(ends).digest("hex");
    const [, ...parts] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(hash) ?? [];
    const [name = ""] = files(session);
    assert.match(name, new RegExp(`^${parts[0]}-${parts[1]}-8${parts[2]}-[89ab]${parts[3]}-${parts[4]}\\.json$`));
    assert.deepEqual([typeof id, summary.model], ["string", "model-1"]);
    assert.ok(Date.parse(createdAt) >= before && Date.parse(createdAt) <= Date.now());
    const seqs = [range.startMessageId, range.endMessageId].map((of) => all.find((one) => one.id === of)?.seq);
    assert.deepEqual([range.startSeq, range.endSeq], seqs);
    assert.equal(await countTokens(String(summary.content)), summary.tokens);
  }));

test("it is asked again only when what was said since no longer fits, and then of that alone", () =>
  inStore({ turns: 60 }, async ({ session, again }) => {
    const { asked, summarize } = model();
    await session.context({ window: WINDOW, summarize });
    const [before] = cachedSummaries(session);
    asked.length = 0;
    let turns = 0;
    for (; asked.length === 0; turns += 1) {
      await session.append(turnAbout(`later ${turns}`), { durability: "buffered" });
      await session.context({ window: WINDOW, summarize });
    }
    assert.ok(turns > 10, `after ${turns} turns`);
    assert.equal(asked[0]?.previous, before.summary.content);
    const [after] = cachedSummaries(session);
    assert.equal(files(session).length, 1, "the one that was extended is gone");
    assert.equal(after.range.startMessageId, before.range.startMessageId);
    assert.ok(after.range.messageCount > before.range.messageCount);
    const reopened = await again();
    const other = model();
    const context = await reopened.context({ window: WINDOW, summarize: other.summarize });
    assert.equal(other.asked.length, 0);
    assert.ok(texts(context).includes(after.summary.content));
    assert.ok(
      texts(await reopened.context({ window: WINDOW })).includes(after.summary.content),
      "also without a model at hand",
    );
  }));

test("what is no summary, or no smaller than what it replaces, is refused and said", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const without = await session.context(UNFRAMED);
    /** @type {[() => any, RegExp][]} */
    const answers = [
      [() => "word ".repeat(20_000), /the summary has \d+ tokens, but may have at most \d+/],
      [() => "", /expected a summary as text, but found /],
      [() => undefined, /expected a summary as text, but found undefined/],
      [() => ({ content: 7 }), /expected a summary as text, but found 7/],
      [
        () => {
          throw new Error("the model is away");
        },
        /the model is away/,
      ],
      [() => Promise.reject(new Error("later away")), /later away/],
    ];
    for (const [answer, why] of answers) {
      const { messages, summaryRefused = "" } = await session.context({ ...UNFRAMED, summarize: answer });
      assert.match(summaryRefused, why);
      assert.deepEqual(messages, without.messages);
      assert.deepEqual(files(session), []);
    }
  }));

test("a summary whose file is damaged, or whose last message is not where it says, is as good as none", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const without = await session.context(UNFRAMED);
    await session.context({ ...UNFRAMED, summarize: model().summarize });
    const [name = ""] = files(session);
    const path = join(session.path, "summaries", name);
    const good = readFileSync(path, "utf8");
    const { range } = JSON.parse(good);
    const wrong = [
      good.slice(0, 100),
      "",
      "[]",
      "null",
      good.replace(String(range.endByte), String(range.endByte - 3000)),
      good.replaceAll(range.endMessageId, "nobody"),
    ];
    for (const text of wrong) {
      writeFileSync(path, text);
      assert.deepEqual((await session.context(UNFRAMED)).messages, without.messages, text.slice(0, 50));
    }
    writeFileSync(path, good);
    assert.notDeepEqual((await session.context(UNFRAMED)).messages, without.messages);
    rmSync(path);
    assert.deepEqual((await session.context(UNFRAMED)).messages, without.messages);
  }));

test("a summary of one branch is not told of another", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const all = await messagesOf(session);
    await session.context({ window: WINDOW, summarize: model().summarize });
    const [{ summary }] = cachedSummaries(session);
    await session.append({ role: "user", content: "another way", parentId: all[5]?.id, branch: true });
    for (let turn = 0; turn < 40; turn += 1)
      await session.append(turnAbout(`branch ${turn}`), { durability: "buffered" });
    assert.ok(!texts(await session.context({ window: WINDOW })).includes(summary.content));
    const { asked, summarize } = model(() => "Of the branch.");
    await session.context({ window: WINDOW, summarize });
    const told = asked.map(({ messages }) => messages[1]?.content).join("\n");
    assert.ok(
      told.includes("another way") && told.includes(String(all[5]?.content)) && !told.includes(String(all[6]?.content)),
    );
  }));

test("a compaction has the model's summary, also when the cache is gone, and a smaller window a part of it", () =>
  inStore({ turns: 60 }, async ({ session, again }) => {
    const { summarize } = model(() => `The model's own words. ${"And more of them. ".repeat(100)}`);
    const done = await session.compact({ window: WINDOW, summarize, apply: true });
    assert.deepEqual([done.isApplied, done.summaryRefused], [true, undefined]);
    rmSync(join(session.path, "summaries"), { recursive: true });
    const reopened = await again();
    assert.ok(texts(await reopened.context({ window: WINDOW })).includes("The model's own words."));
    const small = await reopened.context({ window: 3_000 });
    assert.ok(texts(small).includes("The model's own words."));
    assert.ok((await countTokens(String(small.messages[0].content))) <= 0.3 * small.tokenBudget);
  }));

test("a summary stands for all from the first message on, also behind a compaction without a model", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const all = await messagesOf(session);
    await session.compact({ window: 8_000, apply: true });
    for (let turn = 0; turn < 40; turn += 1)
      await session.append(turnAbout(`later ${turn}`), { durability: "buffered" });
    const { asked, summarize } = model();
    await session.context({ window: 8_000, summarize });
    const [{ range }] = cachedSummaries(session);
    assert.equal(range.startMessageId, all[0]?.id);
    const told = asked.map(({ messages }) => messages[1]?.content).join("\n");
    assert.ok(told.includes(String(all[0]?.content)));
  }));

test("a summary that says an end beyond the log, or a cache that is no folder, costs a summary and no context", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const without = await session.context(UNFRAMED);
    await session.context({ ...UNFRAMED, summarize: model().summarize });
    const [name = ""] = files(session);
    const path = join(session.path, "summaries", name);
    const { range, ...rest } = JSON.parse(readFileSync(path, "utf8"));
    for (const endByte of [99_999_999_999, 9e15, -1, 0]) {
      writeFileSync(path, JSON.stringify({ ...rest, range: { ...range, endByte } }));
      assert.deepEqual((await session.context(UNFRAMED)).messages, without.messages, `${endByte}`);
    }
    rmSync(join(session.path, "summaries"), { recursive: true });
    writeFileSync(join(session.path, "summaries"), "");
    assert.deepEqual((await session.context(UNFRAMED)).messages, without.messages);
  }));

test("nothing is written of a session that was deleted while its model was at work", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    const { summaryRefused = "" } = await session.context({
      window: WINDOW,
      summarize: () => {
        rmSync(session.path, { recursive: true });
        return "Of a session that is gone.";
      },
    });
    assert.notEqual(summaryRefused, "");
    assert.equal(existsSync(session.path), false);
  }));

test("a summary that is too long for a smaller budget is made shorter from itself alone", () =>
  inStore({ turns: 60 }, async ({ session }) => {
    await session.context({ window: WINDOW, summarize: () => "Long words of the model. ".repeat(250) });
    const { asked, summarize } = model(() => "Short words of the model.");
    const context = await session.context({ window: 6_000, summarize });
    assert.ok(asked.length > 0 && asked[0]?.previous?.startsWith("Long words"));
    assert.ok(texts(context).includes("Short words of the model."));
  }));

test("of a message that is longer than a model reads at once it is told the beginning", () =>
  inStore({ turns: 40 }, async ({ session }) => {
    await session.append({ role: "user", content: `The log says: ${"line of a log ".repeat(100_000)}` });
    for (let turn = 0; turn < 40; turn += 1)
      await session.append(turnAbout(`later ${turn}`), { durability: "buffered" });
    const { asked, summarize } = model();
    await session.context({ window: WINDOW, summarize });
    const told = asked.map(({ messages }) => String(messages[1]?.content));
    assert.ok(told.some((text) => text.includes("The log says: line of a log")));
    for (const text of told) assert.ok(text.length < WINDOW * 4, `${text.length} letters`);
  }));

test("a summary of a range is the model's where it has just that one, else what was learned of it", () =>
  inStore({ turns: 40 }, async ({ session }) => {
    const all = await messagesOf(session);
    const [startMessageId = "", endMessageId = ""] = [all[2]?.id, all[9]?.id];
    const learned = await session.summaryOf({ startMessageId, endMessageId, maxTokens: 300 });
    assert.ok(learned.includes("file 1") && !learned.includes("file 7"));
    assert.ok((await countTokens(learned)) <= 300);
    await session.context({ window: WINDOW, summarize: () => "Word for word." });
    const [{ range }] = cachedSummaries(session);
    assert.equal(await session.summaryOf({ ...range, maxTokens: 300 }), "Word for word.");
    await assert.rejects(session.summaryOf({ startMessageId: "nobody", endMessageId, maxTokens: 300 }), {
      code: "not_found",
      message: /"nobody"/,
    });
  }));
