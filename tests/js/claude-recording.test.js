// @ts-check
// Each session of the Claude Agent SDK is a session of the store, whether it was mirrored, imported from the client's
// files, or both; also what a killed process had not recorded.
// Tries: js/claude/recorder.js, js/claude/marks.js, js/claude/transcripts.js

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { sessionStore } from "../../js/claude/index.js";
import { LeftoffError } from "../../js/index.js";
import { thisProcess } from "../../js/storage/process.js";
import { TRANSCRIPTS, entriesOf, inBatches, inScene } from "./claude-scene.js";
import { FailingStorage } from "./failing-storage.js";

/** @import { Store } from "../../js/store/store.js" */
/** @import { Scene } from "./claude-scene.js" */

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

/** What is said in all sessions of a store. @param {Store} store */
async function contentsOf(store) {
  const found = [];
  for (const { id } of await store.list({ all: true })) {
    const session = await store.session(id);
    for await (const { role, content } of session.messages({ allBranches: true })) found.push([id, role, content]);
  }
  return found;
}

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
    const found = [];
    for await (const { session } of store.search(imported[0].title, { all: true })) found.push(session.title);
    assert.ok(found.includes(imported[0].title));
  });
});

test("recording waits for what else comes, longer the longer it takes, and a failure is told", async () => {
  /** @type {string[]} */
  const recorded = [];
  /** @type {unknown[]} */
  const told = [];
  let isRefused = true;
  let failure = new LeftoffError({ code: "damaged", message: "it is damaged" });
  const record = async (/** @type {{ path: string }} */ { path }) => {
    recorded.push(basename(path));
    if (isRefused && path.includes("bad")) throw failure;
  };
  const store = /** @type {any} */ ({ home: "/home", record });
  const storage = new FailingStorage();
  const sessions = sessionStore({ store, storage, report: (error, { sessionId }) => told.push([error, sessionId]) });
  const key = { projectKey: "p", sessionId: "s" };
  const marks = () => storage.list(join("/home", "claude-agent", "unrecorded.d"));
  for (let n = 0; n < 50; n += 1) await sessions.append(key, [{ type: "x", n }]);
  assert.deepEqual(recorded, []);
  await sessions.flush();
  assert.deepEqual(recorded, ["s.jsonl"]);
  await sessions.flush();
  assert.deepEqual(recorded, ["s.jsonl"]);
  assert.deepEqual(await marks(), []);
  await sessions.append({ ...key, sessionId: "bad" }, [{ type: "x" }]);
  await sessions.flush();
  assert.deepEqual(told, [[failure, "bad"]]);
  // It is tried again with the next entry, or by the next process.
  assert.equal((await marks())?.length, 1);
  isRefused = false;
  await sessions.append({ ...key, sessionId: "bad" }, [{ type: "x" }]);
  await sessions.flush();
  assert.deepEqual(await marks(), []);
  isRefused = true;
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
      process.exit(7);`;
    const file = join(home, "killed.mjs");
    writeFileSync(file, program);
    const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" });
    assert.equal(status, 7, stderr);
    assert.deepEqual(await store.list({ all: true }), []);
    const marks = join(home, ".leftoff", "claude-agent", "unrecorded.d");
    assert.equal(readdirSync(marks).length, 1);
    // One that lives keeps its own.
    const { pid } = process;
    writeFileSync(
      join(marks, "alive"),
      `${JSON.stringify({ ...thisProcess(), pid })}\n{"projectKey":"p","sessionId":"alive"}\n`,
    );
    // One that cannot record it leaves it to the next.
    const record = () => Promise.reject(new LeftoffError({ code: "disk_full", message: "the disk is full" }));
    const full = sessionStore({ store: /** @type {any} */ ({ home: join(home, ".leftoff"), record }) });
    await assert.rejects(full.flush(), { code: "disk_full" });
    await full.close();
    await another().flush();
    assert.equal((await contentsOf(store)).length, 2);
    assert.deepEqual(readdirSync(marks), ["alive"]);
  }));

test("which call began a sub-agent is told beside its transcript, until that is deleted", () =>
  inScene(async ({ home, store, sessions }) => {
    const key = { projectKey: "p", sessionId: SAID_ID };
    const sub = { ...key, subpath: "subagents/agent-a1" };
    const call = { type: "tool_use", id: "toolu_1", name: "Agent", input: { prompt: "Look." } };
    await sessions.append(key, [
      ...SAID,
      { ...SAID[1], uuid: "u3", parentUuid: "u2", message: { id: "m2", role: "assistant", content: [call] } },
    ]);
    const own = SAID.map((entry) => ({ ...entry, isSidechain: true, agentId: "a1", uuid: `sub-${entry.uuid}` }));
    await sessions.append(sub, [
      ...own.map(({ parentUuid, ...entry }) => ({ ...entry, parentUuid: parentUuid && `sub-${parentUuid}` })),
    ]);
    await sessions.append(sub, [{ type: "agent_metadata", agentType: "Explore", toolUseId: "toolu_0" }]);
    await sessions.append(sub, [{ type: "agent_metadata", agentType: "Explore", toolUseId: "toolu_1" }]);
    await sessions.flush();
    const calls = [];
    for (const { id } of await store.list({ all: true, type: "subagent" }))
      calls.push((await store.info(await store.session(id))).parent);
    assert.deepEqual(calls, [{ session: `claude-code/${SAID_ID}`, callId: "toolu_1" }]);
    const folder = join(home, ".leftoff", "claude-agent", "p", SAID_ID, "subagents");
    assert.deepEqual(readdirSync(folder).sort(), ["agent-a1.jsonl", "agent-a1.meta.json"]);
    await sessions.delete(sub);
    assert.deepEqual(readdirSync(folder), []);
  }));
