// @ts-check
// What was acknowledged is returned by every reader: any value at any place of a draft is refused by name, or read
// back.
// `LEFTOFF_SCALE=1` tries 100,000 drafts, `LEFTOFF_SEED` the same ones again.
// Tries: src/record/draft.rs, src/record/tool_execution/, js/wasm/json.js
import assert from "node:assert/strict";
import { test } from "node:test";

import fc from "fast-check";

import { LeftoffError, MemoryStorage, openStore, readTranscript } from "../../js/index.js";
import { image, odd } from "./draft-values.js";

/** @typedef {Record<string, any>} Value */
/** @typedef {import("../../js/session/session.js").Session} Session */

const DRAFTS = Math.max(1, Math.round(100_000 * Number(process.env.LEFTOFF_SCALE ?? 0.02)));
const SEED = Number(process.env.LEFTOFF_SEED ?? Date.now() % 2 ** 31);
const GROUP = 20;
const CODES = ["invalid_request", "empty_message", "unknown_parent", "invalid_json", "line_too_long"];

/** A store in memory, which others open, too. */
class SharedStorage extends MemoryStorage {
  constructor() {
    super();
    shared = this;
  }

  async close() {}
}

/** The one of the test that runs. @type {SharedStorage} */
let shared;

/** @param {Session} session */
const logSize = async ({ path }) => (await shared.stat(`${path}/messages.jsonl`))?.size ?? 0;

/** What each can be, where all is as it should be. @type {Value[]} */
const PLAIN = [
  { role: "user", content: "a question" },
  { role: "system", content: "be brief", id: "given", timestamp: "2025-11-22T10:00:00.000Z" },
  {
    role: "assistant",
    content: "look",
    partial: true,
    assistant: {
      model: "m",
      finishReason: "stop",
      durationMs: 5,
      usage: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4, reasoning: 5, other: 6 },
      toolCalls: [{ id: "c", name: "ls", arguments: "{}" }],
      reasoning: [{ text: "hm", signature: "s", data: "d" }],
      order: [{ reasoning: 0 }, { text: [0, 4] }, { call: 0 }],
    },
  },
  { role: "tool", content: "a b", tool: { callId: "c", name: "ls", isError: true, host: "h" } },
  {
    role: "user",
    content: "see",
    rev: 1,
    attachments: [{ mime: "image/png", name: "a.png", path: "/a.png", data: "AAAA" }],
    source: { agent: "other", id: "7", isMeta: true },
    mood: { any: [1, "x"] },
  },
];

/** The ways to all places of a value, itself not counted. @param {any} value @returns {(string | number)[][]} */
function placesOf(value) {
  if (typeof value !== "object" || value === null) return [];
  const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return keys.flatMap((key) => [[key], ...placesOf(value[key]).map((way) => [key, ...way])]);
}

const KEYS = [...new Set(PLAIN.flatMap(placesOf).map((way) => String(way.at(-1))))];
const UNKNOWN = [
  "mood",
  "x",
  "toolCalls",
  "__proto__",
  "toJSON",
  "constructor",
  "",
  "v",
  "crc",
  "seq",
  "tokens",
  "\ud83d",
];

/**
 * A draft in which something stands where it should not, or is another thing than it should be.
 * @type {fc.Arbitrary<Value>}
 */
const draft = fc
  .record({
    plain: fc.constantFrom(...PLAIN),
    changes: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom(...KEYS, ...UNKNOWN), odd), { maxLength: 2 }),
  })
  .map(({ plain, changes }) => {
    const made = structuredClone(plain);
    const ways = placesOf(plain);
    const chosen = changes.map(
      ([which, ...change]) => /** @type {const} */ ([ways[which % ways.length] ?? [], ...change]),
    );
    // What is within another change first: it cannot be looked into after.
    for (const [way, isNew, key, value] of chosen.sort(([one], [other]) => other.length - one.length)) {
      const parent = way.slice(0, -1).reduce((at, step) => at?.[step], made);
      const name = isNew % 3 === 0 && !Array.isArray(parent) ? key : way.at(-1);
      Object.defineProperty(parent, /** @type {any} */ (name), {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return made;
  });

/**
 * What a reader has to give of a draft: what leftoff makes itself is not asked for, and what is said by leaving it out
 * need not be said.
 * @param {Value} message
 */
function expectedMessage({ v, crc, seq, tokens, ...message }) {
  const { assistant, tool, content = "", rev, partial, branch, attachments, ...rest } = image(message);
  const some = (/** @type {any[] | undefined} */ list) => (list?.length ? list : undefined);
  const answer = assistant && {
    ...assistant,
    toolCalls: some(assistant.toolCalls)?.map(wholeCall),
    reasoning: some(assistant.reasoning)?.map(wholeReasoning),
    order: some(assistant.order),
  };
  const about = tool && { callId: "", name: "", ...tool, isError: tool.isError || undefined };
  const files = some(attachments)?.map((/** @type {Value} */ file) => ({ mime: "", ...file }));
  return image({
    ...rest,
    source: rest.source && { agent: "", id: "", ...rest.source },
    content,
    assistant: answer,
    tool: about,
    attachments: files,
    rev: rev || undefined,
    partial: partial || undefined,
    branch: branch || undefined,
  });
}

/** @param {Value} call */
const wholeCall = (call) => ({ id: "", name: "", arguments: "", ...call });
/** @param {Value} one */
const wholeReasoning = (one) => ({ text: "", ...one });

/** What a reader gives, as far as the draft says it. @param {Value} given @param {Value} asked */
function read(given, asked) {
  const { id, timestamp, parentId, ...rest } = expectedMessage(given);
  return {
    ...rest,
    ...("id" in asked && { id }),
    ...("timestamp" in asked && { timestamp }),
    ...("parentId" in asked && { parentId }),
  };
}

/** Zeros are equal, whatever their sign. @param {unknown} value */
const signless = (value) => JSON.parse(JSON.stringify(value));

/** @param {AsyncIterable<any>} messages */
async function collect(messages) {
  /** @type {Value[]} */
  const found = [];
  for await (const message of messages) found.push(message);
  return found;
}

/** Appends each; gives those that were acknowledged. @param {Session} session @param {Value[]} drafts */
async function appendEach(session, drafts) {
  /** @type {Value[]} */
  const kept = [];
  for (const [place, one] of drafts.entries()) {
    if (typeof one.id === "string" && one.id) one.id = `${place} ${one.id}`;
    const size = await logSize(session);
    try {
      const { acknowledged } = await session.append(/** @type {any} */ (one));
      assert.equal(acknowledged, "volatile");
      kept.push(one);
    } catch (error) {
      assert.ok(error instanceof LeftoffError && CODES.includes(error.code), String(error));
      assert.match(error.message, /expected .*, but found|expected another key|nested too deep|is empty|follows "/s);
      assert.equal(await logSize(session), size, "what was refused is not stored");
    }
  }
  return kept;
}

test(`what was acknowledged is returned by every reader, ${DRAFTS} drafts, seed ${SEED}`, async () => {
  let [kept, refused] = [0, 0];
  const law = fc.asyncProperty(fc.array(draft, { minLength: GROUP, maxLength: GROUP }), async (drafts) => {
    const storage = new SharedStorage();
    const options = { home: "/home", project: "/", storage };
    const store = await openStore(options);
    const session = await store.create();
    const asked = await appendEach(session, drafts);
    kept += asked.length;
    refused += drafts.length - asked.length;
    const wanted = asked.map((one) => signless(expectedMessage(one)));
    const isWanted = (/** @type {Value[]} */ given, /** @type {string} */ by) =>
      assert.deepStrictEqual(
        given.map((message, place) => signless(read(message, wanted[place] ?? {}))),
        wanted,
        by,
      );
    const other = await openStore(options);
    const again = await other.session(session.id);
    isWanted(await collect(session.messages()), "the session");
    // A revision whose first line it has not met is given at last.
    if (!wanted.some(({ rev }) => rev))
      isWanted((await collect(session.messages({ newestFirst: true }))).reverse(), "newest first");
    isWanted(await collect(again.messages()), "another process");
    isWanted(JSON.parse(await again.export("json")).messages, "an export");
    // Which reads agents' files: whatever a log of leftoff's own says, it is none, and no part of it passes for one.
    const log = /** @type {Uint8Array} */ ((await storage.read(`${session.path}/messages.jsonl`)) ?? new Uint8Array());
    await assert.rejects(readTranscript(log), { code: "unknown_format" });
    const [listed] = await other.list({ all: true, type: null });
    assert.equal(listed?.messageCount, wanted.length, "a list");
    // A branch hides what it leaves, and a call without a result is closed.
    const spoken = wanted.filter(
      ({ role, branch, content }) => (role === "user" || role === "system") && !branch && content.trim(),
    );
    const { messages } = await again.context({ window: 50_000_000, reserve: 0 });
    if (!wanted.some(({ branch }) => branch)) {
      const contents = messages.map((message) => /** @type {any} */ (message).content);
      for (const { content } of spoken) assert.ok(contents.includes(content), "a context");
    }
  });
  await fc.assert(law, { seed: SEED, numRuns: Math.ceil(DRAFTS / GROUP), includeErrorInReport: true });
  assert.ok(kept > 0 && refused > 0, `${kept} kept, ${refused} refused`);
});

/**
 * @param {(session: Session, parts: { store: import("../../js/store/store.js").Store, storage: SharedStorage }) => Promise<void>} work
 */
async function inMemory(work) {
  const storage = new SharedStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  await work(await store.create(), { store, storage });
  await store.close();
}

/**
 * What a call is refused with; the log has no byte more by it.
 * @param {Session} session
 * @param {() => Promise<unknown>} call
 */
async function refusal(session, call) {
  const size = await logSize(session);
  try {
    await call();
  } catch (error) {
    assert.ok(error instanceof LeftoffError, String(error));
    assert.equal(await logSize(session), size);
    return `${error.code}: ${error.message}`;
  }
  return "nothing";
}

const hinted = /** @type {[Value, string][]} */ ([
  [{ toolCalls: [] }, '"toolCalls" (did you mean "toolCalls" in "assistant"?)'],
  [{ tool_calls: [] }, '"tool_calls" (did you mean "toolCalls" in "assistant"?)'],
  [{ timestamps: "" }, '"timestamps" (did you mean "timestamp"?)'],
  [{ contents: "" }, '"contents" (did you mean "content"?)'],
  [{ callId: "1" }, '"callId" (did you mean "callId" in "tool"?)'],
  [{ model: "m" }, '"model" (did you mean "model" in "assistant"?)'],
  [{ assistant: { tool_calls: [] } }, '"assistant.tool_calls" (did you mean "toolCalls"?)'],
  [
    { assistant: { toolCalls: [{ id: "1", function: {} }] } },
    '"assistant.toolCalls[0].function", where nothing but id, name, arguments is kept',
  ],
  [{ role: null }, 'for "role", but found null instead'],
  [{ id: null }, 'expected a string for "id", but found null instead'],
  [
    { content: { blob: "0".repeat(64), bytes: 1, head: "", tail: "" } },
    'expected a string for "content", but found an object instead',
  ],
  [{ attachments: [{ mime: "image/png", blob: "0".repeat(64) }] }, '"attachments[0].blob"'],
  [{ tool: { callId: "\ud83d", name: "x" } }, 'expected whole characters for "tool.callId"'],
  [{ role: NaN }, 'message 0: expected a value that JSON can hold for "role", but found NaN instead'],
  [{ timestamp: new Date(NaN) }, 'for "timestamp", but found an instance of Date'],
  [{ mood: [new Map()] }, 'for "mood[0]", but found an instance of Map instead'],
  [
    {
      mood: {
        get a() {
          throw new Error("no");
        },
      },
    },
    'for "mood.a", but found one that cannot be read',
  ],
]);

test("what is refused is named, and what was meant by it", () =>
  inMemory(async (session) => {
    for (const [wrong, message] of hinted) {
      const said = await refusal(session, () => session.append({ role: "user", content: "x", ...wrong }));
      assert.ok(said.includes(message), `${message}: ${said}`);
    }
    const second = await refusal(session, () =>
      session.append(
        /** @type {any} */ ([
          { role: "user", content: "x" },
          { role: null, content: "y" },
        ]),
      ),
    );
    assert.match(second, /message 1: /);
    assert.match(
      await refusal(session, () => session.append(/** @type {any} */ ([, { role: "user" }]))),
      /message 0: .* found undefined/,
    );
  }));

test("a value is looked at once: what was checked is what is stored", () =>
  inMemory(async (session) => {
    let looks = 0;
    const draft = {
      role: "user",
      content: "x",
      get mood() {
        return (looks += 1) === 1 ? "good" : Symbol("bad");
      },
    };
    await session.append(draft);
    assert.deepEqual([looks, (await collect(session.messages()))[0]?.mood], [1, "good"]);
  }));

test("one bad draft does not cost those that wait beside it", () =>
  inMemory(async (session) => {
    const drafts = [
      { role: "user", content: "a" },
      { role: "user", content: "b", toolCalls: 1 },
      { role: "user", content: "c" },
    ];
    const states = (await Promise.allSettled(drafts.map((one) => session.append(one)))).map(({ status }) => status);
    assert.deepEqual(
      [states, (await collect(session.messages())).map(({ content }) => content)],
      [
        ["fulfilled", "rejected", "fulfilled"],
        ["a", "c"],
      ],
    );
  }));

test("what a log holds is copied, whatever keys and roles it has", () =>
  inMemory(async (session, { store, storage }) => {
    const timestamp = "2025-11-22T10:00:00.000Z";
    const lines = [
      { role: "user", content: "a", toolCalls: [1], id: "1", timestamp },
      { role: "developer", content: "b", id: "2", timestamp },
      { role: "user", content: "c", model: null, id: "3", timestamp },
    ];
    await session.append({ role: "user", content: "first" });
    await storage.append(
      `${session.path}/messages.jsonl`,
      Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join("")),
    );
    const before = await collect(session.messages());
    const copy = await collect((await store.fork(session)).messages());
    const bare = (/** @type {Value[]} */ messages) => messages.map(({ seq, tokens, ...message }) => message);
    assert.deepEqual(bare(copy), bare(before));
    assert.equal(copy.length, 4);
  }));

test("a transcript's context takes what its file has at any place, as an import of it does", async () => {
  const at = { sessionId: "s", cwd: "/p", version: "2.0.0", timestamp: "2025-11-22T10:00:00.000Z" };
  const lines = [
    { type: "user", uuid: "1", parentUuid: null, ...at, message: { role: "user", content: "a question" } },
    {
      type: "assistant",
      uuid: "2",
      parentUuid: "1",
      ...at,
      message: {
        id: "m",
        model: "m",
        role: "assistant",
        content: [
          { type: "text", text: "look" },
          { type: "tool_use", id: "c", name: "Read", input: { a: 1 } },
        ],
      },
    },
    {
      type: "user",
      uuid: "3",
      parentUuid: "2",
      ...at,
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "found" }] },
    },
  ];
  let read = 0;
  for (const way of placesOf(lines)) {
    for (const value of [null, "\ud83d", "", 0, -1.5, [], {}, { blob: "0".repeat(64), bytes: 1, head: "", tail: "" }]) {
      const file = structuredClone(lines);
      /** @type {any} */ (way.slice(0, -1).reduce((parent, step) => /** @type {any} */ (parent)[step], file))[
        /** @type {any} */ (way.at(-1))
      ] = value;
      const bytes = Buffer.from(file.map((line) => `${JSON.stringify(line)}\n`).join(""));
      try {
        const transcript = await readTranscript(bytes);
        await transcript.context({ window: 100_000 });
        read += 1;
      } catch (error) {
        assert.ok(
          error instanceof LeftoffError && ["unknown_format", "empty"].includes(error.code),
          `${way.join(".")}, ${JSON.stringify(value)}: ${error}`,
        );
      }
    }
  }
  assert.ok(read > 100, `${read} were read`);
});

/** Places of messages in providers' shapes where what is said stands; `MARK` stands there. */
const MARK = "what was said";
/** @type {[import("../../js/types/index.js").Format, Value][]} */
const SHAPES = [
  ["openai-chat", { role: "user", content: MARK }],
  [
    "openai-chat",
    {
      role: "assistant",
      content: MARK,
      tool_calls: [{ id: MARK, type: "function", function: { name: MARK, arguments: MARK } }],
    },
  ],
  ["openai-chat", { role: "tool", tool_call_id: MARK, content: [{ type: "text", text: MARK }] }],
  [
    "anthropic",
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: MARK, signature: MARK },
        { type: "text", text: MARK },
        { type: "tool_use", id: MARK, name: MARK, input: { a: MARK } },
      ],
    },
  ],
  [
    "anthropic",
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: MARK, content: MARK },
        { type: "hologram", of: [MARK], mediaType: MARK },
      ],
    },
  ],
  ["gemini", { role: "model", parts: [{ text: MARK }, { functionCall: { id: MARK, name: MARK, args: { a: MARK } } }] }],
  [
    "ai-sdk",
    {
      role: "assistant",
      content: [
        { type: "tool-call", toolCallId: MARK, toolName: MARK, input: { a: MARK } },
        { type: "reasoning", text: MARK },
      ],
    },
  ],
  [
    "ai-sdk",
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: MARK, toolName: MARK, output: { type: "text", value: MARK } }],
    },
  ],
  ["ai-sdk", { role: "tool", content: [{ type: "tool-result", toolCallId: MARK, toolName: MARK, result: MARK }] }],
  ["ai-sdk-ui", { id: "1", role: "user", parts: [{ type: "text", text: MARK }] }],
  ["openai-responses", { type: "function_call", call_id: MARK, name: MARK, arguments: MARK }],
];

test("in a provider's shape, too: what is said at a place is read back, or refused", async () => {
  const law = fc.asyncProperty(
    fc.constantFrom(...SHAPES),
    fc.nat(),
    fc.nat(),
    odd,
    async ([format, shape], which, other, value) => {
      const draft = structuredClone(shape);
      const ways = placesOf(shape).filter((way) => way.at(-1) !== "id" || format !== "ai-sdk-ui");
      const way = ways[which % ways.length] ?? [];
      const parent = way.slice(0, -1).reduce((at, step) => at[step], draft);
      parent[/** @type {any} */ (way.at(-1))] = value;
      // What stood there, and what is within what is no longer there, nobody said.
      const left = placesOf(shape).filter((one) => !way.every((step, at) => step === one[at]));
      const marks = left.filter((one) => shapeOf(one, shape) === MARK);
      const mark = marks[other % Math.max(1, marks.length)];
      const words = `${MARK} ${other}`;
      if (mark) mark.slice(0, -1).reduce((at, step) => at[step], draft)[/** @type {any} */ (mark.at(-1))] = words;
      await inMemory(async (session) => {
        const said = await refusal(session, () => session.append(draft, { format }));
        if (said !== "nothing") return;
        const given = JSON.stringify(await collect(session.messages()));
        if (mark) assert.ok(given.includes(words), `${mark.join(".")} of ${format}: ${given}`);
        if (typeof value === "string" && shapeOf(way, shape) === MARK)
          assert.ok(
            given.includes(JSON.stringify(JSON.stringify(value).slice(1, -1)).slice(1, -1)) ||
              given.includes(JSON.stringify(value).slice(1, -1)),
            `${way.join(".")} of ${format}: ${given}`,
          );
      });
    },
  );
  await fc.assert(law, { seed: SEED, numRuns: Math.ceil(DRAFTS / 10), includeErrorInReport: true });
});

/** @param {(string | number)[]} way @param {Value} shape */
const shapeOf = (way, shape) => way.reduce((at, step) => /** @type {any} */ (at)[step], /** @type {unknown} */ (shape));

test("a key that a provider has by another spelling is refused", () =>
  inMemory(async (session) => {
    const call = { id: "1", type: "function", function: { name: "ls", arguments: "{}" } };
    for (const [format, wrong] of /** @type {const} */ ([
      ["openai-chat", { toolCalls: [call] }],
      ["openai-chat", { tool_calls: call }],
      ["gemini", { Parts: [] }],
      ["openai-chat", { role: "user", tool_calls: [call] }],
    ])) {
      const said = await refusal(session, () =>
        session.append({ role: "assistant", content: "x", ...wrong }, { format }),
      );
      assert.match(said, /did you mean|expected an array for|alone/);
    }
  }));

test("what is said of a session, its agent and its tools is refused by name, too", () =>
  inMemory(async (session, { store }) => {
    const call = { id: "c", name: "ls" };
    const [result, odd] = [{ content: "x" }, /** @type {any} */ ({})];
    const calls = /** @type {[() => Promise<unknown>, RegExp][]} */ ([
      [() => session.setAgent({ ...odd, type: "anthropic" }), /"agent\.type"/],
      [() => session.setAgent({ ...odd, system_prompt_hash: "x" }), /did you mean "systemPromptHash"/],
      [() => session.setAgent({ ...odd, model: null }), /for "agent\.model", but found null/],
      [() => session.setAgent({ ...odd, contextWindow: NaN }), /but found NaN/],
      [() => session.setAgent(/** @type {any} */ (7)), /an object for "agent", but found/],
      [() => session.rename("\ud83d"), /whole characters for "title"/],
      [() => session.stop({ summary: "\udc00" }), /whole characters for "summary"/],
      [() => store.create({ agent: /** @type {any} */ (7) }), /an object for "agent"/],
      [() => store.create({ agent: { ...odd, window: 5 } }), /"agent\.window"/],
      [() => session.appendTool({ call, result: { ...result, ...odd, exit_code: 1 } }), /did you mean "exitCode"/],
      [() => session.appendTool({ call: { ...call, ...odd, args: {} }, result }), /"call\.args"/],
      [
        () => session.appendTool({ call, result: { ...result, error: /** @type {any} */ (7) } }),
        /a string for "result\.error"/,
      ],
      [
        () => session.appendTool({ call, result: { ...result, success: /** @type {any} */ ("no") } }),
        /true or false for "success"/,
      ],
      [
        () => session.appendTool({ call: { ...call, arguments: { at: new Map() } }, result }),
        /for "call\.arguments\.at", but found an instance of Map/,
      ],
    ]);
    for (const [work, message] of calls) assert.match(await refusal(session, work), message);
    assert.deepEqual([await session.tools(), (await store.list({ all: true })).length], [[], 1]);
  }));
