// @ts-check
// An option that nobody knows is refused by its name, by every call that takes options, before anything is done.
// Tries: js/wasm/options.js
import assert from "node:assert/strict";
import { test } from "node:test";

import { ContextManager } from "../../js/compat/index.js";
import * as leftoff from "../../js/index.js";

const { LeftoffError, MemoryStorage, NodeStorage, countTokens, openStore, readTranscript } = leftoff;

/** As a caller without types would. @param {unknown} options @returns {any} */
const asAny = (options) => options;

/** @param {() => unknown} call @param {string} found */
async function expectRefusal(call, found) {
  const error = await Promise.resolve()
    .then(call)
    .catch((cause) => cause);
  assert.ok(
    error instanceof LeftoffError && error.code === "invalid_request",
    `${call}: ${/** @type {any} */ (error)?.message}`,
  );
  assert.match(
    error.message,
    new RegExp(
      `^(unknown option "${found}": expected \\w+(, \\w+)*( or \\w+)?|expected an object with \\w+(, \\w+)*( or \\w+)?, but found "?${found}"? instead)$`,
    ),
    `${call}: ${/** @type {any} */ (error)?.message}`,
  );
}

test("each call that takes options names the first that it does not know, and what it knows", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  await session.append({ role: "user", content: "Hello" });
  /** @type {((odd: object) => unknown)[]} */
  const calls = [
    (odd) => openStore(asAny(odd)),
    (odd) => store.continue(asAny(odd)),
    (odd) => store.create(asAny(odd)),
    (odd) => store.list(asAny(odd)),
    (odd) => store.find("words", asAny(odd)),
    (odd) => store.search("words", asAny(odd)).next(),
    (odd) => store.recall("words", asAny(odd)),
    (odd) => store.doctor(asAny(odd)),
    (odd) => store.import("/nothing", asAny(odd)),
    (odd) => store.importAll(asAny(odd)),
    (odd) => store.listImportable("/nothing", asAny(odd)),
    (odd) => store.record(asAny({ agent: "codex", path: "/nothing", ...odd })),
    (odd) => store.fork(session, asAny(odd)),
    (odd) => store.delete(session, asAny(odd)),
    (odd) => store.move(session, asAny({ to: "workspace", ...odd })),
    (odd) => store.tidy(asAny(odd)),
    (odd) => store.writeSetting("record", false, asAny(odd)),
    (odd) => store.unsetSetting("record", asAny(odd)),
    (odd) => store.writeForAgent(session, asAny({ agent: "codex", ...odd })),
    (odd) => session.append({ role: "user", content: "again" }, asAny(odd)),
    (odd) => session.context(asAny({ window: 8000, ...odd })),
    (odd) => session.resume(asAny({ window: 8000, ...odd })),
    (odd) => session.compact(asAny({ window: 8000, ...odd })),
    (odd) => session.compact(asAny({ undo: true, ...odd })),
    (odd) => session.brief(asAny(odd)),
    (odd) => session.stop(asAny(odd)),
    (odd) => session.complete(asAny(odd)),
    (odd) => session.messages(asAny(odd)).next(),
    (odd) => session.follow(asAny(odd)).next(),
    (odd) => session.export("json", asAny(odd)),
    (odd) => session.search("words", asAny(odd)),
    (odd) => session.flush(asAny(odd)),
    (odd) => countTokens("text", asAny(odd)),
    (odd) => new NodeStorage(asAny(odd)),
    (odd) => new MemoryStorage(asAny(odd)),
  ];
  for (const call of calls)
    await expectRefusal(
      Object.assign(() => call({ hoem: 1 }), { toString: () => String(call) }),
      "hoem",
    );
  assert.equal((await store.list()).length, 1);
  assert.deepEqual(
    [session.metadata.lifecycle, session.metadata.stats.messageCount, store.settings.record],
    ["active", 1, true],
  );
  await store.close();
});

test("a flag is true or false: what is neither is refused, and nothing is done", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create();
  await session.append({ role: "user", content: "Hello" });
  /** @type {[flag: string, call: (odd: object) => unknown][]} */
  const calls = [
    ["countTokens", (odd) => openStore(asAny({ home: "/other", project: "/", storage: new MemoryStorage(), ...odd }))],
    ["all", (odd) => store.list(asAny(odd))],
    ["verify", (odd) => store.list(asAny(odd))],
    ["fix", (odd) => store.doctor(asAny(odd))],
    ["secrets", (odd) => store.doctor(asAny(odd))],
    ["purge", (odd) => store.delete(session, asAny(odd))],
    ["enabled", (odd) => store.tidy(asAny(odd))],
    ["project", (odd) => store.writeSetting("record", false, asAny(odd))],
    ["revives", (odd) => session.append({ role: "user", content: "again" }, asAny(odd))],
    ["revives", (odd) => session.resume(asAny({ window: 8000, ...odd }))],
    ["override", (odd) => session.resume(asAny({ window: 8000, ...odd }))],
    ["assumes", (odd) => session.context(asAny({ window: 8000, ...odd }))],
    ["apply", (odd) => session.compact(asAny({ window: 8000, ...odd }))],
    ["undo", (odd) => session.compact(asAny({ window: 8000, ...odd }))],
    ["newestFirst", (odd) => session.messages(asAny(odd)).next()],
    ["allBranches", (odd) => session.messages(asAny(odd)).next()],
    ["allBranches", (odd) => session.export("json", asAny(odd))],
    ["learns", (odd) => session.flush(asAny(odd))],
  ];
  for (const [flag, call] of calls) {
    for (const odd of ["false", 0, 1, {}]) {
      const error = await Promise.resolve()
        .then(() => call({ [flag]: odd }))
        .catch((cause) => cause);
      assert.ok(
        error instanceof LeftoffError && error.code === "invalid_request",
        `${flag} ${JSON.stringify(odd)}: ${call}: ${error}`,
      );
      assert.match(
        error.message,
        new RegExp(`^expected (true or false|a boolean) for "(request\\.)?${flag}", but found`),
      );
    }
  }
  assert.equal((await store.list()).length, 1);
  assert.deepEqual(
    [session.metadata.lifecycle, session.metadata.stats.messageCount, store.settings.record],
    ["active", 1, true],
  );
  await store.close();
});

test("a text is a text, a number a number and a function one: what is of another kind is refused, and nothing is done", async () => {
  const storage = new MemoryStorage();
  const store = await openStore({ home: "/home", project: "/", storage });
  const session = await store.create({ title: "as it was" });
  const {
    records: [first],
  } = await session.append({ role: "user", content: "Hello" });
  const ids = { startMessageId: first?.id ?? "", endMessageId: first?.id ?? "" };
  const open = (/** @type {object} */ odd) =>
    openStore(asAny({ home: "/other", project: "/", storage: new MemoryStorage(), ...odd }));
  /** @type {Record<string, [name: string, call: (odd: any) => unknown][]>} */
  const calls = {
    text: [
      ["home", (home) => open({ home })],
      ["project", (project) => open({ project })],
      ["workspace", (workspace) => open({ workspace })],
      ["model", (model) => store.continue(asAny({ model }))],
      ["type", (type) => store.create(asAny({ type }))],
      ["title", (title) => store.create(asAny({ title }))],
      ["name", (name) => store.create(asAny({ name }))],
      ["model", (model) => store.create(asAny({ model }))],
      ["since", (since) => store.list({ since })],
      ["until", (until) => store.list({ until })],
      ["sort", (sort) => store.list({ sort })],
      ["status", (status) => store.list({ status })],
      ["agent", (agent) => store.list({ agent })],
      ["folder", (folder) => store.list({ folder })],
      ["id", (id) => store.session(id)],
      ["id", (id) => store.doctor({ id })],
      ["id", (id) => store.restore(id)],
      ["words", (words) => store.find(words)],
      ["words", (words) => store.search(words).next()],
      ["question", (question) => store.recall(question)],
      ["question", (question) => session.search(question)],
      ["project", (project) => store.recall("words", { project })],
      ["at", (at) => store.fork(session, { at })],
      ["to", (to) => store.move(session, { to })],
      ["name", (name) => store.move(session, { to: "workspace", name })],
      ["day", (day) => store.move(session, { to: "workspace", day })],
      ["title", (title) => store.move(session, { to: "workspace", title })],
      ["path", (path) => store.import(path)],
      ["from", (from) => store.relocate(from, "/")],
      ["to", (to) => store.relocate("/", to)],
      ["path", (path) => store.record(asAny({ agent: "codex", path }))],
      ["text", (text) => store.goesOn(session, text)],
      ["format", (format) => session.append({ role: "user", content: "again" }, { format })],
      ["operation", (operation) => session.append({ role: "user", content: "again" }, { operation })],
      ["expected", (expected) => session.append({ role: "user", content: "again" }, { expected })],
      ["system", (system) => session.context({ window: 8000, system })],
      ["encoding", (encoding) => session.context({ window: 8000, encoding })],
      ["model", (model) => session.context({ window: 8000, model })],
      ["format", (format) => session.context({ window: 8000, format })],
      ["encoding", (encoding) => session.brief({ encoding })],
      ["startMessageId", (startMessageId) => session.summaryOf({ ...ids, startMessageId, maxTokens: 200 })],
      ["endMessageId", (endMessageId) => session.summaryOf({ ...ids, endMessageId, maxTokens: 200 })],
      ["summary", (summary) => session.stop({ summary })],
      ["title", (title) => session.rename(title)],
      ["messageId", (id) => session.pin(id)],
      ["messageId", (id) => session.unpin(id)],
      ["leaf", (leaf) => session.messages({ leaf }).next()],
      ["encoding", (encoding) => countTokens("text", { encoding })],
      ["model", (model) => countTokens("text", { model })],
      ["root", (root) => new NodeStorage({ root })],
      ["file", (file) => readTranscript(file)],
    ],
    number: [
      ["idleMs", (idleMs) => open({ idleMs })],
      ["limit", (limit) => store.list({ limit })],
      ["limit", (limit) => countTokens("text", { limit })],
      ["maxSessionsPerProject", (most) => store.tidy(asAny({ maxSessionsPerProject: most }))],
      ["autoArchiveAfterDays", (days) => store.tidy(asAny({ autoArchiveAfterDays: days }))],
      ["debounceMs", (debounceMs) => store.tidy(asAny({ debounceMs }))],
      ["window", (window) => session.context({ window })],
      ["reserve", (reserve) => session.context({ window: 8000, reserve })],
      ["keep", (keep) => session.compact({ window: 8000, keep })],
      ["maxBytes", (maxBytes) => session.resume({ window: 8000, maxBytes })],
      ["maxTokens", (maxTokens) => session.brief({ maxTokens })],
      ["maxTokens", (maxTokens) => session.summaryOf({ ...ids, maxTokens })],
    ],
    function: [
      ["count", (count) => session.context({ window: 8000, count })],
      ["summarize", (summarize) => session.context({ window: 8000, summarize })],
      ["summarize", (summarize) => session.compact({ window: 8000, summarize })],
      ["count", (count) => session.resume({ window: 8000, count })],
      ["now", (now) => new MemoryStorage({ now })],
      ["onProgress", (onProgress) => store.import("/nothing", { onProgress })],
      ["onProgress", (onProgress) => store.doctor({ onProgress })],
      ["commandOf", (commandOf) => store.record(asAny({ agent: "codex", path: "/nothing", commandOf }))],
    ],
  };
  calls.object = [
    ["only", (only) => store.import("/nothing", { only })],
    ["only", (only) => store.record(asAny({ agent: "opencode", path: "/nothing", only }))],
  ];
  const odd = {
    object: [7, "few", true, [], {}, { folder: 1 }],
    text: [7, true, ["few"], { few: 1 }],
    number: ["few", "7", true, [7], NaN],
    function: ["few", 7, true, {}],
  };
  for (const [kind, all] of Object.entries(calls)) {
    for (const [name, call] of all) {
      for (const value of odd[/** @type {keyof typeof odd} */ (kind)]) {
        const error = await Promise.resolve()
          .then(() => call(value))
          .catch((cause) => cause);
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
  await expectRefusal(() => store.list(asAny(null)), "null");
  await expectRefusal(() => store.create(asAny("title")), "title");
  await store.close();
});

test("whatever is given first, a function answers or refuses it by a code", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create();
  const calls = [store, session].flatMap((one) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(one)).flatMap((name) => {
      const { value } = /** @type {PropertyDescriptor} */ (
        Object.getOwnPropertyDescriptor(Object.getPrototypeOf(one), name)
      );
      return typeof value === "function" && !["constructor", "close", "importAll"].includes(name)
        ? [{ name, call: value.bind(one) }]
        : [];
    }),
  );
  calls.push(
    ...Object.entries(leftoff).flatMap(([name, call]) =>
      typeof call === "function" && !/^[A-Z]/.test(name) ? [{ name, call }] : [],
    ),
  );
  assert.ok(calls.length > 50);
  for (const { name, call } of calls) {
    for (const odd of [null, 5, Number.NaN, true, "\0", [], {}, 7n, Symbol.iterator, () => {}]) {
      const error = await Promise.resolve()
        .then(async () => {
          const answer = await call(odd, ...(["follow", "messages"].includes(name) ? [] : [odd]));
          await answer?.return?.();
        })
        .catch((/** @type {any} */ cause) => cause);
      assert.ok(
        error === undefined || (error instanceof LeftoffError && error.code !== "internal"),
        `${name} ${String(odd)}: ${error}`,
      );
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
      () => store.fork(given),
      () => store.delete(given),
      () => store.move(given, { to: "workspace" }),
      () => store.commit(given),
      () => store.mend(given),
      () => store.point(given),
      () => store.goesOn(given, "text"),
      () => store.writeForAgent(given, { agent: "pi" }),
    ]) {
      await assert.rejects(
        call(),
        (/** @type {any} */ error) =>
          error.code === "invalid_request" && /^expected a session, but found /.test(error.message),
        String(call),
      );
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
    const calls = [
      () => store.list({ all: value }),
      () => store.point(value),
      () => store.find(value),
      () => ContextManager.hashQuery(value),
    ];
    for (const call of calls)
      await assert.rejects(
        async () => call(),
        { code: "invalid_request", message: new RegExp(`but found ${typeof value} instead$`) },
        String(call),
      );
  }
  await assert.rejects(async () => ContextManager.hashQuery(asAny(5)), { code: "invalid_request" });
});
