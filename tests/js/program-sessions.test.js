// @ts-check
// A program that is no agent has sessions by its own ids: each is one session of the store, also where several
// processes begin it at the same moment, in whatever projects.
// Tries: src/operation/store/import/live.rs, src/operation/store/import/claim.rs

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";

/** @import { Store } from "../../js/store/store.js" */

/** @param {(store: Store) => Promise<void>} work */
async function withStore(work) {
  const home = mkdtempSync(join(tmpdir(), "leftoff-program-"));
  const store = await openStore({ home: join(home, ".leftoff"), project: home });
  try {
    await work(store);
  } finally {
    await store.close();
    rmSync(home, { recursive: true, maxRetries: 10 });
  }
}

test("a program's own conversation is one session by the id that the program has for it", async () => {
  await withStore(async (store) => {
    const source = { agent: "my-app", id: "chat 1" };
    const session = await store.create({ source, title: "The parser" });
    await session.append({ role: "user", content: "Rename the parser." });
    assert.equal((await store.create({ source })).id, session.id);
    assert.equal((await store.session({ source })).id, session.id);
    const other = await openStore({ home: store.home, project: tmpdir() });
    assert.equal((await other.create({ source })).id, session.id);
    await other.close();
    assert.notEqual((await store.create({ source: { ...source, agent: "your-app" } })).id, session.id);
    const child = await store.create({ source: { ...source, id: "chat 2", parent: "chat 1" } });
    assert.equal((await store.info(child)).parent?.session, "my-app/chat 1");
    const found = (await store.list({ agent: "my-app" })).map(({ id }) => id);
    assert.deepEqual(found, [session.id]);
    assert.deepEqual((await store.list()).find(({ id }) => id === session.id)?.agent, "my-app");
    await assert.rejects(store.session({ source: { ...source, id: "chat 3" } }), { code: "not_found" });
  });
});

/** Stores of one home, each of another project. @param {Store} store @param {string[]} names */
const storesIn = (store, names) =>
  Promise.all(
    names.map((name) => {
      const project = join(store.home, "..", name);
      mkdirSync(project, { recursive: true });
      return openStore({ home: store.home, project });
    }),
  );

test("of programs that begin a session at once in different projects, all have the same one", async () => {
  await withStore(async (store) => {
    const stores = await storesIn(store, ["one", "two", "three", "four"]);
    for (let round = 0; round < 25; round += 1) {
      const source = { agent: "my-app", id: `chat ${round}` };
      const found = await Promise.all(stores.map((one) => one.create({ source })));
      await Promise.all(found.map((one, place) => one.append({ role: "user", content: `Of ${place}.` })));
      assert.equal(new Set(found.map(({ path }) => path)).size, 1, `round ${round}`);
      const again = await store.session({ source });
      /** @type {string[]} */
      const said = [];
      for await (const { content } of again.messages()) said.push(content);
      assert.deepEqual(said.sort(), ["Of 0.", "Of 1.", "Of 2.", "Of 3."]);
    }
    assert.equal((await store.list({ all: true })).length, 25);
    const claims = readdirSync(join(store.home, "cache")).filter((name) => name.endsWith(".claims"));
    assert.deepEqual(claims, []);
    for (const one of stores) await one.close();
  });
});

test("a process that ended before it began a session claims it for some seconds only", async () => {
  await withStore(async (store) => {
    const [one, two] = await storesIn(store, ["one", "two"]);
    if (!one || !two) throw new Error("expected two stores");
    const source = { agent: "my-app", id: "chat 1" };
    const { id } = await one.create({ source });
    let holder = one;
    for (const [agoMs, project] of /** @type {const} */ ([
      [60_000, two.project],
      [0, one.project],
    ])) {
      await holder.delete(await holder.session({ source }), { purge: true });
      holder = two;
      const claim = JSON.stringify({ project: one.project, at: Date.now() - agoMs });
      writeFileSync(join(store.home, "cache", `${id}.claims`), `{"torn\n${claim}\n`);
      const session = await two.create({ source });
      assert.equal(session.metadata.project?.path, project);
    }
    await one.close();
    await two.close();
  });
});
