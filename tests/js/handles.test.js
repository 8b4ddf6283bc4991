// @ts-check
/**
 * Whatever is made in the module's memory is given back when the call is over, also where it throws or is broken off.
 */
// Tries: js/session/handle.js, js/wasm/module.js

import assert from "node:assert/strict";
import { test } from "node:test";

// Without it nothing is given back but what is given back by name.
Reflect.deleteProperty(globalThis, "FinalizationRegistry");
const core = await import("../../pkg/leftoff.js");
const agents = await import("../../pkg/agents.js");
const { LeftoffError, MemoryStorage, openStore, readTranscript } = await import("../../js/index.js");
const { SessionHandle } = await import("../../js/session/handle.js");
const { sessionOf } = await import("../../js/session/session.js");

const CALLS = Number(process.env.LEFTOFF_CALLS ?? 1000);
const FIRST = 200;
// Of one page: what is left of a call is not that.
const LEAST = 65_536;

const storage = new MemoryStorage();
const store = await openStore({ home: "/home", project: "/", storage });
const session = await store.create({ type: "chat", model: "gpt-5" });
await session.append([
  { role: "user", content: "We decided to use REST. Fix src/api.ts" },
  {
    role: "assistant",
    content: "I do",
    assistant: { toolCalls: [{ id: "1", name: "Bash", arguments: '{"command":"make"}' }] },
  },
  { role: "tool", content: "made", tool: { callId: "1", name: "Bash" } },
  { role: "assistant", content: "It is done." },
]);
const branched = await store.create({ type: "chat" });
await branched.append([
  { id: "a", role: "user", content: "one" },
  { role: "assistant", content: "two" },
]);
await branched.append({ role: "user", content: "three", parentId: "a", branch: true });
const [{ id: first }, , , { id: last }] = await collect(session.messages());
/** Opened by itself. @param {string} path */
async function openAlone(path) {
  const live = new SessionHandle({ storage, path, placement: "home", cache: { storage, folder: "/home/cache" } });
  await live.open();
  return sessionOf(live, {});
}

/** @param {AsyncIterable<any>} iterable */
async function collect(iterable) {
  const values = [];
  for await (const value of iterable) values.push(value);
  return values;
}

/** @param {() => Promise<unknown>} call @param {string} code */
async function expectRefusal(call, code) {
  await assert.rejects(call, (error) => error instanceof LeftoffError && error.code === code);
}

/** How much memory both modules have. */
function memory() {
  return [core, agents].map((bindings) => /** @type {any} */ (bindings.initSync)().memory.buffer.byteLength);
}

/** @param {string} name @param {() => Promise<unknown>} call */
function check(name, call) {
  test(`${name} leaves nothing in the module's memory`, async () => {
    for (let nth = 0; nth < FIRST; nth += 1) await call();
    const before = memory();
    for (let nth = 0; nth < CALLS; nth += 1) await call();
    for (const [at, bytes] of memory().entries())
      assert.ok(bytes - (before[at] ?? 0) < LEAST, `${before[at]} bytes before, ${bytes} after`);
  });
}

const transcript = new TextEncoder().encode(
  `${JSON.stringify({ type: "user", uuid: "u1", sessionId: "s1", timestamp: "2026-01-01T00:00:00Z", cwd: "/project", message: { role: "user", content: "hello" } })}\n`,
);
const broken = new TextEncoder().encode("no transcript");

check("a context", () => session.context({ window: 8000 }));
check("a context that is too small", () =>
  expectRefusal(() => session.context({ window: 1, reserve: 0 }), "budget_too_small"),
);
check("a context whose counter fails", () =>
  assert.rejects(
    () => session.context({ window: 8000, encoding: "mine", count: () => Promise.reject(new Error("no")) }),
    /no/,
  ),
);
check("a context that is refused", () =>
  expectRefusal(() => session.context(/** @type {any} */ ({ windows: 8000 })), "invalid_request"),
);
check("a resume", () => session.resume({ window: 8000 }));
check("a brief", () => session.brief());
check("a summary", () => session.summaryOf({ startMessageId: first, endMessageId: last, maxTokens: 100 }));
check("a plan to compact", () => session.compact({ window: 8000 }));
check("reading all messages", () => collect(session.messages()));
check("reading them backward", () => collect(session.messages({ newestFirst: true })));
check("reading that is broken off", async () => {
  for await (const _ of session.messages()) break;
  for await (const _ of session.messages({ newestFirst: true })) break;
});
check("following that is broken off", () => collect(session.follow({ signal: AbortSignal.abort() })));
check("an export", () => session.export("markdown"));
check("an examination", () => session.examine());
check("a search", () => collect(session.search("REST")));
check("a search that is broken off", async () => {
  for await (const _ of session.search('"REST"')) break;
});
check("reading a transcript", () => readTranscript(transcript));
check("reading what is no transcript", () => expectRefusal(() => readTranscript(broken), "unknown_format"));
const read = await readTranscript(transcript);
check("a transcript's context", () => read.context({ window: 8000 }));
check("a list", () => store.list());
check("opening and closing a session", async () => {
  const other = await openAlone(session.path);
  await other.context({ window: 8000 });
  await other.close();
});
check("opening a session with branches", async () => {
  const other = await openAlone(branched.path);
  await other.close();
});
await storage.replace("/agent/one.jsonl", transcript);
check("an import", () => store.import("/agent/one.jsonl"));
check("an import that is refused", () => expectRefusal(() => store.import("/agent/two.jsonl"), "not_found"));
