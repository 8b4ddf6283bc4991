// @ts-check
// OpenCode's database and folders become what its own export says.
// Tries: js/agents/opencode.js, src/interop/opencode/
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { sessionsOfTree } from "../../js/agents/files.js";
import { sessionsOfDatabase } from "../../js/agents/opencode.js";
import { agents } from "../../js/wasm/agents.js";

await agents.ready();

const fixtures = new URL("../fixtures/opencode/", import.meta.url);
/** @param {string} path */
const bytes = (path) => new Uint8Array(readFileSync(new URL(path, fixtures)));
/** @param {string | Uint8Array} text @returns {any} */
const parseJson = (text) => JSON.parse(typeof text === "string" ? text : new TextDecoder().decode(text));
const REAL = "real/1.18.33/";

/** @param {AsyncIterable<{ id: string, bytes: Uint8Array }>} sessions @returns {Promise<Map<string, any>>} */
async function documents(sessions) {
  const all = new Map();
  for await (const { id, bytes } of sessions) all.set(id, parseJson(bytes));
  return all;
}

/** What the client's own export says. @returns {Map<string, any>} */
function exportsOfClient() {
  const names = readdirSync(new URL(REAL, fixtures)).filter((name) => name.endsWith(".json"));
  return new Map(names.map((name) => [name.slice(0, -5), parseJson(bytes(REAL + name))]));
}

/** @param {string} path @param {(file: string) => boolean} [isKept] */
function folder(path, isKept = () => true) {
  const paths = readdirSync(new URL(path, fixtures), { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const base = fileURLToPath(new URL(path, fixtures));
  return {
    paths: paths
      .map((entry) => join(entry.parentPath, entry.name).slice(base.length).replaceAll("\\", "/"))
      .filter(isKept),
    read: (/** @type {string} */ file) => bytes(path + file),
  };
}

/**
 * The sessions of older folders, by their ids.
 * @param {{ paths: string[], read(path: string): Uint8Array }} files
 * @returns {Promise<Map<string, any>>}
 */
async function inTree({ paths, read }) {
  const all = await collect(sessionsOfTree(paths, async (path) => read(path)));
  return new Map(all.map(parseJson).map((session) => [session.info.id, session]));
}

test("a database with a WAL that nobody has checkpointed gives what the client's export gives", async () => {
  const database = bytes(`${REAL}opencode.db`),
    wal = bytes(`${REAL}opencode.db-wal`);
  const before = [Buffer.from(database), Buffer.from(wal)];
  const read = await documents(sessionsOfDatabase({ database, wal }));
  const expected = exportsOfClient();
  assert.deepEqual([...read.keys()].sort(), [...expected.keys()].sort());
  for (const [id, document] of expected) assert.deepEqual(read.get(id), document, id);
  assert.deepEqual([Buffer.from(database), Buffer.from(wal)], before);
});

test("what is only in the WAL is missing without it, and a WAL of another database adds nothing", async () => {
  const database = bytes(`${REAL}opencode.db`),
    wal = bytes(`${REAL}opencode.db-wal`);
  const said = (/** @type {Map<string, any>} */ all) =>
    [...all.values()].reduce((sum, { messages }) => sum + messages.length, 0);
  const whole = said(exportsOfClient());
  const without = said(await documents(sessionsOfDatabase({ database })));
  assert.ok(without > 0 && without < whole);
  const foreign = wal.slice();
  foreign[16] ^= 1;
  assert.equal(said(await documents(sessionsOfDatabase({ database, wal: foreign }))), without);
  // A client that was killed while it wrote: the last commit that is whole counts.
  const torn = said(await documents(sessionsOfDatabase({ database, wal: wal.subarray(0, wal.length - 5000) })));
  assert.ok(torn >= without && torn <= whole);
});

test("one session is read at a time, and bytes may lie anywhere in a buffer", async () => {
  const wide = Buffer.concat([Buffer.alloc(7), bytes(`${REAL}opencode.db`)]).subarray(7);
  const sessions = sessionsOfDatabase({ database: wide });
  const { value } = await sessions.next();
  assert.ok(value && parseJson(value.bytes).info.id === value.id);
  await sessions.return();
  assert.deepEqual(await sessions.next(), { value: undefined, done: true });
});

test("what is no database of opencode is refused", async () => {
  const sound = bytes(`${REAL}opencode.db`);
  const empty = new Uint8Array(0),
    text = new TextEncoder().encode("no database ".repeat(1000));
  for (const database of [empty, text])
    await assert.rejects(documents(sessionsOfDatabase({ database })), { code: "unknown_format" });
  // One of which a part is missing is told, whoever looks through all files.
  await assert.rejects(documents(sessionsOfDatabase({ database: sound.slice(0, 5000) })), { code: "damaged" });
});

test("rows that are no JSON are passed on, and the second version's messages, too", async () => {
  const { default: init } = await import("@sqlite.org/sqlite-wasm");
  const { capi, oo1 } = await init();
  const db = new oo1.DB();
  db.exec(`create table session (id, time_created, title, cost, tokens_input, odd);
    create table message (id, session_id, time_created, data); create table part (id, message_id, session_id, data);
    create table session_message (id, session_id, type, seq, data);
    insert into session values ('s', 1, 'T', 0.5, 3, 'new');
    insert into message values ('m2', 's', 1, '{"role":"user","n":1e400,"id":"x"}'), ('m1', 's', 1, '{broken'), ('m0', 's', 2, '{}');
    insert into part values ('p2', 'm2', 's', '{"type":"text","text":"\\ud800"}'), ('p1', 'm2', 's', 'no');
    insert into session_message values ('v', 's', 'user', 0, '{"text":"hi"}');`);
  const [session] = await collect(sessionsOfDatabase({ database: capi.sqlite3_js_db_export(db) }));
  db.close();
  assert.equal(
    new TextDecoder().decode(session.bytes),
    '{"info":{"title":"T","cost":0.5,"id":"s","time":{"created":1},"tokens":{"input":3,"cache":{}},"odd":"new"},"messages":[' +
      '{"info":"{broken","parts":[]},' +
      '{"info":{"role":"user","n":1e400,"id":"x","id":"m2","sessionID":"s"},"parts":["no",{"type":"text","text":"\\ud800","id":"p2","sessionID":"s","messageID":"m2"}]},' +
      '{"info":{"id":"m0","sessionID":"s"},"parts":[]}' +
      '],"sessionMessages":[{"text":"hi","id":"v","type":"user"}]}',
  );
});

/** @template T @param {AsyncIterable<T>} items */
async function collect(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

const TREES = ["agent-sessions/storage_v2/", "agent-sessions/storage_legacy/", "opensession/storage/"];

test("each file of the older folders is in the session that it belongs to, whole", async () => {
  for (const tree of TREES) {
    const files = folder(tree);
    const read = await inTree(files);
    const messages = [...read.values()].flatMap(({ messages }) => messages);
    const parts = messages.flatMap(({ info, parts }) =>
      parts.map((/** @type {any} */ part) => ({ ...part, of: info.id })),
    );
    const found = { session: 0, message: 0, part: 0 };
    for (const path of files.paths.filter((path) => path.endsWith(".json"))) {
      const kind = /** @type {"session" | "message" | "part"} */ (path.split("/")[0]);
      const own = parseJson(bytes(tree + path));
      const among = {
        session: [...read.values()].map(({ info }) => info),
        message: messages.map(({ info }) => info),
        part: parts,
      }[kind];
      const one = among.find(({ id }) => id === own.id);
      for (const [key, value] of Object.entries(own)) assert.deepEqual(one?.[key], value, `${tree}${path} ${key}`);
      if (kind === "part") assert.equal(one.of, own.messageID ?? path.split("/")[1]);
      found[kind] += 1;
    }
    assert.deepEqual(found, { session: read.size, message: messages.length, part: parts.length });
    for (const [id, { info, messages }] of read) {
      assert.equal(info.id, id);
      const times = messages.map((/** @type {any} */ message) => message.info.time.created);
      assert.deepEqual(times, times.toSorted());
      const committed = parseJson(bytes(`storage-exports/${id}.json`));
      assert.deepEqual({ info, messages }, committed);
    }
  }
});

test("messages whose session is lost are a session, and broken files are passed on", async () => {
  const tree = TREES[0];
  const isKept = (/** @type {string} */ path) => !path.startsWith("session/proj_test/ses_s_stage0_small");
  const read = await inTree(folder(tree, isKept));
  assert.deepEqual([...read.keys()], ["s_stage0_large", "s_stage0_small"]);
  assert.equal(read.get("s_stage0_small").messages.length, 2);
  const broken = {
    paths: ["session/p/s.json", "message/s/m.json", "part/m/p.json"],
    read: () => new TextEncoder().encode("{"),
  };
  assert.deepEqual((await inTree(broken)).get("s"), {
    info: { id: "s", unreadable: "{" },
    messages: [{ info: "{", parts: ["{"] }],
  });
});
