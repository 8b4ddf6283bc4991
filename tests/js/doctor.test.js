// @ts-check
// What is wrong with a session is said with the file and the bytes; nothing is mended by looking.
// Tries: src/operation/health.rs, src/operation/store/doctor/
import assert from "node:assert/strict";
import { test } from "node:test";

import { MemoryStorage, openStore } from "../../js/index.js";

const text = (/** @type {Uint8Array | null} */ bytes) => Buffer.from(bytes ?? []).toString("latin1");

/** A session of three messages, the second with a blob. */
async function makeSession() {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create({ title: "a title" });
  await session.append([
    { role: "user", content: "one" },
    { role: "user", content: "x".repeat(300_000) },
    { role: "user", content: "three" },
  ]);
  await session.close();
  const log = `${session.path}/messages.jsonl`;
  const lines = text(await storage.read(log)).split("\n");
  return { storage, store, session, log, lines };
}

/** @param {MemoryStorage} storage @param {string} path @param {string} content */
const put = (storage, path, content) => storage.replace(path, Buffer.from(content, "latin1"));

test("a whole session is ok, and looking at it changes nothing", async () => {
  const { storage, session, log } = await makeSession();
  const before = [await storage.read(log), await storage.read(`${session.path}/events.jsonl`)];
  assert.deepEqual(await session.examine(), { health: "ok", problems: [] });
  assert.deepEqual([await storage.read(log), await storage.read(`${session.path}/events.jsonl`)], before);
});

test("damage is named with its file and its bytes", async () => {
  const { storage, session, log, lines } = await makeSession();
  const [one = "", two = "", three = ""] = lines;
  const changed = two.replace("user", "USER");
  await put(storage, log, `${one}\n${changed}\n${three}\nfragment`);
  const events = text(await storage.read(`${session.path}/events.jsonl`));
  await put(storage, `${session.path}/events.jsonl`, `\0\0\0\n${events}`);
  const { health, problems } = await session.examine();
  assert.equal(health, "damaged");
  const found = problems.map(({ file, code, start, end }) => [file, code, start, end]);
  const second = one.length + 1;
  const tail = second + changed.length + 1 + three.length + 1;
  assert.deepEqual(found, [
    ["events.jsonl", "nul_run", 0, 3],
    ["messages.jsonl", "checksum", second, second + changed.length],
    ["messages.jsonl", "bad_value", second, second + changed.length],
    ["messages.jsonl", "torn_tail", tail, tail + "fragment".length],
  ]);
});

test("a missing blob is damage, at the line that names it", async () => {
  const { storage, session, lines } = await makeSession();
  await storage.remove(`${session.path}/blobs`);
  const { health, problems } = await session.examine();
  const start = (lines[0]?.length ?? 0) + 1;
  assert.equal(health, "damaged");
  assert.deepEqual(
    problems.map(({ file, code, start, end }) => [file, code, start, end]),
    [["messages.jsonl", "missing_blob", start, start + (lines[1]?.length ?? 0)]],
  );
});

test("what a person wrote is no damage, and a log of nothing but damage is unreadable", async () => {
  const { storage, session, log } = await makeSession();
  await put(storage, log, '{"role":"user","content":"by hand"}\n{"note":"mine"}\n');
  const { health, problems } = await session.examine();
  assert.deepEqual([health, problems.map((problem) => problem.code)], ["ok", ["foreign"]]);
  await put(storage, log, "rubbish\n");
  await put(storage, `${session.path}/events.jsonl`, "\0".repeat(100));
  assert.equal((await session.examine()).health, "unreadable");
});

test("doctor tells of each session before it is examined, and of one alone where one is asked for", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  for (let n = 0; n < 20; n += 1) await (await store.create({ title: `session ${n}` })).close();
  /** @type {import("../../js/types/index.js").DoctorProgress[]} */
  const told = [];
  const onProgress = (/** @type {import("../../js/types/index.js").DoctorProgress} */ one) => void told.push(one);
  const reports = await store.doctor({ onProgress });
  assert.equal(reports.length, 20);
  assert.deepEqual(
    told.splice(0),
    reports.map(({ path }, done) => ({ path, done, total: 20 })),
  );
  const [, { id = "", path = "" } = {}] = reports;
  assert.deepEqual(await store.doctor({ id, onProgress }), reports.slice(1, 2));
  assert.deepEqual(told, [{ path, done: 0, total: 1 }]);
  await store.close();
});
