// @ts-check
// ContextBuilder, by the text of its design: the budget, the builder, strategies of its interface.
// Tries: js/compat/context.js, js/compat/context-manager.js, js/compat/strategies.js
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import {
  ContextBuilder,
  SessionManager,
  calculateBudget,
  extractSessionState,
  fullHistoryStrategy,
  generateSummary,
  minimalStateStrategy,
  prunedToolsStrategy,
  recentPlusSummaryStrategy,
} from "../../js/compat/index.js";

/** @typedef {import("../../js/compat/index.js").Session} Session */
/** @typedef {import("../../js/compat/index.js").ContextStrategy} ContextStrategy */

const provider = { type: "ollama", model: "qwen3", contextWindow: 8_192 };
// As a chat program has it: letters by four, and six for each message.
const tokenizer = {
  count: (/** @type {string} */ text) => Math.ceil(text.length / 4),
  countMessages: (/** @type {{ content?: string | null, toolCalls?: object[] }[]} */ messages) =>
    messages.reduce(
      (sum, { content, toolCalls = [] }) =>
        sum + 6 + Math.ceil(((content ?? "").length + JSON.stringify(toolCalls).length) / 4),
      0,
    ),
};

/** @param {number} turns @param {(session: Session) => Promise<void>} work */
async function inSession(turns, work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-builder-")));
  const manager = new SessionManager({ home: join(folder, "home") });
  try {
    const session = await manager.createSession(folder, provider);
    for (let turn = 0; turn < turns; turn += 1) {
      const call = { id: `c${turn}`, name: "read_file", arguments: { path: `src/${turn}.js` } };
      await session.appendMessage({ role: "user", content: `Read file ${turn}. ${"It matters a lot. ".repeat(10)}` });
      await session.appendMessage({ role: "assistant", content: "", toolCalls: [call] });
      await session.appendToolExecution(call, {
        content: `line of ${turn}\n`.repeat(60),
        success: true,
        durationMs: 1,
      });
      await session.appendMessage({ role: "assistant", content: `File ${turn} is fine.` });
    }
    await work(session);
  } finally {
    await manager.close();
    rmSync(folder, { recursive: true });
  }
}

test("a budget is the window less system, tools and a quarter for the answer", () => {
  const budget = calculateBudget(1_001, "s".repeat(40), "t".repeat(80), tokenizer);
  assert.deepEqual(budget, {
    modelContextWindow: 1_001,
    systemPromptTokens: 10,
    toolDefinitionTokens: 20,
    reserveForResponse: 250,
    availableTokens: 721,
    currentConversationTokens: 0,
    utilizationPercent: 0,
  });
  assert.equal(calculateBudget(100, "s".repeat(4000), "", tokenizer).availableTokens, 0);
  assert.throws(() => calculateBudget(NaN, "", "", tokenizer), { code: "invalid_request" });
  assert.throws(() => calculateBudget(100, "", "", { count: () => NaN }), {
    code: "invalid_request",
    message: /from the tokenizer/,
  });
});

test("what fits is the whole history, in the shape of ContextBuildResult", () =>
  inSession(3, async (session) => {
    const budget = calculateBudget(8_192, "", "", tokenizer);
    const { messages, ...result } = await new ContextBuilder(tokenizer).buildContext(session, budget);
    const stored = await session.getMessages();
    assert.deepEqual(
      messages.map(({ role, content }) => ({ role, content })),
      stored.map(({ role, content }) => ({ role, content })),
    );
    assert.deepEqual(messages[1]?.toolCalls, [{ id: "c0", name: "read_file", arguments: { path: "src/0.js" } }]);
    assert.deepEqual([messages[2]?.toolCallId, messages[2]?.toolName], ["c0", "read_file"]);
    const used = tokenizer.countMessages(messages);
    assert.deepEqual(result, {
      strategy: "full-history",
      tokensUsed: used,
      tokenBudget: 6_144,
      originalMessageCount: 12,
      includedMessageCount: 12,
      summarizedMessageCount: 0,
    });
  }));

test("what does not fit is built to the tokenizer's own count of all messages", () =>
  inSession(40, async (session) => {
    for (const window of [1_000, 2_000, 4_000, 8_192]) {
      const budget = calculateBudget(window, "You are helpful.", "[]", tokenizer);
      const { messages, tokensUsed, strategy } = await new ContextBuilder(tokenizer).buildContext(session, budget);
      assert.equal(tokensUsed, tokenizer.countMessages(messages));
      assert.ok(tokensUsed <= budget.availableTokens, `${tokensUsed} of ${budget.availableTokens} by ${strategy}`);
      assert.equal(messages.findLast(({ role }) => role === "user")?.content?.slice(0, 13), "Read file 39.");
    }
  }));

test("a budget says afterwards how much of it the whole conversation would take", () =>
  inSession(40, async (session) => {
    const budget = calculateBudget(4_000, "", "", tokenizer);
    await new ContextBuilder(tokenizer).buildContext(session, budget);
    const total = (await session.getMessages()).reduce((sum, { tokenCount }) => sum + tokenCount, 0);
    assert.deepEqual([budget.currentConversationTokens, budget.utilizationPercent], [total, Math.round(total / 30)]);
    assert.ok(budget.utilizationPercent > 100);
  }));

test("a budget that nothing fits is refused", () =>
  inSession(1, async (session) => {
    const builder = new ContextBuilder({ count: () => 1, countMessages: () => 1_000 });
    await assert.rejects(builder.buildContext(session, calculateBudget(100, "", "", tokenizer)), {
      code: "budget_too_small",
    });
  }));

test("a strategy of the document's interface is tried by its priority", () =>
  inSession(40, async (session) => {
    const builder = new ContextBuilder(tokenizer);
    /** @type {ContextStrategy} */
    const strategy = {
      name: "last-two",
      priority: 2,
      minTokens: 100,
      async build(given, budgetTokens, counting) {
        assert.equal(given, session);
        const all = await given.getMessages();
        const messages = [...all.filter(({ role }) => role === "user").slice(-1), ...all.slice(-1)].map(
          ({ role, content }) => ({ role, content }),
        );
        assert.ok(Number(await counting.countMessages?.(messages)) < budgetTokens);
        return { messages, includedCount: 2, summarizedCount: all.length - 2 };
      },
    };
    builder.registerStrategy({ ...strategy, name: "never", priority: 0, minTokens: 1_000_000 });
    builder.registerStrategy(strategy);
    const { messages, ...result } = await builder.buildContext(session, calculateBudget(4_000, "", "", tokenizer));
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["user", "assistant"],
    );
    assert.deepEqual(
      [result.strategy, result.includedMessageCount, result.summarizedMessageCount],
      ["last-two", 2, 158],
    );
    for (const wrong of [
      { ...strategy, name: "fallback" },
      { ...strategy, name: "" },
      { ...strategy, name: "x", priority: 1.5 },
    ]) {
      assert.throws(() => builder.registerStrategy(wrong), { code: "invalid_request" });
    }
  }));

test("a strategy that is a class, and a tokenizer of fractions, serve", () =>
  inSession(40, async (session) => {
    class Last {
      name = "last";
      priority = 0;
      minTokens = 0;
      count = 1;
      /** @param {Session} given */
      async build(given) {
        const users = (await given.getMessages()).filter(({ role }) => role === "user");
        return {
          messages: users.slice(-this.count).map(({ role, content }) => ({ role, content })),
          includedCount: this.count,
          summarizedCount: 0,
        };
      }
    }
    const builder = new ContextBuilder({ count: (text) => text.length / 3.7 });
    builder.registerStrategy(new Last());
    const { strategy } = await builder.buildContext(
      session,
      calculateBudget(4_000, "Be brief.", "[]", { count: (text) => text.length / 3.7 }),
    );
    assert.equal(strategy, "last");
    await assert.rejects(builder.buildContext(session, /** @type {any} */ ({})), { code: "invalid_request" });
    const nobody = new ContextBuilder({ count: tokenizer.count, countMessages: () => NaN });
    await assert.rejects(nobody.buildContext(session, calculateBudget(4_000, "", "", tokenizer)), {
      code: "invalid_request",
    });
  }));

test("getSummaryForRange tells of just those messages", () =>
  inSession(10, async (session) => {
    const all = await session.getMessages();
    const summary = await session.getSummaryForRange(String(all[0]?.id), String(all[7]?.id), 200);
    assert.ok(summary.includes("Read file 0.") && tokenizer.count(summary) <= 220);
    assert.ok(!summary.includes("File 7 is fine."));
  }));

const FOUR = [fullHistoryStrategy, prunedToolsStrategy, recentPlusSummaryStrategy, minimalStateStrategy];

test("each of the four builds by itself, within the budget but for the whole history", () =>
  inSession(40, async (session) => {
    const all = await session.getMessages();
    for (const [strategy, budget] of /** @type {const} */ ([
      [fullHistoryStrategy, 100],
      [prunedToolsStrategy, 6_000],
      [recentPlusSummaryStrategy, 3_000],
      [minimalStateStrategy, 500],
    ])) {
      const { messages, includedCount, summarizedCount } = await strategy.build(session, budget, tokenizer);
      const isWhole = strategy.priority < 3;
      assert.equal(includedCount, isWhole ? all.length : messages.length - 1, strategy.name);
      assert.equal(includedCount + summarizedCount, all.length, strategy.name);
      assert.ok(
        messages.some(({ content }) => content === all.findLast(({ role }) => role === "user")?.content),
        strategy.name,
      );
      if (strategy !== fullHistoryStrategy)
        assert.ok(
          messages.reduce((sum, { content }) => sum + tokenizer.count(content ?? ""), 0) <= budget,
          strategy.name,
        );
    }
    await assert.rejects(Promise.resolve(recentPlusSummaryStrategy.build(session, 100, tokenizer)), {
      code: "budget_too_small",
    });
  }));

/**
 * The design's own builder, as compat-document.ts has it word for word.
 * @param {Session} session
 * @param {number} window
 * @param {import("../../js/compat/index.js").Tokenizer} counter
 */
async function byTheDocument(session, window, counter) {
  const { availableTokens } = calculateBudget(window, "", "", counter);
  const all = await session.getMessages();
  if ((await session.getTotalTokens()) <= availableTokens)
    return { strategy: "full-history", messages: all, tokensUsed: 0, availableTokens };
  for (const strategy of FOUR) {
    if (availableTokens < strategy.minTokens) continue;
    const { messages } = await strategy.build(session, availableTokens, counter);
    const tokensUsed = counter.countMessages(messages);
    if (tokensUsed <= availableTokens) return { strategy: strategy.name, messages, tokensUsed, availableTokens };
  }
  return { strategy: "fallback", messages: [], tokensUsed: 0, availableTokens };
}

test("the four run in the document's own builder, in every window that it tries them in", () =>
  inSession(40, async (session) => {
    /** @type {string[]} */
    const served = [];
    for (const window of [600, 1_000, 2_100, 3_000, 4_096, 8_192, 16_384, 65_536]) {
      const { strategy, messages, tokensUsed, availableTokens } = await byTheDocument(session, window, tokenizer);
      assert.ok(tokensUsed <= availableTokens, `${window}`);
      if (strategy !== "fallback") assert.ok(messages.length > 0, `${window}`);
      served.push(strategy);
    }
    assert.equal(served.at(-1), "full-history");
    assert.notEqual(served[4], "fallback");
  }));

test("a builder tries those that it is given, one in the place of its name, and a fallback whatever else there is", () =>
  inSession(40, async (session) => {
    /** @param {number} window @param {ContextBuilder} builder */
    const by = async (window, builder) =>
      (await builder.buildContext(session, calculateBudget(window, "", "", tokenizer))).strategy;
    const windows = [20_000, 8_000, 4_000, 1_000];
    // The document's own builder registers the four; that changes nothing.
    const registered = new ContextBuilder(tokenizer);
    for (const strategy of FOUR) registered.registerStrategy(strategy);
    for (const window of windows)
      assert.equal(await by(window, registered), await by(window, new ContextBuilder(tokenizer)), `${window}`);
    assert.equal(
      await by(20_000, new ContextBuilder(tokenizer, { strategies: [minimalStateStrategy] })),
      "minimal-state",
    );
    assert.equal(await by(1_000, new ContextBuilder(tokenizer, { strategies: [fullHistoryStrategy] })), "fallback");
    const mine = new ContextBuilder(tokenizer);
    let asked = 0;
    mine.registerStrategy({
      ...fullHistoryStrategy,
      build: async (given) => {
        asked += 1;
        const last = (await given.getMessages()).findLast(({ role }) => role === "user");
        return { messages: [{ role: "user", content: last?.content }], includedCount: 1, summarizedCount: 0 };
      },
    });
    assert.deepEqual([await by(20_000, mine), asked], ["full-history", 1]);
  }));

test("what a conversation has come to, and a summary of it by the caller's model", () =>
  inSession(2, async (session) => {
    assert.deepEqual(Object.keys(await extractSessionState(session)), [
      "projectPath",
      "originalTask",
      "modifiedFiles",
      "currentStatus",
      "blockers",
      "keyDecisions",
    ]);
    assert.match((await extractSessionState(session)).originalTask, /^Read file 0\./);
    /** @type {{ messages: { role: string, content: string }[], maxTokens: number }[]} */
    const requests = [];
    const model = {
      complete: async (/** @type {any} */ request) => ({ content: `${requests.push(request)} summary` }),
    };
    assert.equal(await generateSummary(await session.getMessages(), 200, model), "1 summary");
    const [system, user] = requests[0]?.messages ?? [];
    assert.equal(requests[0]?.maxTokens, 300);
    assert.match(`${system?.content}`, /^You are summarizing a coding conversation for context continuity\./);
    assert.match(
      `${user?.content}`,
      /^Target length: approximately 200 tokens\.\n\nCONVERSATION TO SUMMARIZE:\n\nUSER: Read file 0\./,
    );
    assert.match(`${user?.content}`, /\n\nTOOL: \[Tool read_file: line of 1/);
    await assert.rejects(generateSummary(await session.getMessages(), 0, model), { code: "invalid_request" });
    await assert.rejects(generateSummary([], 200, { complete: async () => /** @type {any} */ ({}) }), {
      code: "invalid_request",
    });
  }));

test("the four have the names, the order and the least budgets of their design", () => {
  const expected = [
    ["full-history", 1, 0],
    ["pruned-tools", 2, 2000],
    ["recent-plus-summary", 3, 1500],
    ["minimal-state", 4, 400],
  ];
  assert.deepEqual(
    FOUR.map(({ name, priority, minTokens }) => [name, priority, minTokens]),
    expected,
  );
});

test("a model that sums up is told what to keep and what to leave out", async () => {
  const told = { system: "", user: "" };
  const complete = async (/** @type {any} */ { messages }) => {
    for (const { role, content } of messages) told[/** @type {keyof typeof told} */ (role)] = content;
    return { content: "" };
  };
  const result = /** @type {any} */ ({
    role: "tool",
    content: "0123456789".repeat(30),
    toolCallId: "c",
    toolName: "Read",
  });
  await generateSummary([result], 200, { complete });
  assert.ok(told.user.endsWith(`TOOL: [Tool Read: ${"0123456789".repeat(20)}...]`), told.user);
  const [, keep = "", leave = "", form = ""] =
    /\nPRESERVE in your summary:\n([^]*)\n\nDO NOT include:\n([^]*)\n\n(.*)$/.exec(told.system) ?? [];
  for (const wanted of [
    "original task",
    "decisions and their rationale",
    "created, modified, or deleted",
    "what's done, what's pending",
    "errors encountered and how they were resolved",
    "constraints or preferences",
  ])
    assert.ok(keep.includes(wanted), wanted);
  for (const unwanted of ["Greetings", "Full file contents", "Detailed tool outputs", "Redundant"])
    assert.ok(leave.includes(unwanted), unwanted);
  assert.equal(form, "Write as a concise narrative paragraph, not bullet points.");
});
