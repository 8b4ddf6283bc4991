// @ts-check
// The fake model server that real clients talk to: whatever they ask besides, a step is taken when the last one was answered.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Script } from "../clients/model/script.mjs";
import { serve } from "../clients/model/server.mjs";

const TOOLS = ["Bash", "Read", "Write"].map((name) => ({ name }));

/** @param {string} url @param {object} body */
async function asked(url, body) {
  const response = await fetch(`${url}/v1/messages?beta=true`, { method: "POST", body: JSON.stringify({ model: "any", ...body }) });
  return { status: response.status, text: await response.text() };
}

test("titles, counts and repeated requests take no step", async () => {
  const script = new Script([{ reasoning: "Hm.", text: "Look.", calls: [{ name: "Read", input: { path: "é" } }, { name: "Bash", input: {} }] }, { text: "Done." }]);
  const server = await serve(script);
  try {
    /** @type {any[]} */
    const messages = [{ role: "user", content: "go" }];
    assert.equal(JSON.parse((await asked(server.url, { messages })).text).content[0].text, "Aside.");
    const counted = await fetch(`${server.url}/v1/messages/count_tokens`, { method: "POST", body: JSON.stringify({ messages, tools: TOOLS }) });
    assert.ok(JSON.parse(await counted.text()).input_tokens > 0);
    assert.equal(script.taken, 0);
    const first = JSON.parse((await asked(server.url, { messages, tools: TOOLS })).text);
    assert.deepEqual(first.content.map((/** @type {any} */ block) => block.type), ["thinking", "text", "tool_use", "tool_use"]);
    assert.deepEqual(JSON.parse((await asked(server.url, { messages, tools: TOOLS })).text), first);
    const results = first.content.slice(2).map((/** @type {any} */ { id }) => ({ type: "tool_result", tool_use_id: id, content: "" }));
    messages.push({ role: "assistant", content: first.content }, { role: "user", content: results.slice(1) });
    assert.deepEqual(JSON.parse((await asked(server.url, { messages, tools: TOOLS })).text), first, "one result is missing");
    messages.push({ role: "user", content: results.slice(0, 1) });
    assert.equal(JSON.parse((await asked(server.url, { messages, tools: TOOLS })).text).content[0].text, "Done.");
    assert.equal(script.taken, 2);
  } finally {
    await server.close();
  }
});

test("an answer in pieces is the answer whole", async () => {
  const calls = [{ name: "Read", input: { path: "a/é.rs", lines: [1, 2] } }];
  const server = await serve(new Script([{ reasoning: "Hm.", text: "Look there.", calls }]));
  try {
    const { text } = await asked(server.url, { messages: [], tools: TOOLS, stream: true });
    const events = text.trim().split("\n\n").map((event) => JSON.parse(event.split("\ndata: ")[1] ?? ""));
    const joined = (/** @type {string} */ field) => events.map(({ delta }) => delta?.[field] ?? "").join("");
    assert.deepEqual([joined("thinking"), joined("text"), JSON.parse(joined("partial_json"))], ["Hm.", "Look there.", calls[0]?.input]);
    assert.equal(events.find(({ type }) => type === "message_delta").delta.stop_reason, "tool_use");
    assert.equal(events.at(-1).type, "message_stop");
  } finally {
    await server.close();
  }
});

test("a request of no API that it speaks is refused, and told", async () => {
  const server = await serve(new Script([]));
  try {
    assert.equal((await fetch(`${server.url}/v2/nothing`)).status, 404);
    assert.deepEqual(server.unknown, ["GET /v2/nothing"]);
  } finally {
    await server.close();
  }
});
