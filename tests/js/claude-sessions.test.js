// @ts-check
// A store of sessions for the Claude Agent SDK: entries come back as they were, each once and in their order, whatever
// the keys are; and each session is one of the store, whether it was recorded so, imported from the client's files, or
// both.
// Tries: js/claude/

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import fc from "fast-check";
import { sessionStore } from "../../js/claude/index.js";
import { openStore } from "../../js/index.js";

/** @import { Store } from "../../js/store/store.js" */
/** @import { ClaudeSessionEntry, ClaudeSessionStore, FoldClaudeSummary } from "../../js/types/claude.js" */
/** @typedef {{ home: string, store: Store, sessions: ClaudeSessionStore, another: () => ClaudeSessionStore }} Scene */

const FIXTURES = fileURLToPath(new URL("../fixtures/claude-code/real/", import.meta.url));
/** Transcripts of the real client. */
const TRANSCRIPTS = readdirSync(FIXTURES, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".jsonl") && !name.includes("subagents"))
  .map((name) => join(FIXTURES, name));

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
