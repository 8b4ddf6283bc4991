// @ts-check
// What was tried to break a store, and did.
// Tries: js/store/store.js, js/session/session.js, src/operation/session_files.rs
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { LeftoffError, countTokens, openStore as open } from "../../js/index.js";

/**
 * Those that a trial leaves open: Windows takes no folder away in which a file is.
 * @type {import("../../js/index.js").Store[]}
 */
const stores = [];

/** @type {typeof open} */
const openStore = async (options) => {
  const store = await open(options);
  stores.push(store);
  return store;
};

/** @param {string} what @param {(home: string) => Promise<void>} work */
function trial(what, work) {
  test(what, async () => {
    const home = mkdtempSync(join(tmpdir(), "leftoff-trials-"));
    try {
      await work(home);
    } finally {
      // What a trial broke need not close.
      await Promise.allSettled(stores.splice(0).map((store) => store.close()));
      rmSync(home, { recursive: true });
    }
  });
}

/** @param {string} code */
const refusedAs = (code) => (/** @type {unknown} */ error) => error instanceof LeftoffError && error.code === code;

/** @param {AsyncIterable<any>} all */
async function contents(all) {
  const list = [];
  for await (const { content } of all) list.push(content);
  return list;
}

const userMessage = (/** @type {string} */ content) => ({ role: "user", content });
const request = /** @type {const} */ ({ window: 8_000, encoding: "estimate-1" });

trial("a sub-agent's session is opened by its id, and listed when it is asked for", async (home) => {
  const store = await openStore({ home, project: home });
  const { id } = await store.create({ type: "subagent" });
  await store.close();
  const again = await openStore({ home, project: home });
  assert.equal((await again.session(id)).id, id);
  assert.deepEqual(
    [
      (await again.list()).length,
      (await again.list({ type: null })).length,
      (await again.list({ type: "subagent" })).length,
    ],
    [0, 1, 1],
  );
});

trial("a list tells of messages whose writer did not come to write what is derived", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  await session.append([userMessage("one"), userMessage("two")]);
  const now = Date.now() / 1000;
  utimesSync(join(session.path, "metadata.json"), now - 10, now - 10);
  const [listed] = await (await openStore({ home, project: home })).list();
  assert.deepEqual([listed?.messageCount, listed?.title], [2, "one"]);
});

trial("what one of two writers closes counts what the other appended", async (home) => {
  const [one, two] = [await openStore({ home, project: home }), await openStore({ home, project: home })];
  const first = await one.create();
  const second = await two.session(first.id);
  await second.append(userMessage("by the second"));
  await first.append([userMessage("by the first"), userMessage("by the first")]);
  await one.close();
  await two.close();
  assert.equal((await (await openStore({ home, project: home })).list())[0]?.messageCount, 3);
});

trial("one session that cannot be read costs no other", async (home) => {
  const store = await openStore({ home, project: home });
  const [bad, good] = [await store.create({ title: "bad" }), await store.create({ title: "good" })];
  for (const session of [bad, good]) await session.append(userMessage("said"));
  await store.close();
  rmSync(join(bad.path, "metadata.json"));
  rmSync(join(bad.path, "messages.jsonl"));
  mkdirSync(join(bad.path, "messages.jsonl"));
  const again = await openStore({ home, project: home });
  assert.deepEqual(
    (await again.list()).map(({ title, status }) => [title, status]),
    [
      ["good", "active"],
      ["", "unreadable"],
    ],
  );
  assert.deepEqual(await contents((await again.session(good.id)).messages()), ["said"]);
  await assert.rejects(again.session(bad.id), refusedAs("not_a_file"));
});

trial("a cache that cannot be read costs a reading, nothing else", async (home) => {
  const store = await openStore({ home, project: home });
  const { id } = await store.create();
  await (await store.session(id)).append(userMessage("said"));
  await store.close();
  rmSync(join(home, "cache", `${id}.json`));
  mkdirSync(join(home, "cache", `${id}.json`));
  assert.deepEqual(await contents((await (await openStore({ home, project: home })).session(id)).messages()), ["said"]);
});

trial("a folder in a log's place is no empty log", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  await session.append(userMessage("said"));
  const log = join(session.path, "messages.jsonl");
  renameSync(log, `${log}.aside`);
  mkdirSync(log);
  await assert.rejects(contents(session.messages()), refusedAs("not_a_file"));
  await assert.rejects(session.examine(), refusedAs("not_a_file"));
});

trial("a folder in a blob's place costs the middle of its text", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  await session.append([userMessage("x".repeat(300_000)), userMessage("after")]);
  const blobs = join(session.path, "blobs");
  for (const name of readdirSync(blobs)) {
    rmSync(join(blobs, name));
    mkdirSync(join(blobs, name));
  }
  const [long, after] = await contents(session.messages());
  assert.deepEqual([long.length < 10_000, after], [true, "after"]);
  assert.deepEqual(
    (await session.examine()).problems.map(({ code }) => code),
    ["missing_blob"],
  );
});

trial("a log that vanished is missed", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  await session.append([userMessage("one"), userMessage("two")]);
  await session.close();
  for (const [name, others] of /** @type {const} */ ([
    ["messages.jsonl", []],
    ["events.jsonl", ["messages.jsonl"]],
  ])) {
    rmSync(join(session.path, name));
    const again = await (await openStore({ home, project: home })).session(session.id);
    const { health, problems } = await again.examine();
    assert.equal(health, "damaged");
    assert.deepEqual(
      problems.map(({ file, code }) => [file, code]).toSorted(),
      [name, ...others].map((file) => [file, "vanished"]).toSorted(),
    );
  }
});

trial("what is no text is not counted, and stops no other call", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  const appending = session.append(userMessage("said"));
  await assert.rejects(countTokens(/** @type {any} */ (5)), refusedAs("invalid_request"));
  assert.equal((await appending).acknowledged, "durable");
});

trial("a counter may append", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  await session.append(userMessage("said"));
  let isFirst = true;
  /** @param {string[]} texts */
  const count = async (texts) => {
    if (isFirst) await session.append(userMessage("while counting"));
    isFirst = false;
    return texts.map(() => 1);
  };
  await session.context({ window: 8_000, encoding: "another", count });
  assert.deepEqual(await contents(session.messages()), ["said", "while counting"]);
});

trial("a session that is asked for twice at once is one", async (home) => {
  const { id } = await (await openStore({ home, project: home })).create();
  const store = await openStore({ home, project: home });
  const [one, two] = await Promise.all([store.session(id), store.session(id)]);
  assert.equal(one, two);
});

trial("a project that is gone on with twice at once has one session", async (home) => {
  const store = await openStore({ home, project: home });
  const [one, two] = await Promise.all([store.continue(), store.continue()]);
  assert.equal(one, two);
  await assert.rejects(one.context(/** @type {any} */ (undefined)), refusedAs("invalid_request"));
});

trial("a draft is appended as it was when it was given", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  const draft = userMessage("as given");
  const appending = session.append(draft);
  draft.content = "changed";
  await appending;
  assert.deepEqual(
    (await session.context(request)).messages.map(({ content }) => content),
    ["as given"],
  );
});

trial("a durability that there is not is refused", async (home) => {
  const session = await (await openStore({ home, project: home })).create();
  await assert.rejects(
    session.append(userMessage("said"), { durability: /** @type {any} */ ("sure") }),
    refusedAs("invalid_request"),
  );
});

trial("a home that is no folder is refused", async (home) => {
  const file = join(home, "file");
  writeFileSync(file, "not a store");
  await assert.rejects(openStore({ home: file, project: home }), refusedAs("not_a_folder"));
});
