// @ts-check
// What a browser keeps for an origin, in a worker: the storages' contract, and what only such a storage has to say.

import { openStore } from "leftoff";
import { OpfsStorage } from "leftoff/storage/opfs";
import assert from "node:assert/strict";
import { storageContract } from "../js/storage-contract.js";
import { runWaiting, test } from "./stand-ins.mjs";

Object.assign(globalThis, { setImmediate: (/** @type {() => void} */ work) => setTimeout(work, 0) });

let made = 0;
const bytes = (/** @type {string} */ text) => new TextEncoder().encode(text);
const text = (/** @type {Uint8Array | null} */ found) => found && new TextDecoder().decode(found);

storageContract("opfs", async () => {
  const [storage, root] = [new OpfsStorage(), `/contract/${made++}`];
  return { storage, root, done: () => new OpfsStorage().remove(root) };
});

test("what was kept is there for the next storage, with the times of its last change", async () => {
  const first = new OpfsStorage();
  await first.append("/kept/log", bytes("one"), { durable: true });
  await first.append("/kept/log", bytes("two"));
  const before = await first.stat("/kept/log");
  await first.close();
  const second = new OpfsStorage();
  assert.equal(text(await second.read("/kept/log")), "onetwo");
  const after = await second.stat("/kept/log");
  assert.ok(before && after && Math.abs(after.mtimeMs - before.mtimeMs) < 60_000, "expected about the same time");
  assert.deepEqual(await second.stat("/kept/log"), after);
  await second.remove("/kept");
  await second.close();
});

test("one storage at a time appends to a file, and others read it meanwhile", async () => {
  const [first, second] = [new OpfsStorage(), new OpfsStorage()];
  await first.append("/shared/log", bytes("one"), { durable: true });
  await assert.rejects(second.append("/shared/log", bytes("two")), { code: "permission_denied", written: 0 });
  assert.equal(text(await second.read("/shared/log")), "one");
  assert.equal(text(await first.read("/shared/log")), "one");
  await first.close();
  assert.equal((await second.append("/shared/log", bytes("two"))).end, 6);
  await second.remove("/shared");
  await second.close();
});

test("a file that another storage replaced is told from the one that was there", async () => {
  const [first, second] = [new OpfsStorage(), new OpfsStorage()];
  await first.replace("/other/document", bytes("one"));
  const before = await second.stat("/other/document");
  await new Promise((go) => setTimeout(go, 20));
  await first.replace("/other/document", bytes("two"));
  assert.notDeepEqual((await second.stat("/other/document"))?.file, before?.file);
  for (const storage of [first, second]) await storage.close();
});

test("the move of a folder that was cut off is done before anything else", async () => {
  const storage = new OpfsStorage();
  for (const path of ["a", "b", "deep/c"]) await storage.append(`/half/from/${path}`, bytes(path));
  await storage.close();
  // As it is left by a tab that was closed.
  const root = await navigator.storage.getDirectory();
  const half = await root.getDirectoryHandle("half");
  const [from, to] = [await half.getDirectoryHandle("from"), await half.getDirectoryHandle("to", { create: true })];
  await /** @type {any} */ (await from.getFileHandle("a")).move(to, "a");
  const note = await /** @type {any} */ (
    await root.getFileHandle(".leftoff-moving.json", { create: true })
  ).createSyncAccessHandle();
  note.write(bytes('{"from":"/half/from","to":"/half/to"}'), { at: 0 });
  note.close();
  const next = new OpfsStorage();
  assert.equal(await next.stat("/half/from"), null);
  for (const path of ["a", "b", "deep/c"]) assert.equal(text(await next.read(`/half/to/${path}`)), path);
  assert.ok(!(await next.list("/"))?.some(({ name }) => name.startsWith(".leftoff")), "expected no note any more");
  await next.remove("/half");
  await next.close();
});

test("a note of a move that was cut off itself is no move, and hinders nothing", async () => {
  const root = await navigator.storage.getDirectory();
  for (const written of ["", '{"from":"/hal']) {
    const note = await /** @type {any} */ (
      await root.getFileHandle(".leftoff-moving.json", { create: true })
    ).createSyncAccessHandle();
    note.write(bytes(written), { at: 0 });
    note.close();
    const next = new OpfsStorage();
    await next.append("/unmoved/log", bytes("one"));
    await next.move("/unmoved", "/gone-on");
    assert.equal(text(await next.read("/gone-on/log")), "one");
    await next.remove("/gone-on");
    await next.close();
  }
});

test("a store of a worker is the next one's, and what it acknowledges is durable", async () => {
  const first = await openStore({ storage: new OpfsStorage() });
  const session = await first.create({ title: "Kept" });
  assert.equal((await session.append({ role: "user", content: "Where were we?" })).acknowledged, "durable");
  await first.close();
  const second = await openStore({ storage: new OpfsStorage() });
  assert.deepEqual(
    (await second.list()).map(({ title, messageCount }) => [title, messageCount]),
    [["Kept", 1]],
  );
  const again = await second.session(session.id);
  await again.append({ role: "assistant", content: "At the parser." });
  assert.equal((await again.context({ window: 8_000, encoding: "estimate-1" })).messages.length, 2);
  await second.delete(again);
  assert.equal((await second.list()).length, 0);
  await second.close();
});

addEventListener("message", async () => postMessage(await runWaiting()));
