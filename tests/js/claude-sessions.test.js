// @ts-check
// A store of sessions for the Claude Agent SDK: entries come back as they were, each once and in their order, whatever
// the keys are; and each session is one of the store, whether it was recorded so, imported from the client's files, or
// both.
// Tries: js/claude/

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import fc from "fast-check";
import { decodeName, encodeName } from "../../js/claude/file-names.js";
import { sessionStore } from "../../js/claude/index.js";
import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { thisProcess } from "../../js/storage/process.js";
import { FailingStorage } from "./failing-storage.js";

/** @import { Store } from "../../js/store/store.js" */
/** @import { ClaudeSessionEntry, ClaudeSessionStore, FoldClaudeSummary } from "../../js/types/claude.js" */
/** @typedef {{ home: string, store: Store, sessions: ClaudeSessionStore, another: () => ClaudeSessionStore }} Scene */

const FIXTURES = fileURLToPath(new URL("../fixtures/claude-code/real/", import.meta.url));
/** Transcripts of the real client. */
const TRANSCRIPTS = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl") && !name.includes("subagents"))
  .map((name) => join(FIXTURES, name));

/** A session with sub-agents. */
const AGENTS_FIXTURE = fileURLToPath(
  new URL("../fixtures/claude-code/ccsession-cli/claude-2.1.287/projects/-tmp-e2e-proj/", import.meta.url),
);
const AGENTS_ID = "7f6738b0-d2cb-44ae-a806-09860af58e1f";
const INDEX = new URL("../../js/index.js", import.meta.url).href;
const CLAUDE = new URL("../../js/claude/index.js", import.meta.url).href;
const SAID_ID = "5f0d5a1e-9a41-4b58-8f0f-1c86a0c6f3d2";
/** A prompt and its answer, as the client writes them. */
const SAID = [
  { type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content: "Rename the parser." } },
  {
    type: "assistant",
    uuid: "u2",
    parentUuid: "u1",
    message: { id: "m1", role: "assistant", content: [{ type: "text", text: "Renamed." }] },
  },
].map((entry, place) => ({ ...entry, sessionId: SAID_ID, timestamp: `2026-11-29T10:00:0${place}.000Z` }));

/** A fold that shows what it was given. @type {FoldClaudeSummary} */
const fold = (summary, { sessionId }, entries) => ({
  sessionId,
  mtime: summary?.mtime ?? 0,
  data: { types: [.../** @type {any} */ (summary?.data.types ?? []), ...entries.map(({ type }) => type)] },
});

/** @param {(scene: Scene) => Promise<void>} work */
async function inScene(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-claude-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  /** @type {ClaudeSessionStore[]} */
  const all = [];
  const another = () => {
    const sessions = sessionStore({ store, foldSessionSummary: fold });
    all.push(sessions);
    return sessions;
  };
  try {
    await work({ home, store, sessions: another(), another });
  } finally {
    for (const sessions of all) await sessions.close();
    await store.close();
    rmSync(home, { recursive: true });
  }
}

/** @param {string} path @returns {ClaudeSessionEntry[]} */
const entriesOf = (path) =>
  readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));

/** In batches of some entries. @template T @param {T[]} all @param {number} size */
const inBatches = (all, size) =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));

/** What is said in all sessions of a store. @param {Store} store */
async function contentsOf(store) {
  const found = [];
  for (const { id } of await store.list({ all: true })) {
    const session = await store.session(id);
    for await (const { role, content } of session.messages({ allBranches: true })) found.push([id, role, content]);
  }
  return found;
}

test("what the real client wrote comes back deep-equal and in order", () =>
  inScene(async ({ sessions }) => {
    assert.ok(TRANSCRIPTS.length > 2);
    for (const path of TRANSCRIPTS) {
      const key = { projectKey: "-home-ann-project", sessionId: basename(path, ".jsonl") };
      const entries = entriesOf(path);
      const uuids = entries.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid]));
      assert.equal(new Set(uuids).size, uuids.length, path);
      for (const batch of inBatches(entries, 3)) await sessions.append(key, batch);
      assert.deepEqual(await sessions.load(key), entries, path);
    }
  }));

test("any JSON comes back deep-equal", () =>
  inScene(async ({ sessions }) => {
    let count = 0;
    const json = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(json, { maxLength: 4 }), { minLength: 1, maxLength: 4 }), async (batches) => {
        const key = { projectKey: "any", sessionId: String((count += 1)) };
        const all = batches.map((batch) => batch.map((fields) => ({ ...fields, type: "x", uuid: undefined })));
        for (const batch of all) await sessions.append(key, batch);
        const expected = all.flat().map(({ uuid: _, ...entry }) => entry);
        assert.deepEqual(await sessions.load(key), expected.length > 0 ? expected : null);
      }),
      { numRuns: 50 },
    );
  }));

test("a session that was mirrored, and imported from the client's own files, is one, and has each message once", async () => {
  for (const path of TRANSCRIPTS) {
    const key = { projectKey: "p", sessionId: basename(path, ".jsonl") };
    const mirror = async (/** @type {Scene} */ { sessions }) => {
      for (const batch of inBatches(entriesOf(path), 4)) await sessions.append(key, batch);
      await sessions.flush();
    };
    const count = async (/** @type {Store} */ store) => {
      const said = (await contentsOf(store)).map(([, role, content]) => JSON.stringify([role, content]));
      return { said: said.sort(), sessions: (await store.list({ all: true })).length };
    };
    /** @type {Awaited<ReturnType<typeof count>>[]} */
    const counts = [];
    await inScene(async (scene) => {
      await scene.store.import(path);
      counts.push(await count(scene.store));
      await mirror(scene);
      counts.push(await count(scene.store));
    });
    await inScene(async (scene) => {
      await mirror(scene);
      const { imported } = await scene.store.import(path);
      assert.ok(imported.length > 0, path);
      counts.push(await count(scene.store));
    });
    const [alone, ...others] = counts;
    for (const other of others) assert.deepEqual(other, alone, path);
  }
});

test("keys are any text: none leads out of the folder, and no two have one transcript, on no filesystem", () =>
  inScene(async ({ home, sessions }) => {
    const long = "x".repeat(300);
    const texts = [
      ...[
        "..",
        ".",
        "",
        "/",
        "//",
        "a/b",
        "a\\b",
        "a//b",
        "/a",
        "a/",
        "../../../escape",
        "CON",
        "con",
        "nul.txt",
        "com1",
      ],
      ...[
        "a:b",
        "a*",
        "a\0b",
        "a\n",
        " a",
        "a ",
        "a.",
        ".a",
        "%",
        "%2e",
        "^a",
        "A",
        "a",
        "+a",
        "a+",
        "é",
        "e\u0301",
        "É",
      ],
      ...[
        "\ud800",
        "\udfff",
        "😀",
        long,
        `${long}+`,
        long.toUpperCase(),
        `${long}/${long}`,
        "x".repeat(120),
        "x".repeat(121),
      ],
      ...["summaries.json", "s.jsonl", "unrecorded.d", "subagents/agent-1", "CON/aux"],
    ];
    const keys = [
      ...texts.map((text) => ({ projectKey: text, sessionId: "s" })),
      ...texts.map((text) => ({ projectKey: "p", sessionId: text })),
      ...texts.filter(Boolean).map((subpath) => ({ projectKey: "q", sessionId: "s", subpath })),
    ];
    for (const [place, key] of keys.entries()) await sessions.append(key, [{ type: "x", place }]);
    for (const [place, key] of keys.entries())
      assert.deepEqual(await sessions.load(key), [{ type: "x", place }], JSON.stringify(key));
    const listed = (await sessions.listSessions("p")).map(({ sessionId }) => sessionId);
    assert.deepEqual(listed.sort(), [...texts].sort());
    const subpaths = await sessions.listSubkeys({ projectKey: "q", sessionId: "s" });
    assert.deepEqual(subpaths.sort(), texts.filter(Boolean).sort());
    const names = readdirSync(join(home, ".leftoff", "claude-agent"), { recursive: true, encoding: "utf8" });
    const folded = names.map((name) => name.toLowerCase().normalize("NFC"));
    assert.equal(new Set(folded).size, names.length);
    for (const name of names)
      for (const part of name.split(sep))
        assert.match(part, /^(?!(?:con|aux|nul|com1)(?:\.|$))[a-z0-9_^%+.-]{1,140}(?<![.])$/);
    for (const name of ["escape", "escape.jsonl"])
      assert.ok(!existsSync(join(home, name)) && !existsSync(join(home, "..", name)));
  }));

test("a name is another one for each text, and tells it", () => {
  const texts = fc.string({ unit: "binary", maxLength: 400 });
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      assert.equal(decodeName(encodeName(one)), one);
      if (one !== other) assert.notDeepEqual(encodeName(one), encodeName(other));
    }),
  );
  for (const foreign of [["Notes"], ["%zz"], ["a.b"], ["%61"], ["con"], ["^1"], ["%u0041"]])
    assert.equal(decodeName(foreign), undefined, String(foreign));
});

test("what cannot be a key or an entry is refused, and nothing of it is stored", () =>
  inScene(async ({ sessions }) => {
    const key = { projectKey: "p", sessionId: "s" };
    /** @type {[any, any][]} */
    const refused = [
      [{ ...key, subpath: "" }, [{ type: "x" }]],
      [{ ...key, subpath: 1 }, [{ type: "x" }]],
      [{ projectKey: "p" }, [{ type: "x" }]],
      [{ ...key, projectKey: null }, [{ type: "x" }]],
      [key, [{ type: "x" }, { type: "x", n: NaN }]],
      [key, [{ type: "x", at: new Map() }]],
      [key, [undefined]],
    ];
    for (const [bad, entries] of refused)
      await assert.rejects(
        sessions.append(bad, entries),
        (error) => error instanceof LeftoffError && error.code === "invalid_request",
        JSON.stringify(bad),
      );
    await assert.rejects(sessions.load({ ...key, subpath: "" }), { code: "invalid_request" });
    assert.equal(await sessions.load(key), null);
    assert.throws(() => sessionStore(/** @type {any} */ ({})), { code: "invalid_request" });
    assert.throws(() => sessionStore(/** @type {any} */ ({ stor: 1 })), {
      message: /unknown option "stor": expected store/,
    });
  }));

test("an entry with a uuid is stored once, whoever appends it; one without is stored each time", () =>
  inScene(async ({ home, sessions, another }) => {
    const key = { projectKey: "p", sessionId: "s" };
    const [one, two, title] = [{ type: "x", uuid: "1" }, { type: "x", uuid: "2", n: 1 }, { type: "title" }];
    await sessions.append(key, [one, title, one]);
    await sessions.append(key, [one, title]);
    await another().append(key, [one, two]);
    await sessions.append(key, [two, title]);
    assert.deepEqual(await sessions.load(key), [one, title, title, two, title]);
    // Another process is as fast: both have looked before one of them wrote.
    const path = join(home, ".leftoff", "claude-agent", "p", "s.jsonl");
    appendFileSync(path, `${JSON.stringify({ ...two, n: 2 })}\n`);
    assert.deepEqual(await sessions.load(key), [one, title, title, two, title]);
    // Deleted and imported anew, by another one.
    const other = another();
    await other.delete(key);
    await other.append(key, [two]);
    await sessions.append(key, [one]);
    assert.deepEqual(await sessions.load(key), [two, one]);
    await other.delete(key);
    await sessions.append(key, [two, one]);
    assert.deepEqual(await sessions.load(key), [two, one]);
  }));

test("a line that a killed process did not finish costs itself and no other", () =>
  inScene(async ({ home, sessions, another }) => {
    const key = { projectKey: "p", sessionId: "s" };
    const path = join(home, ".leftoff", "claude-agent", "p", "s.jsonl");
    await sessions.append(key, [{ type: "x", uuid: "1" }]);
    for (const [place, torn] of ['{"type":"x","uuid":"torn', "{", '{"type":"x","uuid":"2","text":"\ud83d'].entries()) {
      appendFileSync(path, torn);
      const by = place % 2 === 0 ? sessions : another();
      await by.append(key, [{ type: "x", uuid: `behind ${place}` }]);
    }
    const uuids = (await sessions.load(key))?.map(({ uuid }) => uuid);
    assert.deepEqual(uuids, ["1", "behind 0", "behind 1", "behind 2"]);
    // A transcript that has nothing whole was never written.
    writeFileSync(join(home, ".leftoff", "claude-agent", "p", "t.jsonl"), '\n{"type":"us');
    assert.equal(await sessions.load({ ...key, sessionId: "t" }), null);
  }));

test("appends of one process are stored in their order, also where nobody waits", () =>
  inScene(async ({ sessions, another }) => {
    const key = { projectKey: "p", sessionId: "s" };
    const entries = Array.from({ length: 200 }, (_, n) => ({ type: "x", n, by: n % 2 }));
    const others = [sessions, another()];
    await Promise.all(entries.map((entry) => others[entry.by]?.append(key, [entry])));
    const loaded = (await sessions.load(key)) ?? [];
    assert.equal(loaded.length, entries.length);
    for (const by of [0, 1])
      assert.deepEqual(
        loaded.filter((entry) => entry.by === by),
        entries.filter((entry) => entry.by === by),
      );
    const given = [{ type: "x", uuid: "changed", n: 1 }];
    const appended = sessions.append(key, given);
    given[0] = { type: "x", uuid: "later", n: 2 };
    await appended;
    assert.equal((await sessions.load(key))?.at(-1)?.uuid, "changed");
  }));

/** A store of sessions on a storage of its own, which the store that records does not have. */
async function onStorage() {
  const storage = new FailingStorage();
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const sessions = sessionStore({ store, storage, foldSessionSummary: fold });
  const close = async () => {
    await sessions.close();
    await store.close();
  };
  return { storage, store, sessions, close };
}

test("a thousand batches read no byte twice, and behind another process only what that one added", async () => {
  const { storage, store, sessions, close } = await onStorage();
  const key = { projectKey: "p", sessionId: "s" };
  for (let n = 0; n < 1000; n += 1) await sessions.append(key, [{ type: "x", uuid: `u${n}`, text: "x".repeat(100) }]);
  assert.equal(storage.bytesRead, 0);
  const other = sessionStore({ store, storage });
  await other.append(key, [{ type: "x", uuid: "other" }]);
  storage.bytesRead = 0;
  await sessions.append(key, [{ type: "x", uuid: "behind" }]);
  assert.ok(storage.bytesRead < 200, String(storage.bytesRead));
  assert.equal((await sessions.load(key))?.length, 1002);
  await other.close();
  await close();
});

test("a full disk is told by its code, loses nothing that was acknowledged, and the batch that is tried again is not doubled", async () => {
  const { storage, sessions, close } = await onStorage();
  const key = { projectKey: "p", sessionId: "s" };
  const first = [
    { type: "title", n: 0 },
    { type: "x", uuid: "0" },
  ];
  await sessions.append(key, first);
  const batch = [
    { type: "title" },
    { type: "x", uuid: "1", text: "é" },
    { type: "title" },
    { type: "x", uuid: "2" },
    { type: "mode" },
  ];
  const { length } = new TextEncoder().encode(`\n${batch.map((entry) => JSON.stringify(entry)).join("\n")}\n`);
  for (let written = 0; written <= length; written += 1) {
    const at = { ...key, sessionId: String(written) };
    await sessions.append(at, first);
    // The mark's append comes first.
    await sessions.flush();
    await sessions.append(at, []);
    for (const [time, part] of [written, 3].entries()) {
      let count = 0;
      const { append } = storage;
      storage.append = async (path, bytes, options) => {
        if (!path.endsWith(".jsonl")) return append.call(storage, path, bytes, options);
        count += 1;
        storage.failNext("append", { code: "disk_full", written: Math.min(part, bytes.length), durable: undefined });
        return append.call(storage, path, bytes, options);
      };
      await assert.rejects(sessions.append(at, batch), { code: "disk_full" }, `${written}, ${time}`);
      storage.append = append;
      assert.equal(count, 1);
      assert.deepEqual((await sessions.load(at))?.slice(0, 2), first);
    }
    await sessions.append(at, batch);
    assert.deepEqual(await sessions.load(at), [...first, ...batch], `${written} bytes written first`);
    // The same once more is a batch of its own.
    await sessions.append(at, batch);
    assert.equal((await sessions.load(at))?.length, 10);
  }
  await close();
});

test("a summary is the fold of all entries, each once, and has the time that the list has", () =>
  inScene(async ({ home, sessions, another }) => {
    const key = { projectKey: "p", sessionId: "s" };
    const other = another();
    const typesOf = async (/** @type {ClaudeSessionStore} */ of) => {
      const [summary, ...none] = (await of.listSessionSummaries?.("p")) ?? [];
      const [listed] = await of.listSessions("p");
      assert.deepEqual([none, summary?.sessionId, summary?.mtime], [[], "s", listed?.mtime]);
      assert.ok(Number.isInteger(summary?.mtime));
      return summary?.data.types;
    };
    assert.deepEqual(await sessions.listSessionSummaries?.("p"), []);
    await sessions.append(key, [{ type: "a" }, { type: "b" }]);
    assert.deepEqual(await typesOf(sessions), ["a", "b"]);
    await other.append(key, [{ type: "c" }]);
    await sessions.append({ ...key, subpath: "subagents/agent-1" }, [{ type: "sub" }]);
    appendFileSync(join(home, ".leftoff", "claude-agent", "p", "s.jsonl"), '{"type":"torn');
    assert.deepEqual(await typesOf(other), ["a", "b", "c"]);
    await sessions.append(key, [{ type: "d" }]);
    assert.deepEqual(await Promise.all([typesOf(sessions), typesOf(other)]), [Array.from("abcd"), Array.from("abcd")]);
    // A list without a change folds nothing, and a damaged cache is made again.
    const cache = join(home, ".leftoff", "claude-agent", "p", "summaries.json");
    assert.match(readFileSync(cache, "utf8"), /"types":\["a","b","c","d"\]/);
    writeFileSync(cache, "[[");
    assert.deepEqual(await typesOf(other), Array.from("abcd"));
    await sessions.delete(key);
    assert.doesNotMatch(readFileSync(cache, "utf8"), /types/);
    await sessions.append(
      key,
      Array.from("efghij", (type) => ({ type })),
    );
    assert.deepEqual(await typesOf(other), Array.from("efghij"));
    assert.equal(sessionStore({ store: /** @type {any} */ ({ home, record() {} }) }).listSessionSummaries, undefined);
  }));

test("deleting a session takes its sub-agents' transcripts with it, and leaves what the store has recorded", () =>
  inScene(async ({ home, store, sessions }) => {
    const key = { projectKey: "p", sessionId: SAID_ID };
    const sub = { ...key, subpath: "subagents/agent-1" };
    await sessions.delete(key);
    await sessions.append(key, SAID);
    await sessions.append(sub, [{ type: "x" }, { type: "agent_metadata", toolUseId: "t" }]);
    await sessions.append({ ...key, subpath: "subagents/agent-2" }, [{ type: "x" }]);
    await sessions.flush();
    const recorded = await contentsOf(store);
    assert.equal(recorded.length, 2);
    await sessions.delete(sub);
    assert.equal(await sessions.load(sub), null);
    assert.deepEqual(await sessions.listSubkeys(key), ["subagents/agent-2"]);
    assert.deepEqual(await sessions.load(key), SAID);
    // Also where it waits to be recorded.
    await sessions.append(key, [{ type: "x" }]);
    await sessions.delete(key);
    await sessions.flush();
    assert.deepEqual(
      [await sessions.load(key), await sessions.listSessions("p"), await sessions.listSubkeys(key)],
      [null, [], []],
    );
    assert.deepEqual(await contentsOf(store), recorded);
    // What the user deletes in the store does not come back.
    await store.delete(await store.session({ source: { agent: "claude-code", id: key.sessionId } }));
    await sessions.flush();
    await sessions.append({ ...key, sessionId: "other" }, [{ type: "x" }]);
    await sessions.flush();
    assert.deepEqual(await store.list({ all: true }), []);
    assert.deepEqual(readdirSync(join(home, ".leftoff", "claude-agent", "p")), ["other.jsonl"]);
  }));

test("a session is listed, searched and resumed like others, with its sub-agents and the calls that began them", async () => {
  const file = join(AGENTS_FIXTURE, `${AGENTS_ID}.jsonl`);
  const folder = join(AGENTS_FIXTURE, AGENTS_ID, "subagents");
  const subs = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  assert.ok(subs.length > 0);
  /** @param {Store} store */
  const describe = async (store) => {
    const all = [];
    for (const { id } of await store.list({ all: true, type: undefined })) {
      const { title, type, messageCount, parent, agent } = await store.info(await store.session(id));
      all.push({ title, type, messageCount, call: parent?.callId, isParentKnown: parent !== null, tools: agent.tools });
    }
    return all.sort((one, other) => (one.title < other.title ? -1 : 1));
  };
  /** @type {any} */
  let imported;
  await inScene(async ({ store }) => {
    await store.import(AGENTS_FIXTURE);
    imported = await describe(store);
  });
  await inScene(async ({ store, sessions }) => {
    const key = { projectKey: "p", sessionId: AGENTS_ID };
    await sessions.append(key, entriesOf(file));
    for (const name of subs) {
      const subpath = `subagents/${basename(name, ".jsonl")}`;
      await sessions.append({ ...key, subpath }, entriesOf(join(folder, name)));
      const about = join(folder, name.replace(/\.jsonl$/, ".meta.json"));
      if (existsSync(about))
        await sessions.append({ ...key, subpath }, [
          { type: "agent_metadata", ...JSON.parse(readFileSync(about, "utf8")) },
        ]);
    }
    await sessions.flush();
    assert.deepEqual(await describe(store), imported);
  });
});

test("recording waits for what else comes, longer the longer it takes, and a failure is told", async () => {
  /** @type {string[]} */
  const recorded = [];
  /** @type {unknown[]} */
  const told = [];
  let failure = new LeftoffError({ code: "damaged", message: "it is damaged" });
  const record = async (/** @type {{ path: string }} */ { path }) => {
    recorded.push(basename(path));
    if (path.includes("bad")) throw failure;
  };
  const store = /** @type {any} */ ({ home: "/home", record });
  const storage = new FailingStorage();
  const sessions = sessionStore({ store, storage, report: (error, { sessionId }) => told.push([error, sessionId]) });
  const key = { projectKey: "p", sessionId: "s" };
  for (let n = 0; n < 50; n += 1) await sessions.append(key, [{ type: "x", n }]);
  assert.deepEqual(recorded, []);
  await sessions.flush();
  assert.deepEqual(recorded, ["s.jsonl"]);
  await sessions.flush();
  assert.deepEqual(recorded, ["s.jsonl"]);
  await sessions.append({ ...key, sessionId: "bad" }, [{ type: "x" }]);
  await sessions.flush();
  assert.deepEqual(told, [[failure, "bad"]]);
  await sessions.close();
  const silent = sessionStore({ store, storage });
  await silent.append({ ...key, sessionId: "bad" }, [{ type: "x" }]);
  await assert.rejects(silent.flush(), failure);
  await silent.flush();
  failure = new LeftoffError({ code: "unknown_format", message: "nothing was said" });
  await silent.append({ ...key, sessionId: "bad" }, [{ type: "x" }]);
  await silent.close();
});

test("what a process that is gone had not recorded, the next one records", () =>
  inScene(async ({ home, store, another }) => {
    const program = `
      import { openStore } from ${JSON.stringify(INDEX)};
      import { sessionStore } from ${JSON.stringify(CLAUDE)};
      const store = await openStore({ home: ${JSON.stringify(join(home, ".leftoff"))}, project: "/" });
      await sessionStore({ store }).append({ projectKey: "p", sessionId: "${SAID_ID}" }, ${JSON.stringify(SAID)});
      process.kill(process.pid, "SIGKILL");`;
    const { signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    assert.equal(signal, "SIGKILL", stderr);
    assert.deepEqual(await store.list({ all: true }), []);
    const marks = join(home, ".leftoff", "claude-agent", "unrecorded.d");
    assert.equal(readdirSync(marks).length, 1);
    // One that lives keeps its own.
    const { pid } = process;
    writeFileSync(
      join(marks, "alive"),
      `${JSON.stringify({ ...thisProcess(), pid })}\n{"projectKey":"p","sessionId":"alive"}\n`,
    );
    await another().flush();
    assert.equal((await contentsOf(store)).length, 2);
    assert.deepEqual(readdirSync(marks), ["alive"]);
  }));
