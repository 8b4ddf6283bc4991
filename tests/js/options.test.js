// @ts-check
// An option that nobody knows is refused by its name, by every call that takes options, before anything is done.
import assert from "node:assert/strict";
import { test } from "node:test";

import { ContextManager } from "../../js/compat/index.js";
import * as leftoff from "../../js/index.js";

const { LeftoffError, MemoryStorage, NodeStorage, countTokens, openStore, readTranscript } = leftoff;

/** As a caller without types would. @param {unknown} options @returns {any} */
const typed = (options) => options;

/** @param {() => unknown} call @param {string} found */
async function refused(call, found) {
  const error = await Promise.resolve().then(call).catch((cause) => cause);
  assert.ok(error instanceof LeftoffError && error.code === "invalid_request", `${call}: ${/** @type {any} */ (error)?.message}`);
  assert.match(error.message, new RegExp(`^(unknown option "${found}": expected \\w+(, \\w+)*( or \\w+)?|expected an object with \\w+(, \\w+)*( or \\w+)?, but found "?${found}"? instead)$`), `${call}: ${/** @type {any} */ (error)?.message}`);
}

test("each call that takes options names the first that it does not know, and what it knows", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  await session.append({ role: "user", content: "Hello" });
  /** @type {((odd: object) => unknown)[]} */
  const calls = [
    (odd) => openStore(typed(odd)),
    (odd) => store.continue(typed(odd)),
    (odd) => store.create(typed(odd)),
    (odd) => store.list(typed(odd)),
    (odd) => store.find("words", typed(odd)),
    (odd) => store.search("words", typed(odd)).next(),
    (odd) => store.recall("words", typed(odd)),
    (odd) => store.doctor(typed(odd)),
    (odd) => store.import("/nothing", typed(odd)),
    (odd) => store.importAll(typed(odd)),
    (odd) => store.record(typed({ agent: "codex", path: "/nothing", ...odd })),
    (odd) => store.fork(session, typed(odd)),
    (odd) => store.delete(session, typed(odd)),
    (odd) => store.move(session, typed({ to: "workspace", ...odd })),
    (odd) => store.tidy(typed(odd)),
    (odd) => store.writeSetting("record", false, typed(odd)),
    (odd) => store.unsetSetting("record", typed(odd)),
    (odd) => store.writeForAgent(session, typed({ agent: "codex", ...odd })),
    (odd) => session.append({ role: "user", content: "again" }, typed(odd)),
    (odd) => session.context(typed({ window: 8000, ...odd })),
    (odd) => session.resume(typed({ window: 8000, ...odd })),
    (odd) => session.compact(typed({ window: 8000, ...odd })),
    (odd) => session.compact(typed({ undo: true, ...odd })),
    (odd) => session.brief(typed(odd)),
    (odd) => session.stop(typed(odd)),
    (odd) => session.complete(typed(odd)),
    (odd) => session.messages(typed(odd)).next(),
    (odd) => session.follow(typed(odd)).next(),
    (odd) => session.export("json", typed(odd)),
    (odd) => session.search("words", typed(odd)),
    (odd) => session.flush(typed(odd)),
    (odd) => countTokens("text", typed(odd)),
    (odd) => new NodeStorage(typed(odd)),
    (odd) => new MemoryStorage(typed(odd)),
  ];
  for (const call of calls) await refused(Object.assign(() => call({ hoem: 1 }), { toString: () => String(call) }), "hoem");
  assert.equal((await store.list()).length, 1);
  assert.deepEqual([session.metadata.lifecycle, session.metadata.stats.messageCount, store.settings.record], ["active", 1, true]);
  await store.close();
});

test("a flag is true or false: what is neither is refused, and nothing is done", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create();
  await session.append({ role: "user", content: "Hello" });
  /** @type {[flag: string, call: (odd: object) => unknown][]} */
  const calls = [
    ["countTokens", (odd) => openStore(typed({ home: "/other", project: "/", storage: new MemoryStorage(), ...odd }))],
    ["all", (odd) => store.list(typed(odd))],
    ["verify", (odd) => store.list(typed(odd))],
    ["fix", (odd) => store.doctor(typed(odd))],
    ["secrets", (odd) => store.doctor(typed(odd))],
    ["purge", (odd) => store.delete(session, typed(odd))],
    ["enabled", (odd) => store.tidy(typed(odd))],
    ["project", (odd) => store.writeSetting("record", false, typed(odd))],
    ["revives", (odd) => session.append({ role: "user", content: "again" }, typed(odd))],
    ["revives", (odd) => session.resume(typed({ window: 8000, ...odd }))],
    ["override", (odd) => session.resume(typed({ window: 8000, ...odd }))],
    ["assumes", (odd) => session.context(typed({ window: 8000, ...odd }))],
    ["apply", (odd) => session.compact(typed({ window: 8000, ...odd }))],
    ["undo", (odd) => session.compact(typed({ window: 8000, ...odd }))],
    ["newestFirst", (odd) => session.messages(typed(odd)).next()],
    ["allBranches", (odd) => session.messages(typed(odd)).next()],
    ["allBranches", (odd) => session.export("json", typed(odd))],
    ["learns", (odd) => session.flush(typed(odd))],
  ];
  for (const [flag, call] of calls) {
    for (const odd of ["false", 0, 1, {}]) {
      const error = await Promise.resolve().then(() => call({ [flag]: odd })).catch((cause) => cause);
      assert.ok(error instanceof LeftoffError && error.code === "invalid_request", `${flag} ${JSON.stringify(odd)}: ${call}: ${error}`);
      assert.match(error.message, new RegExp(`^expected (true or false|a boolean) for "(request\\.)?${flag}", but found`));
    }
  }
  assert.equal((await store.list()).length, 1);
  assert.deepEqual([session.metadata.lifecycle, session.metadata.stats.messageCount, store.settings.record], ["active", 1, true]);
  await store.close();
});

test("a text is a text, a number a number and a function one: what is of another kind is refused, and nothing is done", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create({ title: "as it was" });
  const { records: [first] } = await session.append({ role: "user", content: "Hello" });
  const ids = { startMessageId: first?.id ?? "", endMessageId: first?.id ?? "" };
  const open = (/** @type {object} */ odd) => openStore(typed({ home: "/other", project: "/", storage: new MemoryStorage(), ...odd }));
  /** @type {Record<string, [name: string, call: (odd: any) => unknown][]>} */
  const calls = {
    text: [
      ["home", (home) => open({ home })], ["project", (project) => open({ project })], ["workspace", (workspace) => open({ workspace })],
      ["model", (model) => store.continue(typed({ model }))],
      ["type", (type) => store.create(typed({ type }))], ["title", (title) => store.create(typed({ title }))],
      ["name", (name) => store.create(typed({ name }))], ["model", (model) => store.create(typed({ model }))],
      ["since", (since) => store.list({ since })], ["until", (until) => store.list({ until })], ["sort", (sort) => store.list({ sort })],
      ["status", (status) => store.list({ status })], ["agent", (agent) => store.list({ agent })], ["folder", (folder) => store.list({ folder })],
      ["id", (id) => store.session(id)], ["id", (id) => store.doctor({ id })], ["id", (id) => store.restore(id)],
      ["words", (words) => store.find(words)], ["words", (words) => store.search(words).next()],
      ["question", (question) => store.recall(question)], ["question", (question) => session.search(question)], ["project", (project) => store.recall("words", { project })],
      ["at", (at) => store.fork(session, { at })],
      ["to", (to) => store.move(session, { to })], ["name", (name) => store.move(session, { to: "workspace", name })],
      ["day", (day) => store.move(session, { to: "workspace", day })], ["title", (title) => store.move(session, { to: "workspace", title })],
      ["path", (path) => store.import(path)], ["from", (from) => store.relocate(from, "/")], ["to", (to) => store.relocate("/", to)],
      ["path", (path) => store.record(typed({ agent: "codex", path }))],
      ["text", (text) => store.goesOn(session, text)],
      ["format", (format) => session.append({ role: "user", content: "again" }, { format })],
      ["operation", (operation) => session.append({ role: "user", content: "again" }, { operation })],
      ["expected", (expected) => session.append({ role: "user", content: "again" }, { expected })],
      ["system", (system) => session.context({ window: 8000, system })], ["encoding", (encoding) => session.context({ window: 8000, encoding })],
      ["model", (model) => session.context({ window: 8000, model })], ["format", (format) => session.context({ window: 8000, format })],
      ["encoding", (encoding) => session.brief({ encoding })],
      ["startMessageId", (startMessageId) => session.summaryOf({ ...ids, startMessageId, maxTokens: 200 })],
      ["endMessageId", (endMessageId) => session.summaryOf({ ...ids, endMessageId, maxTokens: 200 })],
      ["summary", (summary) => session.stop({ summary })], ["title", (title) => session.rename(title)],
      ["messageId", (id) => session.pin(id)], ["messageId", (id) => session.unpin(id)],
      ["leaf", (leaf) => session.messages({ leaf }).next()],
      ["encoding", (encoding) => countTokens("text", { encoding })], ["model", (model) => countTokens("text", { model })],
      ["root", (root) => new NodeStorage({ root })], ["file", (file) => readTranscript(file)],
    ],
    number: [
      ["idleMs", (idleMs) => open({ idleMs })],
      ["limit", (limit) => store.list({ limit })], ["limit", (limit) => countTokens("text", { limit })],
      ["maxSessionsPerProject", (most) => store.tidy(typed({ maxSessionsPerProject: most }))],
      ["autoArchiveAfterDays", (days) => store.tidy(typed({ autoArchiveAfterDays: days }))],
      ["debounceMs", (debounceMs) => store.tidy(typed({ debounceMs }))],
      ["window", (window) => session.context({ window })], ["reserve", (reserve) => session.context({ window: 8000, reserve })],
      ["keep", (keep) => session.compact({ window: 8000, keep })], ["maxBytes", (maxBytes) => session.resume({ window: 8000, maxBytes })],
      ["maxTokens", (maxTokens) => session.brief({ maxTokens })], ["maxTokens", (maxTokens) => session.summaryOf({ ...ids, maxTokens })],
    ],
    function: [
      ["count", (count) => session.context({ window: 8000, count })], ["summarize", (summarize) => session.context({ window: 8000, summarize })],
      ["summarize", (summarize) => session.compact({ window: 8000, summarize })], ["count", (count) => session.resume({ window: 8000, count })],
      ["now", (now) => new MemoryStorage({ now })],
      ["onProgress", (onProgress) => store.import("/nothing", { onProgress })],
      ["commandOf", (commandOf) => store.record(typed({ agent: "codex", path: "/nothing", commandOf }))],
    ],
  };
  calls.object = [["only", (only) => store.import("/nothing", { only })], ["only", (only) => store.record(typed({ agent: "opencode", path: "/nothing", only }))]];
  const odd = { object: [7, "few", true, [], {}, { folder: 1 }], text: [7, true, ["few"], { few: 1 }], number: ["few", "7", true, [7], NaN], function: ["few", 7, true, {}] };
  for (const [kind, all] of Object.entries(calls)) {
    for (const [name, call] of all) {
      for (const value of odd[/** @type {keyof typeof odd} */ (kind)]) {
        const error = await Promise.resolve().then(() => call(value)).catch((cause) => cause);
        const where = `${name} ${JSON.stringify(value)}: ${call}: ${error}`;
        assert.ok(error instanceof LeftoffError && error.code === "invalid_request", where);
        assert.match(error.message, /expected .+, but found .+|^unknown option ".+": expected .+/, where);
      }
    }
  }
  assert.equal((await store.list()).length, 1);
  const { lifecycle, stats, display } = session.metadata;
  assert.deepEqual([lifecycle, stats.messageCount, display.title], ["active", 1, "as it was"]);
  await store.close();
});

test("what is no object of options is named, too", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  await refused(() => store.list(typed(null)), "null");
  await refused(() => store.create(typed("title")), "title");
  await store.close();
});

test("whatever is given first, a function answers or refuses it by a code", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  const calls = [store, session].flatMap((one) => Object.getOwnPropertyNames(Object.getPrototypeOf(one)).flatMap((name) => {
    const { value } = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(Object.getPrototypeOf(one), name));
    return typeof value === "function" && !["constructor", "close", "importAll"].includes(name) ? [{ name, call: value.bind(one) }] : [];
  }));
  calls.push(...Object.entries(leftoff).flatMap(([name, call]) => (typeof call === "function" && !/^[A-Z]/.test(name) ? [{ name, call }] : [])));
  assert.ok(calls.length > 50);
  for (const { name, call } of calls) {
    for (const odd of [null, 5, Number.NaN, true, "\0", [], {}, 7n, Symbol.iterator, () => {}]) {
      const error = await Promise.resolve().then(async () => {
        const answer = await call(odd, ...(["follow", "messages"].includes(name) ? [] : [odd]));
        await answer?.return?.();
      }).catch((/** @type {any} */ cause) => cause);
      assert.ok(error === undefined || (error instanceof LeftoffError && error.code !== "internal"), `${name} ${String(odd)}: ${error}`);
    }
  }
  await store.close();
});

test("what is no session is refused where one is asked for", async () => {
  const store = await openStore({ storage: new MemoryStorage() });
  const session = await store.create();
  for (const found of [session.id, undefined, null, {}, [session]]) {
    const given = /** @type {any} */ (found);
    for (const call of [
      () => store.fork(given), () => store.delete(given), () => store.move(given, { to: "workspace" }), () => store.commit(given), () => store.mend(given),
      () => store.point(given), () => store.goesOn(given, "text"), () => store.writeForAgent(given, { agent: "pi" }),
    ]) {
      await assert.rejects(call(), (/** @type {any} */ error) => error.code === "invalid_request" && /^expected a session, but found /.test(error.message), String(call));
    }
  }
  await store.close();
});

test("what JSON cannot say is refused by a code, too", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  /** @type {any} */
  const circle = {};
  circle.self = circle;
  for (const value of [1n, circle]) {
    const calls = [() => store.list({ all: value }), () => store.point(value), () => store.find(value), () => ContextManager.hashQuery(value)];
    for (const call of calls) await assert.rejects(async () => call(), { code: "invalid_request", message: new RegExp(`but found ${typeof value} instead$`) }, String(call));
  }
  await assert.rejects(async () => ContextManager.hashQuery(typed(5)), { code: "invalid_request" });
});
