// @ts-check
// What a hook tells at a turn: a save is offered once, after 40 turns without one, whatever else happened to the
// session.
// Tries: src/operation/store/turns.rs
import assert from "node:assert/strict";
import { test } from "node:test";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";

async function recordSession() {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create();
  await session.append({ role: "user", content: "Hello" });
  let count = 0;
  /** Turns until a save is offered, at most so many; which one that was. @param {number} most */
  const turns = async (most) => {
    for (let turn = 1; turn <= most; turn += 1)
      if ((await store.turn("/c", { prompt: `go on ${(count += 1)}`, session: session.id })).offersSave) return turn;
    return undefined;
  };
  return { storage, store, session, turns };
}

test("a save is offered at the fortieth turn, and not again", async () => {
  const { store, turns } = await recordSession();
  assert.equal(await turns(39), undefined);
  assert.equal(await turns(1), 1);
  assert.equal(await turns(60), undefined);
  await store.close();
});

test("after a save forty turns are counted again, also before anything else was said", async () => {
  const { store, session, turns } = await recordSession();
  assert.equal(await turns(39), undefined);
  await session.stop();
  assert.equal(await turns(39), undefined);
  assert.equal(await turns(1), 1);
  await session.append({ role: "user", content: "And now this." });
  await session.complete();
  assert.equal(await turns(50), 40);
  await store.close();
});

test("that it rested, was renamed or went on is no save", async () => {
  const { storage, store, session, turns } = await recordSession();
  assert.equal(await turns(20), undefined);
  const idle = {
    v: 1,
    id: "01a219a4-ccc8-7000-94aa-da08b5ab9a17",
    timestamp: "2026-01-05T10:00:00.000Z",
    type: "status",
    status: "paused",
    reason: "idle",
  };
  await storage.append(`${session.path}/events.jsonl`, new TextEncoder().encode(`${JSON.stringify(idle)}\n`));
  await session.refresh();
  await session.append({ role: "user", content: "I am back." });
  await session.rename("A title");
  assert.equal(session.metadata.lifecycle, "active");
  assert.equal(await turns(30), 20);
  await store.close();
});

test("what cannot be read of what was told is as if nothing was", async () => {
  const { storage, store, session, turns } = await recordSession();
  await turns(1);
  await storage.replace(`/home/cache/${session.id}.turns`, new TextEncoder().encode("[1"));
  assert.equal(await turns(50), 40);
  await store.close();
});

test("where nothing can be written a turn tells what needs no memory, and nothing that would come again and again", async () => {
  const storage = new MemoryStorage();
  storage.close = async () => {}; // Two stores have it, one after the other.
  const open = () => openStore({ home: "/home", project: "/", storage });
  const before = await open();
  const other = await before.create();
  await other.append({ role: "user", content: "The zephyr gateway listens on port 7443." });
  await before.writeSetting("recall", "prompt");
  await before.close();
  const store = await open();
  const told = await store.turn("/c", { prompt: "On which port does the zephyr gateway listen?" });
  assert.match(told.recalled, /7443/);
  storage.replace = storage.append = async () => {
    throw new LeftoffError({ code: "storage_failed", message: "read only" });
  };
  for (let turn = 0; turn < 3; turn += 1) {
    const { recalled, wantsStop, offersSave } = await store.turn("/d", {
      prompt: "On which port does the zephyr gateway listen?",
      session: other.id,
      hasForgotten: turn === 1,
    });
    assert.deepEqual([recalled, wantsStop, offersSave], ["", false, false]);
  }
  assert.equal((await store.turn("/d", { prompt: "let's stop here for today", session: other.id })).wantsStop, true);
  await store.close().catch(() => {});
});

test("what is asked at once is not told twice, and what the second one can be told beside it is", async () => {
  const storage = new MemoryStorage();
  storage.close = async () => {}; // Two stores have it, as two processes would.
  const open = () => openStore({ home: "/home", project: "/", storage });
  const stores = [await open(), await open()];
  for (const port of [7443, 8021]) {
    const other = await stores[0].create();
    await other.append({ role: "user", content: `The zephyr gateway listens on port ${port}.` });
  }
  await stores[0].writeSetting("recall", "prompt");
  const ask = (/** @type {import("../../js/index.js").Store} */ store) =>
    store.turn("/c", { prompt: "On which port does the zephyr gateway listen?" });
  const told = (await Promise.all([stores[0], stores[1], stores[0]].map(ask))).map(({ recalled }) => recalled);
  for (const port of ["7443", "8021"])
    assert.equal(told.filter((recalled) => recalled.includes(port)).length, 1, told.join());
  for (const store of stores) await store.close();
});

test("where turns are told at once and the setting is for the start of a session, one of them tells", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const other = await store.create();
  await other.append({ role: "user", content: "The zephyr gateway listens on port 7443." });
  await store.writeSetting("recall", "session");
  const asked = [
    "On which port does the zephyr gateway listen?",
    "Does the zephyr gateway listen?",
    "Which port is the gateway's?",
  ];
  const told = await Promise.all(asked.map((prompt) => store.turn("/c", { prompt })));
  assert.equal(told.filter(({ recalled }) => recalled).length, 1);
  await store.close();
});
