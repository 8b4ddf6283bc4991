// @ts-check
// What is small on the disk and large where it is unpacked is told by name, and the others come in.
// Tries: js/agents/zstd.js, js/agents/opencode.js, js/agents/files.js, src/interop/refusal.rs
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import init from "@sqlite.org/sqlite-wasm";

import { openStore, readTranscript } from "../../js/index.js";
import { unpackZstd } from "../../js/agents/zstd.js";

const fixtures = fileURLToPath(new URL("../fixtures/", import.meta.url));
const MB = 2 ** 20;
const number = (/** @type {number} */ value, /** @type {number} */ length) =>
  Array.from({ length }, (_, byte) => Math.floor(value / 256 ** byte) % 256);
const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** A block of zstd that is one byte, so often. @param {number} size @param {boolean} isLast */
const repeatedBlock = (size, isLast) => [...number(size * 8 + 2 + Number(isLast), 3), 0x20];

/** A frame of such blocks. @param {{ blocks: number, size: number, window: number }} of `window`: a power of two */
function bomb({ blocks, size, window }) {
  const all = Array.from({ length: blocks }, (_, place) => repeatedBlock(size, place === blocks - 1));
  return Uint8Array.from([...MAGIC, 0, (Math.log2(window) - 10) << 3, ...all.flat()]);
}

/** @param {(folder: string, store: import("../../js/store/store.js").Store) => Promise<void>} work */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), "leftoff-limits-"));
  const store = await openStore({ home: join(folder, "home"), project: folder });
  try {
    await work(folder, store);
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

const BOMBS = {
  "full blocks": bomb({ blocks: 60_000, size: 128 * 1024, window: MB }),
  "blocks of one byte in a large window": bomb({ blocks: 60_000, size: 1, window: 32 * MB }),
  "a window of two gigabytes": bomb({ blocks: 1, size: 1, window: 2 ** 30 }),
  "two frames": Uint8Array.from([
    ...bomb({ blocks: 1, size: 1, window: MB }),
    ...bomb({ blocks: 60_000, size: 128 * 1024, window: MB }),
  ]),
  "one that says how large it is": Uint8Array.from([
    ...MAGIC,
    0xa0,
    ...number(2 ** 31 - 1, 4),
    ...repeatedBlock(1, true),
  ]),
};

for (const [name, bytes] of Object.entries(BOMBS)) {
  test(`what zstd packed too well is too large, and named: ${name}`, () =>
    assert.rejects(unpackZstd(bytes, "/x.jsonl.zst"), (error) => {
      const { code, message } = /** @type {any} */ (error);
      assert.equal(code, "too_large");
      assert.match(message, /^expected at most \d+ bytes, compressed to \d+, in "\/x\.jsonl\.zst", but found /);
      return true;
    }));
}

test("what zstd packs well is unpacked, and what is cut or changed is damaged", async () => {
  const text = bomb({ blocks: 100, size: 128 * 1024, window: MB / 8 });
  const whole = await unpackZstd(text, "/x.zst");
  assert.deepEqual([whole.length, whole.every((byte) => byte === 0x20)], [100 * 128 * 1024, true]);
  for (const bytes of [
    text.subarray(0, 100),
    Uint8Array.from([...MAGIC, 8]),
    Uint8Array.from([...text, 1, 2, 3, 4, 5, 6]),
  ]) {
    await assert.rejects(unpackZstd(bytes, "/x.zst"), { code: "damaged" });
  }
});

test("a folder with one of them comes in but for that one", () =>
  inFolder(async (folder, store) => {
    const sessions = join(folder, "sessions");
    mkdirSync(sessions);
    const packed = join(fixtures, "compressed");
    const name = readdirSync(packed).find((one) => one.endsWith(".zst")) ?? "";
    cpSync(join(packed, name), join(sessions, name));
    writeFileSync(join(sessions, "rollout-bomb.jsonl.zst"), BOMBS["full blocks"]);
    writeFileSync(join(sessions, "rollout-cut.jsonl.zst"), readFileSync(join(packed, name)).subarray(0, 90));
    const { imported, problems } = await store.import(sessions);
    assert.deepEqual(
      imported.map(({ path }) => basename(path)),
      [name],
    );
    assert.deepEqual(
      problems.map(({ path, code }) => [basename(path), code]),
      [
        ["rollout-bomb.jsonl.zst", "too_large"],
        ["rollout-cut.jsonl.zst", "damaged"],
      ],
    );
  }));

/**
 * A database of opencode with two sessions.
 * @param {string} path
 * @param {string} part how the columns of the parts are declared
 * @param {string} [more]
 */
async function database(path, part, more = "") {
  const { capi, oo1 } = await init();
  const db = new oo1.DB(":memory:");
  db.exec(`create table session (id text, directory text, parent_id text, title text, revert text, time_created integer, time_updated integer);
    create table message (id text, session_id text, time_created integer, data text);
    create table part (id text, message_id text, session_id text, ${part});`);
  for (const id of ["ses_1", "ses_2"]) {
    db.exec(`insert into session values ('${id}', '/home/ann/p', null, '${id}', null, 1767225600000, 1767225600000);
      insert into message values ('msg_${id}', '${id}', 1767225600000, '{"role":"user","time":{"created":1767225600000}}');
      insert into part (id, message_id, session_id, own) values ('prt_${id}', 'msg_${id}', '${id}', '{"type":"text","text":"said in ${id}"}');`);
  }
  if (more) db.exec(more);
  writeFileSync(path, capi.sqlite3_js_db_export(db));
  db.close();
}

test("a database whose columns say more than it has is too large, and the other session comes in", () =>
  inFolder(async (folder, store) => {
    const path = join(folder, "opencode.db");
    const computed =
      "own text, data text generated always as (case session_id when 'ses_1' then own else hex(zeroblob(2000000)) end)";
    await database(path, computed);
    const { imported, problems } = await store.import(path);
    assert.deepEqual(
      imported.map(({ agent, messageCount }) => [agent, messageCount]),
      [["opencode", 1]],
    );
    assert.deepEqual(
      problems.map(({ code }) => code),
      ["too_large"],
    );
  }));

test("a session whose row is nested without end is refused by name, and the other comes in", () =>
  inFolder(async (folder, store) => {
    const path = join(folder, "opencode.db");
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    await database(
      path,
      "own text, data text generated always as (own)",
      `update session set revert = '${deep}' where id = 'ses_1'`,
    );
    const { imported, problems } = await store.import(path);
    assert.deepEqual(
      [imported.map(({ messageCount }) => messageCount), problems.map(({ code }) => code)],
      [[1], ["too_deep"]],
    );
  }));

test("a file of JSON nested without end is a problem, and costs no other line", () =>
  inFolder(async (folder, store) => {
    const record = (/** @type {object} */ more) =>
      JSON.stringify({
        sessionId: "s",
        cwd: "/home/ann/p",
        version: "2.1.329",
        timestamp: "2026-01-02T00:00:01.000Z",
        ...more,
      });
    const deep = `{"type":"user","uuid":"u0","sessionId":"s","message":{"role":"user","content":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
    const path = join(folder, "deep.jsonl");
    writeFileSync(path, `${deep}\n${record({ type: "user", uuid: "u1", message: { role: "user", content: "hi" } })}\n`);
    const { imported, problems } = await store.import(path);
    assert.deepEqual([imported[0]?.messageCount, problems.map(({ code }) => code)], [1, ["too_deep"]]);
  }));

test("what the compressor itself writes is read", { skip: !hasZstd() }, async () => {
  const text = "one line of a session\n".repeat(100_000);
  const packed = execFileSync("zstd", ["-19", "-c"], { input: text });
  assert.equal(new TextDecoder().decode(await unpackZstd(new Uint8Array(packed), "/x.zst")), text);
});

function hasZstd() {
  try {
    execFileSync("zstd", ["--version"], { stdio: "ignore" });
    return true;
  } catch (error) {
    assert.equal(/** @type {any} */ (error).code, "ENOENT");
    return false;
  }
}

test(
  "what is no file is no transcript, and nobody waits for who writes into a pipe",
  { skip: process.platform === "win32" && "Windows has no such pipes" },
  () =>
    inFolder(async (folder) => {
      const pipe = join(folder, "pipe");
      execFileSync("mkfifo", [pipe]);
      await assert.rejects(readTranscript(pipe), { code: "not_a_file" });
      await assert.rejects(readTranscript(folder), { code: "not_a_file" });
      await assert.rejects(readTranscript(join(folder, "missing")), { code: "not_found" });
    }),
);
