// @ts-check
// A session and its store, from end to end: what is appended is there for each reader, whatever fails between.
// Tries: js/session/session.js, js/store/store.js, src/operation/session_files.rs, src/operation/append.rs
import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { LeftoffError, MemoryStorage, countTokens, openStore, readTranscript } from "../../js/index.js";
import { FailingStorage } from "./failing-storage.js";

const claude = fileURLToPath(
  new URL("../fixtures/claude-code/real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl", import.meta.url),
);

/** @param {(home: string) => Promise<void>} work */
async function inFolder(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-test-"));
  try {
    await work(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** @param {AsyncIterable<any>} all */
async function collect(all) {
  const list = [];
  for await (const one of all) list.push(one);
  return list;
}

/** @param {string} code */
const refusedAs = (code) => (/** @type {unknown} */ error) =>
  error instanceof LeftoffError && error.code === code && error.message.length > 10;

test("what is appended is there when the store is opened again, lone surrogates too", () =>
  inFolder(async (home) => {
    const texts = ["plain", "\ud83d alone", "line\u2028separator", "x".repeat(300_000)];
    let store = await openStore({ home, project: home });
    const session = await store.continue({ model: "gpt-5" });
    const answers = [];
    for (const content of texts) answers.push(await session.append({ role: "user", content }));
    assert.deepEqual(
      answers.map((answer) => answer.acknowledged),
      ["durable", "durable", "durable", "durable"],
    );
    await store.close();
    store = await openStore({ home, project: home });
    const again = await store.continue();
    assert.equal(again.id, session.id);
    assert.deepEqual(
      (await collect(again.messages())).map((message) => message.content),
      texts,
    );
    const [listed] = await store.list();
    assert.deepEqual([listed?.messageCount, listed?.title, listed?.status], [4, "plain", "active"]);
    await store.close();
  }));

test("two stores that append to one session both see every message", () =>
  inFolder(async (home) => {
    const first = await openStore({ home, project: home });
    const one = await first.continue();
    await one.append({ role: "user", content: "0" });
    await one.close();
    const second = await openStore({ home, project: home });
    const two = await second.session(one.id);
    for (let n = 1; n < 20; n += 1) await (n % 2 ? two : one).append({ role: "user", content: String(n) });
    const expected = Array.from({ length: 20 }, (_, n) => String(n));
    for (const session of [one, two]) {
      const { messages } = await session.context({ window: 8_000, encoding: "estimate-1" });
      assert.deepEqual(
        messages.map((message) => message.content),
        expected,
      );
    }
    await first.close();
    await second.close();
  }));

test("a branch or a revision behind a checkpoint finds what lies before it", () =>
  inFolder(async (home) => {
    const store = await openStore({ home, project: home });
    const first = await store.continue();
    const { records } = await first.append(["one", "two", "three"].map((content) => ({ role: "user", content })));
    await first.close();
    const session = await (await openStore({ home, project: home })).session(first.id);
    /** @param {any} context */
    const said = ({ messages }) => messages.map((/** @type {any} */ message) => message.content);
    const request = { window: 8_000, encoding: /** @type {const} */ ("estimate-1") };
    await session.append({ role: "user", content: "two, anew", id: records[1]?.id, rev: 1 });
    assert.deepEqual(said(await session.context(request)), ["one", "two, anew", "three"]);
    assert.equal(session.metadata.stats.messageCount, 3);
    await session.append({ role: "user", content: "another way", branch: true, parentId: records[0]?.id });
    assert.deepEqual(said(await session.context(request)), ["one", "another way"]);
  }));

test("a context goes on from where another process went on", () =>
  inFolder(async (home) => {
    const session = await (await openStore({ home, project: home })).continue();
    const {
      records: [one, two],
    } = await session.append(["one", "two"].map((content) => ({ role: "user", content })));
    await session.append({ role: "user", content: "another way", branch: true, parentId: one?.id });
    /** @param {string | undefined} messageId */
    const goOn = (messageId) =>
      appendFileSync(
        join(session.path, "events.jsonl"),
        `${JSON.stringify({ v: 1, id: `leaf-${messageId}`, type: "leaf", messageId })}\n`,
      );
    const said = async () =>
      (await session.context({ window: 8_000, encoding: "estimate-1" })).messages.map((message) => message.content);
    assert.deepEqual(await said(), ["one", "another way"]);
    goOn(two?.id);
    assert.deepEqual(await said(), ["one", "two"]);
  }));

test("what is derived may be damaged, and the event that began a session lost: all is listed and read", () =>
  inFolder(async (home) => {
    const store = await openStore({ home, project: home });
    const { id, path } = await store.create({ title: "kept" });
    await (await store.session(id)).append({ role: "user", content: "hello" });
    await (await store.create({ title: "beside it" })).close();
    await store.close();
    const look = async () => {
      const again = await openStore({ home, project: home });
      const found = (await again.list()).find((one) => one.id === id);
      const messages = await collect((await again.session(id)).messages());
      await again.close();
      return [found?.title, messages.map((one) => one.content)];
    };
    const hollow = JSON.stringify({ id, display: {}, timestamps: {}, stats: {} });
    for (const damaged of ["", "{", "[]", "null", '{"id":"another"}', "\0\0\0\0", hollow]) {
      writeFileSync(join(path, "metadata.json"), damaged);
      assert.deepEqual(await look(), ["kept", ["hello"]], damaged);
    }
    rmSync(join(path, "events.jsonl"));
    rmSync(join(path, "metadata.json"));
    assert.deepEqual(await look(), ["hello", ["hello"]]);
  }));

test("importing again gives the same session and adds only what is new", () =>
  inFolder(async (home) => {
    const file = join(home, "grown.jsonl");
    const lines = readFileSync(claude, "utf8").split("\n");
    const store = await openStore({ home, project: home });
    writeFileSync(file, `${lines.slice(0, 40).join("\n")}\n`);
    const { imported: first } = await store.import(file);
    writeFileSync(file, lines.join("\n"));
    const { imported: second } = await store.import(file);
    const { imported: third } = await store.import(file);
    assert.equal(second[0]?.id, first[0]?.id);
    assert.ok(/** @type {number} */ (second[0]?.added) > 0);
    assert.equal(third[0]?.added, 0);
    const session = await store.session(/** @type {string} */ (first[0]?.id));
    assert.equal((await collect(session.messages())).length, third[0]?.messageCount);
    await store.close();
  }));

test("a checkpoint that is deleted, damaged or of another log costs nothing but a reading", async () => {
  const storage = new MemoryStorage();
  const open = () => openStore({ home: "/home", project: "/", storage });
  const session = await (await open()).continue();
  for (let n = 0; n < 50; n += 1) await session.append({ role: "user", content: `message ${n}` });
  await session.close();
  const path = `/home/cache/${session.id}.json`;
  const good = /** @type {Uint8Array} */ (await storage.read(path));
  const text = new TextDecoder().decode(good);
  const spoiled = [
    good,
    null,
    new Uint8Array(),
    new TextEncoder().encode("{}"),
    good.subarray(0, 100),
    new TextEncoder().encode(text.replace('"bytes":', '"bytes":1')),
    new TextEncoder().encode(text.replace(/"lastLineHash":"./, '"lastLineHash":"x')),
  ];
  for (const bytes of spoiled) {
    await (bytes ? storage.replace(path, bytes) : storage.remove(path));
    const { messages } = await (
      await (await open()).session(session.id)
    ).context({ window: 8_000, encoding: "estimate-1" });
    assert.equal(messages.length, 50);
  }
});

test("a context from a log of 100 MB reads as many bytes as one from a log of 3 MB, beside what recall reads of it once", async () => {
  const open = (/** @type {FailingStorage} */ storage) => openStore({ home: "/home", project: "/", storage });
  const read = async (/** @type {number} */ megabytes) => {
    const storage = new FailingStorage();
    const session = await (await open(storage)).continue();
    const log = `${session.path}/messages.jsonl`;
    const size = async () => (await storage.stat(log))?.size ?? 0;
    // Long lines, so that a hundred megabytes are written in seconds; the newest part is the same in both logs.
    const old = Array.from({ length: 64 }, () => ({ role: "assistant", content: "old words and ".repeat(1_000) }));
    const newest = Array.from({ length: 200 }, (_, n) => ({
      role: n % 9 ? "assistant" : "user",
      content: `${n} ${"new words and ".repeat(n)}`,
    }));
    const end = megabytes * 1_000_000;
    while ((await size()) < end - 1_300_000) await session.append(old, { durability: "buffered" });
    while ((await size()) < end - 320_000) await session.append(old.slice(0, 1), { durability: "buffered" });
    await session.append(newest, { durability: "buffered" });
    await session.close();
    assert.ok(Math.abs((await size()) - end) < 40_000, `${await size()} bytes`);
    storage.bytesRead = 0;
    const again = await (await open(storage)).session(session.id);
    const opening = storage.bytesRead;
    const { messages, report } = await again.context({ window: 32_000, encoding: "estimate-1", recall: 0 });
    assert.ok(messages.every((message) => !message.content.startsWith("old")) && report.unreadMessageCount > 0);
    return {
      opening,
      context: storage.bytesRead - opening,
      kept: messages.map((message) => message.content.slice(0, 6)),
    };
  };
  const [short, long] = [await read(3), await read(100)];
  assert.ok(Math.abs(short.opening - long.opening) < 64 * 1024, `${short.opening} and ${long.opening}`);
  assert.ok(Math.abs(short.context - long.context) < 64 * 1024, `${short.context} and ${long.context}`);
  assert.deepEqual(short.kept, long.kept);
});

test("a write of which nobody can say is made again, and the message stands once", async () => {
  const storage = new FailingStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.continue();
  await session.append({ role: "user", content: "before" });
  storage.failNext("append", { written: 30 });
  await session.append({ role: "user", content: "torn, then whole" });
  storage.failNext("append", { written: Infinity });
  await session.append({ role: "user", content: "whole, then again" });
  const { messages, originalMessageCount } = await session.context({ window: 8_000, encoding: "estimate-1" });
  assert.deepEqual(
    messages.map((message) => message.content),
    ["before", "torn, then whole", "whole, then again"],
  );
  assert.equal(originalMessageCount, 3);
});

test("a write that never happened is an error each time, and the session goes on", async () => {
  const storage = new FailingStorage();
  const session = await (await openStore({ home: "/home", project: "/", storage })).continue();
  for (let n = 0; n < 3; n += 1) {
    storage.failNext("append", { code: "disk_full", written: 0 });
    await assert.rejects(session.append({ role: "user", content: "lost" }), refusedAs("disk_full"));
  }
  await session.append({ role: "user", content: "kept" });
  const { messages } = await session.context({ window: 8_000, encoding: "estimate-1" });
  assert.deepEqual(
    messages.map((message) => message.content),
    ["kept"],
  );
});

test("a session that cannot be closed keeps no other open", () =>
  inFolder(async (home) => {
    const store = await openStore({ home, project: home });
    const [first, second] = [await store.create(), await store.create()];
    for (const session of [first, second]) await session.append({ role: "user", content: "said" });
    const document = join(first.path, "metadata.json");
    rmSync(document);
    mkdirSync(document);
    await assert.rejects(store.close(), refusedAs("not_a_file"));
    assert.equal(JSON.parse(readFileSync(join(second.path, "metadata.json"), "utf8")).stats.messageCount, 1);
  }));

test("a transcript is read without a store", async () => {
  const transcript = await readTranscript(claude);
  assert.equal(transcript.slice(0, 5).length, 5);
  const { report, messages } = await transcript.context({ window: 32_000 });
  assert.equal(messages.length, transcript.length);
  // That of Claude, whose transcript it is.
  assert.equal(report.encoding, "estimate-1");
});

test("what is no transcript is refused with a code", async () => {
  await assert.rejects(readTranscript(new Uint8Array()), refusedAs("empty_file"));
  await assert.rejects(readTranscript(crypto.getRandomValues(new Uint8Array(5000))), refusedAs("unknown_format"));
  await assert.rejects(readTranscript("/nowhere/at-all.jsonl"), refusedAs("not_found"));
});

test("wrong calls are refused with a code", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  await assert.rejects(session.append(/** @type {any} */ ({ content: "no role" })), refusedAs("invalid_request"));
  await assert.rejects(session.context(/** @type {any} */ ({})), refusedAs("invalid_request"));
  await assert.rejects(session.context({ window: 4_000, encoding: "of-mars", system: "x" }), refusedAs("no_counter"));
  await assert.rejects(store.session("nobody"), refusedAs("not_found"));
  await assert.rejects(openStore({ project: "/nowhere/at-all" }), refusedAs("not_found"));
  await assert.rejects(countTokens("x", { encoding: "of-mars" }), refusedAs("no_counter"));
});

test("the caller's own counter counts, and the budget holds by it", async () => {
  const session = await (await openStore({ home: "/home", project: "/", storage: new MemoryStorage() })).create();
  for (let n = 0; n < 40; n += 1) await session.append({ role: "user", content: "x".repeat(100) });
  const count = async (/** @type {string[]} */ texts) => texts.map((text) => text.length);
  const context = await session.context({ window: 2_000, encoding: "letters", count });
  assert.ok(context.tokensUsed <= context.tokenBudget && context.includedMessageCount < 40);
  const used = context.messages.reduce((/** @type {number} */ sum, message) => sum + message.content.length + 4, 0);
  assert.equal(context.tokensUsed, used);
});

test("appends that are made together share a batch, and a bad one costs no other", async () => {
  const storage = new MemoryStorage();
  let writes = 0;
  const append = storage.append.bind(storage);
  storage.append = (path, bytes, options) => {
    if (path.endsWith("messages.jsonl")) writes += 1;
    return append(path, bytes, options);
  };
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create();
  const together = await Promise.all(
    Array.from({ length: 50 }, (_, n) =>
      session.append([
        { role: "user", content: `${n}` },
        { role: "user", content: "-" },
      ]),
    ),
  );
  assert.ok(writes <= 2, `${writes} writes`);
  assert.deepEqual(
    together.map(({ records }) => records.map((record) => record.content)),
    Array.from({ length: 50 }, (_, n) => [`${n}`, "-"]),
  );
  const drafts = [
    { role: "user", content: "good" },
    { role: "nobody", content: "bad" },
    { role: "user", content: 1n },
    { role: "user", content: "good too" },
  ];
  const settled = await Promise.allSettled(drafts.map((draft) => session.append(draft)));
  assert.deepEqual(
    settled.map((one) => one.status),
    ["fulfilled", "rejected", "rejected", "fulfilled"],
  );
  assert.equal((await collect(session.messages())).length, 102);
});
