// @ts-check
// An option that nobody knows is refused by its name, by every call that takes options, before anything is done.
import assert from "node:assert/strict";
import { test } from "node:test";

import { LeftoffError, MemoryStorage, NodeStorage, countTokens, openStore } from "../../js/index.js";

/** As a caller without types would. @param {unknown} options @returns {any} */
const typed = (options) => options;

/** @param {() => unknown} call @param {string} found */
async function refused(call, found) {
  const error = await Promise.resolve().then(call).catch((cause) => cause);
  assert.ok(error instanceof LeftoffError && error.code === "invalid_request", `${call}: ${/** @type {any} */ (error)?.message}`);
  assert.match(error.message, new RegExp(`^expected \\w+(, \\w+)*( or \\w+)?, but found "${found}" instead$`), `${call}: ${/** @type {any} */ (error)?.message}`);
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

test("what is no object of options is named, too", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  await refused(() => store.list(typed(null)), "null");
  await refused(() => store.create(typed("title")), "title");
  await store.close();
});
