// @ts-check
// The fake model server that real clients talk to, in each API that they speak: whatever they ask besides, a step is
// taken when the last one was answered; and a conversation is the same list of turns, however it is written.
// Tries: tests/clients/model/
import assert from "node:assert/strict";
import { test } from "node:test";

import { gemini } from "../clients/model/gemini.mjs";
import { Script } from "../clients/model/script.mjs";
import { serve } from "../clients/model/server.mjs";
import { SPOKEN } from "./model-dialects.js";

/** @import { Turn } from "../clients/model/turns.mjs" */

const CALLS = [
  { name: "Read", input: { path: "a/é.rs", lines: [1, 2] } },
  { name: "Bash", input: { command: 'ls "☃"' } },
];
const STEP = { reasoning: "Hm, naïve.", text: "Look there ☃.", calls: CALLS };
const ANSWER = {
  reasoning: STEP.reasoning,
  text: STEP.text,
  calls: CALLS.map((call, place) => ({ id: `step1c${place}`, ...call })),
};

/** @type {Turn[]} */
const TURNS = [
  { role: "user", text: "Go é." },
  { role: "assistant", text: STEP.text, calls: ANSWER.calls },
  {
    role: "user",
    results: [
      { id: "step1c0", text: "a file ☃" },
      { id: "step1c1", text: "no such folder", isError: true },
    ],
  },
  { role: "assistant", calls: [{ id: "other", name: "Bash", input: {} }] },
  { role: "user", results: [{ id: "other", text: "" }] },
  { role: "assistant", text: "Done." },
  { role: "user", text: "Go é." },
];

for (const { name, path, streamPath, countPath, hasErrors, body, readAnswer: whole, readStream: joined } of SPOKEN) {
  /**
   * @param {string} url
   * @param {string} to
   * @param {Turn[]} turns
   * @param {{ isMain?: boolean, isStream?: boolean }} [how]
   */
  async function asked(url, to, turns, { isMain = true, isStream = false } = {}) {
    const response = await fetch(`${url}${to}`, {
      method: "POST",
      body: JSON.stringify({ model: "any", stream: isStream, ...body(turns, isMain) }),
    });
    assert.equal(response.status, 200);
    return response.text();
  }

  test(`${name}: titles, counts and repeated requests take no step`, async () => {
    const script = new Script([STEP, { text: "Done." }]);
    const server = await serve(script);
    const text = async (/** @type {Turn[]} */ turns, how = {}) =>
      whole(JSON.parse(await asked(server.url, path, turns, how)));
    try {
      assert.equal((await text(TURNS.slice(0, 1), { isMain: false })).text, "Aside.");
      if (countPath) assert.ok(Object.values(JSON.parse(await asked(server.url, countPath, TURNS)))[0] > 0);
      assert.equal(script.takenCount, 0);
      assert.deepEqual(await text(TURNS.slice(0, 1)), ANSWER);
      assert.deepEqual(await text(TURNS.slice(0, 1)), ANSWER);
      const half = { ...TURNS[2], results: TURNS[2]?.results?.slice(1) };
      assert.deepEqual(
        await text(/** @type {Turn[]} */ ([...TURNS.slice(0, 2), half])),
        ANSWER,
        "one result is missing",
      );
      assert.equal(script.takenCount, 1);
      assert.equal((await text(TURNS.slice(0, 3))).text, "Done.");
      assert.equal((await text(TURNS.slice(0, 3))).text, "Done.");
      assert.equal(script.takenCount, 2);
      assert.equal((await text(TURNS)).text, "The script is at its end.");
    } finally {
      await server.close();
    }
  });

  test(`${name}: an answer in pieces is the answer whole`, async () => {
    const server = await serve(new Script([STEP]));
    try {
      const text = await asked(server.url, streamPath, [], { isStream: true });
      const data = text
        .trim()
        .split("\n\n")
        .map((event) => event.replace(/^(event: .*\n)?data: /, ""));
      assert.deepEqual(joined(data), ANSWER);
    } finally {
      await server.close();
    }
  });

  test(`${name}: a conversation is a list of turns, without system prompts, reasoning and reminders`, async () => {
    /** @type {Turn[][]} */
    const seen = [];
    const server = await serve(new Script([STEP]), { seen: ({ turns }) => seen.push(turns) });
    try {
      await asked(server.url, path, TURNS);
    } finally {
      await server.close();
    }
    // Not every API says that a tool failed.
    const known = TURNS.map((turn) =>
      hasErrors || !turn.results ? turn : { ...turn, results: turn.results.map(({ id, text }) => ({ id, text })) },
    );
    assert.deepEqual(seen, [known]);
  });
}

test("a request of no API that it speaks is refused, and told", async () => {
  const server = await serve(new Script([]));
  try {
    assert.equal((await fetch(`${server.url}/v2/nothing`)).status, 404);
    assert.deepEqual(server.unknown, ["GET /v2/nothing"]);
  } finally {
    await server.close();
  }
});

test("what takes a text gets a custom call, and its result is a result", async () => {
  const script = new Script([{ calls: [{ name: "patch", input: { input: "*** é" } }] }, { text: "Done." }]);
  /** @type {Turn[][]} */
  const seen = [];
  const server = await serve(script, { seen: ({ turns }) => seen.push(turns) });
  const tools = [
    { type: "custom", name: "patch" },
    { type: "function", name: "a" },
    { type: "function", name: "b" },
  ];
  const asked = async (/** @type {any[]} */ input) =>
    (await fetch(`${server.url}/v1/responses`, { method: "POST", body: JSON.stringify({ input, tools }) })).json();
  try {
    const { output } = /** @type {any} */ (await asked([]));
    assert.deepEqual(output, [
      {
        type: "custom_tool_call",
        id: "ctc_step1c0",
        call_id: "step1c0",
        name: "patch",
        input: "*** é",
        status: "completed",
      },
    ]);
    await asked([...output, { type: "custom_tool_call_output", call_id: "step1c0", output: "Done" }]);
    assert.equal(script.takenCount, 2);
    assert.deepEqual(seen[1], [
      { role: "assistant", calls: [{ id: "step1c0", name: "patch", input: { input: "*** é" } }] },
      { role: "user", results: [{ id: "step1c0", text: "Done" }] },
    ]);
  } finally {
    await server.close();
  }
});

test("results without ids are of the calls of their names, in order", () => {
  const call = (/** @type {string} */ name) => ({ functionCall: { name, args: {} } });
  const result = (/** @type {string} */ name, /** @type {string} */ output) => ({
    functionResponse: { name, response: { output } },
  });
  const turns = gemini.turns({
    contents: [
      { role: "model", parts: [call("a"), call("b"), call("a")] },
      { role: "user", parts: [result("b", "1"), result("a", "2"), result("a", "3")] },
    ],
  });
  const [first, second, third] = turns[0]?.calls ?? [];
  assert.equal(new Set([first?.id, second?.id, third?.id]).size, 3);
  assert.deepEqual(turns[1]?.results, [
    { id: second?.id, text: "1" },
    { id: first?.id, text: "2" },
    { id: third?.id, text: "3" },
  ]);
});
