// @ts-check
// What the viewer says of a context that was sent, and of two compared.
// Tries: js/viewer/build-words.js, js/viewer/builds.js, js/viewer/inspector.js

import assert from "node:assert/strict";
import { test } from "node:test";
import { MemoryStorage, compareContexts, openStore } from "../../js/index.js";
import { FATE_WORDS, formatDollars, formatShare, ruleWords, runWords, sentText } from "../../js/viewer/build-words.js";
import { answerTo, cachedOf, collapseRuns, divideWindow, entriesOf, fatesOf } from "../../js/viewer/builds.js";
import { firstDifference, sentTokens } from "../../js/viewer/builds.js";
import { Model } from "../../js/viewer/model.js";

const OUTPUT = "a line of the output, which is of some length\n".repeat(80);

const STORAGES = new WeakMap();

/** A session of many turns, each with a call. */
async function longSession() {
  const storage = new MemoryStorage();
  const store = await openStore({ storage, home: "/home", project: "/project" });
  const session = await store.create({ title: "Long" });
  const turn = (/** @type {number} */ place) => [
    { role: "user", content: `Request ${place}` },
    {
      role: "assistant",
      content: "",
      assistant: { toolCalls: [{ id: `c${place}`, name: "Bash", arguments: `{"command":"run ${place}"}` }] },
    },
    { role: "tool", content: `${place}\n${OUTPUT}`, tool: { callId: `c${place}`, name: "Bash" } },
    { role: "assistant", content: `Done with ${place}.` },
  ];
  await session.append(/** @type {any} */ (Array.from({ length: 75 }, (_, place) => turn(place)).flat()));
  STORAGES.set(session, storage);
  return session;
}

/** What the page has open of a session: it only reads. @param {import("../../js/index.js").Session} written */
async function modelOf(written) {
  await written.flush();
  const storage = STORAGES.get(written);
  const store = await openStore({ storage, home: "/home", project: "/project", readOnly: true });
  const session = await store.session(written.id);
  const model = new Model(session.metadata);
  const messages = [];
  for await (const message of session.messages()) messages.push(message);
  model.add(messages);
  model.inspector.session = session;
  return model;
}

test("the parts of the window are those of the report, and fill it", async () => {
  const session = await longSession();
  await session.context({ window: 16_000, encoding: "estimate-1", system: "Be brief.", tools: [{ name: "Bash" }] });
  const model = await modelOf(session);
  await model.inspector.refresh();
  const build = /** @type {import("../../js/viewer/builds.js").Build} */ (model.inspector.build);
  const { tokensUsed, includedMessageCount, summarizedMessageCount, report } = build.result;
  const parts = Object.fromEntries(divideWindow(build, model.messages).map((part) => [part.name, part]));
  assert.equal(parts.kept.count + parts.shortened.count, includedMessageCount);
  assert.equal(parts.summary.count, summarizedMessageCount);
  assert.equal(parts.summary.tokens, report.summaryTokens);
  assert.ok(parts.shortened.count > 0 && parts.summary.count > 0);
  assert.equal(sentTokens(build), tokensUsed + parts.system.tokens + parts.tools.tokens);
  const sum = Object.values(parts).reduce((all, { tokens }) => all + tokens, 0);
  assert.equal(sum, report.budget.modelContextWindow);
  const fates = [...fatesOf(build, model.messages).values()].map(({ fate }) => fate);
  assert.equal(fates.filter((fate) => fate === "summarized").length, summarizedMessageCount);
});

test("what came after a context is not said to be in it, and its answer is found", async () => {
  const session = await longSession();
  await session.context({ window: 16_000, encoding: "estimate-1" });
  const usage = { input: 10, output: 5, cacheRead: 1_234 };
  await session.append([
    { role: "assistant", content: "The answer", assistant: { usage } },
    { role: "user", content: "More" },
  ]);
  const model = await modelOf(session);
  await model.inspector.refresh();
  const build = /** @type {import("../../js/viewer/builds.js").Build} */ (model.inspector.build);
  const fates = [...fatesOf(build, model.messages).values()].map(({ fate }) => fate);
  assert.deepEqual(fates.slice(-3), ["kept", "later", "later"]);
  assert.equal(answerTo(build, model.messages)?.message.content, "The answer");
  assert.deepEqual(cachedOf(build, model.messages), { tokens: 1_234, isReported: true });
  assert.equal(model.inspector.decisions?.entries.at(-1)?.row, model.rows.length - 3);
});

test("without a recorded context there is a preview, of which nothing is guessed", async () => {
  const session = await longSession();
  const model = await modelOf(session);
  await model.inspector.toggle();
  const { inspector } = model;
  assert.deepEqual([inspector.isOpen, inspector.hasSent, inspector.build?.at], [true, false, undefined]);
  const build = /** @type {import("../../js/viewer/builds.js").Build} */ (inspector.build);
  assert.equal(cachedOf(build, model.messages), undefined);
  assert.equal(answerTo(build, model.messages), undefined);
  await inspector.choose("chosen", "16000");
  assert.equal(inspector.build?.result.report.budget.modelContextWindow, 16_000);
  const unsent = [...(inspector.fates ?? new Map()).values()].filter(({ rule }) => rule === "did-not-fit");
  assert.ok(unsent.length > 0);
  assert.ok(unsent.every(({ fate, tokens }) => fate === "summarized" && tokens === 0));
});

test("two contexts are compared as the core compares them", async () => {
  const session = await longSession();
  await session.context({ window: 64_000, encoding: "estimate-1" });
  const model = await modelOf(session);
  const { inspector } = model;
  await inspector.toggle();
  await inspector.show("compare");
  await inspector.choose("after", "16000");
  const [before, after] = ["sent", "16000"].map((key) => inspector.builds.get(key));
  assert.ok(before?.messages && after);
  const { messages } = compareContexts(before.result, after.result);
  assert.deepEqual(inspector.compare(before, after).messages, messages);
  assert.ok(messages.length > 0);
  assert.equal(firstDifference(before, after)?.place, 0);
  assert.equal(firstDifference(before, { ...before, messages: undefined }), undefined);
  assert.equal(firstDifference(before, before)?.place, before.messages.length);
});

test("long runs are one line, and what stands out is not in them", () => {
  const entry = (/** @type {number} */ row, /** @type {any} */ fate, rule = "fits") => ({
    ...{ row, fate, rule, before: 10, after: 5 },
  });
  const entries = Array.from({ length: 60 }, (_, row) =>
    row === 20 || row === 47
      ? entry(row, "kept", "required")
      : entry(row, row === 12 ? "dropped" : row < 40 ? "summarized" : "kept"),
  );
  const listed = collapseRuns(entries);
  const rows = listed.flatMap((one) => ("hidden" in one ? one.hidden : [one.entry])).map(({ row }) => row);
  assert.deepEqual(
    rows,
    entries.map(({ row }) => row),
  );
  const shown = listed.flatMap((one) => ("entry" in one ? [one.entry.row] : []));
  assert.deepEqual(shown, [0, 1, 2, 3, 12, 19, 20, 21, 39, 40, 47, 54, 55, 56, 57, 58, 59]);
  assert.equal(runWords(entries), "38 summarized, 21 kept, 1 dropped");
});

test("a row that was sent in part was shortened", async () => {
  const session = await longSession();
  const model = await modelOf(session);
  const [, row] = model.rows;
  const fates = new Map([
    [row.id, { fate: /** @type {const} */ ("kept"), rule: "fits", tokens: 7 }],
    [row.calls[0].result?.id ?? "", { fate: /** @type {const} */ ("dropped"), rule: "did-not-fit", tokens: 0 }],
  ]);
  assert.deepEqual(
    entriesOf([row], fates).map(({ fate, rule, after }) => [fate, rule, after]),
    [["shortened", "did-not-fit", 7]],
  );
});

test("rules, shares and costs are written in words", () => {
  const about = { isPinned: false, isNewest: false };
  const words = (/** @type {any} */ fate, /** @type {string} */ rule, more = {}) =>
    ruleWords({ fate, rule }, { ...about, ...more });
  assert.equal(words("kept", "required", { isPinned: true }), "pinned");
  assert.equal(words("kept", "required", { isNewest: true }), "newest request");
  assert.equal(words("summarized", "did-not-fit"), "did not fit; in the summary");
  assert.equal(words("dropped", "did-not-fit"), "did not fit the budget");
  assert.equal(words("unread", "unread"), "older than what was read");
  assert.equal(words("kept", "a-later-rule"), "a-later-rule");
  assert.deepEqual([formatShare(999, 1_000), formatShare(5, 5), formatShare(1, 3)], ["99 %", "100 %", "33 %"]);
  assert.deepEqual([0.007831, 0.25, 4.175].map(formatDollars), ["$0.0078", "$0.250", "$4.17"]);
  assert.equal(FATE_WORDS.later, "came after");
});

test("the text that was sent is found in every shape", async () => {
  const session = await longSession();
  const stored = [];
  for await (const message of session.messages()) stored.push(message);
  const result = stored.findLast(({ role }) => role === "tool");
  assert.ok(result);
  for (const format of /** @type {const} */ (["leftoff", "openai-chat", "openai-responses", "anthropic", "ai-sdk"])) {
    const { messages } = await session.context({ window: 64_000, encoding: "estimate-1", frame: false, format });
    assert.ok(sentText(messages, result)?.includes("a line of the output"), format);
  }
});
