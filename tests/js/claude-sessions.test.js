// @ts-check
// A store of sessions for the Claude Agent SDK: entries come back as they were, each once and in their order, whatever
// the keys are, and whatever is killed or full.
// Tries: js/claude/transcript.js, js/claude/transcripts.js, js/claude/file-names.js, js/claude/summaries.js

import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { basename, join, sep } from "node:path";
import { test } from "node:test";

import fc from "fast-check";
import { decodeName, encodeName } from "../../js/claude/file-names.js";
import { sessionStore } from "../../js/claude/index.js";
import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { TRANSCRIPTS, entriesOf, fold, inBatches, inScene } from "./claude-scene.js";
import { FailingStorage } from "./failing-storage.js";

/** @import { ClaudeSessionStore } from "../../js/types/claude.js" */

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
      message: /^expected only the options store, .*, but found "stor" instead$/,
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
    const path = join(home, ".leftoff", "claude-agent", "p", "s.jsonl");
    const { size } = statSync(path);
    await another().append(key, [one, two, one]);
    assert.equal(statSync(path).size, size);
    // Another process is as fast: both have looked before one of them wrote.
    appendFileSync(path, `${JSON.stringify({ ...two, n: 2 })}\n`);
    assert.deepEqual(await sessions.load(key), [one, title, title, two, title]);
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
  inScene(async ({ home, store, sessions, another }) => {
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
    assert.equal(sessionStore({ store: /** @type {any} */ ({ home, record() {} }) }).listSessionSummaries, undefined);
  }));

test("a transcript that another program deletes is another one when it is written again", () =>
  inScene(async ({ home, store, sessions, another }) => {
    const key = { projectKey: "p", sessionId: "s" };
    const [one, two] = [
      { type: "x", uuid: "1" },
      { type: "y", uuid: "2" },
    ];
    const other = another();
    const typesOf = async () => (await sessions.listSessionSummaries?.("p"))?.map(({ data }) => data.types);
    await sessions.append(key, [one, two]);
    await other.delete(key);
    await other.append(key, [two]);
    await sessions.append(key, [one]);
    assert.deepEqual(await sessions.load(key), [two, one]);
    assert.deepEqual(await typesOf(), [["y", "x"]]);
    await other.delete(key);
    const cache = join(home, ".leftoff", "claude-agent", "p", "summaries.json");
    assert.doesNotMatch(readFileSync(cache, "utf8"), /types/);
    await sessions.append(key, [two, one]);
    assert.deepEqual(await sessions.load(key), [two, one]);
    assert.deepEqual(await typesOf(), [["y", "x"]]);
    // One that knows no summaries.
    await sessionStore({ store }).delete(key);
    await sessions.append(
      key,
      Array.from("efghij", (type) => ({ type })),
    );
    assert.deepEqual(await typesOf(), [Array.from("efghij")]);
  }));
