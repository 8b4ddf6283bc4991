// @ts-check
// A secret that somebody masked by hand in a log is told by nothing that was derived from it before.
// Tries: src/operation/checkpoint_cache.rs, src/operation/stored_summaries.rs, src/operation/outgoing/
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";

const KEY = "hunter2-correct-horse";
const MANY = 400;

/** @param {(home: string) => Promise<void>} work */
async function inFolder(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-masked-"));
  try {
    await work(home);
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** What is said of a session. @param {string} home @param {string} id */
async function describeSession(home, id) {
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    const session = await store.session(id);
    const contexts = [];
    for (const window of [1500, 6000, 30_000]) {
      for (const frame of [false, true]) contexts.push(await session.context({ window, frame }));
    }
    return JSON.stringify([
      contexts,
      await session.state(),
      await session.brief(),
      session.metadata,
      await store.list({ all: true }),
      await session.resume({ window: 2000 }),
    ]);
  } finally {
    await store.close();
  }
}

/** A session that has the key in what is said first, decided, done and summed up. @param {string} home */
async function makeKeyedSession(home) {
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  const session = await store.create();
  await session.append([
    { role: "user", content: `Use the password ${KEY} for the database.` },
    {
      role: "assistant",
      content: `We decided to use ${KEY}.`,
      assistant: { toolCalls: [{ id: "1", name: "Bash", arguments: JSON.stringify({ command: `login ${KEY}` }) }] },
    },
    { role: "tool", content: `failed for ${KEY}`, tool: { callId: "1", name: "Bash", isError: true } },
  ]);
  for (let place = 0; place < MANY; place += 1)
    await session.append({ role: place % 2 ? "assistant" : "user", content: `${place} ${"and so on ".repeat(40)}` });
  await session.context({ window: 6000, summarize: () => `they use ${KEY}` });
  await store.close();
  await describeSession(home, session.id);
  return session;
}

/** @param {string} path @param {string} mask */
function maskFile(path, mask) {
  const file = join(path, "messages.jsonl");
  const text = readFileSync(file, "utf8");
  const { atime, mtime } = statSync(file);
  // A line that was changed has no right checksum: whoever masks it leaves that as it is.
  writeFileSync(file, text.replaceAll(KEY, mask));
  return () => utimesSync(file, atime, mtime);
}

for (const [what, mask] of [
  ["as long", "*".repeat(KEY.length)],
  ["shorter", "***"],
  ["longer", "[masked by hand, since it was a secret]"],
]) {
  test(`what was masked by hand is told by no cache: ${what}`, () =>
    inFolder(async (home) => {
      const { id, path } = await makeKeyedSession(home);
      assert.ok((await describeSession(home, id)).includes(KEY));
      maskFile(path, mask);
      assert.ok(!(await describeSession(home, id)).includes(KEY));
      // Nor from what is derived by then.
      assert.ok(!(await describeSession(home, id)).includes(KEY));
      assert.ok(!readFileSync(join(path, "events.jsonl"), "utf8").includes(KEY));
    }));
}

test("nor where the file has its old time again", () =>
  inFolder(async (home) => {
    const { id, path } = await makeKeyedSession(home);
    maskFile(path, "*".repeat(KEY.length))();
    const store = await openStore({ home: join(home, ".leftoff"), project: home });
    const session = await store.session(id);
    const all = JSON.stringify([await session.context({ window: 6000 }), await session.state(), await session.brief()]);
    await store.close();
    assert.ok(!all.includes(KEY));
  }));

test("where nothing was changed the log is not read again, and what was appended costs itself", () =>
  inFolder(async (home) => {
    const { id, path } = await makeKeyedSession(home);
    const cache = join(home, ".leftoff", "cache");
    const covers = () => JSON.parse(readFileSync(join(cache, `${id}.covers`), "utf8"));
    const before = covers();
    assert.equal(before.bytes, statSync(join(path, "messages.jsonl")).size);
    const store = await openStore({ home: join(home, ".leftoff"), project: home });
    await (await store.session(id)).append({ role: "user", content: "more ".repeat(300_000) });
    await store.close();
    const after = covers();
    assert.ok(after.bytes > before.bytes && after.pieces.length === Math.ceil(after.bytes / (1 << 20)));
    assert.deepEqual(
      readdirSync(cache).filter((name) => name.endsWith(".tmp")),
      [],
    );
  }));
