// @ts-check
/** What was said anew: nothing of what it said before is in what is made of a session, wherever that was kept. */
// Tries: src/session/revisions.rs, src/session/title.rs, src/operation/summary_writing.rs

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
async function editSession(home, placement) {
  const store = await openStore({ home: join(home, "h"), project: home });
  const session = await store.create({ placement });
  const {
    records: [first],
  } = await session.append([
    { role: "user", content: OLD },
    { role: "assistant", content: "" },
  ]);
  const document = join(session.path, placement === "home" ? "metadata.json" : "session.json");
  await session.stop();
  await session.close();
  return { store, id: session.id, first, document, old: await readFile(document, "utf8") };
}

/** What a list shows. @param {import("../../js/index.js").Store} store */
async function summaryOf(store) {
  const [listed] = await store.list({ all: true });
  return listed?.summary ?? "";
}

for (const placement of /** @type {const} */ (["home", "workspace"]))
  test(`nothing that is made of a session has what a message said before it was said anew: ${placement}`, () =>
    inFolder(async (home) => {
      const { store, id, first, document, old } = await editSession(home, placement);
      assert.match(old, /hunter2/);
      const session = await store.session(id);
      await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
      const { block } = await session.resume({ window: 8_000, encoding: "estimate-1" });
      const made = [session.metadata, await session.brief(), block, await store.list(), await store.info(session)];
      assert.doesNotMatch(JSON.stringify(made), /hunter2/);
      for await (const hit of store.search("hunter2")) assert.fail(JSON.stringify(hit));
      assert.equal(session.metadata.display.title, NEW);
      await session.close();
      assert.doesNotMatch(await readFile(document, "utf8"), /hunter2/);
      const other = await openStore({ home: join(home, "h"), project: home });
      const again = await other.session(id);
      assert.doesNotMatch(JSON.stringify([again.metadata, await again.brief()]), /hunter2/);
      await other.close();
      await store.close();
    }));

test("whoever opens it next writes a document anew that has the title from before an edit", () =>
  inFolder(async (home) => {
    const { store, id, first, document, old } = await editSession(home, "home");
    const session = await store.session(id);
    await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
    await session.close();
    await writeFile(document, old); // As where the process was killed before it wrote.
    const other = await openStore({ home: join(home, "h"), project: home });
    await (await other.session(id)).close();
    await other.close();
    assert.doesNotMatch(await readFile(document, "utf8"), /hunter2/);
    await store.close();
  }));

test("a summary that was made of what is no longer said is gone, and made anew at the next stop; what somebody gave stays", () =>
  inFolder(async (home) => {
    const { store, id, first } = await editSession(home, "home");
    const session = await store.session(id);
    assert.match(await summaryOf(store), /hunter2/);
    // Said anew as of long ago.
    const again = {
      role: /** @type {const} */ ("user"),
      content: NEW,
      id: first?.id,
      timestamp: "2020-01-01T00:00:00.000Z",
    };
    await session.append({ ...again, rev: 1 });
    assert.equal(await summaryOf(store), "");
    await session.stop();
    assert.match(await summaryOf(store), /: Mend the door$/);
    await session.stop({ summary: "All of doors" });
    await session.append({ role: "user", content: OLD });
    await session.stop();
    assert.match(await summaryOf(store), /^All of doors; since then: /);
    const {
      records: [last],
    } = await session.append({ role: "assistant", content: "Which" });
    await session.append({ ...again, rev: 2 });
    assert.equal(await summaryOf(store), "All of doors");
    await session.append({ role: "assistant", content: "Which?", id: last?.id, rev: 1 });
    await session.close();
    assert.equal(await summaryOf(store), "All of doors");
    await store.close();
  }));

const CALL = { toolCalls: [{ id: "c", name: "Bash", arguments: "{}" }] };
for (const [name, lines] of /** @type {const} */ ([
  [
    "that is still being said",
    [{ content: "I", partial: true }, { content: "I would", partial: true }, { content: "I would mend it." }],
  ],
  [
    "that was told in part, and then makes calls",
    [
      { content: "I", partial: true },
      { content: "I mend it." },
      { content: "I mend it." },
      { content: "I mend it.", assistant: CALL },
    ],
  ],
]))
  test(`an answer ${name} leaves the summary of what was said before`, () =>
    inFolder(async (home) => {
      const { store, id } = await editSession(home, "home");
      const session = await store.session(id);
      const summary = await summaryOf(store);
      for (const [rev, line] of lines.entries())
        await session.append({ role: "assistant", id: "answer", rev, ...line });
      assert.equal(await summaryOf(store), summary);
      await store.close();
    }));

test("who has a session of a workspace open while a message is said anew writes its document anew, and doctor finds nothing", () =>
  inFolder(async (home) => {
    const { store, id, first, document } = await editSession(home, "workspace");
    const session = await store.session(id);
    await session.append({ role: "assistant", content: "Yes." });
    await session.stop();
    await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
    await session.close();
    assert.doesNotMatch(await readFile(document, "utf8"), /hunter2/);
    assert.deepEqual((await store.doctor({ id }))[0]?.problems, []);
    await store.close();
  }));

test("a pinned message is told as it reads now", () =>
  inFolder(async (home) => {
    const { store, id, first } = await editSession(home, "home");
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
      const { store, id, first, document, old } = await editSession(home, placement);
      const session = await store.session(id);
      await session.append({ role: "user", content: NEW, id: first?.id, rev: 1 });
      await session.close();
      // The process ended before it wrote the document, or a merge brought it back.
      await writeFile(document, old);
      for (let time = 0; time < 2; time += 1) {
        const other = await openStore({ home: join(home, "h"), project: home });
        const again = await other.session(id);
        assert.equal(again.metadata.display.title, NEW);
        await again.append({ role: "user", content: "Go on." });
        assert.equal(again.metadata.display.title, NEW);
        await other.close();
      }
      assert.doesNotMatch(await readFile(document, "utf8"), /hunter2/);
      await store.close();
    }));
