// @ts-check
// Appends that are made again, and appends behind a message that is expected: with others at it, and where git merges
// what two sides wrote.
// Tries: js/session/append-queue.js, src/operation/append_once.rs, src/session/batch.rs
import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";
import { git, inFolder } from "./git-tools.js";

/** @import { Session } from "../../js/index.js" */

/** @param {Session} session @param {{ newestFirst?: boolean }} [options] */
async function contents(session, options) {
  const all = [];
  for await (const { content } of session.messages(options)) all.push(content);
  return all;
}

const user = (/** @type {string} */ content) => ({ role: /** @type {const} */ ("user"), content });

test("appends that are made together are one batch each where they count under conditions of their own", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  const made = [
    session.append(user("plain")),
    session.append(user("once"), { operation: "a" }),
    session.append([user("once more"), user("and more")], { operation: "b" }),
    session.append(user("once"), { operation: "a" }),
    session.append(user("plain again")),
    session.append(user("too late"), { expected: null }).catch((error) => error),
    session.append(user("plain at last")),
  ];
  const [, first, , again, , late] = await Promise.all(made);
  assert.deepEqual(again.records, first.records);
  assert.equal(late.code, "conflict");
  assert.equal(late.came.length, 5);
  assert.deepEqual(await contents(session), ["plain", "once", "once more", "and more", "plain again", "plain at last"]);
  await store.close();
});

test("what was written last under a condition is not read back", async () => {
  let reads = 0;
  class Counting extends MemoryStorage {
    /** @param {Parameters<MemoryStorage["readRange"]>} asked */
    readRange(...asked) {
      reads += 1;
      return super.readRange(...asked);
    }
  }
  const store = await openStore({ home: "/home", project: "/", storage: new Counting() });
  const session = await store.create();
  await session.append(user("first"));
  reads = 0;
  const {
    records: [said],
  } = await session.append(user("once"), { operation: "a" });
  assert.equal(reads, 0);
  const {
    records: [again],
  } = await session.append(user("once"), { operation: "a" });
  assert.deepEqual([again, reads > 0], [said, true]);
  await store.close();
});

test("of writers that expect the same message one is first, and the others are told what came", async () => {
  const storage = new MemoryStorage();
  const stores = await Promise.all(
    Array.from({ length: 8 }, () => openStore({ home: "/home", project: "/", storage })),
  );
  const { id } = await /** @type {any} */ (stores[0]).create();
  const sessions = await Promise.all(stores.map((store) => store.session(id)));
  /** @type {string | null} */
  let expected = null;
  for (let round = 0; round < 20; round += 1) {
    /** @type {any[]} */
    const answers = await Promise.all(
      sessions.map((session, at) => session.append(user(`${round} by ${at}`), { expected }).catch((error) => error)),
    );
    const won = answers.filter(({ records }) => records);
    assert.equal(won.length, 1, "one is first");
    const last = won[0]?.records[0].id;
    for (const { code, came } of answers.filter(({ records }) => !records))
      assert.deepEqual([code, came], ["conflict", [last]]);
    expected = last;
  }
  for (const session of sessions) assert.equal((await contents(session)).length, 20);
  // A store that is closed closes its storage, and all have the same.
  for (const session of sessions) await session.close();
});

test("a batch that nobody finished counts for nobody, in whatever way it is read, also by who follows", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create();
  await session.append(user("before"));
  const ended = new AbortController();
  const followed = session.follow({ signal: ended.signal });
  const next = followed.next();
  const line = (/** @type {number} */ at) =>
    `{"v":1,"batch":{"operation":"x","hash":"h","line":${at},"lines":2},"id":"of-x-${at}","role":"user","content":"x ${at}"}\n`;
  const log = join(session.path, "messages.jsonl");
  const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);
  await storage.append(log, bytes(line(0)));
  assert.deepEqual(await contents(session), ["before"]);
  assert.deepEqual(await contents(session, { newestFirst: true }), ["before"]);
  await storage.append(log, bytes(line(1)));
  assert.deepEqual(await contents(session), ["before", "x 0", "x 1"]);
  assert.equal((await next).value.content, "x 0");
  ended.abort();
  await store.close();
});

/**
 * A conversation in a repository, to which two sides append on branches that git merges.
 * @param {(side: { session: Session, name: string, last: string }) => Promise<void>} append
 * @param {(session: Session) => Promise<void>} check
 */
async function checkMerged(append, check) {
  await inFolder(async (folder) => {
    const project = join(folder, "top");
    git(folder, "init", "--quiet", "top");
    const opened = (/** @type {string} */ name) => openStore({ home: join(folder, name), project });
    const store = await opened("main");
    const begun = await store.create({ placement: "workspace", name: "plan", type: "chat" });
    const { records } = await begun.append(user("base"));
    const { id } = begun;
    await store.close();
    git(project, "add", ".");
    git(project, "commit", "--quiet", "--message=begun");
    git(project, "branch", "side");
    for (const name of ["side", "main"]) {
      git(project, "checkout", "--quiet", name);
      const store = await opened(name);
      await append({ session: await store.session(id), name, last: records[0]?.id ?? "" });
      await store.close();
      git(project, "add", ".");
      git(project, "commit", "--quiet", `--message=${name}`);
    }
    try {
      git(project, "merge", "--quiet", "--no-edit", "side");
    } catch {
      // The document is made again from the logs.
      git(project, "checkout", "--quiet", "--ours", ":(glob)**/session.json");
    }
    for (const name of ["main", "side", "other"]) {
      const store = await opened(name);
      const session = await store.session(id);
      await check(session);
      assert.deepEqual((await contents(session, { newestFirst: true })).reverse(), await contents(session));
      assert.deepEqual((await session.examine()).problems, []);
      await store.close();
    }
    assert.ok(fs.existsSync(project));
  });
}

test("what both sides had acknowledged behind the same message counts once git has merged it", async () => {
  await checkMerged(
    async ({ session, name, last }) => {
      const { records } = await session.append(user(`${name} 1`), { expected: last });
      await session.append([user(`${name} 2`), user(`${name} 3`)], { expected: records[0]?.id });
    },
    async (session) =>
      assert.deepEqual((await contents(session)).sort(), [
        "base",
        "main 1",
        "main 2",
        "main 3",
        "side 1",
        "side 2",
        "side 3",
      ]),
  );
});

test("an operation that both sides did counts once when git has merged it, and what followed it still follows it", async () => {
  await checkMerged(
    async ({ session, name }) => {
      await session.append([user("shared 1"), user("shared 2")], { operation: "shared" });
      await session.append(user(`${name} after it`));
    },
    async (session) =>
      assert.deepEqual((await contents(session)).sort(), [
        "base",
        "main after it",
        "shared 1",
        "shared 2",
        "side after it",
      ]),
  );
});
