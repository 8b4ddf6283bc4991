// @ts-check
// A trap of the core costs the call that met it, and nothing that was stored.
// Tries: js/wasm/core.js, js/wasm/module.js, js/wasm/store.js, src/operation/store/import/notes.rs, js/error.js
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { mock, test } from "node:test";

import { LeftoffError, MemoryStorage, openStore } from "../../js/index.js";
import { agents } from "../../js/wasm/agents.js";
import { core } from "../../js/wasm/core.js";
import { unlessBug } from "../../js/error.js";

/** @import { Store } from "../../js/store/store.js" */

/** That one store is closed does not close it for the others. */
class SharedStorage extends MemoryStorage {
  async close() {}
}

/** Others may have it, too, as a disk. */
class LeasedStorage extends MemoryStorage {
  capabilities = Object.freeze({ append: "exclusive", range: true, durable: true, watch: false });
}

/** Leaves the core no memory to grow into: what needs more meets a trap, as in a process that has used it up. */
function exhaust() {
  const { memory } = core().initSync(/** @type {any} */ (undefined));
  const PAGES = 65_536;
  memory.grow(PAGES - memory.buffer.byteLength / 65_536);
}

const large = { role: "user", content: "x".repeat(16 << 20) };
/** @param {import("../../js/session/session.js").Session} session */
async function contents(session) {
  const { messages } = await session.context({ window: 8_000, encoding: "estimate-1" });
  return messages.map((message) => message.content);
}

test("a trap is reported once, and every open session goes on from its files", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const sessions = [await store.create(), await store.create()];
  for (const session of sessions) await session.append({ role: "user", content: "before" });
  exhaust();
  const isInternal = (/** @type {unknown} */ error) => error instanceof LeftoffError && error.code === "internal";
  await assert.rejects(() => /** @type {any} */ (sessions[0]).append(large), isInternal);
  for (const session of sessions) {
    await session.append({ role: "user", content: "after" });
    assert.deepEqual(await contents(session), ["before", "after"]);
    assert.equal(session.metadata.stats.messageCount, 2);
  }
  await store.close();
});

test("a session that is closed after a trap is held by nobody, whatever was done with it between", async () => {
  /** @type {Record<string, (session: import("../../js/session/session.js").Session) => unknown>} */
  const between = {
    nothing: () => {},
    "a context": contents,
    "an append": (session) => session.append({ role: "user", content: "after" }),
  };
  for (const [name, done] of Object.entries(between)) {
    const storage = new LeasedStorage();
    const store = await openStore({ home: "/home", project: "/", storage });
    const session = await store.create();
    await session.append({ role: "user", content: "before" });
    const leases = async () => (await storage.list(`/home/cache/${session.id}.open`))?.length ?? 0;
    assert.equal(await leases(), 1, name);
    exhaust();
    await assert.rejects(() => session.append(large));
    await done(session);
    await session.close();
    assert.equal(await leases(), 0, name);
    await store.close();
  }
});

test("what a session says of itself stays readable while the core is gone", async () => {
  const store = await openStore({ home: "/home", project: "/", storage: new MemoryStorage() });
  const session = await store.create({ title: "a title" });
  assert.equal(session.metadata.display.title, "a title");
  exhaust();
  await assert.rejects(() => session.append(large));
  assert.equal(session.metadata.display.title, "a title");
});

/** @param {unknown} error */
const isInternal = (error) => error instanceof LeftoffError && error.code === "internal";

test("a trap is told by whoever lists, looks or examines, and never as something about a session", async () => {
  const calls = {
    list: (/** @type {Store} */ store) => store.list({ all: true }),
    doctor: (/** @type {Store} */ store) => store.doctor(),
    session: (/** @type {Store} */ store, /** @type {string} */ id) => store.session(id.slice(0, 30)),
    tidy: (/** @type {Store} */ store) => store.tidy(),
    current: (/** @type {Store} */ store) => store.current(),
  };
  for (const [name, call] of Object.entries(calls)) {
    const storage = new SharedStorage();
    const before = await openStore({ home: "/home", project: "/", storage });
    const { id } = await before.create();
    await (await before.session(id)).append({ role: "user", content: "sound" });
    await before.close();
    await storage.remove("/home/sessions/index.jsonl");
    await storage.remove("/.leftoff");
    const store = await openStore({ home: "/home", project: "/", storage });
    const trap = () => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    const trapping = [core(), agents.loadBindings()].map(({ Operations }) =>
      mock.method(Operations.prototype, "next", trap),
    );
    await assert.rejects(call(store, id), isInternal, name);
    for (const { mock: next } of trapping) next.restore();
    assert.deepEqual(
      (await store.list({ all: true })).map(({ status }) => status),
      ["active"],
      name,
    );
    assert.deepEqual(
      (await store.doctor()).filter(({ health }) => health !== "ok"),
      [],
      name,
    );
  }
});

test("a file that the core fails at costs an import itself alone, and is told with its path", async () => {
  const home = mkdtempSync(join(tmpdir(), "leftoff-trap-"));
  const folder = join(home, "files");
  mkdirSync(folder);
  const line = (/** @type {string} */ id, /** @type {string} */ said) =>
    `${JSON.stringify({ type: "user", uuid: id, parentUuid: null, sessionId: id, cwd: "/p", version: "2.1.329", timestamp: "2026-01-01T10:00:00Z", message: { role: "user", content: said } })}\n`;
  // Read in this order: some before what the core fails at, twice, and some behind it.
  const names = ["a", "b-poison", "c", "d-poison", "e"];
  for (const name of names) writeFileSync(join(folder, `${name}.jsonl`), line(name, name));
  const { Operations } = agents.loadBindings();
  const { next } = Operations.prototype;
  const trapping = mock.method(
    Operations.prototype,
    "next",
    /** @this {any} */ function (/** @type {number} */ number, /** @type {number} */ now, /** @type {any[]} */ said) {
      if (said.some((one) => one?.[0] === 11 && Buffer.from(one[1] ?? "").includes("-poison")))
        throw new WebAssembly.RuntimeError("unreachable");
      return next.call(this, number, now, said);
    },
  );
  const store = await openStore({ home: join(home, "store"), project: home });
  try {
    const { imported, problems, unchanged } = await store.import(folder);
    const nameOf = (/** @type {{ path: string }} */ { path }) => basename(path, ".jsonl");
    assert.deepEqual(imported.map((one) => [nameOf(one), one.added]).sort(), [
      ["a", 1],
      ["c", 1],
      ["e", 1],
    ]);
    assert.deepEqual(problems.map((one) => [nameOf(one), one.code]).sort(), [
      ["b-poison", "internal"],
      ["d-poison", "internal"],
    ]);
    assert.equal(unchanged, 0);
    await assert.rejects(store.import(join(folder, "b-poison.jsonl")), isInternal);
    trapping.mock.restore();
    // They alone are read again.
    const again = await store.import(folder);
    assert.deepEqual(
      [again.imported.map(nameOf).sort(), again.problems, again.unchanged],
      [["b-poison", "d-poison"], [], 3],
    );
    assert.equal((await store.list({ all: true })).length, names.length);
  } finally {
    trapping.mock.restore();
    await store.close();
    rmSync(home, { recursive: true });
  }
});

test("what is let pass, and what is not", () => {
  unlessBug(new LeftoffError({ code: "permission_denied", message: "no" }));
  assert.throws(() => unlessBug(new LeftoffError({ code: "internal", message: "a trap" })), isInternal);
  assert.throws(() => unlessBug(new TypeError("a bug")), TypeError);
});
