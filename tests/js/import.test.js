// @ts-check
// An agent's file is imported while the agent still writes it.
// Tries: src/operation/store/import/, src/interop/import_diff.rs
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";

import { MemoryStorage, countTokens, openStore, readTranscript } from "../../js/index.js";

const fixtures = [
  "real/2.1.329/a1ec06f7-8d81-4715-aba2-72b09c413bbd.jsonl",
  "claude-code-log/representative_messages.jsonl",
];

/**
 * @param {Uint8Array[]} versions of one file, each imported into one store.
 * @param {string} [path]
 * @returns {Promise<any[][]>} the sessions' messages
 */
async function importVersions(versions, path = "/transcript.jsonl") {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  for (const bytes of versions) {
    await storage.replace(path, bytes);
    // A beginning without a message is refused; so is nothing of what follows.
    await store.import(path).catch((error) => assert.ok(["empty_file", "unknown_format"].includes(error.code), error));
  }
  const sessions = [];
  for (const { id } of await store.list({ all: true, type: null })) {
    const messages = [];
    for await (const message of (await store.session(id)).messages({ allBranches: true })) messages.push(message);
    sessions.push(messages);
  }
  return sessions;
}

/** What is said; the revision and its checks tell of the way it came. @param {any[][]} sessions */
function withoutRevisions(sessions) {
  return sessions.map((messages) => messages.map(({ rev, crc, tokens, seq, ...message }) => message));
}

/**
 * Whether a prompt is queued there that stands in no message yet: of a client that is gone for an hour it is what the
 * user said last.
 * @param {Uint8Array} bytes
 */
function hasQueued(bytes) {
  const lines = new TextDecoder().decode(bytes).split("\n").filter(Boolean);
  const isSaid = (/** @type {string} */ content) =>
    lines.some((line) => line.includes('"type":"user"') && line.includes(JSON.stringify(content)));
  return lines.some(
    (line) => line.startsWith('{"type":"queue-operation","operation":"enqueue"') && !isSaid(JSON.parse(line).content),
  );
}

for (const name of fixtures) {
  test(`a file imported at any line and again at its end holds what one import of it holds: ${name}`, async () => {
    const bytes = new Uint8Array(readFileSync(new URL(`../fixtures/claude-code/${name}`, import.meta.url)));
    const whole = withoutRevisions(await importVersions([bytes]));
    assert.ok(whole.flat().length > 10);
    const ends = [...bytes.keys()].filter((place) => bytes[place] === 10 && !hasQueued(bytes.subarray(0, place)));
    assert.ok(ends.length > 10);
    for (const end of ends)
      assert.deepEqual(
        withoutRevisions(await importVersions([bytes.subarray(0, end), bytes])),
        whole,
        `after ${end} bytes`,
      );
    const each = ends.map((end) => bytes.subarray(0, end));
    assert.deepEqual(withoutRevisions(await importVersions([...each, bytes])), whole, "after each line");
  });
}

/** A file of nanocoder, in which they took turns. @param {string[]} words */
function talk(...words) {
  const messages = words.map((content, place) => ({ role: place % 2 === 0 ? "user" : "assistant", content }));
  const times = { createdAt: "2026-01-01T00:00:00Z", lastAccessedAt: "2026-01-01T00:00:00Z" };
  return new TextEncoder().encode(JSON.stringify({ id: "s", ...times, workingDirectory: "/w", messages }));
}

test("where the source has rewritten its history, the old stays and the new is a branch", async () => {
  const versions = [
    talk("go", "yes", "on", "no"),
    talk("go", "yes", "back", "well"),
    talk("go", "yes", "back", "well", "end"),
  ];
  const [messages] = await importVersions(versions);
  const all = /** @type {any[]} */ (messages);
  assert.deepEqual(
    all.map(({ content }) => content),
    ["go", "yes", "on", "no", "back", "well", "end"],
  );
  assert.deepEqual(
    all.filter(({ branch }) => branch).map(({ content }) => content),
    ["back"],
  );
  assert.equal(all[4].parentId, all[1].id);
});

test("where both went on, what was said in leftoff stays before the model", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  await storage.replace("/talk.json", talk("go", "yes"));
  const {
    imported: [one],
  } = await store.import("/talk.json");
  const session = await store.session(/** @type {any} */ (one).id);
  await session.append({ role: "user", content: "here" });
  await storage.replace("/talk.json", talk("go", "yes", "there", "fine"));
  await store.import("/talk.json");
  const { messages } = await session.context({ window: 8000 });
  assert.deepEqual(
    messages.map(({ content }) => content),
    ["go", "yes", "here", "there", "fine"],
  );
});

/** @param {MemoryStorage} storage @param {string} path */
async function logOf(storage, path) {
  return new TextDecoder().decode((await storage.read(`${path}/messages.jsonl`)) ?? undefined);
}

for (const counted of ["counted by what is loaded", "not counted", "counted by the vocabulary"]) {
  test(`an import writes the lines that appending its messages writes, ${counted}`, async () => {
    const isCounted = counted !== "not counted";
    // From here on the vocabulary is loaded.
    if (counted.endsWith("vocabulary")) await countTokens("a");
    // The last has a branch, and so no checkpoint.
    for (const name of [
      ...fixtures.map((name) => `claude-code/${name}`),
      "qwen/agent-sessions/019f0000-0000-7000-8000-000000000004.jsonl",
    ]) {
      const bytes = new Uint8Array(readFileSync(new URL(`../fixtures/${name}`, import.meta.url)));
      const storage = new MemoryStorage();
      const store = await openStore({ home: "/home", project: "/", storage, countTokens: isCounted });
      await storage.replace("/transcript.jsonl", bytes);
      const {
        imported: [one],
      } = await store.import("/transcript.jsonl");
      const { id = "" } = one ?? {};
      const session = await store.session(id);
      const appended = await store.create();
      await appended.append((await readTranscript(bytes)).slice());
      assert.equal(await logOf(storage, session.path), await logOf(storage, appended.path), name);
      const { stats, timestamps } = session.metadata;
      assert.equal(stats.messageCount, one?.messageCount);
      if (counted.endsWith("vocabulary")) assert.match(await logOf(storage, session.path), /"by":"o200k_base"/);
      // Another process, once by the checkpoint and once from all of the log.
      for (const isRead of [false, true]) {
        if (isRead) await storage.remove("/home/cache");
        const other = await (await openStore({ home: "/home", project: "/", storage })).session(id);
        assert.deepEqual(
          { stats: other.metadata.stats, timestamps: other.metadata.timestamps },
          { stats, timestamps },
          name,
        );
        assert.deepEqual({ ...(await other.state()), projectPath: resolve("/") }, await appended.state(), name);
      }
    }
  });
}

test("a list opens nothing of what was imported and is at rest since", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: Date.parse("2025-11-22T09:00:00Z") });
  const storage = new MemoryStorage();
  // It is used again once the store is closed.
  storage.close = async () => {};
  const file = (/** @type {string} */ id) =>
    new TextEncoder().encode(
      `${JSON.stringify({ type: "user", uuid: `u-${id}`, sessionId: id, timestamp: "2025-11-21T00:00:00Z", cwd: "/p", message: { role: "user", content: `hello ${id}` } })}\n`,
    );
  for (const id of ["one", "two", "three"]) await storage.append(`/transcripts/${id}.jsonl`, file(id));
  const open = () => openStore({ home: "/home", project: "/", storage });
  const store = await open();
  const { imported } = await store.import("/transcripts");
  t.mock.timers.tick(60_000);
  await store.close();
  /** @type {string[]} */
  const read = [];
  const readRange = storage.readRange.bind(storage);
  storage.readRange = (path, ...range) => (read.push(path), readRange(path, ...range));
  const listed = await (await open()).list({ all: true });
  assert.deepEqual(listed.map(({ title, messageCount }) => [title, messageCount]).sort(), [
    ["hello one", 1],
    ["hello three", 1],
    ["hello two", 1],
  ]);
  assert.equal(imported.length, 3);
  assert.deepEqual(
    read.filter((path) => /session-.*(messages|events)\.jsonl$/.test(path)),
    [],
  );
});

const ASKED = `# leftoff ask session_2026-01-24T10-00-00-000Z in "/home/ada/shop"

## Question 2026-01-24T10:00:00.000Z

List the migrations.

## Answer 2026-01-24T10:00:01.000Z by "codex"

There are séven:

1. 001_init.sql
2. the others

## End 2026-01-24T10:00:09.000Z

## Question 2026-01-24T10:01:00.000Z

Why?

## Answer 2026-01-24T10:01:01.000Z by "codex"

Because.

## End 2026-01-24T10:01:09.000Z
`;

test("a transcript of questions that was read while an answer was written becomes what it is at its end", async () => {
  const whole = Buffer.from(ASKED);
  const path = "/session_2026-01-24T10-00-00-000Z.md";
  const said = async (/** @type {number[]} */ ...ends) => {
    const sessions = await importVersions(
      ends.map((end) => whole.subarray(0, end)),
      path,
    );
    return sessions.map((messages) =>
      messages.map(({ role, content, partial = false, branch = false }) => ({ role, content, partial, branch })),
    );
  };
  const expected = await said(whole.length);
  assert.deepEqual(
    expected.map((messages) => messages.map(({ partial }) => partial)),
    [[false, false, false, false]],
  );
  // A question is written at once, and so is the mark of its answer.
  const answers = [...ASKED.matchAll(/## Answer[^]*?(?=\n\n## Question|$)/g)].flatMap(([text]) => {
    const start = whole.indexOf(text);
    return Array.from(Buffer.from(text), (_, at) => start + at + 1).slice(text.indexOf("\n"));
  });
  assert.ok(answers.length > 100);
  for (const end of answers)
    assert.deepEqual(await said(end, whole.length), expected, whole.subarray(0, end).toString());
});
