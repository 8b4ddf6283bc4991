// @ts-check
/** Each option of a context overrides itself alone; of a model that is not known there is one answer everywhere. */
// Tries: src/context/request.rs, src/tokens/models.rs

import assert from "node:assert/strict";
import { test } from "node:test";

import { LeftoffError, MemoryStorage, countTokens, openStore, readTranscript } from "../../js/index.js";

const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });

/** @param {Record<string, unknown>} agent */
async function sessionOf(agent) {
  const session = await store.create();
  if (Object.keys(agent).length > 0) await session.setAgent(agent);
  await session.append({ role: "user", content: "some words to be counted" });
  return session;
}

/**
 * @param {Record<string, unknown>} agent
 * @param {Record<string, any>} request
 * @param {[window: number, encoding: string, assumed?: object]} expected
 */
async function check(agent, request, [window, encoding, assumed]) {
  const session = await sessionOf(agent);
  const { context } = await session.resume(/** @type {any} */ (request));
  for (const { report } of [await session.context(request), context]) {
    assert.deepEqual(
      [report.budget.modelContextWindow, report.encoding, report.assumed],
      [window, encoding, assumed],
      JSON.stringify({ agent, request }),
    );
  }
}

const claude = { model: "claude-sonnet-4-5" };
const gpt = { model: "gpt-4", contextWindow: 6000 };
const mystery = { model: "mystery-1" };

test("each option overrides itself alone", async () => {
  await check(claude, {}, [200_000, "estimate-1"]);
  await check(claude, { window: 128_000 }, [128_000, "estimate-1"]);
  await check(claude, { encoding: "cl100k_base" }, [200_000, "cl100k_base"]);
  await check(claude, { window: 9000, encoding: "o200k_base" }, [9000, "o200k_base"]);
  await check(gpt, {}, [6000, "cl100k_base"]);
  await check(gpt, { window: 128_000 }, [128_000, "cl100k_base"]);
  await check(gpt, { model: "gpt-4" }, [6000, "cl100k_base"]);
  // A window on record is that of the model on record.
  await check(gpt, { model: "gpt-5" }, [400_000, "o200k_base"]);
  await check(gpt, { model: "gpt-5", window: 5000 }, [5000, "o200k_base"]);
  await check({}, { window: 5000 }, [5000, "o200k_base"]);
  await check({}, { model: "claude-sonnet-4-5", window: 5000 }, [5000, "estimate-1"]);
});

test("what is assumed of a model on record that is not known, the report says", async () => {
  await check(mystery, { window: 5000 }, [5000, "estimate-1", { model: "mystery-1", encoding: "estimate-1" }]);
  await check({ ...mystery, contextWindow: 7000 }, {}, [
    7000,
    "estimate-1",
    { model: "mystery-1", encoding: "estimate-1" },
  ]);
  await check({ ...mystery, contextWindow: 7000 }, { encoding: "o200k_base" }, [7000, "o200k_base"]);
  await check(mystery, { assumes: true }, [
    200_000,
    "estimate-1",
    { model: "mystery-1", window: 200_000, encoding: "estimate-1" },
  ]);
  await check({}, { assumes: true }, [200_000, "o200k_base", { window: 200_000 }]);
  await check(claude, { assumes: true }, [200_000, "estimate-1"]);
  // A client may be started with a model that only its user knows.
  await check(claude, { assumes: true, model: "own/one" }, [
    200_000,
    "estimate-1",
    { model: "own/one", window: 200_000, encoding: "estimate-1" },
  ]);
  await check({}, { assumes: true, model: "own/one", window: 8000 }, [
    8000,
    "estimate-1",
    { model: "own/one", encoding: "estimate-1" },
  ]);
});

test("a model that is given and not known is refused by name, with what has to be given", async () => {
  /** @param {() => Promise<unknown>} call @param {string[]} wanted */
  const refuses = (call, wanted) =>
    assert.rejects(call, (error) => {
      assert.ok(error instanceof LeftoffError && ["invalid_request", "no_counter"].includes(error.code), String(error));
      for (const word of ['"mystery-2"', ...wanted.map((name) => `"${name}"`)])
        assert.ok(error.message.includes(word), `${word}: ${error.message}`);
      return true;
    });
  const transcript = await readTranscript(
    new TextEncoder().encode(
      `${JSON.stringify({ type: "user", uuid: "u1", sessionId: "s1", timestamp: "2026-01-01T00:00:00Z", cwd: "/p", message: { role: "user", content: "hello" } })}\n`,
    ),
  );
  for (const agent of [{}, claude, mystery, gpt]) {
    const session = await sessionOf(agent);
    for (const calls of [
      session,
      { context: (/** @type {any} */ request) => session.resume(request) },
      { context: (/** @type {any} */ request) => session.compact(request) },
      transcript,
    ]) {
      const asked = (/** @type {object} */ request) => () => calls.context({ model: "mystery-2", ...request });
      await refuses(asked({}), ["window", "encoding"]);
      await refuses(asked({ window: 8000 }), ["encoding"]);
      await refuses(asked({ encoding: "estimate-1" }), ["window"]);
      await asked({ window: 8000, encoding: "estimate-1" })();
    }
  }
  await refuses(() => countTokens("text", { model: "mystery-2" }), ["encoding"]);
});

test("without a window and a model nothing is guessed", async () => {
  const session = await sessionOf({});
  await assert.rejects(
    session.context(),
    (error) => error instanceof LeftoffError && error.code === "invalid_request" && error.message.includes('"window"'),
  );
  const unknown = await sessionOf(mystery);
  await assert.rejects(
    unknown.context(),
    (error) => error instanceof LeftoffError && error.message.includes('"mystery-1"'),
  );
});

test("a transcript is counted by its own model, whatever window is asked for", async () => {
  const lines = [
    { type: "user", uuid: "u1", message: { role: "user", content: "hello" } },
    {
      type: "assistant",
      uuid: "a1",
      parentUuid: "u1",
      message: { role: "assistant", id: "m1", model: "claude-sonnet-4-5", content: [{ type: "text", text: "hi" }] },
    },
  ];
  const about = { sessionId: "s1", timestamp: "2026-01-01T00:00:00Z", cwd: "/p" };
  const transcript = await readTranscript(
    new TextEncoder().encode(lines.map((line) => `${JSON.stringify({ ...about, ...line })}\n`).join("")),
  );
  for (const window of [8000, 128_000])
    assert.equal((await transcript.context({ window })).report.encoding, "estimate-1");
});
