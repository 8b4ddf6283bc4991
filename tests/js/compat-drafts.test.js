// @ts-check
// leftoff/compat: whatever value stands at any place of a message, a call or a result, it is refused by name, or given
// back.
// `LEFTOFF_SCALE=1` tries 20,000 messages, `LEFTOFF_SEED` the same ones again.
// Tries: js/compat/shapes.js, js/compat/json-text.js, js/wasm/json.js
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { SessionManager } from "../../js/compat/index.js";
import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { image, odd } from "./draft-values.js";

/** @typedef {Record<string, any>} Value */
/** @typedef {import("../../js/compat/index.js").Session} Session */

const MESSAGES = Math.max(1, Math.round(20_000 * Number(process.env.LEFTOFF_SCALE ?? 0.02)));
const SEED = Number(process.env.LEFTOFF_SEED ?? Date.now() % 2 ** 31);
const CODES = ["invalid_request", "invalid_json", "empty_message", "line_too_long"];
const provider = { type: "ollama", model: "m", contextWindow: 4096 };

/** A store in memory, which others open, too. */
class SharedStorage extends MemoryStorage {
  async close() {}
}

/** @param {(session: Session, storage: SharedStorage) => Promise<void>} work */
async function inMemory(work) {
  const storage = new SharedStorage();
  const manager = new SessionManager({ home: "/home", storage });
  await work(await manager.createSession("/", provider), storage);
  await manager.close();
}

/**
 * What a call is refused with; nothing is stored by it.
 * @param {Session} session
 * @param {() => Promise<unknown>} call
 */
async function refusal(session, call) {
  const count = async () => [(await session.getMessages()).length, (await session.getToolExecutions()).length];
  const before = await count();
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof LeftoffError && CODES.includes(error.code), String(error));
    assert.deepEqual(await count(), before);
    return error.message;
  }
  return "nothing";
}

const call = { id: "c", type: "function", function: { name: "ls", arguments: '{"a":1}' } };
/** @type {Value[]} */
const PLAIN = [
  { role: "user", content: "a question", name: "Ada" },
  {
    role: "assistant",
    content: null,
    refusal: null,
    annotations: [{ type: "url_citation" }],
    audio: null,
    function_call: null,
    tool_calls: [call],
  },
  {
    role: "assistant",
    content: "look",
    toolCalls: [{ id: "c", name: "ls", arguments: { a: 1 } }],
    id: "given",
    timestamp: "2025-11-22T10:00:00.000Z",
  },
  { role: "tool", content: "a b", tool_call_id: "c", name: "ls" },
  { role: "tool", content: "a b", toolCallId: "c", toolName: "ls", mood: { any: [1] } },
];
const KEYS = [
  ...new Set(PLAIN.flatMap(Object.keys)),
  "mood",
  "constructor",
  "__proto__",
  "participant",
  "assistant",
  "tokens",
  "Content",
  "toolcalls",
  "tokenCount",
  "",
];

/** It by the names of StoredMessage, as whoever reads gets it. @param {Value} message */
function asStoredMessage(message) {
  const {
    toolCalls,
    tool_calls = null,
    tokenCount,
    cumulativeTokens,
    function_call,
    parentId,
    name = null,
    tool_call_id,
    toolCallId,
    toolName,
    content = "",
    ...rest
  } = image(message);
  const [calls, isResult] = [tool_calls ?? toolCalls, rest.role === "tool"];
  return {
    ...rest,
    content: content ?? "",
    ...(calls?.length && { toolCalls: calls.map(asStoredCall) }),
    ...(isResult && { toolCallId: tool_call_id ?? toolCallId ?? "", toolName: name ?? toolName ?? "" }),
    ...(!isResult && name !== null && { name }),
    ...((parentId ?? null) !== null && { parentId }),
  };
}

/** @param {Value} call */
function asStoredCall({ id = "", name, arguments: args, function: inner }) {
  const words = args ?? inner?.arguments ?? {};
  return {
    id,
    name: name ?? inner?.name ?? "",
    arguments:
      typeof words === "string"
        ? pieces(words)
        : Array.isArray(words) || typeof words !== "object"
          ? { value: words }
          : words,
  };
}

/** @param {string} words @returns {unknown} */
function pieces(words) {
  try {
    const value = JSON.parse(words || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : { value };
  } catch {
    return { text: words };
  }
}

/** Zeros are equal, whatever their sign. @param {unknown} value */
const signless = (value) => JSON.parse(JSON.stringify(value));

test(`what was acknowledged is given back whole, ${MESSAGES} messages, seed ${SEED}`, async () => {
  let [kept, refused] = [0, 0];
  const changed = fc.tuple(
    fc.constantFrom(...PLAIN),
    fc.constantFrom(...KEYS),
    odd,
    fc.constantFrom("message", "call", "function"),
  );
  const law = fc.asyncProperty(changed, async ([plain, key, value, where]) => {
    const message = structuredClone(plain);
    const one = (message.tool_calls ?? message.toolCalls)?.[0];
    const at = (where === "function" && one?.function) || (where !== "message" && one) || message;
    const name = at === message ? key : (Object.keys(at)[key.length % Object.keys(at).length] ?? key);
    Object.defineProperty(at, name, { value, enumerable: true, configurable: true, writable: true });
    await inMemory(async (session, storage) => {
      const problem = await refusal(session, () => session.appendMessage(/** @type {any} */ (message)));
      if (problem !== "nothing") {
        refused += 1;
        return assert.match(problem, /expected .*, but found|expected another key|nested too deep|needs a content/s);
      }
      kept += 1;
      const wanted = signless(asStoredMessage(message));
      const [given = assert.fail()] = await session.getMessages();
      const again = await (await new SessionManager({ home: "/home", storage }).loadSession(session.id)).getMessages();
      assert.deepEqual(again, [given]);
      const { id, parentId, timestamp, tokenCount, cumulativeTokens, ...rest } = given;
      const asked = {
        ...rest,
        ...("id" in wanted && { id }),
        ...("timestamp" in wanted && { timestamp }),
        ...("parentId" in wanted && { parentId }),
      };
      assert.deepEqual(signless(asked), wanted);
    });
  });
  await fc.assert(law, { seed: SEED, numRuns: MESSAGES, includeErrorInReport: true });
  assert.ok(kept > 0 && refused > 0, `${kept} kept, ${refused} refused`);
});

test("what an answer is given back with at once is what is read later", () =>
  inMemory(async (session) => {
    const long = { text: "long ".repeat(60_000) };
    for (const message of [
      ...PLAIN,
      { role: "assistant", content: long.text, toolCalls: [{ id: "l", name: "write", arguments: long }] },
    ]) {
      const answer = await session.appendMessage(/** @type {any} */ (message));
      assert.deepEqual((await session.getMessages()).at(-1), answer);
    }
  }));

test("a key by which a known one was meant is refused, and so is what would not be given back", () =>
  inMemory(async (session) => {
    const wrong = /** @type {[any, RegExp][]} */ ([
      [{ Content: "y" }, /another key than "Content"/],
      [{ ToolCalls: [call] }, /another key than "ToolCalls"/],
      [{ role: "user", tool_call_id: "c" }, /another key than "tool_call_id"/],
      [{ role: "user", toolName: "c" }, /another key than "toolName"/],
      [{ role: "user", content: null }, /a string for "content", but found null/],
      [{ content: [{ type: "text", text: "y" }] }, /a string for "content", but found an array/],
      [{ tool_calls: {} }, /an array for "toolCalls"/],
      [{ tool_calls: [call], toolCalls: [] }, /found both, which differ/],
      [{ tool_calls: [7] }, /toolCalls/],
      [{ tool_calls: [{ ...call, index: 0 }] }, /"assistant\.toolCalls\[0\]\.index"/],
      [
        { tool_calls: [{ id: "c", type: "custom", custom: { name: "x", input: "y" } }] },
        /"assistant\.toolCalls\[0\]\.(type|custom)"/,
      ],
      [{ tool_calls: [{ ...call, function: { ...call.function, strict: true } }] }, /toolCalls\[0\]\.strict"/],
      [{ tool_calls: [{ ...call, name: "rm" }] }, /toolCalls\[0\]\.function"/],
      [{ function_call: { name: "ls", arguments: "" } }, /"function_call"/],
      [{ assistant: { model: "m" } }, /found "assistant"/],
      [{ mood: new Map() }, /for "mood", but found an instance of Map/],
      [
        {
          get mood() {
            throw new Error("no");
          },
        },
        /for "mood", but found one that cannot be read/,
      ],
    ]);
    for (const [keys, message] of wrong)
      assert.match(
        await refusal(session, () =>
          session.appendMessage(
            Object.defineProperties({ role: "assistant", content: "x" }, Object.getOwnPropertyDescriptors(keys)),
          ),
        ),
        message,
      );
    for (const none of [null, 7, "x", []])
      assert.match(
        await refusal(session, () => session.appendMessage(/** @type {any} */ (none))),
        /expected a message, an object, but found/,
      );
  }));

test("what a call or a result has no place for is refused, and a failure is no success", () =>
  inMemory(async (session) => {
    await session.appendMessage({ role: "assistant", content: "" });
    const ls = { id: "c", name: "ls", arguments: {} };
    const wrong = /** @type {[any, any, RegExp][]} */ ([
      [{ ...ls, args: {} }, "x", /"call\.args"/],
      [ls, { content: "x", isError: true }, /"result\.isError"/],
      [ls, { stdout: "x" }, /"result\.stdout"/],
      [ls, { content: "x", tool_call_id: "another" }, /"result\.tool_call_id"/],
      [ls, { content: "x", durationMs: NaN }, /for "durationMs", but found NaN/],
      [ls, { content: "x", success: null }, /"result\.success"/],
      [ls, new Map(), /an instance of Map/],
    ]);
    for (const [call, result, message] of wrong)
      assert.match(await refusal(session, () => session.appendToolExecution(call, result)), message);
    const { result } = await session.appendToolExecution(ls, /** @type {any} */ (new TypeError("no such tool")));
    assert.deepEqual(result, { success: false, content: "no such tool", error: "no such tool" });
  }));

test("arguments with a number that no double holds are kept as the model wrote them", () =>
  inMemory(async (session, storage) => {
    const words = '{"id":12345678901234567891}';
    await session.appendMessage({
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c", function: { name: "f", arguments: words } }],
    });
    const { args } = await session.appendToolExecution({ id: "c", function: { name: "f", arguments: words } }, "x");
    const [message] = await session.getMessages();
    assert.deepEqual([args, message?.toolCalls?.[0]?.arguments], [{ text: words }, { text: words }]);
    const own = await (await openStore({ home: "/home", project: "/", storage })).session(session.id);
    for await (const { assistant } of own.messages())
      if (assistant?.toolCalls) assert.equal(assistant.toolCalls[0]?.arguments, words);
  }));
