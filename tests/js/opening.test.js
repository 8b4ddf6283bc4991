// @ts-check
// One object for each session that is open, whoever finds out where it lies: the caller, the timer, another process, a
// hand.
// Tries: js/store/open-sessions.js, src/operation/store/open_sessions.rs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, test } from "node:test";

import { openStore } from "../../js/index.js";
import { setClock } from "../../js/wasm/clock.js";

/** @typedef {import("../../js/store/store.js").Store} Store */
/** @typedef {import("../../js/session/session.js").Session} Session */

/** @param {string} content @returns {import("../../js/types/index.js").Draft} */
const user = (content) => ({ role: "user", content });
const CLOCK = { now: Date.now, offsetMinutes: () => 0, entropy: () => crypto.getRandomValues(new Uint8Array(32)) };
const CHAT = { object: "chat.completion", choices: [{ message: { role: "assistant", content: "answered" } }] };

/** @param {Session} session */
async function texts(session) {
  const all = [];
  for await (const { content } of session.messages()) all.push(content);
  return all;
}

afterEach(() => setClock());

/** The folder of a conversation, renamed as a person does it. @param {Session} session */
function renameFolder(session) {
  const folder = dirname(session.path);
  renameSync(folder, join(dirname(folder), `${basename(folder)}-renamed`));
}

/** Until something is so; the suite's own time is what ends a test in which it never is. @param {() => boolean} is */
async function waitUntil(is) {
  while (!is()) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * @param {(given: { store: Store, options: { home: string, project: string }, folder: string }) => Promise<void>} work
 * @param {{ idleMs?: number }} [more]
 */
async function inStore(work, more) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "leftoff-opening-")));
  const options = { home: join(folder, "home"), project: join(folder, "project") };
  mkdirSync(options.project);
  const store = await openStore({ ...options, ...more });
  try {
    await work({ store, options, folder });
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

test("whole answers and what is refused among appends that wait cost the others nothing", () =>
  inStore(async ({ store }) => {
    const session = await store.create();
    await session.append(user("first"));
    const part = /** @type {any} */ ({ stepNumber: 0, finishReason: "stop" });
    const drafts = [user("a"), CHAT, part, CHAT, user("b")];
    const all = await Promise.allSettled(drafts.map((draft) => session.append(/** @type {any} */ (draft))));
    assert.deepEqual(
      all.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"],
    );
    assert.deepEqual(await texts(session), ["first", "a", "answered", "answered", "b"]);
  }));

for (const [from, to] of /** @type {const} */ ([
  ["home", "workspace"],
  ["workspace", "home"],
])) {
  test(`an object of one that was moved from ${from} to ${to} goes on there, and the store closes`, () =>
    inStore(async ({ store }) => {
      const session = await store.create({ placement: from, title: "The parser" });
      await session.append(user("before"));
      const moved = await store.move(session, { to });
      await session.append(user("behind"));
      await moved.append(user("there"));
      assert.deepEqual(await texts(moved), ["before", "behind", "there"]);
    }));
}

test("an object that was closed and one that another store has moved close together", () =>
  inStore(async ({ store, options }) => {
    const session = await store.create();
    await session.append(user("before"));
    await session.close();
    const other = await openStore(options);
    await other.move(await other.session(session.id), { to: "workspace" });
    await other.close();
    const again = await store.session(session.id);
    await session.append(user("by the old one"));
    await again.append(user("by the new one"));
    assert.deepEqual(await texts(again), ["before", "by the old one", "by the new one"]);
  }));

test("one whose folder is renamed while a timer looks after it is the same object, and loses no append", () =>
  inStore(
    async ({ store }) => {
      const session = await store.create({ placement: "workspace", title: "The parser" });
      await session.append(user("before"));
      renameFolder(session);
      await waitUntil(() => session.path.includes("renamed"));
      const [, again] = await Promise.all([session.append(user("behind")), store.session(session.id)]);
      assert.equal(again, session);
      await Promise.all([session.append(user("one")), again.append(user("two"))]);
      assert.deepEqual(await texts(session), ["before", "behind", "one", "two"]);
    },
    { idleMs: 50 },
  ));

test("one whose folder is renamed while somebody follows it is the same object", () =>
  inStore(async ({ store }) => {
    const session = await store.create({ placement: "workspace", title: "The parser" });
    await session.append(user("before"));
    const followed = new AbortController();
    const following = (async () => {
      for await (const _ of session.follow({ signal: followed.signal })) continue;
    })();
    renameFolder(session);
    await waitUntil(() => session.path.includes("renamed"));
    const again = await store.session(session.id);
    assert.equal(again, session);
    await Promise.all([session.append(user("one")), again.append(user("two"))]);
    followed.abort();
    await following;
    assert.deepEqual(await texts(session), ["before", "one", "two"]);
  }));

test("one of a project that was relocated goes on, whoever asks for it meanwhile", () =>
  inStore(async ({ store, options, folder }) => {
    const session = await store.create();
    await session.append(user("before"));
    mkdirSync(join(folder, "other"));
    await store.relocate(options.project, join(folder, "other"));
    const [, again] = await Promise.all([session.append(user("behind")), store.session(session.id)]);
    await again.append(user("there"));
    assert.deepEqual(await texts(again), ["before", "behind", "there"]);
  }));

test("a store that is closed by two at once is closed, and once more", () =>
  inStore(async ({ store }) => {
    const session = await store.create();
    await session.append(user("before"));
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await assert.rejects(session.append(user("behind")), { code: "storage_closed" });
    await store.close();
    await session.close();
  }));

test("another session in the folder of one that was closed is itself", () =>
  inStore(async ({ store }) => {
    const one = await store.create({ placement: "workspace", title: "one" });
    const other = await store.create({ placement: "workspace", title: "other" });
    await one.append(user("of one"));
    await other.append(user("of the other"));
    await one.close();
    // A file that was looked at just now is believed to be where it was.
    setClock({ ...CLOCK, ticks: () => performance.now() + 60_000 });
    renameSync(one.path, `${one.path}.away`);
    renameSync(other.path, one.path);
    const found = await store.session(other.id);
    assert.equal(found.id, other.id);
    assert.deepEqual(await texts(found), ["of the other"]);
  }));

test("that one could not be paused is said once", () =>
  inStore(
    async ({ store }) => {
      const session = await store.create({ placement: "workspace", title: "The parser" });
      await session.append(user("before"));
      const away = join(dirname(store.home), "away");
      renameSync(dirname(session.path), away);
      await waitUntil(() => session.notices.length > 0);
      // Three more turns of the timer, by a session that rests beside it.
      for (let turn = 0; turn < 3; turn += 1) {
        const other = await store.create();
        await other.append(user("beside"));
        await waitUntil(() => other.notices.length > 0);
      }
      assert.deepEqual(
        session.notices.map(({ code }) => code),
        ["not_paused"],
      );
    },
    { idleMs: 50 },
  ));
