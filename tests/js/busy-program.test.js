// @ts-check
// How often an operation waits for the event loop. A program that is busy, as OpenCode is while it starts, lets each
// wait end a second late; what waits for nothing ends at once.
// Tries: js/storage/file-reader.js, js/storage/node.js, js/storage/whole-file.js, src/operation/store/create.rs

import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { afterEach, mock, test } from "node:test";

import { NodeStorage, openStore } from "../../js/index.js";
import { LINE, check, makeRoot } from "./storage-tools.js";

afterEach(() => mock.restoreAll());

/**
 * Holds what another thread was asked for until all that was asked has been done; gives how often all of it was waited
 * for.
 */
function countWaits() {
  let waits = 0;
  let asked = 0;
  /** @type {(() => void)[]} */
  let done = [];
  const endWait = () => {
    if (asked === 0 || done.length < asked) return;
    waits += 1;
    asked = 0;
    for (const tell of done.splice(0)) tell();
  };
  for (const name of /** @type {const} */ (["fsync", "fdatasync", "read", "write"])) {
    const real = /** @type {(...given: any[]) => void} */ (fs[name]);
    mock.method(fs, name, (/** @type {any[]} */ ...given) => {
      const told = given.pop();
      asked += 1;
      real(...given, (/** @type {any[]} */ ...said) => {
        done.push(() => told(...said));
        setImmediate(endWait);
      });
    });
  }
  return () => waits;
}

/** @param {(home: string, project: string) => Promise<void>} body */
async function inFolders(body) {
  const root = makeRoot();
  try {
    const [home, project] = [join(root, "home"), join(root, "project")];
    fs.mkdirSync(project);
    await body(home, project);
  } finally {
    mock.restoreAll();
    fs.rmSync(root, { recursive: true });
  }
}

test("a session is created within three waits, and opened without one", () =>
  inFolders(async (home, project) => {
    // A storage of the caller's own is asked without git.
    const open = () => openStore({ home, project, storage: new NodeStorage() });
    const store = await open();
    const waits = countWaits();
    const { id } = await store.create();
    assert.ok(waits() <= 3, `expected at most 3 waits, but found ${waits()}`);
    await store.close();
    const other = await open();
    const before = waits();
    await other.session(id);
    assert.equal(waits() - before, 0);
    await other.close();
  }));

check("who reads again and again lets others have their turn", async (storage, root) => {
  await storage.append(`${root}/log`, LINE);
  for (const path of [`${root}/log`, `${root}/empty`]) {
    fs.closeSync(fs.openSync(`${root}/empty`, "a"));
    let had = false;
    setImmediate(() => (had = true));
    let reads = 0;
    for (; !had && reads < 100; reads += 1) await storage.read(path);
    assert.ok(had, `${path} was read ${reads} times`);
  }
});
