// @ts-check
/** What was said anew: nothing of what it said before is in what is made of a session, wherever that was kept. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { openStore } from "../../js/index.js";

const OLD = "My password is hunter2, mend the door";
const NEW = "Mend the door";

/** @param {(home: string) => Promise<void>} work */
async function inFolder(work) {
  const home = await mkdtemp(join(tmpdir(), "leftoff-test-"));
  await work(home).finally(() => rm(home, { recursive: true }));
}

/** @param {string} home @param {"home" | "workspace"} placement */
async function edited(home, placement) {
  const store = await openStore({ home: join(home, "h"), project: home });
  const session = await store.create({ placement });
  const { records: [first] } = await session.append([{ role: "user", content: OLD }, { role: "assistant", content: "Which door?" }]);
  const document = join(session.path, placement === "home" ? "metadata.json" : "session.json");
  await session.close();
  return { store, id: session.id, first, document, old: await readFile(document, "utf8") };
}

for (const placement of /** @type {const} */ (["home", "workspace"]))
  test(`nothing that is made of a session has what a message said before it was said anew: ${placement}`, () =>
    inFolder(async (home) => {
      const { store, id, first, document, old } = await edited(home, placement);
      if (placement === "home") assert.match(old, /hunter2/);
      const session = await store.session(id);
      await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
      const { block } = await session.resume({ window: 8_000, encoding: "estimate-1" });
      const made = [session.metadata, await session.brief(), block, await store.list(), await store.info(session)];
      assert.doesNotMatch(JSON.stringify(made), /hunter2/);
      assert.equal(session.metadata.display.title, NEW);
      await session.close();
      assert.doesNotMatch(await readFile(document, "utf8"), /hunter2/);
      const again = await (await openStore({ home: join(home, "h"), project: home })).session(id);
      assert.doesNotMatch(JSON.stringify([again.metadata, await again.brief()]), /hunter2/);
      await store.close();
    }));

test("whoever opens it next writes a document anew that has the title from before an edit", () =>
  inFolder(async (home) => {
    const { store, id, first, document, old } = await edited(home, "home");
    const session = await store.session(id);
    await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
    await session.close();
    await writeFile(document, old); // As where the process was killed before it wrote.
    const again = await (await openStore({ home: join(home, "h"), project: home })).session(id);
    await again.close();
    assert.doesNotMatch(await readFile(document, "utf8"), /hunter2/);
    await store.close();
  }));

test("a pinned message is told as it reads now", () =>
  inFolder(async (home) => {
    const { store, id, first } = await edited(home, "home");
    const session = await store.session(id);
    await session.pin(first?.id ?? "");
    await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
    assert.doesNotMatch(await session.brief(), /hunter2/);
    assert.equal((await session.pins()).length, 1);
    await store.close();
  }));

for (const placement of /** @type {const} */ (["home", "workspace"]))
  test(`a document that is older than the edit gives no title: ${placement}`, () =>
    inFolder(async (home) => {
      const { store, id, first, document, old } = await edited(home, placement);
      const session = await store.session(id);
      await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
      await session.close();
      // The process ended before it wrote the document, or a merge brought it back.
      await writeFile(document, old);
      for (let time = 0; time < 2; time += 1) {
        const again = await (await openStore({ home: join(home, "h"), project: home })).session(id);
        assert.equal(again.metadata.display.title, NEW);
        await again.append({ role: "user", content: "Go on." });
        assert.equal(again.metadata.display.title, NEW);
        await again.close();
      }
      assert.doesNotMatch(await readFile(document, "utf8"), /hunter2/);
      await store.close();
    }));
