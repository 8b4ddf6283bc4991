// @ts-check
// The laws of a context, over every transcript that the project ships and 20 grown ones of up to a million tokens. What
// a context should be is worked out here from the messages alone.
// Tries: src/context/, src/context/strategies/
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { MemoryStorage, countTokens, openStore } from "../../js/index.js";
import { LONG_SESSION, grow, transcripts } from "../../scripts/grow.mjs";

const WINDOWS = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000, 128_000, 200_000];
const GROWN = 20;

/**
 * @typedef {{ id: string, role?: string, content: string, rev?: number, partial?: boolean, attachments?: { data?: string, blob?: string, bytes?: number }[], assistant?: { toolCalls?: { id: string, name: string, arguments: string }[] }, tool?: { callId: string } }} Message
 */
/** @typedef {{ messages: Message[], costs: Map<Message, number>, steps: Message[][], tokens: number }} History */

/** @type {Map<string, number>} */
const counted = new Map();

/** @param {string} text */
async function count(text) {
  const known = counted.get(text);
  if (known !== undefined) return known;
  const tokens = await countTokens(text);
  counted.set(text, tokens);
  return tokens;
}

/** What is stated: content, each call's id, name and arguments, files, and 4 for the frame. @param {Message} message */
async function cost(message) {
  let sum = 4;
  const texts = [message.content, ...callsOf(message).flatMap((call) => [call.id, call.name, call.arguments])];
  for (const text of texts) sum += await count(text);
  for (const { data, blob, bytes = 0 } of message.attachments ?? [])
    sum += data === undefined ? byBytes(blob ? bytes : 0) : picture(Buffer.from(data, "base64"));
  return sum;
}

/**
 * What an image costs, by the rules that the providers publish.
 * @type {Record<string, (wide: number, high: number) => number>}
 */
const RULES = {
  anthropic(wide, high) {
    const by = Math.min(1, 1568 / Math.max(wide, high));
    return Math.min(1600, Math.ceil((Math.round(wide * by) * Math.round(high * by)) / 750));
  },
  openai(wide, high) {
    const first = Math.min(1, 2048 / Math.max(wide, high));
    const second = Math.min(1, 768 / (Math.min(wide, high) * first));
    const [across, down] = [wide, high].map((side) => Math.ceil(Math.round(side * first * second) / 512));
    return 85 + 170 * /** @type {number} */ (across) * /** @type {number} */ (down);
  },
  gemini(wide, high) {
    if (Math.max(wide, high) <= 384) return 258;
    const side = Math.min(768, Math.max(256, Math.floor((Math.min(wide, high) * 2) / 3)));
    return 258 * Math.ceil(wide / side) * Math.ceil(high / side);
  },
};

/** Of the session at hand: the dearest holds where nobody said which model it is. */
let rules = Object.values(RULES);

/** @param {Buffer} bytes */
function picture(bytes) {
  const isPng = bytes.length > 24 && bytes.readUInt32BE(0) === 0x8950_4e47;
  if (!isPng) return byBytes(bytes.length);
  return Math.max(...rules.map((rule) => rule(bytes.readUInt32BE(16), bytes.readUInt32BE(20))));
}

/** Of what says no size, and of what lies in a blob that is only named. @param {number} bytes */
function byBytes(bytes) {
  return Math.max(85, Math.ceil(bytes / 750));
}

/** @param {Message} message */
const callsOf = (message) => message.assistant?.toolCalls ?? [];

/** @param {Message[]} messages @returns {Promise<History>} */
async function history(messages) {
  const costs = new Map();
  for (const message of messages) costs.set(message, await cost(message));
  /** @type {Message[][]} */
  const steps = [];
  /** @type {Map<string, Message[]>} */
  const waiting = new Map();
  for (const message of messages) {
    if (message.role === "tool") {
      const call = /** @type {NonNullable<Message["tool"]>} */ (message.tool).callId;
      waiting.get(call)?.push(message);
      waiting.delete(call);
    } else if (message.role) {
      steps.push([message]);
      for (const { id } of callsOf(message)) waiting.set(id, /** @type {Message[]} */ (steps.at(-1)));
    }
  }
  return { messages, costs, steps, tokens: [...costs.values()].reduce((sum, one) => sum + one, 0) };
}

/** Every session of a transcript, imported. @param {Iterable<[string, Uint8Array]>} files */
async function* sessions(files) {
  for (const [name, bytes] of files) {
    const storage = new MemoryStorage();
    await storage.append("/transcript.jsonl", bytes);
    const store = await openStore({ home: "/home", project: "/", storage });
    const read = await store.import("/transcript.jsonl").catch((error) => {
      // Some of the files are of other agents, or hold no message.
      assert.ok(["unknown_format", "empty_file"].includes(error.code), `${name}: ${error}`);
      return { imported: [] };
    });
    for (const { id } of read.imported) {
      const session = await store.session(id);
      const messages = [];
      for await (const message of session.messages()) messages.push(message);
      yield { name: `${name} ${id}`, session, messages };
    }
  }
}

/** @param {History} all @param {any} context @param {string} where */
async function check(all, context, where) {
  /** @type {Message[]} */
  const messages = context.messages;
  let used = 0;
  for (const message of messages) used += await cost(message);
  assert.equal(context.tokensUsed, used, `${where}: what is used is what the messages cost`);
  assert.ok(used <= context.tokenBudget, `${where}: ${used} of ${context.tokenBudget} tokens`);
  assert.ok(
    messages.every(({ content }) => content.isWellFormed()),
    `${where}: valid Unicode`,
  );
  checkPairs(messages, where);
  const place = new Map(all.messages.map(({ id }, at) => [id, at]));
  const places = messages
    .filter(({ id, role }) => id && role !== "tool")
    .map(({ id }) => /** @type {number} */ (place.get(id)));
  assert.deepEqual(
    places,
    [...new Set(places)].sort((a, b) => a - b),
    `${where}: file order, and each message once`,
  );
  const newest = all.messages.findLast(({ role }) => role === "user");
  assert.ok(!newest || messages.some(({ id }) => id === newest.id), `${where}: the newest user message is there`);
  const systems = all.messages.filter(({ role }) => role === "system");
  assert.ok(
    systems.every(({ id }) => messages.some((message) => message.id === id)),
    `${where}: the system messages are there`,
  );
  const summary = messages.some(({ id, content }) => !id && content.startsWith("[EARLIER CONVERSATION]"));
  assert.equal(context.summarizedMessageCount, summary ? all.messages.length - context.includedMessageCount : 0, where);
  assert.ok(!summary || context.summarizedMessageCount > 0, `${where}: a summary of nothing`);
}

/**
 * Each call is followed by its results, and no result stands elsewhere.
 * @param {Message[]} messages
 * @param {string} where
 */
function checkPairs(messages, where) {
  /** @type {Set<string>} */
  let open = new Set();
  for (const message of messages) {
    if (message.role === "tool") {
      assert.ok(open.delete(message.tool?.callId ?? ""), `${where}: a result without its call`);
    } else {
      assert.equal(open.size, 0, `${where}: a call without its result`);
      open = new Set(callsOf(message).map(({ id }) => id));
    }
  }
  assert.equal(open.size, 0, `${where}: a call without its result`);
}

/**
 * Where something was left out of a context without a frame, 85 percent of the budget is used, or the next older step
 * would not have fitted.
 * @param {History} all @param {any} context @param {string} where
 */
async function checkUse({ steps, costs }, context, where) {
  const kept = new Set(context.messages.map((/** @type {Message} */ { id }) => id));
  const next = steps.findLast(([first]) => !kept.has(/** @type {Message} */ (first).id));
  if (!next) return;
  const [first, ...results] = /** @type {[Message, ...Message[]]} */ (next);
  const lacking =
    (callsOf(first).length - results.length) *
    (4 + (await count("[No result was recorded: the call was interrupted.]")));
  const whole = lacking + next.reduce((sum, message) => sum + /** @type {number} */ (costs.get(message)), 0);
  // Shortened, as the report says, it would not have fitted either.
  const least = Math.min(whole, lacking + stepCost(context, next));
  const { tokensUsed, tokenBudget } = context;
  assert.ok(
    tokensUsed >= tokenBudget * 0.85 || tokensUsed + least > tokenBudget,
    `${where}: ${tokensUsed} of ${tokenBudget} tokens, and ${least} would have fitted`,
  );
}

/** What the report says that a step would have cost. @param {any} context @param {Message[]} step */
function stepCost(context, step) {
  const ids = new Set(step.map(({ id }) => id));
  const of = context.report.messages.filter((/** @type {{ id: string }} */ { id }) => ids.has(id));
  assert.equal(of.length, step.length, "the next older step was read");
  return of.reduce((/** @type {number} */ sum, /** @type {{ tokens: number }} */ { tokens }) => sum + tokens, 0);
}

/** @param {Iterable<[string, Uint8Array]>} files */
async function checkAll(files) {
  const sum = { sessions: 0, builds: 0, refused: 0, most: 0, strategies: /** @type {Record<string, number>} */ ({}) };
  for await (const { name, session, messages } of sessions(files)) {
    const isClaude = /claude/.test(session.metadata.provider?.model ?? "");
    rules = Object.entries(RULES).flatMap(([name, rule]) => (!isClaude || name === "anthropic" ? rule : []));
    const all = await history(messages);
    sum.sessions += 1;
    sum.most = Math.max(sum.most, all.tokens);
    for (const window of WINDOWS) {
      const where = `${name}, window ${window}`;
      for (const frame of [false, true]) {
        const context = await session.context({ window, encoding: "o200k_base", frame }).catch((error) => {
          assert.equal(error.code, "budget_too_small", `${where}: ${error}`);
          return null;
        });
        if (context) {
          sum.builds += 1;
          sum.strategies[context.strategy] = (sum.strategies[context.strategy] ?? 0) + 1;
          await check(all, context, where);
          if (!frame) await checkUse(all, context, where);
        } else {
          sum.refused += 1;
          checkRefusal(all, window, where);
        }
      }
    }
    counted.clear();
  }
  return sum;
}

/**
 * Only what cannot fit is refused: system messages, or a user message cut to its last 200 bytes.
 * @param {History} all
 * @param {number} window
 * @param {string} where
 */
function checkRefusal({ messages, costs }, window, where) {
  const systems = messages
    .filter(({ role }) => role === "system")
    .reduce((sum, message) => sum + /** @type {number} */ (costs.get(message)), 0);
  assert.ok(systems + 100 > window * 0.75, `${where}: refused, though ${systems} tokens are all that has to be there`);
}

/** @returns {Generator<[string, Uint8Array]>} */
function* shippedTranscripts() {
  for (const path of transcripts()) yield [path, readFileSync(path)];
}

/** @returns {Generator<[string, Uint8Array]>} */
function* grownTranscripts() {
  for (let seed = 1; seed <= GROWN; seed += 1) {
    // From about a thousand tokens to a million, in messages of many sizes.
    const bytes = 4_000 * 1_000 ** ((seed - 1) / (GROWN - 1));
    const bytesEach = 50 + ((seed * 577) % 1_400);
    const messages = Math.ceil(bytes / (bytesEach * 1.9));
    yield [
      `grown ${seed}`,
      new TextEncoder().encode(grow({ seed, messages, longestTurn: Math.floor(messages * 0.4), bytesEach })),
    ];
  }
}

test("a context of each transcript that is shipped keeps the laws", async (t) => {
  const sum = await checkAll(shippedTranscripts());
  t.diagnostic(JSON.stringify(sum));
  assert.ok(sum.sessions > 40, `${sum.sessions} sessions`);
});

test("a context of each grown transcript keeps the laws", async (t) => {
  const sum = await checkAll(grownTranscripts());
  t.diagnostic(JSON.stringify(sum));
  assert.equal(sum.sessions, GROWN);
  assert.ok(sum.most > 900_000 && sum.most < 1_100_000, `${sum.most} tokens`);
});

test("the demo's long transcript has 1,000 messages, about 100,000 tokens and a turn of 400", async () => {
  for await (const { messages } of sessions([["long", new TextEncoder().encode(grow(LONG_SESSION))]])) {
    const { tokens } = await history(messages);
    assert.equal(messages.length, 1_000);
    assert.ok(Math.abs(tokens - 100_000) < 5_000, `${tokens} tokens`);
    const prompts = messages.flatMap(({ role }, at) => (role === "user" ? [at] : []));
    const turns = prompts.map((at, n) => (prompts[n + 1] ?? messages.length) - at);
    assert.equal(Math.max(...turns), 400);
  }
});
