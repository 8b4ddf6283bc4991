// @ts-check
// How often an operation calls into the core: each call costs the crossing, and each rule that JavaScript keeps costs
// calls. What an operation takes today is the most that it may take; `goal` is where it is to come to. Whoever makes it
// less writes that down.
// Tries: js/wasm/drive.js, js/wasm/module.js, src/operation/io.rs, src/operation/store/recall/
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, mock, test } from "node:test";

import { setClock } from "../../js/wasm/clock.js";
import { NodeStorage, countTokens, openStore } from "../../js/index.js";
import { Module } from "../../js/wasm/module.js";
import { inStore, messagesOf, turnAbout } from "./long-session.js";

/** @typedef {import("../../js/session/session.js").Session} Session */
/** @typedef {{ atMost: number, goal?: number }} CallBound */

const WINDOW = 16_000;
const TURNS = 120;
const LONG = 1000;
const LISTED = 100;
const summarize = () => "They looked at files, one after another.";
const again = { role: "user", content: "again" };

/**
 * In a session that has been appended to.
 * @type {Record<string, CallBound & { turns?: number, does: (session: Session, open: () => Promise<Session>) => Promise<unknown> }>}
 */
const OF_A_SESSION = {
  "a buffered append": { atMost: 2, does: (session) => session.append(again, { durability: "buffered" }) },
  "a durable append": { atMost: 2, does: (session) => session.append(again) },
  "an append of a hundred messages": {
    atMost: 2,
    does: (session) => session.append(Array.from({ length: 50 }, (_, n) => turnAbout(`${n}`)).flat()),
  },
  "a tool's execution": {
    atMost: 15,
    does: (session) => session.appendTool({ call: { id: "c-next", name: "ls" }, result: { content: "a.txt" } }),
  },
  "all tools' executions": { atMost: 10, does: (session) => session.tools() },
  "all messages": { atMost: 6, does: messagesOf },
  "a context": { atMost: 11, goal: 9, does: (session) => session.context({ window: WINDOW }) },
  "a context with a model's summary": {
    atMost: 74,
    turns: LONG,
    does: (session) => session.context({ window: WINDOW, summarize }),
  },
  "what a compaction would do": { atMost: 13, does: (session) => session.compact({ window: WINDOW }) },
  "a compaction": { atMost: 26, does: (session) => session.compact({ window: WINDOW, apply: true }) },
  "a compaction by a model": {
    atMost: 94,
    turns: LONG,
    does: (session) => session.compact({ window: WINDOW, apply: true, summarize }),
  },
  "a resumption": { atMost: 24, does: (session) => session.resume({ window: WINDOW }) },
  "an export": { atMost: 20, does: (session) => session.export("markdown") },
  "a title": { atMost: 10, does: (session) => session.rename("given") },
  opening: { atMost: 49, does: (_, open) => open() },
};

/** @type {Record<"opened" | "known", CallBound>} */
const OF_A_LIST = { opened: { atMost: 153 }, known: { atMost: 9 } };

/** A search once the store has searched before, of so many sessions that the index has no file for. */
const OF_A_SEARCH = { 1: { atMost: 7, goal: 6 }, 8: { atMost: 7, goal: 6 } };

const { call: called } = Module.prototype;
let calls = 0;

before(async () => {
  // Files that were changed before then are believed as they are; and time stands still, since some looks are due by
  // it.
  const ms = Date.parse("2100-01-05T10:00:00Z");
  setClock({
    now: () => ms,
    ticks: () => performance.now(),
    offsetMinutes: () => 0,
    entropy: () => crypto.getRandomValues(new Uint8Array(32)),
  });
  await countTokens("");
  /** @this {Module<any>} @param {(bindings: any) => any} call */
  function counting(call) {
    calls += 1;
    return called.call(this, call);
  }
  Module.prototype.call = /** @type {any} */ (counting);
});

after(() => {
  Module.prototype.call = called;
  setClock();
});

/** @param {string} name @param {CallBound} bound @param {() => Promise<unknown>} work */
async function checkCalls(name, { atMost, goal }, work) {
  calls = 0;
  await work();
  assert.ok(calls > 0, "it is counted");
  assert.ok(
    calls <= atMost,
    `expected at most ${atMost} calls into the core for ${name}, but found ${calls} instead${goal === undefined ? "" : `; the goal is ${goal}`}`,
  );
}

for (const [name, { does, turns = TURNS, ...bound }] of Object.entries(OF_A_SESSION)) {
  test(`${name} calls the core ${bound.atMost} times at most`, () =>
    inStore({ turns }, async ({ session, again: open }) => {
      await session.append([
        again,
        {
          role: "assistant",
          content: "",
          assistant: {
            toolCalls: [
              { id: "c-last", name: "ls", arguments: "{}" },
              { id: "c-next", name: "ls", arguments: "{}" },
            ],
          },
        },
      ]);
      await session.appendTool({ call: { id: "c-last", name: "ls" }, result: { content: "a.txt" } });
      await checkCalls(name, bound, () => does(session, open));
    }));
}

test(`a list of ${LISTED} calls the core ${OF_A_LIST.opened.atMost} times at most where each is opened, ${OF_A_LIST.known.atMost} where the index has them`, async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-calls-")));
  const options = { home: join(folder, "home"), project: join(folder, "project") };
  mkdirSync(options.project);
  const listed = async () => {
    const store = await openStore(options);
    assert.equal((await store.list()).length, LISTED);
    await store.close();
  };
  try {
    const store = await openStore(options);
    for (let n = 0; n < LISTED; n += 1)
      await (await store.create({ title: `session ${n}` })).append(again, { durability: "buffered" });
    await store.close();
    await checkCalls("a list, each opened", OF_A_LIST.opened, listed);
    await checkCalls("a list from the index", OF_A_LIST.known, listed);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

for (const [count, bound] of Object.entries(OF_A_SEARCH)) {
  test(`a search of ${count} short sessions calls the core ${bound.atMost} times at most, and reads each log once`, async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-calls-")));
    const store = await openStore({ home: join(folder, "home"), project: folder });
    const search = async () => {
      const found = [];
      for await (const { id } of store.search("parser lease")) found.push(id);
      return found;
    };
    try {
      for (let n = 0; n < Number(count); n += 1) {
        const session = await store.create({ title: `session ${n}` });
        await session.append([
          { role: "user", content: "The parser and its lease fail." },
          { role: "assistant", content: "The lease of the parser was torn." },
        ]);
      }
      const first = await search();
      assert.equal(first.length, 2 * Number(count));
      const reads = mock.method(NodeStorage.prototype, "readRange");
      await checkCalls("a search", bound, async () => assert.deepEqual(await search(), first));
      const logs = reads.mock.calls
        .map(({ arguments: [path] }) => path)
        .filter((path) => path.endsWith("messages.jsonl"));
      assert.deepEqual([logs.length, new Set(logs).size], [Number(count), Number(count)]);
    } finally {
      mock.restoreAll();
      await store.close();
      rmSync(folder, { recursive: true });
    }
  });
}
