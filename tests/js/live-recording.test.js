// @ts-check
// A session of OpenCode is one session of the store, and each of its messages is there once, whether a plugin recorded
// it while it went on, or it was imported from the agent's files, or both, in either order.
// Tries: src/operation/store/import/live.rs, src/interop/import_diff.rs, js/opencode/recorder.js

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { watch } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { openStore } from "../../js/index.js";
import { openPlugin } from "../../js/opencode/plugin.js";
import { Recorder } from "../../js/opencode/recorder.js";

/** @import { Store } from "../../js/store/store.js" */
/** @import { OpenCodeMessage, OpenCodeSession } from "../../js/types/opencode.js" */
/** @typedef {{ path: string, info: OpenCodeSession, messages: { info: OpenCodeMessage["info"], parts: any[] }[] }} Export */
/** @typedef {{ type: string, properties: any }} AgentEvent */

const FOLDER = fileURLToPath(new URL("../fixtures/opencode/real/1.18.33/", import.meta.url));
/** @type {Export[]} */
const EXPORTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith(".json"))
  .map((name) => ({ path: join(FOLDER, name), ...JSON.parse(readFileSync(join(FOLDER, name), "utf8")) }));
const TAKEN_BACK = EXPORTS.filter(({ info }) => info.revert);

/** @param {(store: Store) => Promise<void>} work */
async function withStore(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-live-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    await work(store);
  } finally {
    await store.close();
    rmSync(home, { recursive: true });
  }
}

/**
 * The events by which OpenCode tells of a session: each message begins without its parts, texts come in pieces, and
 * calls begin without a result.
 * @param {Export} session @returns {Generator<AgentEvent>}
 */
function* eventsOf({ info: session, messages }) {
  for (const { info, parts } of messages) {
    const { completed, ...time } = info.time;
    yield { type: "message.updated", properties: { info: { ...info, time, finish: undefined } } };
    for (const part of parts) {
      const of = { sessionID: info.sessionID, messageID: info.id };
      if (part.type === "text" && info.role === "assistant") {
        yield { type: "message.part.updated", properties: { part: { ...part, text: "" } } };
        for (const delta of part.text.match(/.{1,20}/gsu) ?? [])
          yield { type: "message.part.delta", properties: { ...of, partID: part.id, field: "text", delta } };
      }
      if (part.type === "tool") {
        const pending = { ...part, state: { status: "pending", input: {}, raw: "" } };
        yield { type: "message.part.updated", properties: { part: pending } };
        const state = { status: "running", input: part.state.input, time: { start: 1 } };
        yield { type: "message.part.updated", properties: { part: { ...part, state } } };
      }
      yield { type: "message.part.updated", properties: { part } };
    }
    if (completed !== undefined) yield { type: "message.updated", properties: { info } };
  }
  if (session.revert) yield { type: "session.updated", properties: { info: session } };
  yield { type: "session.idle", properties: { sessionID: session.id } };
}

/** The client of a session, which knows what its events told so far. */
class Client {
  /** @type {Map<string, { info: OpenCodeMessage["info"], parts: any[] }>} */
  #messages = new Map();
  /** @param {OpenCodeSession} info */
  constructor(info) {
    const data = { ...info, revert: undefined };
    this.app = { log: async () => undefined };
    this.session = {
      get: async () => ({ data }),
      messages: async () => ({ data: structuredClone(Array.from(this.#messages.values())) }),
    };
  }

  /** @param {AgentEvent} event */
  take({ type, properties: { info, part, messageID, partID, field, delta } }) {
    const ofPart = this.#messages.get(part?.messageID ?? messageID)?.parts;
    if (type === "message.updated") {
      const known = this.#messages.get(info.id) ?? { info, parts: [] };
      this.#messages.set(info.id, { ...known, info });
    } else if (type === "message.part.updated") {
      const place = ofPart?.findIndex(({ id }) => id === part.id) ?? -1;
      ofPart?.splice(place < 0 ? ofPart.length : place, 1, part);
    } else if (type === "message.part.delta") {
      const found = ofPart?.find(({ id }) => id === partID);
      if (ofPart && found) ofPart[ofPart.indexOf(found)] = { ...found, [field]: found[field] + delta };
    }
  }
}

/**
 * Records a session from its events, or from some of them, and settles after each of which `rests` says so.
 * @param {Store} store @param {Export} session @param {{ from?: number, to?: number, rests?: (place: number) => boolean }} [how]
 */
async function record(store, session, { from = 0, to = Infinity, rests = () => false } = {}) {
  const client = new Client(session.info);
  /** @type {unknown[]} */
  const errors = [];
  const recorder = new Recorder(store, client, (error) => errors.push(error));
  for (const [place, event] of [...eventsOf(session)].entries()) {
    if (place >= to) break;
    client.take(event);
    if (place < from) continue;
    recorder.take(event);
    if (rests(place)) await recorder.settle();
  }
  await recorder.settle();
  assert.deepEqual(errors, []);
}

/** @template T @param {AsyncIterable<T>} items */
async function gather(items) {
  /** @type {T[]} */
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}

/** All that is said in the only session of a store, and on which branch it ends. @param {Store} store @param {string} id */
async function contents(store, id) {
  const session = await store.session({ source: { agent: "opencode", id } });
  assert.deepEqual(
    (await store.list({ all: true, type: null })).map((listed) => listed.id),
    [session.id],
  );
  const all = await gather(session.messages({ allBranches: true }));
  const ids = all.map((message) => message.id);
  assert.equal(new Set(ids).size, ids.length, "a message twice");
  const path = await gather(session.messages());
  const about = (/** @type {typeof all[number]} */ { id, role, content, partial, tool, assistant }) => ({
    ...{ id, role, content, partial, tool },
    // The export is written for people, with arguments over several lines.
    calls: assistant?.toolCalls?.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) })),
    finish: assistant?.finishReason,
  });
  return { all: all.map(about), path: path.map(about) };
}

/** What an import alone makes of a session. @param {Export} session */
async function imported(session) {
  /** @type {Awaited<ReturnType<typeof contents>> | undefined} */
  let found;
  await withStore(async (store) => {
    await store.import(session.path);
    found = await contents(store, session.info.id);
  });
  return found;
}

for (const session of EXPORTS) {
  const name = session.info.id;

  test(`recorded, then imported, ${name} is what an import alone makes of it`, async () => {
    const wanted = await imported(session);
    await withStore(async (store) => {
      await record(store, session);
      assert.deepEqual(await contents(store, name), wanted);
      const [{ added } = {}] = (await store.import(session.path)).imported;
      assert.equal(added, 0);
      assert.deepEqual(await contents(store, name), wanted);
    });
  });

  test(`imported, then recorded, ${name} has nothing new`, async () => {
    const wanted = await imported(session);
    await withStore(async (store) => {
      await store.import(session.path);
      await record(store, session);
      assert.deepEqual(await contents(store, name), wanted);
    });
  });

  test(`stored after each event, ${name} ends as the same`, async () => {
    const wanted = await imported(session);
    await withStore(async (store) => {
      await record(store, session, { rests: () => true });
      assert.deepEqual(await contents(store, name), wanted);
    });
  });

  test(`whatever part of ${name} was recorded, an import adds the rest, and a later recorder what came before it`, async () => {
    const wanted = await imported(session);
    const count = [...eventsOf(session)].length;
    for (let to = 1; to < count; to += 7) {
      await withStore(async (store) => {
        await record(store, session, { to });
        await store.import(session.path);
        assert.deepEqual(await contents(store, name), wanted, `after ${to} of ${count} events`);
      });
      await withStore(async (store) => {
        await record(store, session, { to });
        await record(store, session, { from: to });
        assert.deepEqual(await contents(store, name), wanted, `two recorders, the second after ${to} events`);
      });
    }
  });
}

/** A message of the user's. @param {string} id @param {string} text @returns {Export["messages"][number]} */
function prompt(id, text) {
  const time = { created: 1_790_000_000_000 + Number(id.slice(-1)) };
  const part = { id: `prt_${id}`, sessionID: "ses_1", messageID: id, type: "text", text };
  return { info: { id, sessionID: "ses_1", role: "user", time }, parts: [part] };
}

for (const isGivenBack of [false, true])
  test(`what is said after something was taken back follows ${isGivenBack ? "it, if it was given back" : "what was before it"}`, async () => {
    await withStore(async (store) => {
      const messages = ["One.", "Two.", "Three."].map((text, place) => prompt(`msg_${place}`, text));
      const info = /** @type {OpenCodeSession} */ ({ id: "ses_1" });
      const client = {
        session: { get: async () => ({ data: info }), messages: async () => ({ data: structuredClone(messages) }) },
        app: { log: async () => undefined },
      };
      const recorder = new Recorder(store, client, (error) => assert.fail(String(error)));
      const tell = async (/** @type {AgentEvent[]} */ ...events) => {
        events.forEach((event) => recorder.take(event));
        await recorder.settle();
      };
      const say = (/** @type {typeof messages[number]} */ { info, parts }) =>
        tell(
          { type: "message.updated", properties: { info } },
          { type: "message.part.updated", properties: { part: parts[0] } },
          { type: "session.idle", properties: { sessionID: "ses_1" } },
        );
      for (const message of messages) await say(message);
      const revert = { messageID: "msg_1" };
      await tell({ type: "session.updated", properties: { info: { ...info, revert } } });
      const path = async () => (await contents(store, "ses_1")).path.map(({ content }) => content);
      assert.deepEqual((await path()).slice(0, 1), ["One."]);
      assert.ok(!(await path()).includes("Two."));
      if (!isGivenBack) {
        for (const { info } of messages.splice(1))
          await tell({ type: "message.removed", properties: { sessionID: "ses_1", messageID: info.id } });
      }
      await tell({ type: "session.updated", properties: { info } });
      const next = prompt("msg_3", "Four.");
      messages.push(next);
      await say(next);
      assert.deepEqual(await path(), isGivenBack ? ["One.", "Two.", "Three.", "Four."] : ["One.", "Four."]);
      const all = (await contents(store, "ses_1")).all.map(({ content }) => content);
      for (const text of ["One.", "Two.", "Three.", "Four."]) assert.ok(all.includes(text), text);
    });
  });

test("what could not be recorded is recorded with the next message, also where the session was deleted meanwhile", async () => {
  await withStore(async (store) => {
    const messages = [prompt("msg_0", "One.")];
    const info = /** @type {OpenCodeSession} */ ({ id: "ses_1" });
    let isAway = false;
    const client = {
      session: {
        get: async () => (isAway ? { error: "the client is away" } : { data: info }),
        messages: async () => ({ data: structuredClone(messages) }),
      },
      app: { log: async () => undefined },
    };
    /** @type {unknown[]} */
    const errors = [];
    const recorder = new Recorder(store, client, (error) => errors.push(error));
    const say = async (/** @type {typeof messages[number]} */ { info, parts }) => {
      recorder.take({ type: "message.updated", properties: { info } });
      recorder.take({ type: "message.part.updated", properties: { part: parts[0] } });
      await recorder.settle();
    };
    const path = async () => (await contents(store, "ses_1")).path.map(({ content }) => content);
    isAway = true;
    await say(/** @type {typeof messages[number]} */ (messages[0]));
    assert.equal(errors.length, 1);
    isAway = false;
    messages.push(prompt("msg_1", "Two."));
    await say(/** @type {typeof messages[number]} */ (messages[1]));
    assert.deepEqual(await path(), ["One.", "Two."]);
    await store.delete(await store.session({ source: { agent: "opencode", id: "ses_1" } }));
    for (const [id, text] of /** @type {const} */ ([
      ["msg_2", "Three."],
      ["msg_3", "Four."],
    ])) {
      messages.push(prompt(id, text));
      await say(/** @type {typeof messages[number]} */ (messages.at(-1)));
    }
    assert.equal(errors.length, 2);
    assert.deepEqual(await path(), ["One.", "Two.", "Three.", "Four."]);
  });
});

/** A client that has one session, in which somebody speaks. @param {Store} store */
function speakInOne(store) {
  /** @type {Export["messages"]} */
  const messages = [];
  const info = /** @type {OpenCodeSession} */ ({ id: "ses_1", title: "One" });
  const client = {
    session: { get: async () => ({ data: info }), messages: async () => ({ data: structuredClone(messages) }) },
    app: { log: async () => undefined },
  };
  const recorder = new Recorder(store, client, (error) => assert.fail(String(error)));
  return {
    recorder,
    say(/** @type {string} */ text) {
      const message = prompt(`msg_${messages.length}`, text);
      message.info.time.created = Date.now();
      messages.push(message);
      recorder.take({ type: "message.updated", properties: { info: message.info } });
      recorder.take({ type: "message.part.updated", properties: { part: message.parts[0] } });
    },
  };
}

test("a session that rests for long is paused while its recorder holds it, and takes the next message", async () => {
  const home = mkdtempSync(join(tmpdir(), "leftoff-live-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home, idleMs: 50 });
  const { recorder, say } = speakInOne(store);
  say("One.");
  const { path } = await recorder.session("ses_1");
  const events = () => readFileSync(join(path, "events.jsonl"), "utf8");
  const changes = watch(path);
  for (let next = changes.next(); !events().includes('"reason":"idle"'); next = changes.next()) await next;
  await changes.return?.();
  say("Two.");
  const session = await recorder.session("ses_1");
  const statuses = [...events().matchAll(/"type":"status","status":"(\w+)"/g)].map(([, status]) => status);
  assert.deepEqual(statuses.slice(-2), ["paused", "active"]);
  assert.deepEqual(
    (await gather(session.messages())).map(({ content }) => content),
    ["One.", "Two."],
  );
  await store.close();
  rmSync(home, { recursive: true });
});

test("what was said last is stored where the agent deletes the session", async () => {
  await withStore(async (store) => {
    const beside = await openStore({ home: store.home, project: store.project });
    const { recorder, say } = speakInOne(store);
    say("One.");
    await recorder.session("ses_1");
    say("Two.");
    recorder.take({ type: "session.deleted", properties: { info: { id: "ses_1" } } });
    await recorder.settle();
    const session = await beside.session({ source: { agent: "opencode", id: "ses_1" } });
    assert.deepEqual(
      (await gather(session.messages())).map(({ content }) => content),
      ["One.", "Two."],
    );
    await beside.close();
  });
});

test("a call that is cut off has its arguments", async () => {
  await withStore(async (store) => {
    const client = new Client({ id: "ses_1" });
    const recorder = new Recorder(store, client, (error) => assert.fail(String(error)));
    const tell = async (/** @type {AgentEvent} */ event) => {
      client.take(event);
      recorder.take(event);
      await recorder.settle();
    };
    const info = { id: "msg_1", sessionID: "ses_1", role: "assistant", modelID: "gpt-5", time: { created: 1 } };
    const part = { id: "prt_1", sessionID: "ses_1", messageID: "msg_1", type: "tool", tool: "bash", callID: "call_1" };
    const text = { ...part, id: "prt_0", type: "text", text: "Let me see." };
    const input = { command: "npm test" };
    await tell({ type: "message.updated", properties: { info } });
    await tell({ type: "message.part.updated", properties: { part: text } });
    for (const state of [
      { status: "pending", input: {}, raw: "" },
      { status: "running", input, time: { start: 1 } },
      { status: "error", input, error: "Tool execution aborted", time: { start: 1, end: 2 } },
    ])
      await tell({ type: "message.part.updated", properties: { part: { ...part, state } } });
    await tell({ type: "message.updated", properties: { info: { ...info, error: { name: "MessageAbortedError" } } } });
    const [call] = (await contents(store, "ses_1")).path.flatMap(({ calls = [] }) => calls);
    assert.deepEqual(call?.arguments, input);
  });
});

test("nothing is recorded where recording is off in the client's environment", async () => {
  await withStore(async (store) => {
    const client = new Client({ id: "ses_1" });
    process.env.LEFTOFF_RECORD = "off";
    try {
      const hooks = await openPlugin({ client, directory: store.project }, { home: store.home });
      const { info, parts } = prompt("msg_1", "One.");
      await hooks.event({ event: { type: "message.updated", properties: { info } } });
      await hooks.event({ event: { type: "message.part.updated", properties: { part: parts[0] } } });
      await hooks.dispose();
    } finally {
      delete process.env.LEFTOFF_RECORD;
    }
    assert.deepEqual(await store.list({ all: true, type: null }), []);
  });
});

test("a prompt is recorded by the settings of its time", async () => {
  await withStore(async (store) => {
    /** @type {Export["messages"]} */
    const messages = [];
    const client = {
      session: {
        get: async () => ({ data: { id: "ses_1" } }),
        messages: async () => ({ data: structuredClone(messages) }),
      },
      app: { log: async () => assert.fail("nothing fails") },
    };
    const hooks = await openPlugin({ client, directory: store.project }, { home: store.home });
    const say = async (/** @type {string} */ text) => {
      const message = prompt(`msg_${messages.length}`, text);
      const { info, parts } = message;
      await hooks["chat.message"]({ sessionID: "ses_1" }, { message: info, parts: structuredClone(parts) });
      // The client keeps it afterwards.
      messages.push(message);
      await hooks.event({ event: { type: "message.updated", properties: { info } } });
      await hooks.event({ event: { type: "message.part.updated", properties: { part: parts[0] } } });
    };
    await store.writeSetting("record", false);
    await say("One.");
    await store.writeSetting("record", true);
    await say("Two.");
    await store.writeSetting("record", false);
    await say("Three.");
    await hooks.dispose();
    const said = (await contents(store, "ses_1")).path.map(({ content }) => content);
    assert.ok(said.includes("Two.") && !said.includes("Three."), said.join());
  });
});

test("of an answer that is being said the beginning is there, marked as a part, and an import makes it whole", async () => {
  const session = /** @type {Export} */ (EXPORTS.find(({ info }) => !info.revert && !info.parentID));
  const wanted = await imported(session);
  const events = [...eventsOf(session)];
  const last = events.findLastIndex(({ type }) => type === "message.part.delta");
  await withStore(async (store) => {
    await record(store, session, { to: last });
    const { partial, content = "" } = (await contents(store, session.info.id)).path.at(-1) ?? {};
    assert.equal(partial, true);
    assert.ok(
      content !== "" && wanted?.path.at(-1)?.content?.startsWith(content) && content !== wanted.path.at(-1)?.content,
    );
    await store.import(session.path);
    assert.deepEqual(await contents(store, session.info.id), wanted);
  });
});

test("what is no message of the agent is refused, and so is another agent", async () => {
  await withStore(async (store) => {
    const session = await store.create({ source: { agent: "opencode", id: "ses_1" } });
    const refused = { code: "invalid_request" };
    for (const message of [{}, { info: {} }, { info: { id: "msg_1" }, parts: [] }, [], "text", null])
      await assert.rejects(session.record(/** @type {any} */ (message), { from: "opencode" }), refused);
    const message = { info: { id: "msg_1", sessionID: "ses_1", role: "user" }, parts: [] };
    assert.equal(await session.record(message, { from: "opencode" }), 0);
    await assert.rejects(session.record(message, { from: "codex" }), refused);
    await assert.rejects(session.record(message, /** @type {any} */ ({})), refused);
    for (const source of [
      {},
      { agent: "opencode" },
      { agent: "opencode", id: "" },
      { agent: "opencode", id: "x", place: "y" },
      { agent: "open-code", id: "x" },
      { agent: "My app", id: "x" },
    ])
      await assert.rejects(store.create({ source: /** @type {any} */ (source) }), refused);
    await assert.rejects(store.create({ source: { agent: "opencode", id: "x" }, type: "chat" }), refused);
    const parent = /** @type {any} */ ({ agent: "opencode", id: "ses_1", parent: "ses_0" });
    await assert.rejects(store.session({ source: parent }), refused);
  });
});

test("there is a session in which something was taken back", () => assert.equal(TAKEN_BACK.length, 1));
