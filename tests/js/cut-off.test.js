// @ts-check
// A process is killed before any step of an operation; doctor brings to an end what it was at, and nothing is lost.
// Tries: src/operation/store/doctor/cut_off.rs, src/operation/store/relocation_steps.rs, src/operation/store/trash.rs
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { test } from "node:test";

import { bytesOf, textOf } from "../../js/wasm/core.js";
import { setClock } from "../../js/wasm/clock.js";
import { before, contents, scene, user } from "./stopping.js";

/** @typedef {import("./stopping.js").Scene} Scene */
/** @typedef {import("../../js/store/store.js").Store} Store */
/** @typedef {import("../../js/session/session.js").Session} Session */

/** No process has this number. */
const GONE = 2 ** 22 + 1;
/** What only operations under way have. */
const UNDER_WAY = /^\.(?:left|gone|new|session|coming\.left)-|^\.taken$/;

/**
 * @type {Record<string, { placement: "home" | "workspace", does: (store: Store, session: Session) => Promise<unknown>, isDelete?: boolean, isPurge?: boolean }>}
 */
const OPERATIONS = {
  "move to a workspace": { placement: "home", does: (store, session) => store.move(session, { to: "workspace" }) },
  "move to a named conversation": {
    placement: "home",
    does: (store, session) => store.move(session, { to: "workspace", name: "talk", day: "2026-01-02" }),
  },
  "move to the home": { placement: "workspace", does: (store, session) => store.move(session, { to: "home" }) },
  "delete in the home": { placement: "home", isDelete: true, does: (store, session) => store.delete(session) },
  "delete in a workspace": { placement: "workspace", isDelete: true, does: (store, session) => store.delete(session) },
  "purge in the home": {
    placement: "home",
    isPurge: true,
    does: (store, session) => store.delete(session, { purge: true }),
  },
  "purge in a workspace": {
    placement: "workspace",
    isPurge: true,
    does: (store, session) => store.delete(session, { purge: true }),
  },
};

/**
 * All below a folder.
 * @param {Scene["storage"]} storage
 * @param {string} folder
 * @returns {Promise<{ path: string, kind: string }[]>}
 */
async function entriesBelow(storage, folder) {
  const found = [];
  for (const { name, kind } of (await storage.list(folder)) ?? []) {
    const path = join(folder, name);
    found.push({ path, kind }, ...(kind === "folder" ? await entriesBelow(storage, path) : []));
  }
  return found;
}

/** As if this process had been another one, which is gone: what it left says so. @param {Scene} scene */
async function pretendGone({ storage, root }) {
  for (const { path, kind } of await entriesBelow(storage, root)) {
    if (kind !== "file" || !(/[/\\]moving[/\\]/.test(path) || basename(path) === ".taken" || /\.open[/\\]/.test(path)))
      continue;
    const text = textOf((await storage.read(path)) ?? new Uint8Array());
    await storage.replace(
      path,
      bytesOf(text.replace(`"pid":${process.pid}`, `"pid":${GONE}`).replaceAll(`-${process.pid}-`, `-${GONE}-`)),
    );
  }
  for (const { path, kind } of (await entriesBelow(storage, root)).reverse()) {
    const name = basename(path);
    if (kind === "folder" && UNDER_WAY.test(name) && name.includes(`-${process.pid}-`))
      await storage.move(path, join(path, "..", name.replace(`-${process.pid}-`, `-${GONE}-`)));
  }
}

/**
 * A session with messages, and an operation that is cut off before its step `at`; nothing where it has not so many.
 * @param {string} name @param {number} at
 */
async function cutOffAt(name, at) {
  const operation = OPERATIONS[name];
  assert.ok(operation);
  const made = scene(false);
  const first = await made.open();
  const session = await first.create({ placement: operation.placement });
  await session.append(user("one"));
  await session.append(user("two"));
  await first.close();
  const mine = await made.open();
  const own = await mine.session(session.id);
  let step = 0;
  /** @type {(() => void) | undefined} */
  let cut;
  const isCut = new Promise((resolve) => (cut = () => resolve(true)));
  before.next = () => {
    step += 1;
    if (step < at) return Promise.resolve();
    cut?.();
    return new Promise(() => {});
  };
  const hasStopped = await Promise.race([operation.does(mine, own).then(() => false), isCut]);
  before.next = undefined;
  await pretendGone(made);
  return { made, operation, id: session.id, hasStopped };
}

/** @param {Store} store @param {string} id */
async function listById(store, id) {
  return (await store.list({ all: true, type: null, archived: null })).filter((one) => one.id === id);
}

/** @param {Awaited<ReturnType<typeof cutOffAt>>} cut @param {string} label */
async function wholeAgain({ made, operation, id }, label) {
  const store = await made.open();
  const fixed = await store.doctor({ fix: true });
  assert.deepEqual(
    fixed.flatMap(({ problems }) => problems),
    [],
    `${label}: not mended`,
  );
  assert.deepEqual(
    (await store.doctor()).flatMap(({ problems }) => problems),
    [],
    `${label}: mended twice`,
  );
  const left = (await entriesBelow(made.storage, made.root)).filter(
    ({ path }) => UNDER_WAY.test(basename(path)) || /[/\\]moving[/\\]/.test(path),
  );
  assert.deepEqual(left, [], `${label}: left over`);
  if ((await listById(store, id)).length === 0) {
    assert.ok(operation.isDelete || operation.isPurge, `${label}: lost`);
    const inTrash = (await entriesBelow(made.storage, join(made.home, "trash"))).length > 0;
    if (operation.isPurge) return assert.equal(inTrash, false, `${label}: purged, and kept`);
    await store.restore(id);
  }
  assert.equal((await listById(store, id)).length, 1, `${label}: listed`);
  const session = await store.session(id);
  assert.deepEqual(await contents(session), ["one", "two"], label);
  await session.append(user("three"));
  await store.close();
  const again = await made.open();
  // What was cut off can be done again.
  await operation.does(again, await again.session(id));
  if (!operation.isDelete && !operation.isPurge)
    assert.deepEqual(await contents(await again.session(id)), ["one", "two", "three"], label);
  await again.close();
}

for (const name of Object.keys(OPERATIONS)) {
  test(`${name}: killed before any of its steps, doctor --fix brings it to an end and nothing is lost`, async () => {
    for (let at = 1; ; at += 1) {
      const cut = await cutOffAt(name, at);
      await wholeAgain(cut, `${name}, killed before step ${at}`);
      rmSync(cut.made.root, { recursive: true, maxRetries: 10 });
      if (!cut.hasStopped) return assert.ok(at > 3);
    }
  });
  if (!name.startsWith("move")) continue;
  test(`${name}: killed before any of its steps, the next one goes on without doctor`, async () => {
    for (let at = 1; ; at += 1) {
      const { made, operation, id, hasStopped } = await cutOffAt(name, at);
      const store = await made.open();
      await operation.does(store, await store.session(id));
      assert.equal((await listById(store, id)).length, 1, `${name}, killed before step ${at}: listed`);
      assert.deepEqual(await contents(await store.session(id)), ["one", "two"], `${name}, killed before step ${at}`);
      await store.close();
      rmSync(made.root, { recursive: true, maxRetries: 10 });
      if (!hasStopped) return assert.ok(at > 3);
    }
  });
}

test("without --fix, doctor tells of a move that was cut off by a code, and changes nothing", async () => {
  let told = 0;
  for (let at = 1; ; at += 1) {
    const { made, hasStopped } = await cutOffAt("move to the home", at);
    const bytes = async () =>
      Promise.all(
        (await entriesBelow(made.storage, made.root)).map(async ({ path, kind }) => [
          path,
          kind === "file" ? textOf((await made.storage.read(path)) ?? new Uint8Array()) : kind,
        ]),
      );
    const had = await bytes();
    const store = await made.open();
    const codes = (await store.doctor()).flatMap(({ problems }) => problems.map(({ code }) => code));
    assert.deepEqual(await bytes(), had, `looked at what was killed before step ${at}`);
    await store.close();
    told += codes.filter((code) => code === "cut_off_move").length;
    rmSync(made.root, { recursive: true, maxRetries: 10 });
    if (!hasStopped) break;
  }
  assert.ok(told > 3);
});

test("two of one name that are deleted in the same millisecond do not come into each other's way", async () => {
  const { open } = scene(false);
  const store = await open();
  /** @type {Session[]} */
  const sessions = [];
  for (const day of ["2026-01-01", "2026-01-02"]) {
    sessions.push(await store.move(await store.create({ placement: "home" }), { to: "workspace", name: "talk", day }));
  }
  const ms = Date.now();
  setClock({
    now: () => ms,
    ticks: () => ms,
    offsetMinutes: () => 0,
    entropy: () => crypto.getRandomValues(new Uint8Array(32)),
  });
  try {
    const places = await Promise.all(sessions.map((session) => store.delete(session)));
    assert.equal(new Set(places.map(({ trash }) => trash)).size, 2);
    assert.equal((await store.trashed()).filter(({ placement }) => placement === "workspace").length, 2);
  } finally {
    setClock();
  }
  await store.close();
});
